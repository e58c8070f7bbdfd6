"""The index of a folder, as ``galm index`` makes it, and the search over it, as ``galm search`` does it."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from data_prep.errors import UserError, shown
from data_prep.files.access import check_file_place, named_path
from data_prep.installation import processors
from search.engine.certainty import Certainty
from search.engine.engine import Engine
from search.engine.expressions import Pattern
from search.engine.filters import known_path
from search.engine.show import result
from search.engine.signals import Reranker, Stage
from search.engine.usages import USUAL, find_usages
from search.index.build import refresh, sole_maker
from search.index.code_index import Index
from search.index.freshness import read_record
from search.index.index_file import OtherVersionError, UnusableIndexError
from search.index.updating import Updates
from search.index.vector_encoding import maker_of, update_vectors
from search.models.packed import reranker_maker
from search.opening import check_way, index_place
from search.serve.live_index import LiveIndex
from search.usages import as_record

if TYPE_CHECKING:
    from neural_code_search.scoring import CodeModel

_log = logging.getLogger(__name__)

_Path = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A method or type that answers a question. Texts are as in the files: escape untrusted ones before printing."""

    rank: int
    """From 1."""
    path: str
    """Path of its file, relative to the folder, with "/" as separator."""
    start_line: int
    """From 1, without the comment."""
    end_line: int
    """The last line."""
    name: str
    """With the enclosing types, separated by dots."""
    signature: str
    """Its declaration on one line."""
    documentation: str
    """First sentence of its comment, "" if it has none."""
    source: str
    """Its source; of a type or a file the first 40 lines."""
    score: float
    """Higher is better; scores of different questions are not comparable."""
    stage: Stage
    """What determined its rank: its name was asked for ("name"), or the model scored it ("model")."""
    license: str
    """SPDX expression, "" if not known."""
    url: str
    """Permanent link to its lines, "" if the file as it is now is not in a public commit."""
    copies: Sequence[Mapping[str, Any]] = ()
    """Where else its text is: ``path``, ``start_line`` and ``end_line``."""
    match_line: int = 0
    """The first line that a regular expression matches, from 1; 0 if none was asked for."""


class CodeIndex:
    """The index of a folder, ready to be searched; :func:`index_folder` and :func:`open_index` return one.

    Each question is of the files as they are: what has changed is read before it is answered, as far as half a second
    suffices, else in a thread, and :attr:`freshness` says which hits may be old.
    """

    def __init__(self, path: Path, model: "CodeModel | None" = None) -> None:
        """The index in the file ``path``, and the model that reranks what the first stage retrieves; None: the shipped.

        The shipped model needs no torch here.
        """
        self.path: Final = path
        """File of the index."""
        updates = Updates(path, None, _tell)
        self._live = LiveIndex(path, _reranker_of(model), updates=updates)
        self.freshness: str = ""
        """Which hits of the last answer may be old, and why, in one line; "" if none."""

    def _engine(self) -> Engine:
        """The engine over the files as they are, as far as they could be read in time."""
        self.freshness = self._live.catch_up().line
        return self._live.opened().engine

    def __len__(self) -> int:
        """Methods and types."""
        return len(self._engine().index)

    @property
    def files(self) -> Sequence[str]:
        """Paths of the files in the folder, in order."""
        return [file.path for file in self._engine().index.files]

    def search(
        self, question: str, top: int = 10, *, path: str = "", by_file: bool = False, regex: str = ""
    ) -> list[SearchHit]:
        """The best methods and types for a question, best first; fewer than ``top`` if there are not as many.

        Args:
            question: in words, such as "read all lines of a file", or a name, such as "JsonReader.nextName"; perhaps
                with filters, such as "path:src/ -lang:go".
            top: how many.
            path: a pattern that the paths of hits must match, such as ``src/*``; empty: all.
            by_file: only the best of each file.
            regex: an expression of RE2 that their text must match; the question may then be empty. Empty: none.

        Raises:
            UserError: the question is empty, longer than 2,000 characters or without words, no file matches ``path``,
                ``regex`` is no expression, or ``top`` is below 1.
        """
        if top < 1:
            raise UserError(f"expected top to be 1 or more, got {top}")
        pattern, engine = Pattern(regex, self._root) if regex else None, self._engine()
        inside = known_path(engine.index, path)
        found = engine.search(question, top=top, path=inside, by_file=by_file, pattern=pattern)
        results = [result(engine, question, hit, explain=False) for hit in found]
        names = [each.name for each in fields(SearchHit)]
        return [SearchHit(**{name: told[name] for name in names if name in told}) for told in results]

    def usages(self, name: str, top: int = USUAL, *, path: str = "") -> dict[str, Any]:
        """Who calls or mentions a name, by name and not by type, with the fields of ``search --usages --json``.

        Args:
            name: an identifier, or "Type.method" or "module.function"; perhaps with filters, such as "test:no".
            top: how many usages.
            path: as for :meth:`search`.

        Raises:
            UserError: it is no name, no file matches ``path``, or ``top`` is below 1.
        """
        if top < 1:
            raise UserError(f"expected top to be 1 or more, got {top}")
        engine = self._engine()
        return as_record(engine.index, find_usages(engine, name, self._root, path=known_path(engine.index, path)), top)

    @property
    def _root(self) -> Path | None:
        """The indexed folder, if it is known."""
        record = read_record(self.path)
        return record.folder if record else None

    def certainty(self, question: str, *, path: str = "", by_file: bool = False) -> Certainty:
        """How certain it is that the hits of :meth:`search` answer a question: strong, weak or none, and why.

        Args:
            question: in words, or a name.
            path: as for :meth:`search`.
            by_file: as for :meth:`search`.

        Raises:
            UserError: the question is empty, longer than 2,000 characters or without words, or no file matches
                ``path``.
        """
        engine = self._engine()
        inside = known_path(engine.index, path)
        return engine.certainty(question, engine.search(question, path=inside, by_file=by_file))


