"""The main page says of two rows what their saved ranks say, with the interval beside it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from evaluation.comparison import MARGIN
from evaluation.metrics import exact
from evaluation.queries import QueryFacts
from evaluation.significance import compare_runs, holm
from evaluation.speed import Row, Spread
from experiments.tables import answers
from experiments.tables.answers import (
    IN_SHORT,
    PICTURE,
    QUESTIONS,
    TIME_PICTURE,
    YES_OR_NO,
    answers_of,
    answers_page,
    answers_pictures,
    where_section,
)
from experiments.tables.comparison_tables import SAID
from experiments.tables.main_table import TESTS
from experiments.tables.pages import RESULTS, Saved
from tests.evaluation.test_results import SIZE, result

SAVED = Saved(RESULTS)
PAGE = (RESULTS / "main.md").read_text(encoding="utf-8") if (RESULTS / "main.md").exists() else ""
NUMBER = r"[+-]\d\.\d{3}"
SENTENCE = re.compile(
    rf"`([^`]+)` ({'|'.join(SAID.values())}) `([^`]+)`, ({NUMBER})(?: \(({NUMBER}) to ({NUMBER})\))?\."
)
COMPARING = re.compile(
    r"\b(ahead|behind|level|differ|better|worse|above|below|beats?|outperforms?|lead)\b", re.IGNORECASE
)
needs_page = pytest.mark.skipif(not PAGE, reason="no page is saved: experiments/results/main.md")


def sentences(page):
    """Test set, then the parts of each comparison on the page."""
    for line in page.splitlines():
        title = next((title for title in TESTS.values() if line.startswith(f"- {title}: ")), "")
        yield from ((title, *found) for found in SENTENCE.findall(line))


@needs_page
def test_each_comparison_of_the_page_is_that_of_its_saved_ranks():
    told = list(sentences(PAGE))
    assert len(told) >= 8
    for title, first, word, second, *numbers in told:
        found = SAVED.answers[title]
        one, other = (found.rows[name] for name in (first, second))
        files = SAVED.clusters.get(found.pool.fingerprint)
        again = compare_runs(one.runs, other.runs, files)
        known = [again.mean, *([again.low, again.high] if again.has_verdict else [])]
        assert [float(number) for number in numbers if number] == pytest.approx(known, abs=0.0005001)
        assert allowed(word, known), (title, first, word, second, known)


def allowed(word, known):
    """Whether an interval may be said so; Holm's correction may leave one beside 0 unsaid."""
    if len(known) == 1 or word == SAID["one seed"]:
        return len(known) == 1 and word == SAID["one seed"]
    _, low, high = known
    wanted = {"better": low > 0, "worse": high < 0, "level": low > -MARGIN and high < MARGIN, "not shown": True}
    return next(wanted[side] for side, text in SAID.items() if text == word)


@needs_page
def test_all_comparisons_of_the_page_are_such_sentences():
    asked = re.sub(r"^\*\*(?:How to read it|Tuning)\.\*\*.*$|^\| [^|]*\? \|.*$", "", PAGE, flags=re.MULTILINE)
    rest = re.sub(r"^# .*$|^\*\*.*\?\*\*$|^!.*$|^- .*\]\(.*$", "", SENTENCE.sub("", asked), flags=re.MULTILINE)
    assert not COMPARING.findall(rest)


def first_table(page):
    """Question -> the cells of its row in the page's first table, which its first screen holds."""
    cells = [[*map(str.strip, line.strip("|").split("|"))] for line in page.splitlines()[:24] if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells}


@needs_page
def test_the_first_screen_answers_by_the_saved_ranks():
    (_, titles), _, *rows = first_table(PAGE).items()
    assert [*titles] == [*SAVED.answers]
    assert dict(rows).keys() == IN_SHORT.keys()
    assert len(rows) >= 7
    for question, cells in rows:
        leads = [found.leads.get(IN_SHORT[question]) for found in SAVED.answers.values()]
        wanted = [f"{YES_OR_NO[lead.side]}, {lead.difference.mean:+.3f}" if lead else "-" for lead in leads]
        assert cells == wanted


@needs_page
def test_the_correction_is_for_all_pairs_of_a_test_set():
    for found in SAVED.answers.values():
        known = [lead for lead in found.leads.values() if lead.difference.has_verdict]
        assert [lead.adjusted_p for lead in known] == pytest.approx(holm([lead.difference.p_value for lead in known]))


def runs(label, *seeds, trained=True):
    plain = result(also={}, parameters=3 if trained else 0)
    return [
        (label, replace(plain, seed=seed, ranks=ranks, exact={**plain.exact, **exact(np.array(ranks))}))
        for seed, ranks in enumerate(seeds)
    ]


