"""The benchmark's test subsets, and how their files are read: the published raw files, or smaller replacements.

Numbers of pairs are those of the paper's table 1 (Diera et al. 2023). Of PHP it prints 29,391; CodeSearchNet's test has
28,391. ``cosqa_released`` is the published subset; ``cosqa_fixed`` is what the paper says that it is.
:data:`POOLS` are no subsets: real questions over a fixed pool of codes.

A file has the form of its origin: raw, or rows with other fields. Texts and codes given as tokens are joined by one
space. A pair that contains the separator is dropped.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from data_prep.errors import UserError
from data_prep.gencodesearchnet.advtest import advtest_drops, code_tokens, renamed
from data_prep.gencodesearchnet.records import SEPARATOR, Example, RawFile, Row, example, made_of, read_raw, source_rows

Generalisation = Literal["robustness", "cross-lingual", "domain"]

EQUAL: Final = "equal to an earlier pair"
INSIDE: Final = "the separator inside"
_CLOZE: Final = "csn_cloze, not the CSN test"


def pair(row: Row) -> Example:
    """The pair of a row of any origin with ``query`` and ``code``, or ``tokens`` for a code."""
    return example(row.text("query"), row.text("code", "tokens"))


def _csn_pair(row: Row) -> Example | str:
    """CodeSearchNet's rows, of the original archives or of the later form: tokens of documentation and code."""
    if row.fields.get("partition", row.fields.get("split_name", "test")) != "test":
        return "not of the test split"
    text = row.text("docstring_tokens", "func_documentation_tokens")
    return example(text, row.text("code_tokens", "func_code_tokens"))


def _advtest_pair(row: Row) -> Example:
    """AdvTest's rows: ``code_tokens`` in its training file, ``function_tokens`` in its test file."""
    return example(row.text("docstring_tokens"), row.text("function_tokens", "code_tokens"))


def _advtest_rebuilt_pair(row: Row) -> Example | str:
    """CodeSearchNet's Python rows as AdvTest made its test of them: filtered, and with the names replaced."""
    text, source = row.text("docstring_tokens"), row.text("function", "code", "original_string")
    if reason := advtest_drops(row.text("docstring"), len(text.split()), source):
        return reason
    try:
        return example(text, " ".join(code_tokens(renamed(source, keywords=True))))
    except UserError:
        return "no single function"


def _cosqa_fixed_pair(row: Row) -> Example | str:
    """CoSQA as the paper describes it: a web query and the code annotated as its answer.

    Rows are CoSQA's own (query in ``doc``) or have the query in ``query``; one without a label is a match. The code is
    the tokens, not the source, which contains its documentation.
    """
    if "label" in row.fields and not row.is_match("label"):
        return "no match (label 0)"
    return example(row.text("doc", "query"), row.text("code_tokens", "code"))


def _cosqa_released_pair(row: Row) -> Example | str:
    """CoSQA as released: the code's own documentation as the text, and only pairs annotated as no match.

    Rows are CoSQA's own, or, without a label, the released pairs as ``query`` and ``code``.
    """
    if "label" not in row.fields:
        return pair(row)
    if row.is_match("label"):
        return "a match (label 1)"
    return example(row.text("docstring_tokens", "docstring"), row.text("code_tokens"))


def _statcodesearch_pair(row: Row) -> Example:
    """StatCodeSearch: ``Comment`` and ``Code`` of its CSV or JSON array, or ``query`` and ``code``."""
    return example(row.text("Comment", "query"), row.text("Code", "code"))


_PAIR_OF_ROW: Final[Mapping[str, Callable[[Row], Example | str]]] = {
    "csn": _csn_pair,
    "advtest": _advtest_pair,
    "advtest_rebuilt": _advtest_rebuilt_pair,
    "cosqa_fixed": _cosqa_fixed_pair,
    "cosqa_released": _cosqa_released_pair,
    "statcodesearch": _statcodesearch_pair,
    "pairs": pair,
}
"""Form -> function from a row to its pair, or to the reason to drop it."""
FORMS: Final = ("raw", *_PAIR_OF_ROW)
_PROJECT: Final = ("Source", "source")
"""Field of the project of a row of StatCodeSearch."""


