"""Reads file information from an untrusted git repository, without running programs that the repository configures.

Git follows the configuration of its repository, which can name programs to run in some forty places (filters, hooks,
monitors, pagers, helpers). Therefore git is never run in an untrusted repository: small files (HEAD, refs,
configuration) are read directly, and git runs in an empty repository (:mod:`data_prep.sources.own_git`) that borrows
the other's objects and a copy of its index. Nothing is written to the other one, and outputs are bounded in time and
size. Only :func:`fetched_commit` uses the network.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from data_prep.files.access import raise_if_passing, read_regular
from data_prep.sources.own_git import GitError, git_says, own_repository

_TRANSPORT: Final = "https"
"""The only one that a fetch may use."""
_BATCH_BYTES: Final = 32 << 20
"""Bytes of objects that are read by one git command."""
_BATCH_OBJECTS: Final = 5_000
_LARGEST_INDEX: Final = 256 << 20  # bytes
_LARGEST_FILE: Final = 1 << 20  # bytes of HEAD, a ref, or a configuration
_LARGEST_PACKED_REFS: Final = 64 << 20  # bytes
_LONGEST_CHAIN: Final = 5  # refs that name refs

_HASH: Final = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF: Final = re.compile(rb"ref: *(refs/[\x21-\x7e\x80-\xff]+)")
_OF_WORKTREE: Final = (b"refs/bisect/", b"refs/worktree/", b"refs/rewritten/")
"""Refs that are specific to a worktree."""
_SUBMODULE: Final = b"160000"


@dataclass(frozen=True)
class GitRepository:
    """The repository that a folder is checked out from."""

    top: Path  # root of the checkout
    own: Path  # of this checkout: HEAD and index
    shared: Path  # by all checkouts: objects, refs, configuration

    def head(self) -> str:
        """The checked-out commit, in hexadecimal; "" if there is none yet.

        Raises:
            GitError: it cannot be read.
        """
        said = _small(self.own / "HEAD").strip()
        for _ in range(_LONGEST_CHAIN):
            if _HASH.fullmatch(said):
                return said.decode()
            match = _REF.fullmatch(said)
            if match is None or b".." in match[1]:
                raise GitError("its HEAD names no commit")
            said = self._ref(match[1])
            if not said:
                return ""
        raise GitError("its HEAD names no commit")

    def remotes(self) -> Mapping[str, str]:
        """Name -> address of each remote in the repository's own configuration, in order.

        Raises:
            GitError: they cannot be read.
        """
        found: dict[str, str] = {}
        for key, value in self._configuration:
            if key.startswith("remote.") and key.endswith(".url"):
                found.setdefault(key.removeprefix("remote.").removesuffix(".url"), value)
        return found

    def tracked(self, places: Sequence[str]) -> list[bytes]:
        """The paths of the index that equal one of ``places``, or are inside one that ends in "/"; in order.

        Raises:
            GitError: there is an index that cannot be read.
        """
        index = _bytes(self.own / "index", _LARGEST_INDEX) or b""
        wanted = [os.fsencode(place) for place in places]
        # an index of whole paths (versions 2 and 3) contains the bytes of each; a split one has the extension "link"
        whole = index[4:8] in (b"\0\0\0\2", b"\0\0\0\3") and b"link" not in index
        if not index or (whole and not any(place in index for place in wanted)):
            return []
        with self._git() as git:
            (git / "index").write_bytes(index)
            said = git_says(git, "ls-files", "--cached", "-z")
        listed = dict.fromkeys(said.split(b"\0")[:-1])  # in a conflict repeated
        folders = tuple(place for place in wanted if place.endswith(b"/"))
        return [path for path in listed if path in wanted or path.startswith(folders)]

    def blobs(self, commit: str, prefix: str) -> Mapping[bytes, str]:
        """Path, relative to ``prefix`` as in :meth:`tracked`, -> the hash of its content in ``commit``.

        Raises:
            GitError: the commit, or a folder of it, is not there.
        """
        start, inside = len(os.fsencode(prefix)), [prefix] if prefix else []
        listed = self._listed(commit, "--", *inside)
        return {path[start:]: digest.decode() for (mode, _, digest), path in listed if mode != _SUBMODULE}

    def entries(self, commit: str) -> list[tuple[str, str, str, int | None]]:
        """Mode, path as valid Unicode, hash and size of every file, link and submodule of ``commit``, in order.

        Those without an object here have no size.

        Raises:
            GitError: the commit, or a folder of it, is not there.
        """
        return [
            (mode.decode(), path.decode("utf-8", "replace"), digest.decode(), int(size) if size.isdigit() else None)
            for (mode, _, digest, size), path in self._listed("--long", "--full-tree", f"{commit}^{{commit}}")
        ]

    def contents(self, sizes: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
        """The hash and content of each object of ``sizes``, which are its size, in that order.

        Raises:
            GitError: one cannot be read.
        """
        with self._git() as git:
            for batch in _batches(sizes):
                said = git_says(git, "cat-file", "--batch", given="".join(f"{each}\n" for each in batch).encode())
                yield from _blobs(said)

    def _listed(self, *arguments: str) -> Iterator[tuple[list[bytes], bytes]]:
        """What ``git ls-tree`` says of each file, and its path."""
        with self._git() as git:
            try:
                said = git_says(git, "ls-tree", "-r", "-z", *arguments)
            except GitError as error:
                lacking = re.search(r"Not a valid object name ([0-9a-f]+)", str(error))
                raise GitError(f"the clone lacks commit {lacking[1]}" if lacking else str(error)) from error
        for line in said.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            yield about.split(), path

    def _ref(self, name: bytes) -> bytes:
        """The content of a ref, b"" if there is none."""
        folder = self.own if name.startswith(_OF_WORKTREE) else self.shared
        loose = _bytes(folder / os.fsdecode(name), _LARGEST_FILE)
        if loose is not None:
            return loose.strip()
        packed = _bytes(self.shared / "packed-refs", _LARGEST_PACKED_REFS) or b""
        found = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(name) + rb"\r?$", packed, re.MULTILINE)
        return found[1] if found else b""

    @cached_property
    def _configuration(self) -> list[tuple[str, str]]:
        """The repository's settings, in order; included configuration files are not read."""
        content = _bytes(self.shared / "config", _LARGEST_FILE)
        if content is None and self.top != self.own:
            raise GitError("not a git repository: it has no config")
        if content is None:  # a bare copy of objects and refs
            return []
        with own_repository("sha1", None) as git:
            said = git_says(git, "config", "--file", "-", "--null", "--list", given=content)
        pairs = (entry.partition("\n") for entry in said.decode("utf-8", "replace").split("\0")[:-1])
        return [(key, value) for key, _, value in pairs]

    @contextmanager
    def _git(self) -> Iterator[Path]:
        form = dict(self._configuration).get("extensions.objectformat", "sha1").lower()
        if form not in ("sha1", "sha256"):
            raise GitError(f"its objects are named in a form that is not known, {form[:20]!r}")
        with own_repository(form, self.shared / "objects") as git:
            yield git


