"""Scotch's tools on two small trained runs: loading, vectors, labels, NDCG, trees in turn, and the command itself."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from baselines.bm25 import Bm25
from cli.main import main
from data_prep.pipeline.contexts import nearest_words, without_contexts
from data_prep.records import CONTEXT_FIELD
from data_prep.store.prepared_data import tree_of
from experiments.context import turns
from experiments.context.finished_run import (
    FinishedRun,
    Pool,
    model_scores,
    pool_ranks,
    pools,
    ranker_scores,
    rows_of_languages,
    same_pairs,
    url_of,
)
from experiments.context.measure import BM25, BM25_TUNED, FUSED, FUSED_TUNED, measured, page_of, plain_contexts
from experiments.context.options import ContextOptions
from experiments.recipes.config import resolve


@pytest.fixture(scope="module")
def loaded(runs):
    return [FinishedRun.of(path) for path in runs]


def refused(capsys, *arguments):
    """The one line by which the command refuses."""
    capsys.readouterr()
    assert main(["context", *map(str, arguments)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_a_run_comes_with_the_pairs_that_it_is_tested_on(runs, loaded, held_out):
    context, plain = loaded
    assert len(context.split) > 8
    assert {tree_of(context.split, row) for row in range(len(context.split))} == {held_out}
    assert CONTEXT_FIELD in context.split.words
    assert CONTEXT_FIELD not in plain.split.words
    assert same_pairs(loaded) == loaded
    assert [*rows_of_languages(context.split)] == ["python"]
    limited = FinishedRun.of(runs[0], limit=3, seed=1)
    assert len(limited.split) == 3
    with pytest.raises(ValueError, match="different test pairs"):
        same_pairs([context, limited])
    assert 0 < context.train_pairs == len(context.plain.splits["train"])


def test_functions_are_shown_with_what_stands_above_and_their_address(loaded, held_out):
    run = loaded[0]
    found = run.triples([2, 0])
    assert [*found] == [0, 2]
    for row, triple in found.items():
        text = run.split.text(row)
        assert triple.docstring not in triple.function
        assert text.method_name in triple.function
        assert url_of(text, "repositories") == triple.function_url
        assert url_of(text, "installed").startswith(f"pkg:{held_out}@")


def test_vectors_give_the_scores_of_the_model_itself(loaded):
    for run in loaded:
        scores, plain = model_scores(run.ranker, run.split)(run.split), ranker_scores(run.ranker, run.split, run.split)
        for part in pools(np.arange(len(run.split)), 6, seed=0):
            np.testing.assert_allclose(scores(part), plain(part), atol=1e-5)
    asked = loaded[0].split
    with_context, without = (loaded[0].ranker.vectors(each, "query") for each in (asked, without_contexts(asked)))
    assert np.abs(with_context - without).max() > 0.01


def test_what_a_run_is_compared_with(runs, loaded):
    """BM25 with both settings, and MRR by the published convention, in which the last pool is smaller."""
    split = loaded[0].split
    size = len(split) - 3
    (found,) = measured(runs[0], ContextOptions(pools=str(size)))
    assert (found.pool, found.wanted_pool, found.padded) == (size, size, size - 3)
    for name, recipe in ((BM25, "bm25"), (BM25_TUNED, "bm25_tuned")):
        bm25 = Bm25(resolve("jdk", recipe, {}).model)
        parts = pools(np.arange(len(split)), size, 0)
        ranks = pool_ranks({name: ranker_scores(bm25, split, split)}, parts, len(split))[name]
        assert found.mrr(name) == pytest.approx(np.mean(1 / ranks), abs=1e-6)
        own = parts[-1].own
        smaller = pool_ranks({name: ranker_scores(bm25, split, split)}, [Pool(own, len(own))], len(split))[name]
        ranks[own] = smaller[own]
        assert found.systems[name].as_published == pytest.approx(np.mean(1 / ranks), abs=1e-6)
    assert found.mrr(BM25) != found.mrr(BM25_TUNED)
    assert {FUSED, FUSED_TUNED} <= {*found.systems}
    assert 0 <= found.tuned_fusion_weight <= 1
    line = next(line for line in page_of(found).splitlines() if BM25_TUNED in line)
    assert f"{found.mrr(BM25_TUNED):.4f}" in line


def test_what_a_run_is_compared_with_reads_the_same_contexts_however_the_run_reads_them(loaded):
    run = loaded[0]
    model, asked = replace(run.plan.model, context_words=3), nearest_words(run.split, 3)
    fewer = replace(
        run,
        plan=replace(run.plan, model=model),
        asked=replace(run.asked, splits={**run.asked.splits, run.split_name: asked}),
    )
    for each in (run, fewer, loaded[1]):
        found, whole = plain_contexts(each), run.split
        for row in range(len(whole)):
            words = [whole.lexicon[word] for word in whole.words[CONTEXT_FIELD][row]]
            assert [found.lexicon[word] for word in found.words[CONTEXT_FIELD][row]] == words
    assert max(asked.words[CONTEXT_FIELD].lengths) == 3


@pytest.fixture(scope="module")
def annotated(runs, tmp_path_factory):
    """The rows of a set to be labelled."""
    path = tmp_path_factory.mktemp("labels") / "set.csv"
    assert main(["context", "annotate", *map(str, runs), f"--out={path}", "--queries=4", "--top=3"]) == 0
    with path.open(newline="") as file:
        return path, [*csv.DictReader(file)]


def test_a_set_to_label_has_the_first_functions_of_both_runs_once(annotated, loaded):
    _, rows = annotated
    asked = {row["QueryUrl"] for row in rows}
    assert len(asked) == 4
    urls = [url_of(loaded[0].split.text(row), "repositories") for row in range(len(loaded[0].split))]
    everything = Pool(np.arange(len(urls)), len(urls))
    scores = [ranker_scores(run.ranker, run.split, run.split)(everything) for run in loaded]
    for url in asked:
        own = [row for row in rows if row["QueryUrl"] == url]
        shown = [row["GitHubUrl"] for row in own]
        expected = {urls[row] for each in scores for row in np.argsort(-each[urls.index(url)], kind="stable")[:3]}
        assert len(shown) == len({*shown})
        assert {*shown} == expected
        assert {(row["Relevance"], row["Language"]) for row in own} == {("", "python")}
        assert all(row["Code"].strip() and '"""' not in row["Code"] for row in own)


