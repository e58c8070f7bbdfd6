"""GenCodeSearchNet's page: paired differences of rows, joined runs, and the sentence that answers."""

from dataclasses import replace

import numpy as np
import pytest

from data_prep.files.json_text import to_json
from data_prep.installation import machine
from evaluation.benchmark import BenchmarkResult, MatchingResult, RankingResult, SubsetResult, matching
from evaluation.comparison import adjusted
from evaluation.result_store import ResultStore
from evaluation.significance import Runs, compare_runs
from experiments.gencodesearchnet.report import (
    FOLDER,
    NONE,
    answer,
    benchmark_page,
    difference_picture,
    difference_table,
    kept_benchmarks,
    pages,
)
from experiments.gencodesearchnet.rows import columns, is_trained, merged, paired, rows_of
from tests.conftest import REPOSITORY

DRAWS = np.random.default_rng(0)
BASE = DRAWS.integers(0, 6, 200)


def subset(name, better, groups=(), pairs=200):
    ranking = RankingResult.of(np.asarray(better), np.zeros(len(better), np.int64), 100, 1.0)
    return SubsetResult(
        name=name, language="R", origin="here", pairs=pairs, stand_in="", dropped={}, ranking=ranking, groups=groups
    )


def row(model, *subsets, trained=False, protocol="canonical"):
    return BenchmarkResult(
        model=model, protocol=protocol, seed=42, command=f"run {model}", code_version="1", date="2026-01-01",
        machine=machine(), subsets=subsets, missing=(), trained=trained,
    )  # fmt: skip


