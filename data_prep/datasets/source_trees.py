"""Functions of source trees in several languages, with context and licence.

- ``repositories``: hundreds of git repositories in Python, JavaScript, TypeScript, Java and Go. ``repositories.txt``
  lists them, pinned by commit: owner/name, commit, SPDX licence and languages, separated by tabs. A commit is fetched
  alone from GitHub, read from its objects and deleted; ``--data.mirrors=`` names a folder of clones to read in its
  place. The licence in the list is not believed: that of each file is found in the commit.
- ``seven_languages``: these, and those of PHP and Ruby in ``php_ruby_repositories.txt``. With CodeSearchNet's six
  languages and TypeScript. The new ones are listed with these two languages alone, so that the pairs and splits of the
  other five are those of ``repositories``.
- ``installed``: packages of PyPI, npm and Debian. ``installed.txt`` lists at most a dozen packages a language:
  language, registry, package, version and sha256 of the archive, separated by tabs; of Debian the release's source
  packages, whose version the release decides. ``pip``, ``npm`` and ``apt-get`` fetch them, from where they are set up
  to; a language whose client is missing is left out.
"""

import logging
import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar, Final
from urllib.parse import quote

from data_prep.errors import UserError, shown
from data_prep.files.access import named_path
from data_prep.languages.registry import LANGUAGES, language, language_called
from data_prep.pipeline.corpus import Corpus, lines_of_list
from data_prep.pipeline.extraction import TreeTask
from data_prep.pipeline.shards import TreeName
from data_prep.sources.debian_sources import fetched_archives
from data_prep.sources.git_repository import mirror_of
from data_prep.sources.package_downloads import REGISTRIES, NotFetchedError, Package, fetched_package

REPOSITORIES: Final = Path(__file__).with_name("repositories.txt")
PHP_RUBY: Final = Path(__file__).with_name("php_ruby_repositories.txt")
LEAVE_OUT: Final = Path(__file__).with_name("measured_repositories.txt")
_HOST: Final = "https://github.com/"
_COLUMNS: Final = (
    ("a repository as owner/name", re.compile(r"(?!\.+/)[\w.-]+/(?!\.+$)[\w.-]+")),
    ("a commit of 40 hexadecimal digits", re.compile(r"[0-9a-f]{40}")),
    ("a licence as of SPDX, such as MIT", re.compile(r"[\w.+-]+(?: (?:AND|OR) [\w.+-]+)*")),
    ("languages separated by commas", re.compile(r"[^\s,]+(?:, ?[^\s,]+)*")),
)
"""What each column of a list is called, and its form."""
PACKAGES: Final = Path(__file__).with_name("installed.txt")
_PACKAGE: Final = re.compile(
    r"(?P<language>[\w+#]+)\t(?P<registry>\w+)\t(?P<name>(?:@[\w.-]+/)?[\w.+-]+)\t(?P<version>[\w.+-]*)\t(?P<sha256>(?:[0-9a-f]{64})?)"
)
_IN_VAIN: Final = 2
"""Packages of a registry in a row that cannot be fetched before it is given up."""
_logger = logging.getLogger(__name__)


class Repositories(Corpus):
    """Pairs of hundreds of git repositories (--data.language), split by whole repositories."""

    name = "repositories"
    default_lists: ClassVar[tuple[Path, ...]] = (REPOSITORIES,)

    def listed_languages(self) -> set[str]:
        """Those that repositories are listed with.

        Raises:
            UserError: a list is missing or wrong.
        """
        return {name for _, languages in read_repositories(*self.lists()) for name in languages}

    def tasks(self) -> Sequence[TreeTask]:
        """The repositories of the lists, to be fetched or, with ``--data.mirrors``, read from their clones there.

        Without those that neither have the languages of the pairs nor take part in the split of any that has.

        Raises:
            UserError: the list or the folder of mirrors is missing or wrong.
        """
        listed = connected(read_repositories(*self.lists()), self.languages)
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


