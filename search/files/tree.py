"""The source files of a folder, found by a walk and, in a git checkout, by git; and those that its commit has not.

The walk skips hidden folders and respects ``.gitignore`` and ``.ignore`` files as git does; inside a checkout also
those above the folder, the repository's ``info/exclude`` and, as git does, the user's ``git/ignore``. What git tracks
is found regardless of these. ``.galmignore`` files, of the same form, always apply. No link is ever followed, nothing
is written, and nothing that the folder names is run (:mod:`data_prep.sources.git_repository`).
"""

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from data_prep.errors import UserError
from data_prep.files.access import home_of, raise_if_passing, read_regular, reason
from data_prep.languages.registry import language_of
from data_prep.records import LARGEST_SOURCE
from data_prep.sources.git_repository import GitRepository, repository_of
from data_prep.sources.own_git import GitError
from search.files.ignore_files import IgnoreFiles, Patterns, Tell, seen_from
from search.files.stamps import Found, Seen, modified_at
from search.files.unread import Unread
from search.files.walk import IGNORE_FILE, Submodules, Waiting, Walk, as_texts

if TYPE_CHECKING:
    from search.index.code_index import Index, IndexedFile

_TEST: Final = re.compile(
    r"(?:^|/)(?:test|tests|testing|androidtest|test-src|testsrc|__tests__|specs?|benchmarks?|benches|jmh|regress"
    r"|unittests?|testdata|test-?fixtures|e2e|cypress|(?:\w+[-_])*"
    r"(?:unit|integration|functional|acceptance|end-to-end|e2e|android)[-_]?tests?"
    r"|[\w.-]*[._-]tests|[\w.-]+\.test)/|^t/"
    r"|(?:^|/)(?:test_[^/]*(?!\.bash$)|[^/]*_(?:unit)?tests?|tst_[^/]*|tests)\.\w+$|[.-](?:test|spec)s?\.\w+$",
    re.IGNORECASE,
)
_NAMED_TEST: Final = re.compile(
    r"(?:^|/)[\w.-]*[a-z\d.](?:Tests?|TestFixtures)/"
    r"|[a-z\d](?:Tests?|TestCase)\.(?:cs|fs|vb|kts?|scala|swift|php|groovy|dart|cpp|cc|cxx|mm?)$"
)
"""The same by a word of a name in capitals and small letters: ``commonTest/``, ``Shop.CoreTests/``, ``CartTest.kt``."""


def read_source(root: Path, found: Found) -> bytes:
    """The bytes of a found file, cut to one more than the parser's limit.

    Raises:
        OSError: the file cannot be read, or has become a link.
        UserError: it has changed since it was found.
    """
    data, status = read_regular(root / found.path, LARGEST_SOURCE + 1)
    if (status.st_size, modified_at(status)) != (found.size, found.modified):
        raise UserError("changed while it was read")
    return data


def blob_names(data: bytes) -> str:
    """The git blob hashes of a file with these bytes, by SHA-1 and SHA-256, as it is and with normalised line ends."""
    contents = [data, data.replace(b"\r\n", b"\n")] if b"\r\n" in data else [data]
    return " ".join(_blob(name, content) for content in contents for name in ("sha1", "sha256"))


def _blob(algorithm: str, content: bytes) -> str:
    found = hashlib.new(algorithm, b"blob %d\0" % len(content), usedforsecurity=False)
    found.update(content)
    return found.hexdigest()


class Checkout(NamedTuple):
    """The git checkout that contains a folder."""

    repository: GitRepository
    prefix: str  # of the folder inside of it, "/" at its end; "" at the top


def checkout_of(root: Path, tell: Tell) -> Checkout | None:
    """The checkout that contains ``root``; None if there is none, or it cannot be read."""
    place = Path(os.path.realpath(root))
    try:
        repository = repository_of(place)
    except GitError as error:
        tell(".", f"its git repository cannot be read ({error}): files are found by a walk alone, without links")
        return None
    if repository is None:
        return None
    prefix = place.relative_to(repository.top).as_posix()
    return Checkout(repository, "" if prefix == "." else f"{prefix}/")