R = "statcodesearch"
ROWS = [
    row("bm25", subset(R, BASE, groups=[place // 4 for place in range(200)]), subset("go", BASE)),
    row("better", subset(R, np.maximum(BASE - 2, 0)), subset("go", BASE)),
    row("runs/mine", subset(R, BASE + 3), trained=True),
    row("noise", subset(R, DRAWS.permutation(BASE))),
]


def test_differences_are_those_of_the_projects_own_test_over_groups():
    found = paired(ROWS, "bm25")
    of_r, of_go = (next(leads for column, leads in found.items() if column.name == name) for name in (R, "go"))
    assert [*of_go] == ["better"]
    assert (of_go["better"].difference.mean, of_go["better"].adjusted_p) == (0, 1)
    groups = [place // 4 for place in range(200)]
    values = {each.model: Runs(1 / np.array([each.subsets[0].ranking.ranks]), trained=False) for each in ROWS}
    expected = adjusted({name: compare_runs(values[name], values["bm25"], groups) for name in ("better", "noise")})
    assert {name: of_r[name] for name in expected} == expected
    alone = compare_runs(values["better"], values["bm25"])
    assert of_r["better"].difference.standard_error != alone.standard_error


def test_accuracies_are_compared_on_the_same_texts_where_their_decisions_are_saved():
    true = np.tile([True, False], (200, 1))
    said = {"bm25": DRAWS.random((200, 2)) < 0.4, "better": true ^ (DRAWS.random((200, 2)) < 0.1)}
    decided = {
        name: MatchingResult.of(
            each == true, matching(each.ravel(), true.ravel()), threshold=0.5, threshold_from="here", unanswered=0
        )
        for name, each in said.items()
    }
    rows = [
        replace(each, subsets=[replace(each.subsets[0], matching=decided.get(each.model, decided["bm25"]))])
        for each in ROWS
    ]
    older = replace(rows[3], subsets=[replace(rows[3].subsets[0], matching=replace(decided["bm25"], right=()))])
    (leads,) = paired([*rows[:2], older], "bm25", "accuracy").values()
    shares = {name: Runs((each == true).mean(axis=1)[None], trained=False) for name, each in said.items()}
    groups = [place // 4 for place in range(200)]
    assert leads == adjusted({"better": compare_runs(shares["better"], shares["bm25"], groups)})
    assert leads["better"].difference.mean == pytest.approx(decided["better"].accuracy - decided["bm25"].accuracy)
    assert "| better | +0." in difference_table(rows, "bm25", "accuracy")


def test_a_row_with_one_seed_gets_an_interval_and_no_verdict():
    lead = paired(ROWS, "bm25")[next(iter(columns(ROWS[2:3])))]["runs/mine"]
    assert lead.verdict == "one seed"
    assert lead.difference.low < lead.difference.high < 0
    cells = [line for line in difference_table(ROWS, "bm25").splitlines() if line.startswith("| runs/mine")]
    assert cells[0].count("one seed") == 1
    assert "p " not in cells[0].replace("| runs/mine", "")
    older = [replace(each, trained=None) for each in ROWS]
    assert [is_trained(each) for each in older] == [False, False, True, False]


def test_nothing_is_compared_over_other_texts():
    half = row("half", subset(R, BASE[:100]))
    smaller = row("smaller", subset(R, BASE[:150], pairs=150))
    assert "half" not in difference_table([*ROWS, half, smaller], "bm25")
    assert "smaller" not in difference_table([*ROWS, half, smaller], "bm25")
    assert difference_table(ROWS[1:], "bm25") == ""
    with pytest.raises(ValueError, match="ranked beside bm25"):
        difference_picture(ROWS[1:])


def test_runs_of_one_model_are_one_row_and_sizes_of_a_subset_two_columns():
    other = row("better", subset(R, BASE[:150], pairs=150), subset("android", BASE))
    found = merged([*ROWS, other, row("better", subset(R, BASE), protocol="D-5")])
    assert [len(each.subsets) for each in found] == [2, 4, 1, 1, 1]
    titles = [*columns(found).values()]
    assert titles == ["go", f"{R} (150)", f"{R} (200)", "android"]
    assert [each.pairs for each in found[1].subsets] == [200, 150, 200, 200]


def test_the_page_begins_with_its_question_and_an_answer_with_intervals():
    page = benchmark_page(ROWS)
    title, sentence, *_ = page.split("\n\n")
    assert title.startswith("# Which models")
    assert sentence == answer(ROWS)
    assert sentence.startswith("On 200 texts of R, in MRR: `better` is ahead of `bm25`, +")
    assert " `noise` is not shown to differ from `bm25`, " in sentence
    assert " `runs/mine` gets no verdict, with one seed, against `bm25`, -" in sentence
    assert answer(ROWS[:1]) == ""


def test_the_picture_has_a_panel_a_column():
    assert difference_picture(ROWS).startswith(b"\x89PNG")


def test_the_seeds_of_a_model_are_one_row_with_an_interval_over_them():
    seeds = [
        row(f"runs/tuned-seed{seed}", subset(R, np.maximum(BASE - 2, 0) + (BASE > 4) * seed), trained=True)
        for seed in range(3)
    ]
    rows = [ROWS[0], *seeds, row("runs/alone-seed0", subset(R, BASE + 3), trained=True)]
    (of_r,) = (leads for column, leads in paired(rows, "bm25").items() if column.name == R)
    values = 1 / np.array([each.subsets[0].ranking.ranks for each in seeds])
    groups = [place // 4 for place in range(200)]
    expected = compare_runs(Runs(values), Runs(1 / np.array([BASE + 1.0]), trained=False), groups)
    found = of_r["runs/tuned, 3 seeds"].difference
    assert found == expected
    assert {*of_r} == {"runs/tuned, 3 seeds", "runs/alone-seed0"}
    page = benchmark_page(rows)
    deviation = values.mean(axis=1).std(ddof=1)
    assert f"| runs/tuned, 3 seeds | - | {values.mean():.3f} ± {deviation:.3f} |" in page
    assert f"{found.mean:+.3f} ({found.low:+.3f} to {found.high:+.3f}), p " in page


def test_saved_rows_have_names_and_not_folders_and_the_best_on_r_is_first():
    found = kept_benchmarks(REPOSITORY / "experiments" / "results")
    labels = [*rows_of(merged(found))]
    assert [label for label in labels if "/" in label or "seed0" in label or "gt_all" in label] == []
    assert "minilm as it comes + bm25" in labels
    of_r = {
        label: max(each.ranking.mrr for seed in seeds for each in seed.subsets if (each.name, each.pairs) == (R, 749))
        for label, seeds in rows_of(merged(found)).items()
        if "D-5" not in label
    }
    assert [*of_r] == sorted(of_r, key=of_r.__getitem__, reverse=True)
    assert "D-5" in labels[-1]


def test_a_saved_row_of_one_seed_stays_one_when_its_name_is_no_folder(tmp_path):
    store = ResultStore(tmp_path / FOLDER)
    for seed in (None, "0", "1"):
        model = "runs/jdk-minilm-seed0" if seed is None else f"runs/five-languages-half-seed{seed}"
        store.save(model.replace("/", "_"), to_json(replace(row(model, subset(R, BASE)), trained=None)))
    found = {label: [is_trained(each) for each in seeds] for label, seeds in rows_of(kept_benchmarks(tmp_path)).items()}
    assert found == {"minilm (JDK)": [True], "minilm, mean of weights (five languages), 2 seeds": [True, True]}


def test_rows_and_columns_without_a_number_are_left_out():
    unranked = replace(subset("ruby", BASE), ranking=None)
    page = pages([row("bm25", subset(R, BASE), unranked), row("nothing", unranked)])
    table = page.split("## Ranking: MRR, ties")[1].split("##")[0]
    assert "ruby" not in table
    assert "nothing" not in table
    assert f"| {NONE} |" not in table


def test_the_page_says_what_each_command_made_and_its_time():
    page = benchmark_page(ROWS)
    assert "- better: `run better`, code 1, 2026-01-01: 2 s of ranking" in page
    assert "Cost: 6 s of ranking" in page
    twice = benchmark_page([*ROWS, row("better", subset(R, BASE[:150], pairs=150))])
    assert twice.count("\n- better: `run better`") == 2