def test_a_set_is_never_written_over(annotated, runs, capsys):
    path, _ = annotated
    before = path.read_bytes()
    assert "exists, perhaps with labels" in refused(capsys, "annotate", *runs, f"--out={path}")
    assert path.read_bytes() == before
    assert "expected two runs and a file" in refused(capsys, "annotate", runs[0], f"--out={path}.new")


def test_ndcg_of_labels_by_its_definition(annotated, runs, loaded, tmp_path, capsys):
    path, rows = annotated
    assert "has no labels" in refused(capsys, "ndcg", runs[0], f"--annotations={path}")
    labelled = tmp_path / "labelled.csv"
    with labelled.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows({**row, "Relevance": 3 * (row["GitHubUrl"] == row["QueryUrl"])} for row in rows)
    saved = tmp_path / "ndcg.json"
    assert main(["context", "ndcg", *map(str, runs), f"--annotations={labelled}", f"--save={saved}"]) == 0
    found = {each["model"]: each["values"] for each in json.loads(saved.read_text())}
    assert {*found["scotch_light"]} >= {"its context", "no context", "nearest 5 context words"}
    assert [*found["scotch_light_no_context"]] == ["its context"]
    urls = [url_of(loaded[0].split.text(row), "repositories") for row in range(len(loaded[0].split))]
    places = [urls.index(url) for url in {row["QueryUrl"] for row in rows if row["QueryUrl"] == row["GitHubUrl"]}]
    assert places
    for run in loaded:
        scores = ranker_scores(run.ranker, run.split, run.split)(Pool(np.arange(len(urls)), len(urls)))
        ranks = [1 + [*np.argsort(-scores[row], kind="stable")].index(row) for row in places]
        expected = np.mean([1 / math.log2(1 + rank) for rank in ranks])  # one relevant function each
        assert found[run.plan.model_name]["its context"]["python"]["full"] == pytest.approx(expected)
    assert "expected runs and labels" in refused(capsys, "ndcg", runs[0])