def _check_readable(root: Path) -> None:
    try:
        os.lstat(f"{root}/.")
        os.scandir(root).close()
    except PermissionError as error:  # as if it were empty, an index of it would lose all its files
        raise UserError(f"{root} cannot be read ({reason(error)}): chmod u+rx {root} lets you") from error
    except OSError as error:
        raise_if_passing(error)


def found_files(
    root: Path,
    suffixes: Collection[str],
    tell: Tell,
    checkout: Checkout | None,
    unread: Unread | None = None,
    *,
    submodules: bool = False,
    seen: Seen | None = None,
) -> list[Found]:
    """The regular files in ``root`` that end in one of ``suffixes`` (".java") and scripts, sorted by path.

    Args:
        root: the folder.
        suffixes: of file names.
        tell: called with a path and why it is left out.
        checkout: the one that contains ``root``, as found by :func:`checkout_of`.
        unread: where what is not read is counted; it also says whether folders of others' code are read.
        submodules: whether the submodules of the checkout are looked into.
        seen: is told of all that decides which files are found.

    Raises:
        UserError: ``root`` is missing, not a folder, or may not be read.
    """
    if not root.is_dir():
        raise UserError(
            f"{root} {'is no folder' if os.path.lexists(root) else 'does not exist'}: expected a folder of sources"
        )
    _check_readable(root)
    ends, tell = tuple(suffixes), lru_cache(maxsize=None)(tell)  # without repetitions
    seen, unread = seen or Seen(root), unread if unread is not None else Unread()
    seen.look_for_checkout()
    ignored = IgnoreFiles(tell, seen.look)
    inside = Submodules(root, checkout.repository.top, checkout.prefix, seen) if checkout else None
    walk = Walk(
        root, ends, ignored, unread, tell, seen, in_git=checkout is not None, submodules=inside, enters=submodules
    )
    paths = [*walk.files(Waiting("", _above(checkout, ignored)))]
    if checkout and walk.left_out:
        seen.look(str(checkout.repository.own / "index"), "target")
        paths += _of_git(root, checkout, walk, ignored, unread, tell, seen)
    found, start = [], f"{root}/"
    for path in paths:
        try:
            status = os.lstat(start + path)
        except FileNotFoundError:  # deleted, but still in git's index
            continue
        except OSError as error:
            raise_if_passing(error)
            tell(path, reason(error))
            continue
        if stat.S_ISREG(status.st_mode):
            found.append(Found(path, status.st_size, modified_at(status)))
        else:
            unread.count(path, link=stat.S_ISLNK(status.st_mode))
    found.sort()
    return found


def _of_git(
    root: Path, checkout: Checkout, walk: Walk, ignored: IgnoreFiles, unread: Unread, tell: Tell, seen: Seen
) -> Iterator[str]:
    """What git tracks of what a walk left out; a folder like one of built files is walked if git tracks some of it."""
    names = _tracked(checkout, walk.left_out, tell)
    paths = sorted(as_texts(names, tell))
    known = [*_without_ignored(root, paths, ignored, tell, seen)]
    own = [path for path in walk.doubted if any(each.startswith(f"{path}/") for each in known)]
    walked = {each for path in own for each in walk.files(Waiting(path, walk.doubted[path]), trusting=True)}
    unread.folders[:] = [path for path in unread.folders if path not in own]
    below = tuple(f"{path}/" for path in own)
    yield from walked
    yield from walk.tracked([each for each in known if each not in walked], below)


def _tracked(checkout: Checkout, left_out: Sequence[str], tell: Tell) -> list[bytes]:
    """The tracked files among ``left_out``: files, and folders, which end with "/"."""
    try:
        names = checkout.repository.tracked([checkout.prefix + path for path in left_out])
    except GitError as error:
        tell(".", f"git does not list its files ({error}); found by a walk alone")
        return []
    start = len(os.fsencode(checkout.prefix))
    return [name[start:] for name in names]


def _above(checkout: Checkout | None, ignored: IgnoreFiles) -> Patterns:
    """The patterns from above a folder of a checkout; none if they exclude the whole folder."""
    if checkout is None:
        return ()
    top, prefix = checkout.repository.top, checkout.prefix
    patterns = ignored.patterns_of(checkout.repository.shared, "", ("info/exclude",), follow=True) + _of_user(ignored)
    folder = ""
    for part in prefix.split("/")[:-1]:
        patterns = ignored.patterns_of(top, folder, (".gitignore",)) + patterns
        folder = f"{folder}/{part}".lstrip("/")
        if ignored.leaves_out(patterns, f"{folder}/"):
            return ()
    return seen_from(patterns, prefix)


