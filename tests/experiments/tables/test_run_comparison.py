"""Runs of one's own against each other: what compares, over which queries, and what is said of the rest."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread

from cli.main import main
from data_prep.errors import UserError
from evaluation.significance import compare_runs
from experiments.tables.comparison_pictures import forest_picture
from experiments.tables.comparison_tables import latex_text, plain_text
from experiments.tables.run_comparison import compared_runs
from experiments.tables.run_pages import write_comparison
from tests.experiments.tables.compared_runs import QUERIES, query_lines, ranks_of, saved_run

PNG = b"\x89PNG"


@pytest.fixture
def runs(tmp_path):
    """Three seeds of a model, two of the same with wider vectors, one of another, and BM25."""
    saved = [saved_run(tmp_path / f"unif-{seed}", "unif", seed, ranks_of(seed)) for seed in range(3)]
    wide = {"model.dim": "512"}
    saved += [saved_run(tmp_path / f"wide-{seed}", "unif", seed, ranks_of(seed, 3), wide) for seed in range(2)]
    saved.append(saved_run(tmp_path / "tabcs", "tabcs", 0, ranks_of(9)))
    saved.append(saved_run(tmp_path / "bm25", "bm25", 0, ranks_of(5, 4)))
    return saved


def named(found):
    ((one,), left) = found
    assert left == []
    return one


def test_seeds_of_a_configuration_are_one_row_and_labels_say_what_differs(runs):
    found = named(compared_runs(runs))
    assert {entry.label: entry.seeds for entry in found.entries} == {
        "unif, dim=100": 3,
        "unif, dim=512": 2,
        "tabcs": 1,
        "bm25": 1,
    }
    assert [entry.mrr for entry in found.entries] == sorted((entry.mrr for entry in found.entries), reverse=True)
    assert found.reference == "unif, dim=100"


def test_differences_are_those_of_the_projects_test_with_files_as_clusters(runs):
    found = named(compared_runs(runs))
    wide, base = found.entry("unif, dim=512"), found.entry("unif, dim=100")
    expected = compare_runs(wide.runs, base.runs, [place // 4 for place in range(QUERIES)])
    assert found.leads["unif, dim=512"].difference == expected
    assert found.leads["unif, dim=512"].adjusted_p >= expected.p_value


def test_one_seed_of_a_trained_model_gets_no_verdict_and_a_ranker_without_training_does(runs):
    leads = named(compared_runs(runs)).leads
    assert leads["tabcs"].verdict == "one seed"
    assert np.isnan(leads["tabcs"].adjusted_p)
    assert leads["bm25"].verdict == "yes"


def test_a_folder_of_runs_is_all_of_them(runs, tmp_path):
    assert named(compared_runs([tmp_path])).entries == named(compared_runs(sorted(runs))).entries


@pytest.mark.parametrize(
    ("typed", "other", "why"),
    [
        ({}, {"fingerprint": "ffff"}, "its words are those of other data"),
        ({}, {"split": "valid"}, "of the valid split, not of test"),
        ({}, {"pool_size": 77}, "among 77 methods, not 100"),
        ({"evaluate.pool": "100", "evaluate.pool_seed": "3"}, {}, "drawn by another seed"),
    ],
)
def test_other_pools_are_not_compared_and_the_rest_is(tmp_path, typed, other, why):
    drawn = {"evaluate.pool": "100"} if typed else {}
    for number, (model, more, settings) in enumerate(
        [("unif", drawn, {}), ("tabcs", drawn, {}), ("galm", typed, other)]
    ):
        saved_run(tmp_path / str(number), model, 0, ranks_of(number), more, **settings)
    (found,), (left,) = compared_runs([tmp_path])
    assert {entry.label for entry in found.entries} == {"unif", "tabcs"}
    assert left.startswith("galm on jdk")
    assert why in left


def test_where_nothing_compares_it_says_why(tmp_path):
    one, other = (saved_run(tmp_path / name, name, 0, ranks_of(0), fingerprint=name) for name in ("unif", "tabcs"))
    with pytest.raises(
        UserError, match=r"nothing compares: unif on jdk .* its words are those of other data; tabcs on"
    ):
        compared_runs([one, other])
    with pytest.raises(UserError, match="all of these runs are of one configuration, unif"):
        compared_runs([one, one])


def test_names_of_data_sets_and_folders_do_not_count(tmp_path):
    saved_run(tmp_path / "a", "unif", 0, ranks_of(0), dataset="folder")
    saved_run(tmp_path / "b", "tabcs", 0, ranks_of(1))
    assert len(named(compared_runs([tmp_path])).entries) == 2


def test_queries_that_one_run_was_trained_on_count_for_none(tmp_path):
    saved_run(tmp_path / "a", "unif", 0, ranks_of(0), seen=[0, 7])
    saved_run(tmp_path / "b", "tabcs", 0, ranks_of(1), seen=[7, 9])
    found = named(compared_runs([tmp_path]))
    rest = [rank for place, rank in enumerate(ranks_of(1)) if place not in (0, 7, 9)]
    assert found.entry("tabcs").mrr == pytest.approx(np.mean(1 / np.array(rest)))
    assert (found.pool.queries, len(found.queries)) == (QUERIES - 3, QUERIES - 3)
    assert [line.query for line in found.queries[:2]] == ["q1", "q2"]
    assert found.notes == ["Without 3 queries of pairs that one of the runs was trained on, or of copies of them."]
    saved_run(tmp_path / "b", "tabcs", 0, ranks_of(1), seen=range(QUERIES))
    assert compared_runs([tmp_path])[0] == []


def test_of_two_runs_of_one_seed_the_newer_counts_and_that_is_said(tmp_path):
    saved_run(tmp_path / "old", "unif", 0, ranks_of(0), date="2026-01-01T00:00:00+00:00")
    saved_run(tmp_path / "new", "unif", 0, ranks_of(1), date="2026-01-02T00:00:00+00:00")
    saved_run(tmp_path / "other", "tabcs", 0, ranks_of(2))
    found = named(compared_runs([tmp_path / name for name in ("old", "new", "other")]))
    assert found.entry("unif").seeds == 1
    assert list(found.entry("unif").tested[0].ranks) == ranks_of(1)
    assert found.notes == ["old and new are both of unif with seed 0: new counts."]


def test_later_tests_of_a_run_compare_too_and_a_fusion_is_a_row_of_its_own(tmp_path):
    saved_run(tmp_path / "a", "unif", 0, ranks_of(0))
    fused = {"evaluate.fuse_with": "bm25_tuned"}
    saved_run(tmp_path / "a", "unif", 0, ranks_of(1, 3), fused, file="metrics-20260101-000000.json")
    saved_run(tmp_path / "a", "unif", 0, ranks_of(2), file="metrics-20260102-000000.json", fingerprint="cc")
    saved_run(tmp_path / "b", "tabcs", 0, ranks_of(3))
    (found,), left = compared_runs([tmp_path / "a", tmp_path / "b"])
    assert {entry.label for entry in found.entries} == {"unif", "unif + bm25_tuned", "tabcs"}
    assert len(left) == 1
    (only,), _ = compared_runs([tmp_path / "a" / "metrics-20260101-000000.json", tmp_path / "b"])
    assert {entry.label for entry in only.entries} == {"unif + bm25_tuned", "tabcs"}


def test_training_apart_from_another_test_is_another_configuration(tmp_path):
    """It leaves out other training pairs."""
    saved_run(tmp_path / "a", "unif", 0, ranks_of(0))
    saved_run(tmp_path / "b", "unif", 0, ranks_of(1), {"evaluate.extra_tests": "csn_tabcs"})
    found = named(compared_runs([tmp_path]))
    assert {entry.label for entry in found.entries} == {"unif, extra_tests=none", "unif, extra_tests=csn_tabcs"}


def test_runs_on_other_data_of_one_name_are_other_configurations(tmp_path):
    """Such as pairs of two files, tested on a third."""
    for name, own in (("a", "11"), ("b", "22")):
        saved_run(tmp_path / name, "unif", 0, ranks_of(0), fingerprint=own)
        saved_run(tmp_path / name, "unif", 0, ranks_of(ord(name)), file="metrics-20260101-000000.json")
    (found,), left = compared_runs([tmp_path])
    assert {entry.label for entry in found.entries} == {
        "unif, trained on=jdk-17.0.21 11",
        "unif, trained on=jdk-17.0.21 22",
    }
    assert len(left) == 2
    saved_run(tmp_path / "b", "unif", 0, ranks_of(0), {"data.limit": "9"}, fingerprint="22")
    (found,), _ = compared_runs([tmp_path])
    assert {entry.label for entry in found.entries} == {"unif, limit=0", "unif, limit=9"}


def test_a_ranker_without_training_is_one_whatever_it_was_prepared_with(tmp_path):
    saved_run(tmp_path / "a", "bm25", 0, ranks_of(0), {"data.limit": "500"})
    saved_run(tmp_path / "b", "bm25", 3, ranks_of(0), {"train.epochs": "2"})
    saved_run(tmp_path / "c", "unif", 0, ranks_of(1))
    found = named(compared_runs([tmp_path]))
    assert {entry.label: entry.seeds for entry in found.entries} == {"bm25": 1, "unif": 1}


def test_pages_have_the_pairs_themselves_and_no_markup_of_others(runs, tmp_path):
    text = "[x](http://e) ![](y) `rm` <img src=a> a|b \x1b[2J \\ $1$"
    ranks = [1, *ranks_of(5, 4)[1:]]
    best = saved_run(tmp_path / "bm25", "bm25", 0, ranks, lines=query_lines(ranks, {0: text}))
    wide = [run for run in runs if run.name.startswith("wide")]
    worst = [saved_run(tmp_path / f"unif-{seed}", "unif", seed, [90, *ranks_of(seed)[1:]]) for seed in range(3)]
    files = write_comparison(*compared_runs([best, *worst, *wide]), tmp_path / "out")
    assert files == ["comparison.md", "comparison.csv", "comparison.tex", "queries.csv", "forest.png", "kinds.png"]
    page = (tmp_path / "out" / "comparison.md").read_text()
    shown = r"\[x\](http://e) !\[\](y) \`rm\` &lt;img src=a> a\|b "
    (line, *_) = (line for line in page.splitlines() if shown in line)
    assert "| List.size | jdk/java%20base/0.java:0 |" in line
    assert line.endswith(" 90 | 1 |")
    assert "\x1b" not in page
    assert "### By kind of query" in page
    assert "length of its method: 41 or more" in page
    for name in files[-2:]:
        assert (tmp_path / "out" / name).read_bytes().startswith(PNG)
    rows = [*csv.DictReader((tmp_path / "out" / "queries.csv").read_text(encoding="utf-8").splitlines())]
    assert len(rows) == QUERIES
    assert {name for name in rows[0] if name.startswith("rank of ")} >= {"rank of unif, dim=100, seed 2"}
    table = (tmp_path / "out" / "comparison.csv").read_text().splitlines()
    assert table[0].endswith("MRR,MRR - bm25,adjusted p,significant")


@pytest.mark.parametrize("name", ["unif", "unif, dim=64, batch_size=128, learning_rate=0.0003"])
def test_no_text_of_the_forest_is_cut(runs, name):
    found = named(compared_runs(runs))
    leads = {"bm25": found.leads["bm25"]}
    shown = imread(io.BytesIO(forest_picture(leads, name, f"{found.pool.title}, of a rather long name of own pairs")))
    assert (shown[:, [0, 1, -2, -1], :3] == 1).all()


def test_several_pools_have_files_of_their_own(tmp_path):
    for pool in ("aa", "bb"):
        for model in ("unif", "tabcs"):
            saved_run(tmp_path / f"{model}{pool}", model, 0, ranks_of(ord(pool[0])), fingerprint=pool)
    files = write_comparison(*compared_runs([tmp_path]), tmp_path / "out")
    assert {"comparison.csv", "comparison-2-jdk.csv", "forest-2-jdk.png"} <= set(files)
    page = (tmp_path / "out" / "comparison.md").read_text()
    assert page.count("A model with one seed has neither.") == 2
    assert "**+" not in page


def test_runs_of_an_earlier_version_have_a_table_without_kinds(tmp_path):
    for seed, model in enumerate(("unif", "tabcs")):
        lines = [replace(line, words=0, code="", place="") for line in query_lines(ranks_of(seed))]
        saved_run(tmp_path / model, model, 0, ranks_of(seed), lines=lines)
    files = write_comparison(*compared_runs([tmp_path]), tmp_path / "out")
    assert "kinds.png" not in files
    page = (tmp_path / "out" / "comparison.md").read_text()
    assert "have not kept what their queries are" in page
    assert "returns the number of elements" in page


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("jdk", "compare jdk is now benchmark jdk: `bash run.sh benchmark jdk`"),
        ("languages", "compare languages is now benchmark languages"),
        ("nowhere", "nowhere is no folder of a run"),
        ("empty", "empty has no finished run in it"),
        ("begun", "is not finished: resume it with --train.resume="),
        ("", "expected finished runs"),
    ],
)
def test_what_is_no_finished_run_is_said_in_a_line(tmp_path, monkeypatch, capsys, word, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (saved_run(tmp_path / "begun", "unif", 0, ranks_of(0)) / "metrics.json").unlink()
    assert main(["compare", *[word] * bool(word)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_the_command_writes_into_its_folder_alone(runs, tmp_path, capsys):
    assert main(["compare", *map(str, runs), f"--out={tmp_path / 'here'}"]) == 0
    assert "| unif, dim=100 | 3 |" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "here").iterdir()} >= {"comparison.md", "forest.png"}


def test_letters_that_latex_and_markdown_would_read():
    assert latex_text("a_b & 5% ± 1 <x> \\ #1") == (
        r"a\_b \& 5\% $\pm$ 1 $<$x$>$ \textbackslash{} \#1"
    )  # fmt: skip
    assert plain_text("_a_ snake_case **b** [l](u)") == r"\_a\_ snake_case \*\*b\*\* \[l\](u)"