class SevenLanguages(Repositories):
    """Pairs of ``repositories``, and of repositories of PHP and Ruby."""

    name = "seven_languages"
    default_lists = (REPOSITORIES, PHP_RUBY)

    @property
    def shard_folder(self) -> Path:
        """That of ``repositories``, so that what is extracted for one need not be for the other."""
        return Path(self._config.root) / "raw" / Repositories.name / "shards"


def read_repositories(*paths: Path) -> list[tuple[TreeName, tuple[str, ...]]]:
    """The repositories of some lists, and the languages of each.

    Raises:
        UserError: a list is missing, a line is wrong, or it names one twice or one that measures this project.
    """
    measured = {line.lower() for line in LEAVE_OUT.read_text(encoding="utf-8").split("\n") if not line.startswith("#")}
    found: dict[str, tuple[TreeName, tuple[str, ...]]] = {}
    for path in paths:
        for number, line in lines_of_list(path, "repositories"):
            try:
                tree, languages = _listed(line)
                if tree.name.lower() in measured:
                    raise UserError(f"{tree.name} measures this project ({LEAVE_OUT.name}): leave it out")
                if tree.name.lower() in found:
                    raise UserError(f"{tree.name} is named twice")
            except UserError as error:
                raise UserError(f"{path}:{number}: {error}") from error
            found[tree.name.lower()] = tree, languages
    return list(found.values())


def connected(
    listed: Sequence[tuple[TreeName, tuple[str, ...]]], wanted: Collection[str]
) -> list[tuple[TreeName, tuple[str, ...]]]:
    """The repositories that have one of the languages ``wanted``, or share one with such a repository, and so on."""
    reached, before = {*wanted}, 0
    while len(reached) > before:
        before = len(reached)
        reached.update(name for _, names in listed if not reached.isdisjoint(names) for name in names)
    return [(tree, names) for tree, names in listed if not reached.isdisjoint(names)]


def _listed(line: str) -> tuple[TreeName, tuple[str, ...]]:
    """The repository of a line of a list, and its languages.

    Raises:
        UserError: the line has another form, or there is no such language.
    """
    parts = [part.strip() for part in line.split("\t")]
    if len(parts) != len(_COLUMNS):
        raise UserError(f"expected owner/name, commit, licence and languages, separated by tabs, not {shown(line)}")
    for (what, form), part in zip(_COLUMNS, parts, strict=True):
        if not form.fullmatch(part):
            raise UserError(f"expected {what}, not {shown(part)}")
    name, commit, _, typed = parts
    languages = dict.fromkeys(language(language_called(each)).name for each in typed.split(","))
    return TreeName(name, commit, f"{_HOST}{name}"), tuple(languages)


class Installed(Corpus):
    """Pairs of packages from PyPI, npm and Debian in five languages (--data.language), split by whole packages."""

    name = "installed"
    default_lists = (PACKAGES,)

    def listed_languages(self) -> set[str]:
        """Those of the packages.

        Raises:
            UserError: the list is missing or wrong.
        """
        return {package.language for path in self.lists() for package in read_packages(path)}

    def tasks(self) -> Sequence[TreeTask]:
        """The packages that can be had, downloaded if they are missing.

        Raises:
            UserError: the list is wrong, or no package can be had.
        """
        (path,) = self.lists()
        packages = [each for each in read_packages(path) if each.language in self.languages]
        if not packages:
            raise UserError(f"none of the packages of {path} is in {', '.join(self.languages)}")
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
            raise UserError(f"none of the packages of {path} can be had: {trouble}")
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
        name = language_called(match["language"]) if match else ""
        if match is None or name not in LANGUAGES or match["registry"] not in REGISTRIES:
            raise UserError(
                f"{path}:{number}: expected a language, one of {', '.join(REGISTRIES)}, a package, its version and "
                f"sha256, separated by tabs: {line[:80]!r}"
            )
        if match["registry"] != "debian" and not (match["version"] and match["sha256"]):
            raise UserError(f"{path}:{number}: {match['name']} has no version or no sha256")
        packages.append(Package(**{**match.groupdict(), "language": name}))
    return packages
