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
from experiments.tables import answers, answers_page, answers_pictures
from experiments.tables.answers import FUSED, GRID_RUNS, IN_SHORT, QUESTIONS, ROWS, answers_of
from experiments.tables.answers_page import YES_OR_NO, budgets, tree_note, where_section
from experiments.tables.answers_page import answers_page as page_of
from experiments.tables.answers_pictures import PICTURE, TIME_PICTURE, drawn_pairs
from experiments.tables.answers_pictures import answers_pictures as pictures_of
from experiments.tables.comparison_tables import SAID, with_interval
from experiments.tables.main_table import README_TESTS, TESTS, WITHOUT_GRAPH, of_trials
from experiments.tables.pages import RESULTS, Saved
from experiments.tables.query_kinds import SAME_SPLITS, WHY, are_joined, joined_facts, saved_facts
from tests.evaluation.test_results import SIZE, result

SAVED = Saved(RESULTS)
PAGE = (RESULTS / "main.md").read_text(encoding="utf-8") if (RESULTS / "main.md").exists() else ""
NUMBER = r"[+-]\d\.\d{3,5}"
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
        for told in SENTENCE.finditer(line):
            titles = [title for title in TESTS.values() if f"{title}: " in line[: told.start()]]
            yield max(titles, key=lambda title: line.rindex(f"{title}: ", 0, told.start())), *told.groups(default="")


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
    parts = re.split(r"^## (.*)\n", PAGE, flags=re.MULTILINE)
    (told,) = [text for title, text in zip(parts[1::2], parts[2::2], strict=True) if title == "All comparisons"]
    rest = re.sub(r"^\*\*.*\?\*\*$", "", SENTENCE.sub("", told), flags=re.MULTILINE)
    assert not COMPARING.findall(rest)
    above = re.sub(
        r"^# .*$|^\| [^|]*\? \|.*$|^!.*$|^- .*\]\(.*$|^The first row minus.*$", "", parts[0], flags=re.MULTILINE
    )
    assert not COMPARING.findall(SENTENCE.sub("", above.replace(WHY, "")))


def first_table(page):
    """Question -> the cells of its row in the page's first table, which its first screen holds."""
    cells = [[*map(str.strip, line.strip("|").split("|"))] for line in page.splitlines()[:24] if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells}


@needs_page
def test_the_first_screen_answers_by_the_saved_ranks():
    (_, titles), _, *rows = first_table(PAGE).items()
    assert [*titles] == [*SAVED.answers]
    assert dict(rows).keys() == IN_SHORT.keys()
    assert len(rows) <= 6
    for question, cells in rows:
        leads = [found.leads.get(IN_SHORT[question]) for found in SAVED.answers.values()]
        wanted = [f"{YES_OR_NO[lead.side]}, {with_interval(lead.difference)}" if lead else "-" for lead in leads]
        assert cells == wanted


@needs_page
def test_the_page_begins_with_its_question_and_an_interval_then_table_and_pictures():
    places = [
        PAGE.index(text) for text in ("# Is GALM", "`galm` is", "| Is GALM ahead", PICTURE, TIME_PICTURE, "Cost:")
    ]
    assert places == sorted(places)
    assert PAGE.index("Cost:") < PAGE.index("\n## ")
    assert "](../../docs/models.md)" in PAGE[: PAGE.index(PICTURE)]


@needs_page
def test_word_models_are_compared_with_the_best_of_their_trials_where_they_have_them():
    for title, found in SAVED.answers.items():
        for name in ("galm", "galm_plus", "tabcs"):
            for end in ("", FUSED):
                own = found.labels[f"{name}{end}"]
                assert (own == f"{of_trials(name)}{end}") == (title in README_TESTS.values()), own
    jdk = SAVED.answers[TESTS["jdk"]]
    earlier = f"galm, earlier settings ({GRID_RUNS} trials)"
    assert jdk.labels[earlier] == "galm"
    assert not any(earlier in pair for pair in jdk.leads)
    assert jdk.labels[WITHOUT_GRAPH] == of_trials(WITHOUT_GRAPH)
    assert jdk.leads["galm", WITHOUT_GRAPH].difference.has_verdict
    assert "On CSN (papers' test set) and JCG (papers' test set) only rows of earlier settings exist" in PAGE