def repository_of(folder: Path) -> GitRepository | None:
    """The repository that contains ``folder``, a path without links; None if there is none.

    Only ``.git`` in the folder or above it counts: other files that look like a repository are ordinary files.

    Raises:
        GitError: there is one that cannot be read.
    """
    for top in (folder, *folder.parents):
        place = top / ".git"
        if not os.path.lexists(place):
            continue
        own = place
        if not place.is_dir():
            said = _small(place).strip()
            if not said.startswith(b"gitdir: ") or b"\0" in said:
                raise GitError(".git names no folder")
            own = top / os.fsdecode(said.removeprefix(b"gitdir: "))
        common = _bytes(own / "commondir", _LARGEST_FILE)
        shared = own if common is None else own / os.fsdecode(common.strip())
        if not (shared / "objects").is_dir():
            raise GitError("not a git repository: it has no objects")
        return GitRepository(top, own, shared)
    return None


def bare_repository(folder: Path) -> GitRepository | None:
    """The bare repository in ``folder``, or that of the checkout there; None if there is neither."""
    own = folder / ".git" if (folder / ".git").is_dir() else folder
    is_one = (own / "HEAD").is_file() and (own / "objects").is_dir()
    return GitRepository(own, own, own) if is_one else None


def mirror_of(folder: Path, name: str) -> GitRepository | None:
    """The clone of ``owner/name`` among the mirrors of a folder; None if there is none.

    It may be bare or plain, in ``OWNER+NAME``, ``OWNER/NAME`` or ``OWNER/NAME.git``, there or in a folder ``repo``.
    """
    places = (
        folder / place / inside for place in (name.replace("/", "+"), name, f"{name}.git") for inside in ("", "repo")
    )
    return next((found for place in places if (found := bare_repository(place)) is not None), None)


@contextmanager
def fetched_commit(url: str, commit: str) -> Iterator[GitRepository]:
    """A temporary bare repository with only ``commit``, fetched from ``url``; deleted after the block.

    Raises:
        GitError: it cannot be fetched.
    """
    with own_repository("sha1", None) as git:
        git_says(
            git,
            *("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60", "-c", "http.followRedirects=initial"),
            *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", url, commit),
            transport=_TRANSPORT,
        )
        yield GitRepository(git, git, git)


def _batches(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    batch: list[str] = []
    total = 0
    for digest, size in sizes.items():
        if batch and (total + size > _BATCH_BYTES or len(batch) == _BATCH_OBJECTS):
            yield batch
            batch, total = [], 0
        batch.append(digest)
        total += size
    if batch:
        yield batch


def _blobs(said: bytes) -> Iterator[tuple[str, bytes]]:
    """The hash and content of each object in the output of ``git cat-file --batch``."""
    place = 0
    while place < len(said):
        end = said.index(b"\n", place)
        about = said[place:end].split(b" ")
        if len(about) != 3:
            raise GitError(f"object {about[0].decode('ascii', 'replace')[:40]} is not there")
        place = end + 1 + int(about[2])
        yield about[0].decode(), said[end + 1 : place]
        place += 1


def _small(path: Path) -> bytes:
    content = _bytes(path, _LARGEST_FILE)
    if content is None:
        raise GitError(f"not a git repository: it has no {path.name}")
    return content


def _bytes(path: Path, most: int) -> bytes | None:
    """The content of a file; None if it does not exist."""
    try:
        content, _ = read_regular(path, most + 1, follow=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:  # ValueError: a NUL in its path
        raise_if_passing(error)
        raise GitError(f"{path.name} cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if len(content) > most:
        raise GitError(f"{path.name} has more than {most:,} bytes")
    return content
