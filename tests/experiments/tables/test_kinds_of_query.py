"""Where the models win over BM25: the table, what it says in words, and the pictures, of ranks that a test chooses."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.comparison import by_pool, judged, largest_pools
from evaluation.queries import ASKED, gain, query_classes
from evaluation.result_store import ROWS
from experiments.tables.comparison_pictures import band_shares, kind_pictures
from experiments.tables.comparison_tables import with_interval
from experiments.tables.pages import RESULTS, Saved, pages, pictures
from experiments.tables.query_kinds import kind_table, nearest_table, saved_facts
from tests.evaluation.test_queries import entry, facts
from tests.evaluation.test_results import SIZE, result
from tests.experiments.tables.saved_runs import copied

PNG = b"\x89PNG"
SAVED = Saved(RESULTS)
SHORT = SIZE * 2 // 3
"""So many queries have four words, which their methods have too; the rest have ten and share none."""
FACTS = facts([4] * SHORT + [10] * (SIZE - SHORT), [4] * SIZE, [4] * SHORT + [0] * (SIZE - SHORT))
"""All are of 20 queries or fewer: only the short ones are a class."""


def known(**ranks: list[int]):
    """The pool of rankers with these ranks, and the facts of its queries."""
    runs = [
        (label, replace(result(model=label, seed=seed, also={}), ranks=of, parameters=0 if "bm25" in label else 3))
        for label, of in ranks.items()
        for seed in range(1 if "bm25" in label else 2)
    ]
    ((pool, entries),) = by_pool(runs).items()
    return pool, entries, FACTS


@pytest.fixture
def three():
    better, worse = [1] * SHORT + [2] * (SIZE - SHORT), [3] * SHORT + [2] * (SIZE - SHORT)
    return known(galm_plus=better, galm=worse, bm25_tuned=[2] * SIZE)


def test_the_table_has_all_queries_and_each_class_with_its_lead(three):
    text = kind_table(three)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == ["queries", "number", "MRR of bm25_tuned", "galm_plus - bm25_tuned", "galm - bm25_tuned"]
    assert [(row[0], row[1], row[2]) for row in rows[2:]] == [
        ("all queries", str(SIZE), "0.500"),
        ("query length: 4-5", str(SHORT), "0.500"),
        ("overlap with its method: all", str(SHORT), "0.500"),
    ]
    assert rows[2][3].startswith(f"+{0.5 * SHORT / SIZE:.3f} (+")
    assert rows[3][3] == "**+0.500 (+0.500 to +0.500)**"
    assert rows[3][4] == "**-0.167 (-0.167 to -0.167)**"


def test_bold_is_what_is_significant_among_the_classes_of_a_column(three):
    _, entries, known_facts = three
    by_label = {entry.label: entry for entry in entries}
    (row,) = [line for line in kind_table(three).splitlines() if line.startswith("| overlap with its method: all |")]
    classes = query_classes(known_facts)[1:]
    for label, cell in zip(("galm_plus", "galm"), row.split("|")[4:6], strict=True):
        leads = judged(
            [gain(by_label[label], by_label["bm25_tuned"], each.rows, known_facts.files) for each in classes]
        )
        assert ("**" in cell) == (leads[-1].verdict == "yes")
    assert "**+0.500 (+0.500 to +0.500)**" in row
    same = known(galm=[2] * SIZE, bm25_tuned=[2] * SIZE)
    assert "**+0.000" not in kind_table(same)


def test_the_page_of_kinds_has_the_models_of_the_main_page_and_says_nothing_of_all_queries():
    page = (RESULTS / "main-where.md").read_text(encoding="utf-8")
    assert "in all queries" not in page
    main = (RESULTS / "main.md").read_text(encoding="utf-8")
    found = SAVED.answers["JDK (seen project)"]
    for first, second in (("galm", "tabcs"), ("galm_plus", "bm25_tuned")):
        text = with_interval(found.leads[first, second].difference)
        assert text in main
        of_kinds = page[page.index("## By kind of query") :]
        assert any(line.startswith("| all queries |") and text in line for line in of_kinds.splitlines())


def test_the_saved_queries_of_the_jdk_have_a_class_that_training_has_too():
    (facts,) = [each for each in saved_facts(RESULTS).values() if each.dataset == "jdk" and each.split == "test"]
    (same,) = [each for each in query_classes(facts) if (each.kind, each.label) == (ASKED, "yes")]
    assert same.size == sum(facts.asked) > 20
    page = (RESULTS / "main-where.md").read_text(encoding="utf-8")
    assert f"{ASKED}: yes ({same.size})" in page


def test_overlap_with_training_stands_first(three):
    pool, entries, known_facts = three
    near = replace(
        known_facts, nearest=[0.9] * SHORT + [0.1] * (SIZE - SHORT), asked=[1] * SHORT + [0] * (SIZE - SHORT)
    )
    assert nearest_table(three) == ""
    header, _, *rows = nearest_table((pool, entries, near)).splitlines()
    assert (
        header
        == f"| **jdk** | nearest training method: 4/5 or more ({SHORT}) | same query in training: yes ({SHORT}) |"
    )
    assert rows == ["| galm_plus - bm25_tuned | **+0.500 (+0.500 to +0.500)** | **+0.500 (+0.500 to +0.500)** |"]


def test_without_the_models_or_without_bm25_there_is_neither_table_nor_picture():
    for ranks in ({"unif": [1] * SIZE, "bm25_tuned": [2] * SIZE}, {"galm": [1] * SIZE}):
        found = known(**ranks)
        assert kind_table(found) == ""
        assert kind_pictures([found]) == {}


def test_shares_of_the_bands_are_those_of_a_loop():
    random = np.random.default_rng(0)
    seeds = [random.integers(1, SIZE + 1, SIZE).tolist() for _ in range(2)]
    rows = np.arange(SIZE) % 2 == 0
    ranks = [rank for seed in seeds for query, rank in enumerate(seed) if query % 2 == 0]
    counts = [sum(first <= rank <= last for rank in ranks) for first, last in ((1, 1), (2, 5), (6, 10), (11, 100))]
    expected = [*counts, sum(rank > 100 for rank in ranks)]
    assert (band_shares(entry("a", *seeds), rows) * len(ranks)).tolist() == pytest.approx(expected)


def test_pictures_are_named_by_their_data_set(three):
    assert kind_pictures([three])["jdk"].startswith(PNG)


def test_of_several_pools_of_a_name_that_of_most_rankers_is_drawn():
    few = replace(result(also={}), data=replace(result().data, fingerprint="other"))
    runs = [("a", few), ("a", result(also={})), ("b", result(also={}))]
    for order in (runs, runs[::-1]):
        ((pool, entries),) = largest_pools(order).values()
        assert (pool.fingerprint, len(entries)) == ("0a1b", 2)


def test_the_page_and_the_pictures_need_no_data(tmp_path, monkeypatch):
    """A fresh clone has results and facts, and no prepared data."""
    kept = RESULTS / "queries" / ROWS
    if not kept.exists():
        pytest.skip("no facts of queries are kept: experiments/results/queries")
    monkeypatch.setattr("data_prep.prepare.prepare", lambda *_, **__: pytest.fail("prepared"))
    copied("main", [f"jdk-{cell}" for cell in ("galm_plus-seed0", "galm_plus-seed1", "bm25_tuned-seed0")], tmp_path)
    first = dict(pages(Saved(tmp_path)))
    without = first["main-all.md"]
    assert "main-where.md" not in first
    assert "main-jdk-where.png" not in dict(pictures(Saved(tmp_path)))
    copied("queries", ["jdk"], tmp_path)
    second = dict(pages(Saved(tmp_path)))
    page = second["main-all.md"]
    rows = [line for line in without.splitlines() if line.startswith("| galm_plus | 2 |")]
    assert "each for itself" in without
    assert "each for itself" not in page
    assert len(rows) == 1
    assert "| all queries | " in second["main-where.md"]
    assert "](main-jdk-where.png)" in second["main-where.md"]
    assert "main-jdk-where.png" in dict(pictures(Saved(tmp_path)))