def test_splits_that_count_as_one_are_one_pool_and_the_page_says_so():
    (other, kept), *_ = SAME_SPLITS.items()
    fingerprints = {result.data.fingerprint for _, result in SAVED.as_saved}
    assert {other, kept} <= fingerprints
    assert other not in {result.data.fingerprint for _, result in SAVED.main}
    assert len(SAVED.main) == len(SAVED.as_saved)
    assert WHY in PAGE
    assert "One of these methods has another list of calls" in WHY
    assert are_joined(SAVED.as_saved)
    facts = next(each for each in saved_facts(RESULTS).values() if each.fingerprint in (kept, other))
    assert [each.fingerprint for each in joined_facts([replace(facts, fingerprint=other)])] == [kept]
    assert len(set(SAVED.clusters[kept])) > 1
    assert not are_joined([row for row in SAVED.as_saved if row[1].data.fingerprint == kept])


@needs_page
def test_encoders_as_they_come_are_compared_on_every_test_set():
    for first in ("galm + BM25", "galm_plus + BM25"):
        assert all((first, "minilm as it comes + BM25") in found.leads for found in SAVED.answers.values())


@needs_page
def test_a_caveat_on_tabcs_stands_directly_below_the_first_table():
    note = tree_note(SAVED.main)
    below = PAGE[PAGE.index("| Is galm_plus + BM25 ahead of MiniLM") :]
    assert below.split("\n\n")[1].startswith(f"- {note}\n")
    rows = {label: [each.exact["mrr"] for name, each in SAVED.main if name == label] for label, _ in SAVED.main}
    known = ("tabcs_no_ast", "tabcs_no_ast (JDK + repositories + open Java)")
    assert all(f"{np.mean(rows[label]):.3f}" in note for label in known)
    assert tree_note([]) == ""


@needs_page
def test_queries_that_ablations_have_read_are_left_out_apart():
    found = SAVED.answers[TESTS["jdk"]]
    rows = np.asarray(found.facts.read) == 0
    pair = IN_SHORT["Is GALM ahead of TabCS?"]
    one, other = (np.mean(found.rows[name].reciprocal_ranks[rows]) for name in pair)
    assert found.unread[pair].difference.mean == pytest.approx(one - other)
    assert f"| {' - '.join(pair)} |" in PAGE[PAGE.index("## Without the queries that ablations have read") :]
    assert f"on {np.count_nonzero(~rows):,} of its {len(rows):,} queries" in PAGE
    assert SAVED.answers[TESTS["debian_sample"]].unread == {}


def test_the_numbers_of_trials_are_those_of_saved_runs():
    text = budgets({"jdk": 3, "debian_sample": 4}, 1)
    assert "3 on the validation pairs of jdk and 4 on the validation pairs of debian_sample, 1 of them on both." in text
    assert "minilm" not in budgets({}, 0)
    labels = [label for label, _ in SAVED.trials if label.startswith("minilm, ")]
    for name in ("jdk", "debian_sample"):
        assert f"{sum(label.endswith(name) for label in labels)} on the validation pairs of {name}" in PAGE


@needs_page
def test_the_correction_is_for_all_pairs_of_a_test_set():
    for found in SAVED.answers.values():
        known = [lead for lead in found.leads.values() if lead.difference.has_verdict]
        assert re.search(rf"corrected for all comparisons .*[( ]{len(known)}[,) ]", PAGE)
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
    page = page_of(found, "A note.")
    told = {(first, second): word for _, first, word, second, *_ in sentences(page)}
    assert {pair: word for pair, word in told.items() if pair != ("galm_plus", "galm")} == {
        ("galm", "tabcs"): SAID["better"],
        ("galm", "bm25_tuned"): SAID["level"],
        ("galm_plus", "tabcs"): SAID["one seed"],
        ("galm_plus", "bm25_tuned"): SAID["one seed"],
    }
    assert "`galm` is ahead of `tabcs`, +0.625 (" in page
    assert "\n\nA note.\n\n" in page
    (name, png), *others = pictures_of(found, ())
    assert name == PICTURE
    assert png.startswith(b"\x89PNG")
    assert not others


def test_the_first_table_of_a_small_page_has_each_kind_of_answer(found):
    (question, better), (_, level), (_, one) = [*first_table(page_of(found)).items()][2:]
    assert question == "Is GALM ahead of TabCS?"
    assert better[0].startswith("yes, +0.625 (+")
    assert level == ["no, level, +0.000 (+0.000 to +0.000)"]
    assert one == ["one seed, +0.000"]


