"""Functions of packages of PyPI, npm and Debian in Python, JavaScript, TypeScript, Java and Go.

``installed.txt`` lists at most a dozen packages a language: language, registry, package, version and sha256 of the
archive, separated by tabs; of Debian the release's source packages, whose version the release decides. ``pip``, ``npm``
and ``apt-get`` fetch them, from where they are set up to; a language whose client is missing is left out.
"""

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.languages.registry import LANGUAGES
from data_prep.pipeline.corpus import Corpus, lines_of_list
from data_prep.pipeline.shard_folder import TreeTask
from data_prep.pipeline.shards import TreeName
from data_prep.sources.debian_sources import fetched_archives
from data_prep.sources.package_downloads import REGISTRIES, Package, fetched_package

LIST: Final = Path(__file__).with_name("installed.txt")
_LINE: Final = re.compile(
    r"(?P<language>\w+)\t(?P<registry>\w+)\t(?P<name>(?:@[\w.-]+/)?[\w.+-]+)\t(?P<version>[\w.+-]*)\t(?P<sha256>(?:[0-9a-f]{64})?)"
)
_logger = logging.getLogger(__name__)


class Installed(Corpus):
    """Pairs of packages from PyPI, npm and Debian in five languages (--data.language), split by whole packages."""

    name = "installed"

    def listed(self) -> Path:
        """The list, or the file at ``--data.path``."""
        return named_path(self._config.path) if self._config.path else LIST

    def tasks(self, program: str) -> Sequence[TreeTask]:
        """The packages that can be had, downloaded if they are missing.

        Raises:
            UserError: the list is wrong, or no package can be had.
        """
        packages = read_packages(self.listed())
        folder = Path(self._config.root) / "raw" / self.name
        tasks, trouble = [], ""
        for package in packages:
            if package.registry != "debian":
                try:
                    archive = fetched_package(package, folder)
                except UserError as error:
                    trouble = str(error)
                    _logger.warning("left out %s: %s", package.name, error)
                    continue
                tree = TreeName(
                    f"{package.registry}/{package.name}",
                    package.version,
                    _package_url(package.registry, package.name, package.version),
                )
                tasks.append(TreeTask(tree, (package.language,), "archive", str(archive), program))
        try:
            tasks += self._of_debian(packages, folder, program)
        except UserError as error:
            trouble = str(error)
            _logger.warning("left out the packages of Debian: %s", error)
        if not tasks:
            raise UserError(f"none of the packages of {self.listed()} can be had: {trouble}")
        return tasks

    def _of_debian(self, packages: Sequence[Package], folder: Path, program: str) -> list[TreeTask]:
        languages = {package.name: package.language for package in packages if package.registry == "debian"}
        if not languages:
            return []
        found = fetched_archives(folder / "debian", {name: name for name in languages})
        tasks = []
        for each in sorted(found.archives, key=lambda each: (each.package, each.part)):
            name = f"debian/{each.package}{'/' * bool(each.part)}{each.part}"
            tree = TreeName(name, each.version, _package_url("deb", f"debian/{each.package}", each.version))
            tasks.append(TreeTask(tree, (languages[each.package],), "archive", str(each.path), program))
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
        match = _LINE.fullmatch(line)
        if match is None or match["language"] not in LANGUAGES or match["registry"] not in REGISTRIES:
            raise UserError(
                f"{path}:{number}: expected a language, one of {', '.join(REGISTRIES)}, a package, its version and "
                f"sha256, separated by tabs: {line[:80]!r}"
            )
        if match["registry"] != "debian" and not (match["version"] and match["sha256"]):
            raise UserError(f"{path}:{number}: {match['name']} has no version or no sha256")
        packages.append(Package(**match.groupdict()))
    return packages
