"""The record of a question with its accepted answer and its links, and who wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.json_text import checked_record

Row = Mapping[str, str]
"""A row of a table of a dump: attribute -> value; a NULL column is an absent attribute."""

_LICENCES: Final = (("2018-05-02", "CC BY-SA 4.0"), ("2011-04-08", "CC BY-SA 3.0"), ("", "CC BY-SA 2.5"))
"""Licences of Stack Exchange by the day from which they are valid, for dumps without ContentLicense."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who wrote a post, and under which licence it may be shown."""

    author: str
    url: str
    licence: str


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

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Post":
        """The post of a JSON object with its fields, without its HTML.

        Raises:
            UserError: it is no such record.
        """
        try:
            lists = {name: tuple(content[name]) for name in ("tags", "keyword", "duplicate_of", "linked_to")}
            by = {name: checked_record(Attribution, content[name]) for name in ("question_by", "answer_by")}
            return cls(**{**content, **lists, **by, "body": ""})
        except (TypeError, KeyError) as error:
            raise UserError(f"expected the record of a post ({error})") from error


NOBODY: Final = Attribution("", "", "")
"""Of an answer that is not there."""


def licence_of(row: Row, site_licence: str) -> str:
    """The licence of a post of a dump."""
    if stated := row.get("ContentLicense") or site_licence:
        return stated
    created = row.get("CreationDate", "")
    return next(name for day, name in _LICENCES if created >= day)


def author_of(row: Row) -> str:
    """The author as a dump names them: a display name for deleted accounts, otherwise a number."""
    if name := row.get("OwnerDisplayName"):
        return name
    return f"user {row['OwnerUserId']}" if row.get("OwnerUserId") else "unknown"
