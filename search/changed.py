"""Which indexed files the commit of their folder has not, as they are now: ``--changed``."""

import os
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import raise_if_passing, read_regular
from data_prep.sources.own_git import GitError
from search.files.stamps import modified_at
from search.files.tree import blob_names, checkout_of
from search.index.code_index import Index, IndexedFile
from search.index.joint_index import JointIndex

_LARGEST: Final = 64 << 20
"""Bytes of a file whose content is compared with that of a commit."""


def changed_files(index: Index, root: Path | None) -> frozenset[str]:
    """The paths of the indexed files whose content the commit has not, as they are now.

    Nothing that the repository names is run: its objects are read by a git of our own settings.

    Args:
        index: of the folder.
        root: the folder; None: not known, or those of several repositories.

    Raises:
        UserError: the folder is in no git checkout, or that cannot be read.
    """
    if isinstance(index, JointIndex):
        parts = [(each.repository.name, _changed(each.index, each.repository.folder)) for each in index.members]
        return frozenset(f"{name}/{path}" for name, paths in parts for path in paths)
    if root is None:
        raise UserError("--changed needs the indexed folder: ask in it, or leave out --index")
    return _changed(index, root)


def _changed(index: Index, root: Path) -> frozenset[str]:
    """The paths inside of one folder."""
    troubles: list[str] = []
    checkout = checkout_of(root, lambda _, trouble: troubles.append(trouble))
    if checkout is None:
        raise UserError(f"--changed compares with git: {troubles[0] if troubles else f'{root} is in no git checkout'}")
    try:
        commit = checkout.repository.head()
        committed = checkout.repository.blobs(commit, checkout.prefix) if commit else {}
    except GitError as error:
        raise UserError(f"--changed compares with git, which cannot read the commit of {root}: {error}") from error
    return frozenset(
        file.path
        for file in index.files
        if committed.get(os.fsencode(file.path), "-") not in _blobs(root, file).split()
    )


def _blobs(root: Path, file: IndexedFile) -> str:
    """The hashes of a file as it is now: those of the index, if it has not changed since."""
    try:
        status = os.lstat(root / file.path)
        if file.blobs and (status.st_size, modified_at(status)) == (file.size, file.modified):
            return file.blobs
        return blob_names(read_regular(root / file.path, _LARGEST)[0])
    except OSError as error:
        raise_if_passing(error)
        return ""
