"""Converts the files of each origin to pairs, as in the release and, for CoSQA, also as the paper describes.

Texts and codes given as tokens are joined by one space. A pair that contains the separator is dropped.
"""

import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.gencodesearchnet.python_names import code_tokens, normalise, parses
from data_prep.gencodesearchnet.records import SEPARATOR, Example, RawFile, Row, example, source_rows

_HERE: Final = "data_prep.gencodesearchnet.formatters"
FORMATTERS: Final[dict[str, str]] = {
    "raw": "data_prep.gencodesearchnet.records:read_raw",
    "csn": f"{_HERE}:csn",
    "advtest": f"{_HERE}:advtest",
    "cosqa_fixed": f"{_HERE}:cosqa_fixed",
    "cosqa_released": f"{_HERE}:cosqa_released",
    "statcodesearch": f"{_HERE}:statcodesearch",
    "pairs": f"{_HERE}:pairs",
}
"""Origin -> function from a file to its pairs and the counts of dropped rows."""

INSIDE: Final = "the separator inside"
_SOURCE: Final = ("function", "code", "original_string")
_SPECIAL: Final = re.compile(r"<img\b|https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The properties of a documented Python function that AdvTest's filters use."""

    documentation: str
    words: Sequence[str]  # of the documentation
    source: str


ADVTEST_FILTERS: Final[dict[str, Callable[[Candidate], bool]]] = {
    "documentation under 3 words": lambda candidate: len(candidate.words) < 3,
    "documentation over 256 words": lambda candidate: len(candidate.words) > 256,
    "documentation with an image or a link": lambda candidate: _SPECIAL.search(candidate.documentation) is not None,
    "non-English documentation": lambda candidate: any(
        sign.isalpha() and not sign.isascii() for sign in candidate.documentation
    ),
    "code that does not parse": lambda candidate: not parses(candidate.source),
}
"""Reasons to drop a CodeSearchNet function (Lu et al. 2021); it is counted under the first that applies."""


def reason_to_drop(candidate: Candidate) -> str | None:
    """The first of ADVTEST_FILTERS that applies; None if the function is kept."""
    return next((reason for reason, holds in ADVTEST_FILTERS.items() if holds(candidate)), None)


def formatter(name: str) -> Callable[..., RawFile]:
    """The function of FORMATTERS.

    Raises:
        UserError: there is no such origin.
    """
    if name not in FORMATTERS:
        raise UserError(f"there is no origin {name!r}; there are {', '.join(FORMATTERS)}")
    found: Any = pkgutil.resolve_name(FORMATTERS[name])
    return found


def csn(path: Path) -> RawFile:
    """CodeSearchNet's test rows: tokens of the documentation and of the code.

    Fields of the original archives (``docstring_tokens``) or of the later form (``func_documentation_tokens``); rows
    of another split are dropped.
    """
    return _format(source_rows(path), _csn)


def advtest(path: Path, *, normalise: bool = False) -> RawFile:
    """AdvTest's rows: ``code_tokens`` in its training file, ``function_tokens`` in its test file.

    Args:
        path: AdvTest's file; or, to make the test anew, CodeSearchNet's Python rows.
        normalise: filter the rows and replace the names in their source as AdvTest did.
    """
    return _format(source_rows(path), _rebuilt if normalise else _advtest)


def cosqa_fixed(path: Path) -> RawFile:
    """CoSQA as the paper describes it: a web query and the code annotated as its answer.

    Rows are CoSQA's own (query in ``doc``) or have the query in ``query``; one without a label is a match. The code is
    the tokens, not the source, which contains its documentation.
    """
    return _format(source_rows(path), _cosqa_fixed)


def cosqa_released(path: Path) -> RawFile:
    """CoSQA as released: the code's own documentation as the text, and only pairs annotated as no match.

    Rows are CoSQA's own, or, without a label, the released pairs as ``query`` and ``code``.
    """
    return _format(source_rows(path), _cosqa_released)


def statcodesearch(path: Path) -> RawFile:
    """StatCodeSearch: ``Comment`` and ``Code`` of its CSV or JSON array, or ``query`` and ``code``."""
    return _format(source_rows(path), lambda row: example(row.text("Comment", "query"), row.text("Code", "code")))


def pairs(path: Path) -> RawFile:
    """Rows of any origin that have ``query`` and ``code``, or ``tokens`` for a code."""
    return _format(source_rows(path), pair)


def pair(row: Row) -> Example:
    """The pair of a row with ``query`` and ``code`` or ``tokens``."""
    return example(row.text("query"), row.text("code", "tokens"))


def _format(rows: Iterable[Row], one: Callable[[Row], Example | str]) -> RawFile:
    """The pairs that ``one`` returns for rows; for a dropped row it returns the reason instead."""
    examples: list[Example] = []
    dropped: Counter[str] = Counter()
    for row in rows:
        made = one(row)
        if isinstance(made, str):
            dropped[made] += 1
        elif made.input.count(SEPARATOR) > 1:
            dropped[INSIDE] += 1
        else:
            examples.append(made)
    return RawFile(tuple(examples), dropped)


def _csn(row: Row) -> Example | str:
    if row.fields.get("partition", row.fields.get("split_name", "test")) != "test":
        return "not of the test split"
    text = row.text("docstring_tokens", "func_documentation_tokens")
    return example(text, row.text("code_tokens", "func_code_tokens"))


def _advtest(row: Row) -> Example:
    return example(row.text("docstring_tokens"), row.text("function_tokens", "code_tokens"))


def _rebuilt(row: Row) -> Example | str:
    source = row.text(*_SOURCE)
    candidate = Candidate(row.text("docstring"), row.words("docstring_tokens"), source)
    if reason := reason_to_drop(candidate):
        return reason
    try:
        tokens = code_tokens(normalise(source, keywords=True))
    except UserError:
        return "no single function"
    return example(row.text("docstring_tokens"), " ".join(tokens))


def _cosqa_fixed(row: Row) -> Example | str:
    if "label" in row.fields and row.label("label") == 0:
        return "no match (label 0)"
    return example(row.text("doc", "query"), row.text("code_tokens", "code"))


def _cosqa_released(row: Row) -> Example | str:
    if "label" not in row.fields:
        return pair(row)
    if row.label("label") == 1:
        return "a match (label 1)"
    return example(row.text("docstring_tokens", "docstring"), row.text("code_tokens"))