def read_pairs(form: str, path: Path) -> RawFile:
    """The pairs of a file of one of FORMS, and the counts of dropped rows.

    Raises:
        UserError: there is no such form, or the file is damaged or not in it.
    """
    if form not in FORMS:
        raise UserError(f"there is no origin {form!r}; there are {', '.join(FORMS)}")
    if form == "raw":
        return read_raw(path)
    examples: list[Example] = []
    groups: list[str] = []
    dropped: Counter[str] = Counter()
    for row, made in made_of(source_rows(path, dropped), _PAIR_OF_ROW[form], dropped):
        if isinstance(made, str):
            dropped[made] += 1
        elif made.input.count(SEPARATOR) > 1:
            dropped[INSIDE] += 1
        else:
            examples.append(made)
            groups += [row.text(name) for name in _PROJECT if form == "statcodesearch" and name in row.fields]
    return RawFile(tuple(examples), dropped, tuple(groups))


@dataclass(frozen=True, slots=True)
class Place:
    """Files that together are a subset, relative to the folder that is searched."""

    files: tuple[str, ...]
    form: str  # of FORMS
    about: str = ""  # what makes them another set than the published one
    once: bool = False  # an equal pair counts once
    pool: str = ""  # file of all codes, of which a row names its own by ``retrieval_idx``


@dataclass(frozen=True, slots=True)
class Entry:
    """What the paper says of a subset, and where it may be found; the first place counts."""

    name: str
    language: str
    pairs: int  # published
    generalisation: tuple[Generalisation, ...]
    places: tuple[Place, ...]
    whole: bool = False  # each text is ranked among all codes, not among some that are drawn


@dataclass(frozen=True, slots=True)
class Subset:
    """Pairs of a subset; texts and codes keep the spaces that they have beside the separator."""

    name: str
    language: str
    texts: tuple[str, ...]
    codes: tuple[str, ...]
    origin: str  # file, and how many of the published pairs
    dropped: Counter[str]  # reason -> rows
    stand_in: str = ""  # how it differs from the published set; "" if it does not
    pool: tuple[str, ...] = ()  # the codes that each text is ranked among, if not drawn from the pairs'
    golds: tuple[int, ...] = ()  # place of each pair's code in the pool
    groups: tuple[str, ...] = ()  # what each pair belongs to: its project where that is known, else its code

    @property
    def examples(self) -> tuple[Example, ...]:
        """Its pairs as records."""
        return tuple(map(Example, self.texts, self.codes))


def published(name: str) -> tuple[Place, ...]:
    """The places of the published raw file ``name``, as it is or compressed."""
    return tuple(Place((f"{name}{end}",), "raw") for end in (".jsonl", ".jsonl.gz"))


def _csn(name: str, language: str, pairs: int) -> Entry:
    places = (*published(f"test_{name}"), Place((f"csn_cloze/{name}.jsonl.gz",), "pairs", _CLOZE))
    return Entry(name, language, pairs, ("cross-lingual",), places)


_COSQA_TRAINING: Final = Place(("cosqa-train.json",), "cosqa_fixed")
_COSQA_REST: Final = Place(
    ("cosqa/qa_dev.jsonl.gz", "cosqa/retrieval_test_500.jsonl.gz"),
    "cosqa_fixed",
    "matching pairs of CoSQA's validation and retrieval test, not of its training",
    once=True,
)
_COSQA_COPY: Final = Place(("cosqa/gencsn_mrr_test.jsonl.gz",), "cosqa_released")
_STATISTICS: Final = Place(("statcodesearch_1k_final.csv",), "statcodesearch")
_STATISTICS_PART: Final = Place(("statcodesearch/test_70.jsonl.gz",), "statcodesearch", "a random 70%")
_COSQA_SEARCH: Final = Place(("cosqa/retrieval_test_500.jsonl.gz",), "pairs", pool="cosqa/codebase_6267.jsonl.gz")