def index_folder(
    folder: _Path, *, out: _Path | None = None, model: "CodeModel | None" = None, processes: int = 0
) -> CodeIndex:
    """Make the index of a folder of source files, or bring it up to date, and open it.

    Only files that have changed are read. Whatever cannot be read is logged as a warning and left out.

    Args:
        folder: indexed with all its subfolders, except what its ignore files name.
        out: file of the index; None: one in the user's cache folder, as with the command line.
        model: the reranker; None: the shipped model.
        processes: processes that read files; 0: one per CPU core.

    Raises:
        UserError: there is no such folder, no source file in it, ``model`` is none, or no file can be written to
            ``out``.
        OSError: the index cannot be written; an older one is left unchanged.
    """
    root = named_path(os.fspath(folder))
    if not root.is_dir():
        raise UserError(f"there is no folder {root}")
    if processes < 0:
        raise UserError(f"expected processes to be 0 or more, got {processes}")
    _reranker_of(model)
    path = index_place(root) if out is None else named_path(os.fspath(out))
    check_way(root, path)
    check_file_place(path, "out")
    with sole_maker(path, _log.info):
        refresh(root, path, processes=processes or processors(), tell=_tell)
        update_vectors(maker_of(path) or "", path, _tell)
    return CodeIndex(path, model)


def open_index(path: _Path, *, model: "CodeModel | None" = None) -> CodeIndex:
    """Open an index; one of a folder that is damaged or of another version is made again.

    Args:
        path: the file of an index, or a folder that :func:`index_folder` or the command line has indexed.
        model: the reranker; None: the shipped model.

    Raises:
        UserError: there is no index, or it cannot be used.
    """
    named = named_path(os.fspath(path))
    found = index_place(named) if named.is_dir() else named
    if not found.exists():
        raise UserError(f"there is no index of {named}: make one with index_folder")
    try:
        return CodeIndex(found, model)
    except UnusableIndexError as error:
        if not named.is_dir():
            raise
        what = "of another version of this program" if isinstance(error, OtherVersionError) else "damaged"
        _log.warning("the index of %s is %s: it is made again", named, what)
        return index_folder(named, model=model)


def _reranker_of(model: "CodeModel | None") -> Callable[[Index], Reranker | None]:
    """What makes the reranker of a model; None: the shipped one.

    Raises:
        UserError: it is no model, but perhaps the place of one.
    """
    if model is not None and not hasattr(model, "reranker"):
        raise UserError(f"model is what load_model returns, not {shown(model)}")
    return model.reranker if model else reranker_maker("")


def _tell(path: str, trouble: str) -> None:
    _log.warning("%s: %s", path, trouble)