def test_trees_are_left_out_in_turn(corpus, small, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(turns, "LEAST", 40)
    all_trees = turns.trees_of
    monkeypatch.setattr(turns, "trees_of", lambda *arguments: all_trees(*arguments)[-2:])
    monkeypatch.setattr("experiments.context.turns.REPOSITORY", tmp_path)
    monkeypatch.setattr("experiments.recipes.results_folder.RESULTS", tmp_path / "tracked")
    monkeypatch.setattr("experiments.recipes.results_folder.APART", tmp_path / "results")
    asked = ["context", "turns", "repositories", "scotch_light", *corpus, *small]
    assert main(asked) == 0
    told = capsys.readouterr().out
    folders = sorted(path.name for path in (tmp_path / "runs" / "turns").iterdir())
    trees = {name.removeprefix("repositories-python-").rpartition("-scotch")[0] for name in folders}
    assert len(trees) == 2
    assert len(folders) == 2 * len(trees)
    assert f"{len(trees)} source trees of 40 pairs or more" in told
    results = [json.loads(path.read_text()) for path in (tmp_path / "results").rglob("*.json")]
    assert len(results) == len(folders)
    assert {tree for each in results for tree in each["repositories"]} == {tree.replace("+", "/") for tree in trees}
    weights = [*(tmp_path / "runs" / "turns").rglob("weights.safetensors")]
    before = [path.stat().st_mtime_ns for path in weights]
    assert main(asked) == 0
    assert [path.stat().st_mtime_ns for path in weights] == before  # finished ones are not trained again
    assert not (tmp_path / "tracked").exists()  # small runs are not the default
    monkeypatch.setattr("experiments.context.turns._turn", lambda *arguments: taken.append(arguments[-1]))
    taken: list[Path] = []
    assert main(["context", "turns", "repositories", "scotch_light", *corpus, "--train.seed=1"]) == 0
    assert {*taken} == {tmp_path / "tracked"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected finished runs: bash run.sh context RUN_DIR"),
        (["/nowhere"], "/nowhere"),
        (["turns", "installed"], "expected a data set and a model"),
        (["turns", "instaled", "scotch_light"], "did you mean installed?"),
        (["turns", "installed", "galm"], "model with a form without context"),
        (["turns", "jdk", "scotch_light"], "jdk is not made of source trees"),
        (["turns", "installed", "scotch_light", "--out=x"], "chooses --out itself"),
        (["ndcg", "/nowhere", "--annotations=/nowhere.csv"], "/nowhere.csv"),
        (["annotate", "/a", "/b"], "expected two runs and a file"),
        (["--pools=1"], "--pools takes numbers of 2 or more"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys):
    assert message in refused(capsys, *arguments)


def test_the_command_measures_a_run_and_its_controls(runs, held_out, tmp_path, capsys):
    assert main(["context", *map(str, runs), "--pools=8", f"--save={tmp_path}"]) == 0
    told = capsys.readouterr().out
    assert told.count("pools of 8") == 2
    assert "model, contexts of other queries" in told
    saved = {each["model"]: each for each in (json.loads(path.read_text()) for path in tmp_path.rglob("*.json"))}
    assert {*saved} == {"scotch_light", "scotch_light_no_context"}
    for each in saved.values():
        assert each["repositories"] == {held_out: sum(each["repositories"].values())}
        assert each["pool"] == 8


def test_a_study_has_the_first_function_of_both_runs_and_is_answered_in_the_terminal(
    runs, tmp_path, monkeypatch, capsys
):
    path = tmp_path / "study.json"
    monkeypatch.setattr("sys.stdin", io.StringIO("better\nLEFT \nincoherent\n"))
    assert main(["context", "study", *map(str, runs), f"--out={path}", "--queries=8"]) == 0
    told = capsys.readouterr().out
    assert "scotch_light_no_context against scotch_light: 8 comparisons" in told
    found = json.loads(path.read_text())["comparisons"]
    answers = [each["answer"] for each in found if each["left"]["url"] != each["right"]["url"]]
    assert answers[:2] == ["left", "incoherent"][: len(answers)]
    valid = [FinishedRun.of(run, "valid") for run in runs]
    rows = {valid[0].split.text(row).query_text: row for row in range(len(valid[0].split))}
    everything = Pool(np.arange(len(valid[0].split)), len(valid[0].split))
    scores = [ranker_scores(run.ranker, run.split, run.split)(everything) for run in valid]
    for each in found:
        urls = [url_of(valid[0].split.text(int(np.argmax(one[rows[each["query"]]]))), "repositories") for one in scores]
        assert [each["left"]["url"], each["right"]["url"]] == urls[:: 1 if each["left_is_first"] else -1]
        assert each["left"]["code"] in told or each["left"]["url"] == each["right"]["url"] or each["answer"] == ""
    assert "exists, perhaps with answers" in refused(capsys, "study", *runs, f"--out={path}")
    assert "expected two runs for a new study" in refused(capsys, "study", runs[0], f"--out={path}")
