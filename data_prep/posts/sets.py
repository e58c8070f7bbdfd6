"""Questions, and the sets of SearchBySnippet: to evaluate, pre-train, train and develop (arXiv 2305.11625, section 3).

A query is the code and the errors of a question. In the evaluation set it is the question A of a duplicate link A -> B,
and the document sought is B with its accepted answer; training pairs a question's own code and errors with its own
title and accepted answer. Nothing of the evaluation set, neither A nor B, is trained on.

*Departures*: the paper does not print the rules for several originals (here all that have an accepted answer are
relevant) and for development sets. Linked but not duplicate questions (LinkTypeId 1) are no part of the paper's data: a
share of them is the ``duplicate`` development set here, the rest are noisy pairs to pre-train on, if that is asked for.

Their options are section ``data`` of ``bash run.sh posts``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeVar

import numpy as np

from data_prep.errors import SEED, UserError, check_bounds, real, whole

ErrorRule = Literal["faithful", "strict"]


@dataclass(frozen=True, slots=True)
class PostsConfig:
    """Which questions of a Stack Exchange dump are kept, and how their posts are read and divided."""

    path: tuple[str, ...] = ()
    """Dumps: folders with Posts.xml and PostLinks.xml (plain, .gz, or in .7z archives) or a site's .7z file."""
    tag: str = "python"
    """Keep questions with this tag, or one that continues it after a hyphen (python-3.x); empty: all questions."""
    since: str = ""
    """Keep questions created on this day or later, such as 2014-01-01 (the paper's); empty: no limit."""
    until: str = ""
    """Keep questions created on this day or earlier, such as 2021-12-31 (the paper's); empty: no limit."""
    error_rule: ErrorRule = "faithful"
    """A code block is an error: `faithful`, if it contains "Error" (the paper); `strict`, if it is a traceback."""
    inline: bool = True
    """Whether code inside a sentence counts as a code block (the paper: every code element); false: only blocks."""
    min_chars: int = 0
    """Code elements with fewer characters are only text (the paper: 0)."""
    dev_share: float = 0.05
    """Share of the training questions held out as the same-post development set."""
    dev_queries: int = 2000
    """Most queries of each development set."""
    linked_share: float = 1.0
    """Share of the linked, not duplicate, questions (LinkTypeId 1) that form the duplicate development set; the rest
    are for --loop.pretrain=linked."""
    seed: int = 0
    """Seed of the development sets."""
    root: str = "data"
    """Folder of the prepared data sets."""

    def __post_init__(self) -> None:
        section = "data" if type(self) is PostsConfig else ""  # other commands have the same options without it
        flag = f"--{section}." if section else "--"
        check_bounds(self, _BOUNDS, section)
        for name in ("since", "until"):
            if (day := getattr(self, name)) and not _DAY.fullmatch(day):
                raise UserError(f"{flag}{name} takes a day such as 2014-01-01, not {day:.40}")
        if self.since and self.until and self.since > self.until:
            raise UserError(f"{flag}since={self.since} is after {flag}until={self.until}")
        if not self.root:
            raise UserError(f"{flag}root takes a folder for the prepared data sets, not nothing")

    def has_tag(self, tags: tuple[str, ...]) -> bool:
        """Whether a question with these tags is kept."""
        return not self.tag or self.tag in tags or any(each.startswith(f"{self.tag}-") for each in tags)

    def in_time(self, created: str) -> bool:
        """Whether a question created at this ISO time is kept."""
        return (not self.since or created[:10] >= self.since) and (not self.until or created[:10] <= self.until)


_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_BOUNDS: Final = {
    "min_chars": whole(0, 1_000_000),
    "dev_share": real(0, 0.5),
    "dev_queries": whole(1, 1_000_000),
    "linked_share": real(0, 1),
    "seed": SEED,
}


