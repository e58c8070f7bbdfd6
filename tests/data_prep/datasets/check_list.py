"""Compares a list of repositories with clones of them: commit, licence of the text at the root, languages.

``python -m tests.data_prep.datasets.check_list LIST MIRRORS`` prints a line for each repository that differs. Each
language of the list has to be the main one of the repository or to have twenty source files, without tests and vendored
code.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from data_prep.datasets.source_trees import read_repositories
from data_prep.languages.registry import language_of
from data_prep.pipeline.corpus import lines_of_list
from data_prep.pipeline.filters import path_reason
from data_prep.sources.git_repository import mirror_of
from data_prep.sources.licences import TreeLicences, permitted, states_licence
from data_prep.sources.own_git import GitError
from data_prep.sources.source_tree import GitTree

LEAST = 20
"""Source files of a language that is listed, unless it is the main one."""


def differences(path: Path, mirrors: Path) -> Iterator[str]:
    """What is wrong with each repository of a list, "" if nothing is."""
    licences = [line.split("\t")[2] for _, line in lines_of_list(path, "repositories")]
    for (tree, named), licence in zip(read_repositories(path), licences, strict=True):
        clone = mirror_of(mirrors, tree.name)
        try:
            wrong = _wrong(GitTree(clone, tree.revision), named, licence) if clone else ["there is no clone"]
        except GitError as error:
            wrong = [str(error)]
        yield f"{tree.name}: {'; '.join(wrong)}" if wrong else ""


def _wrong(tree: GitTree, named: tuple[str, ...], licence: str) -> list[str]:
    entries = tree.entries()
    root = dict(tree.read([each.path for each in entries if "/" not in each.path and states_licence(each.path)]))
    found = TreeLicences(root).of("a", b"")
    wrong = [] if found == licence and permitted(found) else [f"the licence at its root is {found or 'not recognised'}"]
    files: Counter[str] = Counter()
    for entry in entries:
        language = language_of(entry.path)
        if language and entry.path.endswith(language.suffixes) and not path_reason(entry.path, language):
            files[language.name] += not entry.reason
    main = max(files, key=lambda name: files[name], default="")
    return wrong + [f"{files[name]} files of {name}" for name in named if files[name] < LEAST and name != main]


if __name__ == "__main__":
    for difference in filter(None, differences(Path(sys.argv[1]), Path(sys.argv[2]))):
        sys.stdout.write(f"{difference}\n")
