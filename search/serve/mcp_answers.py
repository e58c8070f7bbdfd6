"""The forms of the answers of an MCP server's tools, of which its clients get schemas."""

from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic takes that of typing from Python 3.12 on


class Copy(TypedDict):
    """A place with the same text."""

    path: str
    start_line: int
    end_line: int


class Result(TypedDict):
    """A hit."""

    rank: int
    path: Annotated[str, Field(description="Relative to folder.")]
    start_line: Annotated[int, Field(description="From 1.")]
    end_line: NotRequired[int]
    match_line: NotRequired[Annotated[int, Field(description="The first line that regex matches.")]]
    name: NotRequired[Annotated[str, Field(description="With the enclosing types.")]]
    signature: NotRequired[str]
    documentation: NotRequired[Annotated[str, Field(description="The first sentence of its comment.")]]
    license: NotRequired[str]
    url: NotRequired[str]
    copy: NotRequired[Annotated[str, Field(description="exact or near: it is a copy of what was asked about.")]]
    changed: NotRequired[Annotated[bool, Field(description="Its file has changed since: read it again.")]]
    copies: NotRequired[Annotated[list[Copy], Field(description="Other places with the same text.")]]
    more_copies: NotRequired[int]
    source: NotRequired[str]
    whole: NotRequired[Annotated[bool, Field(description="Whether source is all of it; else use read_unit.")]]


class CertaintyRecord(TypedDict):
    """How certain an answer is."""

    level: Annotated[str, Field(description="strong; weak: perhaps no hit answers; none: nothing was found.")]
    text: str
    absent: NotRequired[Annotated[list[str], Field(description="Words of the question that no file has.")]]
    nearest: NotRequired[Annotated[list[str], Field(description="Names that exist, like one that does not.")]]


class Answer(TypedDict):
    """What is said of each answer."""

    note: NotRequired[str]
    folder: NotRequired[Annotated[str, Field(description="Absolute path that the paths are relative to.")]]
    notice: NotRequired[Annotated[str, Field(description="Why the answer may lack something or be old.")]]


class Hits(Answer):
    """The answer of search and related."""

    certainty: NotRequired[CertaintyRecord]
    results: list[Result]
    left_out: Annotated[int, Field(description="Hits that did not fit into the budget.")]
    kind: NotRequired[Annotated[str, Field(description="What the question was: trace, code or place.")]]
    language: NotRequired[str]
    place: NotRequired[Annotated[dict[str, Any], Field(description="The unit that was asked about.")]]
    error: NotRequired[Annotated[str, Field(description="The error of a stack trace.")]]
    frames: NotRequired[int]
    frames_in_index: NotRequired[int]
    frames_not_read: NotRequired[Annotated[int, Field(description="Lines that look like frames, but are not read.")]]
    innermost_frames: NotRequired[
        Annotated[list[dict[str, Any]], Field(description="Functions of the folder in the trace, innermost first.")]
    ]


class Used(Answer):
    """The answer of usages."""

    certainty: NotRequired[CertaintyRecord]
    definitions: NotRequired[Annotated[list[dict[str, Any]], Field(description="Where it is defined, the best first.")]]
    narrowed: NotRequired[Annotated[str, Field(description="By what usages of Type.method were told apart.")]]
    count: NotRequired[Annotated[int, Field(description="All usages.")]]
    calls: NotRequired[Annotated[int, Field(description="Those that are calls.")]]
    file_count: NotRequired[int]
    files: Annotated[
        list[dict[str, Any]],
        Field(description="By file, tests last: path, and usages with line, column, kind, text and the name around."),
    ]
    left_out: Annotated[int, Field(description="Usages that are not shown.")]


class Read(Answer):
    """The answer of read_unit."""

    path: NotRequired[str]
    start_line: int
    end_line: int
    name: NotRequired[str]
    signature: NotRequired[str]
    documentation: NotRequired[str]
    license: NotRequired[str]
    url: NotRequired[str]
    changed: NotRequired[bool]
    source: str
    whole: bool


class Explained(Answer):
    """The answer of explain."""

    path: NotRequired[str]
    name: NotRequired[str]
    rank: Annotated[int | None, Field(description="null: the place is no hit.")]
    score: NotRequired[float]
    bm25: NotRequired[float]
    model: NotRequired[float | None]
    vectors: NotRequired[float | None]
    file: NotRequired[float]
    stage: NotRequired[str]
    words: list[dict[str, Any]]
    left_out: int


ANSWERS: Final = {"search": Hits, "related": Hits, "usages": Used, "read_unit": Read, "explain": Explained}
