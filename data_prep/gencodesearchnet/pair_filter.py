"""Which comment-code pairs are about statistics: the second and third stage of StatCodeSearch (Diera et al. 2023).

Second (section 4.1), a language model's answer by comment. The model is any callable that answers a prompt; it is
prompted zero-shot, once per comment. An ambiguous answer counts as no class.

Third, a person's decision in a table, for a spreadsheet or an editor: one pair per line, with a column ``keep?`` to
fill with yes or no, and one for notes. Spreadsheets read a cell that begins with =, +, - or @ as a formula, and code
may begin so: such cells get a leading apostrophe, which is removed when the table is read.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.reading import read_whole
from data_prep.gencodesearchnet.r_pairs import RPair

CLASSES: Final = ("Statistical Test", "Statistical Modeling", "Data Variable", "Visualization")
NO_CLASS: Final = "No Relevant Class"
UNREADABLE: Final = "unreadable answer"

_PROMPT: Final = """\
You read a comment from an R script of a research project. Decide what the code below the comment is for.

Classes:
- Statistical Test: a hypothesis test is run, or its assumptions are checked.
- Statistical Modeling: a statistical model is specified, fitted, compared or summarised.
- Data Variable: data or variables are loaded, made, recoded, selected or described.
- Visualization: a plot, figure or table for the eye is made.
- No Relevant Class: none of these, or the comment does not tell.

Comment: {comment}

Answer with the name of exactly one class and nothing else."""
_ANY_NAME: Final = "|".join(name.replace(" ", r"[\s_]+") for name in (*CLASSES, NO_CLASS))
_NAMES: Final = re.compile(rf"(?<![\w-])(?:{_ANY_NAME})(?![\w-])", re.IGNORECASE)
_BY_WORDS: Final = {name.lower(): name for name in (*CLASSES, NO_CLASS)}
_DOUBTS: Final = re.compile(
    r"\b(?:not|no|nor|neither|none|never|cannot|unless|or|rather|instead|except)\b|n['’]t\b", re.IGNORECASE
)

COLUMNS: Final = ("id", "comment", "code", "class", "keep?", "note")
_FORMULA: Final = tuple("=+-@＝＋－＠\t\r\n'")
_GUARD: Final = "'"
_LONGEST_CELL: Final = 16 << 20  # characters; an R file has no more bytes
_DECISIONS: Final = {"yes": True, "no": False, "": None}


@runtime_checkable
class Classifier(Protocol):
    """A language model: a callable that answers a prompt."""

    def __call__(self, prompt: str) -> str: ...


@dataclass(frozen=True, slots=True)
class ClassifiedPair:
    """A pair and the class of its comment."""

    pair: RPair
    label: str  # one of CLASSES


@dataclass(frozen=True, slots=True)
class Filtered:
    """The pairs that passed the filter, and the number of each answer."""

    kept: tuple[ClassifiedPair, ...]
    counts: Counter[str]  # class, NO_CLASS or UNREADABLE -> pairs


def category_prompt(comment: str) -> str:
    """The prompt for a comment, which is put on one line."""
    return _PROMPT.format(comment=" ".join(comment.split()))


def read_answer(answer: str) -> str:
    """The class that an answer names, NO_CLASS, or UNREADABLE.

    Case, quotes, punctuation and a sentence around the name are ignored, if exactly one class is named and nothing in
    the sentence negates or qualifies it.
    """
    named = {_BY_WORDS[re.sub(r"[\s_]+", " ", found).lower()] for found in _NAMES.findall(answer)}
    if len(named) != 1 or _DOUBTS.search(_NAMES.sub("", answer)):
        return UNREADABLE
    return named.pop()


def filter_pairs(pairs: Iterable[RPair], classifier: Classifier) -> Filtered:
    """Keep the pairs whose comment is of one of CLASSES; repeated comments are prompted only once."""
    labels: dict[str, str] = {}
    kept: list[ClassifiedPair] = []
    counts: Counter[str] = Counter(dict.fromkeys((*CLASSES, NO_CLASS, UNREADABLE), 0))
    for pair in pairs:
        if pair.comment not in labels:
            labels[pair.comment] = read_answer(classifier(category_prompt(pair.comment)))
        label = labels[pair.comment]
        counts[label] += 1
        if label in CLASSES:
            kept.append(ClassifiedPair(pair, label))
    return Filtered(tuple(kept), counts)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The reviewer's decisions."""

    kept: tuple[ClassifiedPair, ...]  # in the order of the pairs, with the class that the table has now
    dropped: tuple[ClassifiedPair, ...]
    unreviewed: int  # left empty, or without a line
    notes: dict[str, str]  # id -> note, if there is one


