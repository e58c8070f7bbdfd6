"""Functions of hundreds of git repositories in Python, JavaScript, TypeScript, Java and Go, with context and licence.

``repositories.txt`` lists them, pinned by commit: owner/name, commit, SPDX licence and languages, separated by tabs. A
commit is fetched alone from GitHub, read from its objects and deleted; ``--data.mirrors=`` names a folder of clones to
read in its place. The licence in the list is not believed: that of each file is found in the commit.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.languages.registry import LANGUAGES
from data_prep.pipeline.corpus import Corpus, lines_of_list
from data_prep.pipeline.shard_folder import TreeTask
from data_prep.pipeline.shards import TreeName
from data_prep.sources.git_repository import mirror_of

LIST: Final = Path(__file__).with_name("repositories.txt")
LEAVE_OUT: Final = Path(__file__).with_name("measured_repositories.txt")
_HOST: Final = "https://github.com/"
_LINE: Final = re.compile(
    r"(?P<name>[\w.-]+/[\w.-]+)\t(?P<commit>[0-9a-f]{40})\t(?P<licence>[\w.+-]+(?: (?:AND|OR) [\w.+-]+)*)"
    r"\t(?P<languages>[a-z,]+)"
)


class Repositories(Corpus):
    """Pairs of hundreds of git repositories in five languages (--data.language), split by whole repositories."""

    name = "repositories"

    def listed(self) -> Path:
        """The list, or the file at ``--data.path``."""
        return named_path(self._config.path) if self._config.path else LIST

    def tasks(self, program: str) -> Sequence[TreeTask]:
        """The repositories of the list; with ``--data.mirrors``, those that have a clone there.

        Raises:
            UserError: the list or the folder of mirrors is missing or wrong.
        """
        listed = read_repositories(self.listed())
        if not self._config.mirrors:
            return [TreeTask(tree, languages, "fetch", f"{tree.url}.git", program) for tree, languages in listed]
        mirrors = named_path(self._config.mirrors)
        if not mirrors.is_dir():
            raise UserError(f"--data.mirrors={mirrors} is no folder: expected one of clones, OWNER+NAME or OWNER/NAME")
        tasks = []
        for tree, languages in listed:
            found = mirror_of(mirrors, tree.name)
            place = str(found.own) if found is not None else str(mirrors / tree.name)
            tasks.append(TreeTask(tree, languages, "clone", place, program))
        return tasks


def read_repositories(path: Path) -> list[tuple[TreeName, tuple[str, ...]]]:
    """The repositories of a list, and the languages of each.

    Raises:
        UserError: the list is missing, a line is wrong, or it names one twice or one that measures this project.
    """
    measured = {line.lower() for line in LEAVE_OUT.read_text(encoding="utf-8").split("\n") if not line.startswith("#")}
    found: dict[str, tuple[TreeName, tuple[str, ...]]] = {}
    for number, line in lines_of_list(path, "repositories"):
        match = _LINE.fullmatch(line)
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