Drawn = TypeVar("Drawn")
Links = Literal["duplicate_of", "linked_to"]


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who wrote a post, and under which licence it may be shown."""

    author: str
    url: str
    licence: str


NOBODY: Final = Attribution("", "", "")
"""Of an answer that is not there."""


@dataclass(frozen=True, slots=True)
class Post:
    """A question; links are ids of the same site."""

    site: str
    id: int
    title: str
    tags: tuple[str, ...]
    body: str  # HTML
    text: str  # the body without markup, including code
    prose: str  # the same without blocks of code
    code: str
    error: str
    keyword: tuple[str, ...]
    best_answer: str  # text of the accepted answer, "" if there is none
    accepted_answer_id: int | None
    duplicate_of: tuple[int, ...]
    linked_to: tuple[int, ...]
    creation_date: str
    question_by: Attribution
    answer_by: Attribution

    @property
    def key(self) -> str:
        """Unique over sites."""
        return f"{self.site}/{self.id}"

    @property
    def has_query(self) -> bool:
        """Whether there is code or an error to search with."""
        return bool(self.code or self.error)


@dataclass(frozen=True, slots=True)
class Query:
    """A question whose code and errors are the query, and the posts that answer it; both as rows of the posts."""

    row: int
    relevant: tuple[int, ...]  # the originals, first link first


@dataclass(frozen=True)
class PostSets:
    """Rows of the posts in each set."""

    posts: Sequence[Post]
    config: PostsConfig

    @cached_property
    def corpus(self) -> tuple[int, ...]:
        """Questions with an accepted answer: the documents of the ``full`` setting."""
        return tuple(row for row, post in enumerate(self.posts) if post.best_answer)

    @cached_property
    def evaluation(self) -> tuple[Query, ...]:
        """Duplicates with code or an error whose original has an accepted answer."""
        return self._linked("duplicate_of", answered=True)

    @cached_property
    def closed_corpus(self) -> tuple[int, ...]:
        """The relevant documents only: the ``closed`` setting."""
        return tuple(sorted({row for query in self.evaluation for row in query.relevant}))

    @cached_property
    def held_out(self) -> frozenset[int]:
        """Every question of the evaluation set, on either side of a link."""
        originals = (self._originals(self.posts[query.row], "duplicate_of") for query in self.evaluation)
        return frozenset(query.row for query in self.evaluation).union(*originals)

    @cached_property
    def pretraining(self) -> tuple[tuple[int, int], ...]:
        """Duplicates with code or an error and their originals, where these have no accepted answer."""
        return tuple(self._pairs("duplicate_of", answered=False))

    @cached_property
    def linked_pretraining(self) -> tuple[tuple[int, int], ...]:
        """Noisy pairs: linked questions, with or without an accepted answer, but for the development set's."""
        pairs = [*self._pairs("linked_to", answered=False)]
        pairs += self._pairs("linked_to", answered=True)
        return tuple(pair for pair in pairs if not self._dev_rows & {*pair})

    @cached_property
    def dev_duplicates(self) -> tuple[Query, ...]:
        """Linked questions with an accepted answer: the development set that is most like the evaluation set."""
        found = [
            query
            for query in self._linked("linked_to", answered=True)
            if not self.held_out & {query.row, *query.relevant}
        ]
        return tuple(self._drawn(found, min(self.config.dev_queries, round(len(found) * self.config.linked_share)), 1))

    @cached_property
    def _dev_rows(self) -> frozenset[int]:
        return frozenset(row for query in self.dev_duplicates for row in (query.row, *query.relevant))

    @cached_property
    def _trainable(self) -> tuple[int, ...]:
        used = self.held_out | self._dev_rows
        return tuple(row for row in self.corpus if self.posts[row].has_query and row not in used)

    @cached_property
    def dev_same_post(self) -> tuple[int, ...]:
        """Training questions held out: their query is sought in their own title and accepted answer."""
        count = min(self.config.dev_queries, round(len(self._trainable) * self.config.dev_share))
        return tuple(sorted(self._drawn(self._trainable, count, 0)))

    @cached_property
    def training(self) -> tuple[int, ...]:
        """Questions with code or an error and an accepted answer, apart from evaluation and development sets."""
        held = {*self.dev_same_post}
        return tuple(row for row in self._trainable if row not in held)

    @cached_property
    def duplicates_of(self) -> dict[int, frozenset[int]]:
        """Row -> rows of questions that are linked to it as duplicates, in either direction."""
        found: dict[int, set[int]] = {}
        for row, post in enumerate(self.posts):
            for other in self._originals(post, "duplicate_of"):
                found.setdefault(row, set()).add(other)
                found.setdefault(other, set()).add(row)
        return {row: frozenset(others) for row, others in found.items()}

    @cached_property
    def threads(self) -> dict[int, int]:
        """Row -> the first row of its thread: of the questions that duplicate links join, directly or over others."""
        found: dict[int, int] = {}
        for first in sorted(self.duplicates_of):
            waiting = [first]
            while waiting:
                row = waiting.pop()
                if row not in found:
                    found[row] = first
                    waiting += self.duplicates_of[row]
        return found

    def counts(self) -> dict[str, int]:
        """The size of each set."""
        return {
            "questions": len(self.posts),
            "questions with code": sum(bool(post.code) for post in self.posts),
            "questions with error": sum(bool(post.error) for post in self.posts),
            "questions with code and error": sum(bool(post.code and post.error) for post in self.posts),
            "questions with code or error": sum(post.has_query for post in self.posts),
            "questions with best_answer": len(self.corpus),
            "evaluation queries": len(self.evaluation),
            "pre-training pairs": len(self.pretraining),
            "linked pairs to pre-train on": len(self.linked_pretraining),
            "training pairs": len(self.training),
            "same-post development queries": len(self.dev_same_post),
            "duplicate development queries": len(self.dev_duplicates),
        }

    @cached_property
    def _rows(self) -> dict[tuple[str, int], int]:
        return {(post.site, post.id): row for row, post in enumerate(self.posts)}

    def _originals(self, post: Post, links: Links) -> list[int]:
        """The rows of the posts that it links to, without those that are not kept."""
        rows = (self._rows.get((post.site, other)) for other in getattr(post, links))
        return [row for row in rows if row is not None]

    def _linked(self, links: Links, *, answered: bool) -> tuple[Query, ...]:
        found = []
        for row, post in enumerate(self.posts):
            if post.has_query:
                of = tuple(
                    other for other in self._originals(post, links) if bool(self.posts[other].best_answer) is answered
                )
                found += [Query(row, of)] if of else []
        return tuple(found)

    def _pairs(self, links: Links, *, answered: bool) -> Iterator[tuple[int, int]]:
        """Pairs of a question and one that it links to, apart from the evaluation set."""
        for query in self._linked(links, answered=answered):
            for other in query.relevant:
                if not self.held_out & {query.row, other}:
                    yield query.row, other

    def _drawn(self, of: Sequence[Drawn], count: int, stream: int) -> list[Drawn]:
        order = np.random.default_rng((self.config.seed, stream)).permutation(len(of))[:count]
        return [of[place] for place in sorted(order.tolist())]
