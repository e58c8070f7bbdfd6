"""Functions of source trees in Python, JavaScript, TypeScript, Java and Go, with context and licence.

- ``repositories``: hundreds of git repositories. ``repositories.txt`` lists them, pinned by commit: owner/name, commit,
  SPDX licence and languages, separated by tabs. A commit is fetched alone from GitHub, read from its objects and
  deleted; ``--data.mirrors=`` names a folder of clones to read in its place. The licence in the list is not believed:
  that of each file is found in the commit.
- ``installed``: packages of PyPI, npm and Debian. ``installed.txt`` lists at most a dozen packages a language:
  language, registry, package, version and sha256 of the archive, separated by tabs; of Debian the release's source
  packages, whose version the release decides. ``pip``, ``npm`` and ``apt-get`` fetch them, from where they are set up
  to; a language whose client is missing is left out.
"""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.languages.registry import LANGUAGES
from data_prep.pipeline.corpus import Corpus, lines_of_list
from data_prep.pipeline.extraction import TreeTask
from data_prep.pipeline.shards import TreeName
from data_prep.sources.debian_sources import fetched_archives
from data_prep.sources.git_repository import mirror_of
from data_prep.sources.package_downloads import REGISTRIES, NotFetchedError, Package, fetched_package

REPOSITORIES: Final = Path(__file__).with_name("repositories.txt")
LEAVE_OUT: Final = Path(__file__).with_name("measured_repositories.txt")
_HOST: Final = "https://github.com/"
_REPOSITORY: Final = re.compile(
    r"(?P<name>[\w.-]+/[\w.-]+)\t(?P<commit>[0-9a-f]{40})\t(?P<licence>[\w.+-]+(?: (?:AND|OR) [\w.+-]+)*)"
    r"\t(?P<languages>[a-z,]+)"
)
PACKAGES: Final = Path(__file__).with_name("installed.txt")
_PACKAGE: Final = re.compile(
    r"(?P<language>\w+)\t(?P<registry>\w+)\t(?P<name>(?:@[\w.-]+/)?[\w.+-]+)\t(?P<version>[\w.+-]*)\t(?P<sha256>(?:[0-9a-f]{64})?)"
)
_IN_VAIN: Final = 2
"""Packages of a registry in a row that cannot be fetched before it is given up."""
_logger = logging.getLogger(__name__)


class Repositories(Corpus):
    """Pairs of hundreds of git repositories in five languages (--data.language), split by whole repositories."""

    name = "repositories"
    default_list = REPOSITORIES

    def tasks(self) -> Sequence[TreeTask]:
        """The repositories of the list; with ``--data.mirrors``, those that have a clone there.

        Raises:
            UserError: the list or the folder of mirrors is missing or wrong.
        """
        listed = read_repositories(self.listed())
        if not self._config.mirrors:
            return [TreeTask(tree, languages, "fetch", f"{tree.url}.git") for tree, languages in listed]
        mirrors = named_path(self._config.mirrors)
        if not mirrors.is_dir():
            raise UserError(f"--data.mirrors={mirrors} is no folder: expected one of clones, OWNER+NAME or OWNER/NAME")
        tasks = []
        for tree, languages in listed:
            found = mirror_of(mirrors, tree.name)
            place = str(found.own) if found is not None else str(mirrors / tree.name)
            tasks.append(TreeTask(tree, languages, "clone", place))
        return tasks