@pytest.fixture
def found():
    """GALM ahead of TabCS on every query, BM25 level with it; queries two by two of the same words."""
    rows = [
        *runs("galm", [1] * SIZE, [1] * SIZE),
        *runs("tabcs", [2, 4] * (SIZE // 2), [2, 4] * (SIZE // 2)),
        *runs("bm25_tuned", [1] * SIZE, trained=False),
        *runs("galm_plus", [1] * SIZE),
    ]
    place = {"dataset": "jdk", "origin": "jdk-25", "fingerprint": "0a1b", "split": "test"}
    facts = QueryFacts(
        **place,
        **dict.fromkeys(("words", "distinct", "shared"), [3] * SIZE),
        files=[*range(SIZE)],
        texts=[query // 2 for query in range(SIZE)],
    )
    return answers_of(rows, [facts], {})


def test_a_small_page_says_each_kind_of_answer(found):
    page = answers_page(found, "A note.")
    told = {(first, second): word for _, first, word, second, *_ in sentences(page)}
    assert told == {
        ("galm", "tabcs"): SAID["better"],
        ("galm", "bm25_tuned"): SAID["level"],
        ("galm_plus", "tabcs"): SAID["one seed"],
        ("galm_plus", "bm25_tuned"): SAID["one seed"],
    }
    assert "`galm` is ahead of `tabcs`, +0.625 (" in page
    assert "\n\nA note.\n\n" in page
    (name, png), *others = answers_pictures(found, ())
    assert name == PICTURE
    assert png.startswith(b"\x89PNG")
    assert not others


def test_the_first_table_of_a_small_page_has_each_kind_of_answer(found):
    assert first_table(answers_page(found, "")) == {
        "models alone": [TESTS["jdk"]],
        "---": ["---:"],
        "Is GALM ahead of TabCS?": ["yes, +0.625"],
        "Is GALM ahead of BM25?": ["no, level, +0.000"],
        "Is galm_plus, our variant of GALM, ahead of TabCS?": ["one seed, +0.625"],
        "Is galm_plus ahead of BM25?": ["one seed, +0.000"],
    }


def timed(what, label, seconds):
    """A model's time beside BM25's."""
    of = Spread(median=seconds)
    row = {"name": what, "first": "bm25_tuned", "first_seconds": Spread(median=0.001), "second": label}
    return Row(**row, second_seconds=of, ratio=Spread(median=seconds / 0.001))


def test_times_have_a_picture_where_two_models_were_timed(found, monkeypatch):
    drawn = []
    monkeypatch.setattr(answers, "as_png", lambda figure: drawn.append(figure) or b"png")
    times = [timed("a question", "galm", 0.5), timed("a method", "galm", 0.01)]
    assert dict(answers_pictures(found, times))[TIME_PICTURE] == b"png"
    of_question = drawn[-1].axes[0]
    places = {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in of_question.lines}
    rows = next(iter(found.values())).rows
    assert places["galm"] == (500, rows["galm"].mrr)
    assert places["bm25_tuned"] == (1, rows["bm25_tuned"].mrr)
    if "galm + BM25" in rows:
        assert places["galm + BM25"][0] == pytest.approx(501)
    assert TIME_PICTURE in answers_page(found, "", times)
    assert TIME_PICTURE not in answers_page(found, "", [timed("a question", "other", 0.5)])
    assert TIME_PICTURE not in answers_page(found, "")


def test_copies_count_where_any_method_of_the_same_words_does(found):
    (each,) = found.values()
    assert each.rows["tabcs"].mrr != each.copies["tabcs"].mrr
    assert each.copies["tabcs"].reciprocal_ranks.tolist() == [0.5] * SIZE
    assert each.copy_leads["galm", "tabcs"].difference.mean == pytest.approx(0.5)
    (text,) = where_section(found)
    assert f"{SIZE:,} of {SIZE:,} queries have the words of another." in text
    assert f"| galm - tabcs | {SIZE} | 0 | 0 |" in text


def test_a_new_row_is_a_line(monkeypatch):
    monkeypatch.setattr(answers, "ROWS", {**answers.ROWS, "unif": ("unif",)})
    monkeypatch.setattr(answers, "QUESTIONS", {"Is GALM ahead of UNIF?": (("galm", "unif"),)})
    rows = [*runs("galm", [1] * SIZE, [1] * SIZE), *runs("unif", [2] * SIZE, [2] * SIZE)]
    page = answers_page(answers_of(rows, [], {}), "")
    assert "**Is GALM ahead of UNIF?**\n\n- JDK (seen project): `galm` is ahead of `unif`, +0.500 (" in page
    assert "| unif | 0.500 ± 0.000 |" in page


def test_without_pairs_there_is_no_page():
    assert answers_of(runs("galm", [1] * SIZE), [], {}) == {}
    assert answers_page({}, "") == ""


def test_the_rows_of_questions_are_rows_of_the_table():
    from experiments.tables.answers import ROWS
    from experiments.tables.main_table import CELLS, shown

    labels = {shown(cell.label) for cells in CELLS.values() for cell in cells}
    assert {label for of in ROWS.values() for label in of} <= labels
    assert {name for pairs in QUESTIONS.values() for pair in pairs for name in pair} <= set(ROWS)
    assert len(np.unique([*SAID.values()])) == len(SAID)
