"""Making and updating an index: only files that changed are read.

Lines of files have permanent links, at the commit that the folder has checked out. Only the folder's own repository is
read (:mod:`data_prep.sources.git_repository`); the network is never used. So a commit that is not pushed yet, or that
is in a private repository, has a link too, which leads nowhere or to a login page.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Final, TypeVar

from data_prep.errors import UserError
from data_prep.files.writing import sole_holder
from data_prep.languages.identifiers import compiled_later
from data_prep.sources.own_git import GitError
from data_prep.store.split import joined_texts
from data_prep.worker_pool import Guard, map_ordered
from experiments.terminal.console import progress
from search.files.generations import old_words
from search.files.ignore_files import Tell
from search.files.languages import indexed_suffixes, known_suffixes
from search.files.stamps import Found, Seen
from search.files.tree import Checkout, checkout_of, found_files
from search.files.unread import Unread
from search.index.code_index import Index, Origin, with_own_words
from search.index.freshness import TreeRecord, differing, read_record, save_record
from search.index.index_file import (
    UnusableIndexError,
    open_index,
    read_head,
    read_whole_head,
    save_index,
    tree_sha256,
)
from search.index.read_part import GONE, Part, Task, Watch, callers_index, lexical_index, likely_first, read_part

Read = TypeVar("Read")

_CHUNK: Final = 32
"""Files per task of a worker process, at most."""
_TASKS: Final = 4
"""Tasks of each process, at least: of fewer one process would read on while the others have nothing left."""
_GUARD: Final = Guard(Task.divided, Part.joined, lambda task: read_part(replace(task, parsed=False)), copied=True)
_NAMED_FOLDERS: Final = 1000
"""Folders that were not looked into and that an index names."""
_HTTPS: Final = compiled_later(r"https://(?:[^/@]*@)?([^/@]+)/(.+)", re.IGNORECASE)
_SSH: Final = compiled_later(r"ssh://(?:[^/@]*@)?([^/@:]+)(?::\d+)?/(.+)", re.IGNORECASE)
_SCP: Final = compiled_later(r"(?:[^/@:]*@)?([^/@:]+\.[^/@:]+):([^/].*)")
"""``git@host:owner/name.git``; a host without a dot is taken for an alias in the user's ssh settings."""
_HOST: Final = compiled_later(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?", re.IGNORECASE)
_PLACE: Final = compiled_later(r"[\w.+~-]+(?:/[\w.+~-]+)+", re.ASCII)
"""``owner/name``, on some hosts with groups in between."""


@contextmanager
def sole_maker(index: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other process makes the file ``index``: else the vectors could be of the other index's rows."""
    waiting = f"waiting for another process that makes {index}"
    with sole_holder(lock_of(index), lambda: say(waiting), private=True):
        yield


def lock_of(index: Path) -> Path:
    """The lock file of whoever makes the file ``index``."""
    return index.with_name(f".{index.name}.lock")


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The outcome of making or updating an index."""

    rows: int
    files: int
    read: int  # files
    gone: int  # files of the old index that were removed or have changed
    written: bool
    unread: Unread = field(default_factory=Unread)  # what the folder has beside, as it was found now
    encodings: Mapping[str, int] = field(default_factory=dict)  # others than UTF-8 -> files, if it was written


def refresh(
    root: Path,
    path: Path,
    *,
    processes: int,
    tell: Callable[[str, str], None],
    documents: bool | None = None,
    submodules: bool | None = None,
    noticed: Callable[[Sequence[str]], None] = lambda _: None,
    reads: Callable[[Task], Part] | None = None,
    watch: Watch | None = None,
    everything: bool | None = None,
    recorded: bool = True,
    meanwhile: Callable[[], None] = lambda: None,
) -> Refreshed:
    """Make the index of the folder ``root`` in the file ``path``, or update it.

    If no file has changed, none is read; the index is checked by its checksum meanwhile.

    Args:
        root: the folder.
        path: file of the index; one that cannot be used is rebuilt.
        processes: processes that read files, each of which has limits that end what hostile text would cost a parser;
            0: this one reads them, without limits.
        tell: called with a path and what is wrong with it.
        documents: whether texts and configuration are indexed too; None: as in the existing index, else not.
        submodules: whether submodules are looked into; None: as for the existing index, else not.
        noticed: called with the files that are about to be read or left out, once they are known.
        reads: reads a few files at less cost than new processes, with limits too; None: nothing does.
        watch: told what is read, the likeliest files first.
        everything: the same of hidden folders, and of those of packages and built files (:mod:`search.files.unread`).
        recorded: whether it is noted what the index is of, for later looks at the folder.
        meanwhile: called once other processes read.

    Raises:
        UserError: there is no such folder, no source file in it, or ``path`` is not a file.
        OSError: the index cannot be written; the older one is left unchanged.
    """
    if path.exists() and not path.is_file():
        raise UserError(f"an index cannot be written to {path}, which is no regular file: name another one by --out=")
    if documents is None or everything is None:
        before = _usable(read_head, path, lambda *_: None)
        documents = before is not None and before.documents if documents is None else documents
        everything = before is not None and before.everything if everything is None else everything
    record, seen, unread = read_record(path), Seen(root), Unread(everything)
    if submodules is None:
        submodules = record is not None and record.submodules
    checkout, suffixes = checkout_of(root, tell), indexed_suffixes(documents=documents)
    with ThreadPoolExecutor(2) as beside:  # one waits for git, the other computes a checksum, which releases the GIL
        asked = beside.submit(origin_of, checkout, tell) if checkout else None
        summed = beside.submit(_usable, read_whole_head, path, tell)
        found = found_files(root, suffixes, tell, checkout, unread, submodules=submodules, seen=seen)
        inside = tree_sha256(None, (), unread.repositories)
        moved = ["."] * (record is not None and record.repositories != inside)
        noticed(differing(record.files if record else (), found) or moved)
        origin, head = asked.result() if asked else None, summed.result()
    if not found and (head is None or record is None or record.root != os.path.realpath(root)):
        raise UserError(f"{root} has no source file ({known_suffixes()}) to index")
    wanted = record.vectors if record else True
    new = TreeRecord(os.path.realpath(root), "", seen.stamps, found, documents, submodules, wanted, everything, inside)
    if head and (head.tree, head.documents, head.everything) == (
        tree_sha256(origin, found, unread.repositories),
        documents,
        everything,
    ):
        _note(replace(new, index=head.content), path, recorded=recorded)
        return Refreshed(head.rows, head.files, 0, 0, written=False, unread=unread)
    old = _usable(open_index, path, tell) if head else None
    known = [each for each in enumerate(old.files) if each[1].blobs or each[1].trouble] if old else []
    numbers = {(file.path, file.size, file.modified): number for number, file in known}
    places = {each.path: numbers.get(each) for each in found}
    kept = {name: number for name, number in places.items() if number is not None}
    changed = [each for each in found if each.path not in kept]
    fresh = _few(root, changed, reads, watch) or _taken(watched(root, changed, processes, watch), meanwhile)
    for each in chain.from_iterable(part.files for part in fresh):
        if each.trouble:
            tell(each.path, each.trouble)
    vanished = {each.path for part in fresh for each in part.files if each.modified == GONE}
    new = replace(new, files=[each._replace(modified=GONE) if each.path in vanished else each for each in found])
    committed = committed_blobs(checkout, origin.commit, tell) if checkout and origin else {}
    index = _together(old, sorted(kept.values()), fresh, origin, committed)
    folders = unread.folders[:_NAMED_FOLDERS]
    index = replace(index, documents=documents, everything=everything, unread=dict(unread.kinds), not_entered=folders)
    index = replace(index, repositories=unread.repositories)
    save_index(index, path)
    _note(replace(new, index=read_head(path).content), path, recorded=recorded)
    gone = len(numbers) - len(kept)
    encodings = Counter(each.encoding for each in index.files if each.encoding)
    return Refreshed(len(index), len(index.files), len(changed), gone, True, unread, encodings)


def _note(record: TreeRecord, path: Path, *, recorded: bool) -> None:
    """Save the record of an index, if it is to be ``recorded``; it can be used without."""
    with suppress(OSError, UserError):
        if recorded:
            save_record(record, path)


def watched(root: Path, found: Sequence[Found], processes: int, watch: Watch | None) -> Generator[Part, None, None]:
    """Read files, with a ``watch`` in its order, who is given each part; the caller closes what it does not end."""
    if watch is None:
        yield from _read(root, found, processes)
        return
    with closing(_read(root, likely_first(found, watch.asked), processes, watch.chunk)) as parts:
        for part in parts:
            watch.take(part)
            yield part


def _usable(read: Callable[[Path], Read], path: Path, tell: Callable[[str, str], None]) -> Read | None:
    """What ``read`` reads of an index; None if there is none, or it cannot be used, which is told."""
    try:
        return read(path) if path.exists() else None
    except UnusableIndexError as error:
        tell(str(path), f"rebuilt: {error}")
        return None


def _few(root: Path, found: Sequence[Found], reads: Callable[[Task], Part] | None, watch: Watch | None) -> list[Part]:
    """A few files as ``reads`` reads them; nothing if they are many, or one of them ends that process."""
    if watch:
        watch.begin(found)
    if reads is None or not 0 < len(found) <= _CHUNK:
        return []
    try:
        return [reads(Task(root, found))]
    except ChildProcessError:  # which of them it is, is found out one by one
        return []


def _taken(parts: Iterator[Part], meanwhile: Callable[[], None]) -> list[Part]:
    """All parts; behind the first one other processes read."""
    first = [*islice(parts, 1)]
    meanwhile()
    return [*first, *parts]


def _read(root: Path, found: Sequence[Found], processes: int, chunk: int = _CHUNK) -> Generator[Part, None, None]:
    size = min(chunk, len(found) // (_TASKS * max(1, processes)) + 1)
    tasks = [Task(root, found[start : start + size]) for start in range(0, len(found), size)]
    guard = _GUARD if processes else None
    parts = map_ordered("search.index.read_part:read_part", tasks, min(processes, len(tasks)) or 1, guard)
    with closing(parts), progress("reading", len(found), "files") as update:
        for part in parts:
            yield part
            update(len(part.files))


def index_of(parts: Sequence[Part]) -> Index:
    """An index in memory of what was read, without links."""
    return _together(None, (), parts, None, {})


def _together(
    old: Index | None,
    kept: Sequence[int],
    fresh: Sequence[Part],
    origin: Origin | None,
    committed: Mapping[str, str],
) -> Index:
    """An index of the ``kept`` files of the old one and of those that were read, in the order of paths.

    ``committed``: path -> hash of the content that the commit of ``origin`` has there.
    """
    whole = Part.joined([*([Part.of_index(old, kept)] if old else []), *fresh])
    if old or any(after.path < before.path for before, after in pairwise(whole.files)):
        whole = whole.taken(sorted(range(len(whole.files)), key=lambda place: whole.files[place].path))
        split = with_own_words(whole.split)
        whole = replace(whole, split=replace(split, texts=joined_texts(split.texts)))
    files = [replace(each, committed=committed.get(each.path, "-") in each.blobs.split()) for each in whole.files]
    rows = whole.split, whole.names, whole.asks, whole.kinds, whole.deprecated
    words = lexical_index(whole.split), callers_index(whole), whole.whole
    return Index(files, *rows, *words, origin, old=old_words([each.path for each in files]))


def origin_of(checkout: Checkout, tell: Tell) -> Origin | None:
    """The web page of a checkout, by its remote ``origin`` or else its first remote; None if it is not known.

    It is not known without a commit or a remote, for a remote without a known web page, or if git fails.
    """
    try:
        remotes = checkout.repository.remotes()
        url = _web_page(remotes.get("origin") or next(iter(remotes.values()), ""))
        commit = checkout.repository.head() if url else ""
        checkout.prefix.encode()
    except GitError as error:
        tell(".", f"no links to its files ({error})")
        return None
    except UnicodeEncodeError:  # a folder whose name is not Unicode has no address
        return None
    return Origin(url, commit, checkout.prefix) if commit else None


def _web_page(remote: str) -> str:
    """The https address of a remote, without user name and password; "" if it has none."""
    match = _HTTPS.fullmatch(remote) or _SSH.fullmatch(remote) or _SCP.fullmatch(remote)
    if match is None:
        return ""
    host, place = match[1].lower(), match[2].strip("/").removesuffix(".git")
    is_plain = _HOST.fullmatch(host) and _PLACE.fullmatch(place) and not {".", ".."} & set(place.split("/"))
    is_other = "bitbucket" in host and host != "bitbucket.org"  # a self-hosted Bitbucket has other addresses
    return f"https://{host}/{place}" if is_plain and not is_other else ""


def committed_blobs(checkout: Checkout, commit: str, tell: Tell) -> Mapping[str, str]:
    """Path, relative to the folder of ``checkout``, -> hash of the content that ``commit`` has there."""
    try:
        found = checkout.repository.blobs(commit, checkout.prefix)
    except GitError as error:
        tell(".", f"no links to its files ({error})")
        return {}
    return {path.decode("utf-8", "surrogateescape"): digest for path, digest in found.items()}