SUBSETS: Final[tuple[Entry, ...]] = (
    Entry("adv", "Python", 19_210, ("robustness",), published("test_adv")),
    Entry("cosqa_released", "Python", 10_293, ("robustness",), (*published("test_cosqa"), _COSQA_COPY)),
    Entry("cosqa_fixed", "Python", 9_707, ("robustness",), (_COSQA_TRAINING, _COSQA_REST)),
    _csn("ruby", "Ruby", 2_279),
    _csn("go", "Go", 14_291),
    _csn("java", "Java", 26_909),
    _csn("javascript", "JavaScript", 6_483),
    _csn("php", "PHP", 28_391),
    Entry(
        "statcodesearch",
        "R",
        1_070,
        ("cross-lingual", "domain"),
        (_STATISTICS, *published("test_statcodesearch"), _STATISTICS_PART),
    ),
)
"""The eight test subsets in the order of the task package, CoSQA as it was released and as it was meant."""

POOLS: Final[tuple[Entry, ...]] = (
    Entry("cosqa_search", "Python", 500, (), (_COSQA_SEARCH,), whole=True),
    Entry("android", "Java", 287, (), (Place(("ncs_android/questions_287.jsonl.gz",), "pairs"),), whole=True),
)
"""CoSQA's retrieval test, whose code contains its documentation, and the questions about Android of Li et al. 2019."""


def find_subsets(path: Path, entries: Sequence[Entry] = SUBSETS) -> tuple[list[Subset], list[str]]:
    """The subsets whose files are in the folder ``path``, and the names of those whose files are not.

    Raises:
        UserError: there are none, or a file is damaged.
    """
    found: list[Subset] = []
    missing: list[str] = []
    for entry in entries:
        place = find_place(path, entry)
        if place is None:
            missing.append(entry.name)
        else:
            found.append(_read(path, entry, place))
    if not found:
        names = ", ".join(dict.fromkeys(entry.places[0].files[0] for entry in SUBSETS))
        raise UserError(
            f"{path} is no folder with files of GenCodeSearchNet: expected one or more of {names}, or others that "
            "docs/gencodesearchnet.md names"
        )
    return found, missing


def find_place(path: Path, entry: Entry) -> Place | None:
    """The first place of ``entry`` that has all its files in ``path``."""
    wanted = ((place, [*place.files, *filter(None, [place.pool])]) for place in entry.places)
    return next((place for place, files in wanted if all((path / file).is_file() for file in files)), None)


def origin_of(entry: Entry, place: Place, pairs: int) -> str:
    """One line: the files, what they are, and how many pairs beside the published number."""
    about = f" ({place.about})" if place.about else ""
    return f"{' + '.join(place.files)}{about}: {pairs:,} pairs; published: {entry.pairs:,}"


def _read(path: Path, entry: Entry, place: Place) -> Subset:
    files = [read_pairs(place.form, path / file) for file in place.files]
    examples = [pair for file in files for pair in file.examples]
    dropped: Counter[str] = sum((file.dropped for file in files), Counter())
    if place.once:
        distinct = list(dict.fromkeys(examples))
        dropped[EQUAL] += len(examples) - len(distinct)
        examples = distinct
    texts, codes = tuple(pair.text for pair in examples), tuple(pair.code for pair in examples)
    pool: tuple[str, ...] = codes if entry.whole else ()
    golds = tuple(range(len(pool)))
    if place.pool:
        pool, golds = _pool(path, place)
        codes = tuple(pool[gold] for gold in golds)
    groups = tuple(group for file in files for group in file.groups)
    return Subset(
        entry.name, entry.language, texts, codes, origin_of(entry, place, len(examples)), dropped, place.about,
        pool, golds, groups or codes,
    )  # fmt: skip


def _pool(path: Path, place: Place) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """All codes of a pool, and the place of each row's own.

    Raises:
        UserError: a row names none of them.
    """
    dropped = Counter[str]()
    codes = {row.number("retrieval_idx"): row.text("code") for row in source_rows(path / place.pool, dropped)}
    places = {number: place for place, number in enumerate(codes)}
    golds = []
    for row in (row for file in place.files for row in source_rows(path / file, dropped)):
        if (number := row.number("retrieval_idx")) not in places:
            raise UserError(f"{row.where}: {place.pool} has no code with the retrieval_idx {number}")
        golds.append(places[number])
    return tuple(codes.values()), tuple(golds)