def read_repositories(path: Path) -> list[tuple[TreeName, tuple[str, ...]]]:
    """The repositories of a list, and the languages of each.

    Raises:
        UserError: the list is missing, a line is wrong, or it names one twice or one that measures this project.
    """
    measured = {line.lower() for line in LEAVE_OUT.read_text(encoding="utf-8").split("\n") if not line.startswith("#")}
    found: dict[str, tuple[TreeName, tuple[str, ...]]] = {}
    for number, line in lines_of_list(path, "repositories"):
        match = _REPOSITORY.fullmatch(line)
        languages = tuple(match["languages"].split(",")) if match else ()
        if match is None or not set(languages) <= set(LANGUAGES):
            raise UserError(
                f"{path}:{number}: expected owner/name, commit, licence and languages of {', '.join(LANGUAGES)}, "
                f"separated by tabs: {line[:80]!r}"
            )
        name = match["name"]
        if name.lower() in measured:
            raise UserError(f"{path}:{number}: {name} measures this project ({LEAVE_OUT.name}): leave it out")
        if name.lower() in found:
            raise UserError(f"{path}:{number}: {name} is named twice")
        found[name.lower()] = TreeName(name, match["commit"], f"{_HOST}{name}"), languages
    return list(found.values())


class Installed(Corpus):
    """Pairs of packages from PyPI, npm and Debian in five languages (--data.language), split by whole packages."""

    name = "installed"
    default_list = PACKAGES

    def tasks(self) -> Sequence[TreeTask]:
        """The packages that can be had, downloaded if they are missing.

        Raises:
            UserError: the list is wrong, or no package can be had.
        """
        packages = [each for each in read_packages(self.listed()) if each.language in self.languages]
        if not packages:
            raise UserError(f"none of the packages of {self.listed()} is in {', '.join(self.languages)}")
        folder = Path(self._config.root) / "raw" / self.name
        tasks, trouble, failed = [], "", Counter[str]()
        for package in packages:
            if package.registry != "debian" and failed[package.registry] < _IN_VAIN:
                try:
                    archive = fetched_package(package, folder)
                except UserError as error:
                    trouble = str(error)
                    failed[package.registry] += isinstance(error, NotFetchedError)
                    _logger.warning("left out %s: %s", package.name, error)
                    if failed[package.registry] == _IN_VAIN:
                        _logger.warning("the other packages of %s are not asked for", package.registry)
                    continue
                failed[package.registry] = 0
                tree = TreeName(
                    f"{package.registry}/{package.name}",
                    package.version,
                    _package_url(package.registry, package.name, package.version),
                )
                tasks.append(TreeTask(tree, (package.language,), "archive", str(archive)))
        try:
            tasks += self._of_debian(packages, folder)
        except UserError as error:
            trouble = str(error)
            _logger.warning("left out the packages of Debian: %s", error)
        if not tasks:
            raise UserError(f"none of the packages of {self.listed()} can be had: {trouble}")
        return tasks

    def _of_debian(self, packages: Sequence[Package], folder: Path) -> list[TreeTask]:
        languages = {package.name: package.language for package in packages if package.registry == "debian"}
        if not languages:
            return []
        found = fetched_archives(folder / "debian", {name: name for name in languages})
        tasks = []
        for each in sorted(found.archives, key=lambda each: (each.package, each.part)):
            name = f"debian/{each.package}{'/' * bool(each.part)}{each.part}"
            tree = TreeName(name, each.version, _package_url("deb", f"debian/{each.package}", each.version))
            tasks.append(TreeTask(tree, (languages[each.package],), "archive", str(each.path)))
        return tasks


def _package_url(registry: str, name: str, version: str) -> str:
    """The package by a package URL (ECMA-427), which names no host: ``pkg:npm/%40scope/name@1.0.0``."""
    return f"pkg:{registry}/{quote(name)}@{quote(version)}"


def read_packages(path: Path) -> list[Package]:
    """The packages of a list.

    Raises:
        UserError: the list is missing or a line is wrong.
    """
    packages = []
    for number, line in lines_of_list(path, "packages"):
        match = _PACKAGE.fullmatch(line)
        if match is None or match["language"] not in LANGUAGES or match["registry"] not in REGISTRIES:
            raise UserError(
                f"{path}:{number}: expected a language, one of {', '.join(REGISTRIES)}, a package, its version and "
                f"sha256, separated by tabs: {line[:80]!r}"
            )
        if match["registry"] != "debian" and not (match["version"] and match["sha256"]):
            raise UserError(f"{path}:{number}: {match['name']} has no version or no sha256")
        packages.append(Package(**match.groupdict()))
    return packages