def test_only_pages_with_rows_of_trials_speak_of_them(found):
    assert "of its 8 trials" not in page_of(found)
    rows = [*runs(of_trials("galm"), [1] * SIZE, [1] * SIZE), *runs("bm25_tuned", [2] * SIZE, trained=False)]
    assert "Each word model has the best of its 8 trials on JDK (seen project)." in page_of(answers_of(rows, [], {}))
    rows = [*runs("minilm", [1] * SIZE, [1] * SIZE), *runs("bm25_tuned", [2] * SIZE, trained=False)]
    assert "of its 8 trials" not in page_of(answers_of(rows, [], {}))


def test_the_picture_has_the_pairs_of_several_test_sets(found):
    assert "galm - tabcs" in drawn_pairs(found)
    drawn = drawn_pairs(SAVED.answers)
    assert "galm - tabcs" in drawn
    assert "late_interaction - minilm" not in drawn
    for pair in drawn.values():
        assert sum(pair in each.leads for each in SAVED.answers.values()) > 1


def timed(what, label, seconds):
    """A model's time beside BM25's."""
    of = Spread(median=seconds)
    row = {"name": what, "first": "bm25_tuned", "first_seconds": Spread(median=0.001), "second": label}
    return Row(**row, second_seconds=of, ratio=Spread(median=seconds / 0.001))


def test_times_have_a_picture_where_two_models_were_timed(found, monkeypatch):
    drawn = []
    monkeypatch.setattr(answers_pictures, "as_png", lambda figure: drawn.append(figure) or b"png")
    times = [timed("a question", "galm", 0.5), timed("a method", "galm", 0.01)]
    assert dict(pictures_of(found, times))[TIME_PICTURE] == b"png"
    of_question = drawn[-1].axes[0]
    places = {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in of_question.lines}
    rows = next(iter(found.values())).rows
    assert places["galm"] == (500, rows["galm"].mrr)
    assert places["bm25_tuned"] == (1, rows["bm25_tuned"].mrr)
    if "galm + BM25" in rows:
        assert places["galm + BM25"][0] == pytest.approx(501)
    assert TIME_PICTURE in page_of(found, "", times)
    assert TIME_PICTURE not in page_of(found, "", [timed("a question", "other", 0.5)])
    assert TIME_PICTURE not in page_of(found)


def test_copies_count_where_any_method_of_the_same_words_does(found):
    (each,) = found.values()
    assert each.rows["tabcs"].mrr != each.copies["tabcs"].mrr
    assert each.copies["tabcs"].reciprocal_ranks.tolist() == [0.5] * SIZE
    assert each.copy_leads["galm", "tabcs"].difference.mean == pytest.approx(0.5)
    (text,) = where_section(found)
    assert f"{SIZE:,} of {SIZE:,} queries have the words of another." in text
    assert f"| galm - tabcs | {SIZE} | 0 | 0 |" in text


def test_a_new_row_is_a_line(monkeypatch):
    for module in (answers, answers_page):
        monkeypatch.setattr(module, "ROWS", {**ROWS, "unif": ("unif",)})
        monkeypatch.setattr(module, "QUESTIONS", {"Is GALM ahead of UNIF?": (("galm", "unif"),)})
    rows = [*runs("galm", [1] * SIZE, [1] * SIZE), *runs("unif", [2] * SIZE, [2] * SIZE)]
    page = page_of(answers_of(rows, [], {}))
    assert "**Is GALM ahead of UNIF?**\n\n- JDK (seen project): `galm` is ahead of `unif`, +0.500 (" in page
    assert "| unif | 0.500 ± 0.000 |" in page


def test_without_pairs_there_is_no_page():
    assert answers_of(runs("galm", [1] * SIZE), [], {}) == {}
    assert page_of({}) == ""


def test_the_rows_of_questions_are_rows_of_the_table():
    from experiments.tables.main_table import CELLS, shown

    labels = {shown(cell.label) for cells in CELLS.values() for cell in cells}
    assert {label for of in ROWS.values() for label in of} <= labels
    assert {name for pairs in QUESTIONS.values() for pair in pairs for name in pair} <= set(ROWS)
    assert len(np.unique([*SAID.values()])) == len(SAID)