def _of_user(ignored: IgnoreFiles) -> Patterns:
    """The user's global ignore patterns for git."""
    try:
        return ignored.patterns_of(home_of("XDG_CONFIG_HOME"), "", ("git/ignore",), follow=True)
    except UserError:  # there is no home folder
        return ()


def _without_ignored(root: Path, paths: Sequence[str], ignored: IgnoreFiles, tell: Tell, seen: Seen) -> Iterator[str]:
    """Those of git's paths that no ``.galmignore`` file excludes and that are not below a link."""
    known: dict[str, Patterns | None] = {"": ignored.patterns_of(root, "", (IGNORE_FILE,))}
    for folder, inside in groupby(paths, lambda path: path.rpartition("/")[0]):
        unknown, above = [], folder
        while above not in known:
            unknown.append(above)
            above = above.rpartition("/")[0]
        for each in reversed(unknown):
            patterns = known[each.rpartition("/")[0]]
            known[each] = None
            if patterns is not None:
                seen.look(f"{root}/{each}")
            if patterns is not None and _is_folder(root, each, tell) and not ignored.leaves_out(patterns, f"{each}/"):
                known[each] = ignored.patterns_of(root, each, (IGNORE_FILE,)) + patterns
        patterns = known[folder]
        if patterns is not None:
            yield from ignored.kept(patterns, list(inside))


def _is_folder(root: Path, folder: str, tell: Tell) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(f"{root}/{folder}").st_mode)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise_if_passing(error)
        tell(folder, reason(error))
        return False


def is_test(path: str) -> bool:
    """Whether a file is a test, by its folder or its name."""
    if _TEST.search(path) or _NAMED_TEST.search(path):
        return True
    language = language_of(path)
    return language is not None and re.search(rf"(?:{language.test_files})\.\w+$", f"/{path}") is not None


_COMPARED: Final = 64 << 20
"""Bytes of a file whose content is compared with that of a commit."""


def uncommitted_files(index: "Index", root: Path | None) -> frozenset[str]:
    """The paths of the indexed files whose content the commit of their folder has not, as they are now: ``--changed``.

    Args:
        index: of the folder, or of several repositories.
        root: the folder; None: not known, or those of several repositories.

    Raises:
        UserError: a folder is in no git checkout, or that cannot be read.
    """
    by_folder: dict[Path, list[tuple[str, IndexedFile]]] = {}
    for place, shown in enumerate(index.files):
        folder, file = index.source(place, root)
        if folder is None:
            raise UserError("--changed needs the indexed folder: ask in it, or leave out --index")
        by_folder.setdefault(folder, []).append((shown.path, file))
    found = set[str]()
    for folder, files in by_folder.items():
        known = _committed(folder)
        found |= {path for path, file in files if known.get(os.fsencode(file.path), "-") not in _blobs(folder, file)}
    return frozenset(found)


def _committed(root: Path) -> Mapping[bytes, str]:
    """Path inside of a folder -> hash of the content that the commit of its checkout has there."""
    troubles: list[str] = []
    checkout = checkout_of(root, lambda _, trouble: troubles.append(trouble))
    if checkout is None:
        raise UserError(f"--changed compares with git: {troubles[0] if troubles else f'{root} is in no git checkout'}")
    try:
        commit = checkout.repository.head()
        return checkout.repository.blobs(commit, checkout.prefix) if commit else {}
    except GitError as error:
        raise UserError(f"--changed compares with git, which cannot read the commit of {root}: {error}") from error


def _blobs(root: Path, file: "IndexedFile") -> Sequence[str]:
    """The hashes of a file as it is now: those of the index, if it has not changed since."""
    try:
        status = os.lstat(root / file.path)
        if file.blobs and (status.st_size, modified_at(status)) == (file.size, file.modified):
            return file.blobs.split()
        return blob_names(read_regular(root / file.path, _COMPARED)[0]).split()
    except OSError as error:
        raise_if_passing(error)
        return ()