def write_review(path: Path, pairs: Iterable[ClassifiedPair]) -> None:
    """Write the table, nothing decided; UTF-8 with the mark by which spreadsheets know it.

    Raises:
        UserError: an id occurs twice.
    """
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(COLUMNS)
    for each in _by_id(pairs).values():
        cells = (each.pair.id, each.pair.comment, each.pair.code, each.label, "", "")
        table.writerow([_guarded(cell) for cell in cells])
    write_atomically(path, text.getvalue().encode("utf-8-sig"))


def read_review(path: Path, pairs: Iterable[ClassifiedPair]) -> Reviewed:
    """Read the table back, beside the pairs that it was written from; its lines may stand in another order.

    Raises:
        UserError: a column is missing, an id is unknown or there twice, a comment or code was changed, or a cell
            has an invalid value.
    """
    known = _by_id(pairs)
    decided: dict[str, tuple[bool | None, ClassifiedPair]] = {}
    notes: dict[str, str] = {}
    for where, row in _rows(path):
        original = known.get(row["id"])
        if original is None or row["id"] in decided:
            what = "was read before" if original else "is none of the pairs that are reviewed"
            raise UserError(f"{where}: id {row['id']!r} {what}")
        _check_unchanged(where, row, original)
        decided[row["id"]] = _decision(where, row), ClassifiedPair(original.pair, _label(where, row))
        if row["note"].strip():
            notes[row["id"]] = row["note"].strip()
    ordered = [decided[pair_id] for pair_id in known if pair_id in decided]
    kept = tuple(pair for keep, pair in ordered if keep)
    dropped = tuple(pair for keep, pair in ordered if keep is False)
    return Reviewed(kept, dropped, len(known) - len(kept) - len(dropped), notes)


def _by_id(pairs: Iterable[ClassifiedPair]) -> dict[str, ClassifiedPair]:
    found: dict[str, ClassifiedPair] = {}
    for each in pairs:
        if each.pair.id in found:
            raise UserError(f"two pairs have the id {each.pair.id!r}: a review needs one each")
        found[each.pair.id] = each
    return found


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Each line of the table with its place, cells as they were before they were guarded."""
    try:
        text = read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 ({error.reason}): save it as CSV UTF-8") from error
    with _long_cells():
        table = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            header = next(table, [])
            places = _columns(path, header)
            for cells in table:
                where = f"{path}:{table.line_num}"
                if not any(cells):
                    continue
                if len(cells) != len(header):
                    raise UserError(f"{where}: expected {len(header)} cells, found {len(cells)}")
                yield where, _unguarded({name: cells[place] for name, place in places.items()})
        except csv.Error as error:
            raise UserError(f"{path}:{table.line_num} is no CSV: {error}") from error


def _columns(path: Path, header: Sequence[str]) -> dict[str, int]:
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}: save it with commas and its first line")
    return {name: header.index(name) for name in COLUMNS}


@contextmanager
def _long_cells() -> Iterator[None]:
    """Raise the field size limit of csv, which is global, while a table is read."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _guarded(cell: str) -> str:
    return _GUARD + cell if cell.lstrip(" ").startswith(_FORMULA) else cell


def _unguarded(row: dict[str, str]) -> dict[str, str]:
    """The line with the cells that were guarded, which are those that no person fills, as they were."""
    return row | {name: row[name].removeprefix(_GUARD) for name in ("id", "comment", "code")}


def _check_unchanged(where: str, row: Mapping[str, str], original: ClassifiedPair) -> None:
    for name, text in (("comment", original.pair.comment), ("code", original.pair.code)):
        if _line_ends(row[name]) != _line_ends(text):
            raise UserError(f"{where}: the {name} of {row['id']!r} was changed: put notes into the column note")


def _line_ends(text: str) -> str:
    """A spreadsheet may write its own line ends inside a cell."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decision(where: str, row: Mapping[str, str]) -> bool | None:
    answer = row["keep?"].strip().lower()
    if answer not in _DECISIONS:
        raise UserError(f"{where}: keep? is yes, no or empty, not {row['keep?']!r}")
    return _DECISIONS[answer]


def _label(where: str, row: Mapping[str, str]) -> str:
    label = row["class"].strip()
    if label not in CLASSES:
        raise UserError(f"{where}: class {label!r} is none of {', '.join(CLASSES)}")
    return label
