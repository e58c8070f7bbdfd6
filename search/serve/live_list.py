"""The indexes of a list as a server answers from them: opened, and reopened when they are replaced, in a thread.

No request waits for an index to be opened, so that none shows that another repository, which its user may not see, has
changed. A list that cannot be read is not answered from: else one that takes a permission back would be ignored for a
mistake in it.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from search.files.stamps import Stamp, stamp_of
from search.index.freshness import CURRENT, Freshness
from search.index.index_file import Head, UnusableIndexError
from search.index.vectors import vectors_path
from search.repository_list import Member, Repository, RerankerOf, content_of, joined, open_member, parsed_list
from search.serve.live_index import NothingVisibleError, Opened, OpeningError

_ENGINES: Final = 64
"""Sets of visible repositories that are held ready."""
_BETWEEN: Final = 1.0
"""Seconds between looks."""


class LiveList:
    """Thread-safe, but for :meth:`look`, which one thread calls."""

    def __init__(
        self, path: Path, reranker_of: RerankerOf, tell: Callable[[str, str], None], *, by_user: bool = False
    ) -> None:
        """Read the list; no index is opened yet.

        Args:
            path: of the list.
            reranker_of: makes the reranker over the rows of an index.
            tell: called with the name of a repository, or the list, and what is wrong with it.
            by_user: whether answers are only for users whose groups are known.

        Raises:
            ValueError: the list cannot be used.
        """
        self.path, self.trouble = path, ""
        self._reranker_of, self._tell, self._by_user = reranker_of, tell, by_user
        self._content, self._mistake = content_of(path), ""
        self.listed = parsed_list(self._content, path)
        self._looked_at: dict[str, tuple[Path, Stamp, Stamp]] = {}
        self._members: dict[str, Member] = {}
        self._answered: tuple[Member, ...] | None = None
        self._engines: OrderedDict[tuple[Member, ...], Opened] = OrderedDict()
        self._joining, self._ended = threading.Lock(), threading.Event()

    def ready(self) -> Opened | None:
        """None: users may see different repositories."""
        return None

    def opened(self, groups: frozenset[str] | None = None) -> Opened:
        """All repositories that a user in ``groups`` may see, as one index.

        Raises:
            OpeningError: the indexes are not open yet, or the list cannot be read.
            NothingVisibleError: there is none that the user may see.
        """
        members = self._answered
        if not self.listed:
            raise OpeningError("the list of repositories cannot be read at present: ask whoever runs this server")
        if members is None:
            raise OpeningError
        if self._by_user:
            members = tuple(each for each in members if each.repository.visible_to(groups or frozenset()))
        if not members:
            raise NothingVisibleError
        with self._joining:
            if members not in self._engines:
                engine = joined(members)
                about = "\0".join(f"{each.repository.name}\0{each.content}" for each in members)
                name = hashlib.sha256(about.encode()).hexdigest()
                head = Head(len(engine.index), len(engine.index.files), "", 1, name)
                self._engines[members] = Opened(engine, head)
            self._engines.move_to_end(members)
            while len(self._engines) > _ENGINES:
                self._engines.popitem(last=False)
            return self._engines[members]

    def catch_up(self) -> Freshness:
        """Nothing: each repository is brought up to date by ``index --list``."""
        return CURRENT

    def watch(self) -> threading.Thread:
        """Look again and again, in a thread, until :meth:`close`."""
        thread = threading.Thread(target=self._watch, daemon=True, name="indexes")
        thread.start()
        return thread

    def close(self) -> None:
        """Look no more."""
        self._ended.set()

    def look(self) -> None:
        """Open what is new or was replaced; what cannot be opened is left out, or answered from as it was."""
        if not self._read():
            return
        troubles = 0
        for each in self.listed:
            self._reopen(each)
            troubles += each.name not in self._members
        names = {each.name for each in self.listed}
        for name in [name for name in self._looked_at if name not in names]:
            self._looked_at.pop(name)
            self._members.pop(name, None)
        members = tuple(self._members[each.name] for each in self.listed if each.name in self._members)
        if members != self._answered:
            self._answered = members
            with self._joining:
                for known in [known for known in self._engines if not {*known} <= {*members}]:
                    del self._engines[known]
        if not self._by_user:
            self.trouble = f"{troubles:,} of {len(names):,} repositories have no usable index." if troubles else ""

    def _watch(self) -> None:
        while not self._ended.is_set():
            try:
                self.look()
            except (UserError, OSError, MemoryError) as error:
                self._tell(str(self.path), str(error))
            self._ended.wait(_BETWEEN)

    def _read(self) -> bool:
        """Whether the list can be used, after reading it again: an edit in place may leave its size and times."""
        try:
            content = content_of(self.path)
            if content != self._content or self._mistake:
                self.listed, self._content, self._mistake = parsed_list(content, self.path), content, ""
        except ValueError as error:
            self.listed, self._answered = [], None
            if str(error) != self._mistake:
                self._mistake = str(error)
                self._tell(str(self.path), f"{error}; no question is answered until it is mended")
        return not self._mistake

    def _reopen(self, each: Repository) -> None:
        """Open the index of a repository if it is new or was replaced since the last look."""
        stamps = stamp_of(str(each.index), "target"), stamp_of(str(vectors_path(each.index)), "target")
        known = self._members.get(each.name)
        if known and known.repository.folder != each.folder:
            del self._members[each.name]
        elif known and known.repository != each:
            self._members[each.name] = replace(known, repository=each)
        if self._looked_at.get(each.name) == (each.folder, *stamps):
            return
        self._looked_at[each.name] = (each.folder, *stamps)
        try:
            self._members[each.name] = open_member(each, self._reranker_of)
        except (UnusableIndexError, OSError) as error:
            self._tell(each.name, str(error))
