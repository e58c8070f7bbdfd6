"""The speed measurements: their arithmetic against hand counts, their fits, and a whole report on very little data."""

import dataclasses
import itertools
import json
import shutil
import sys

import numpy as np
import pytest

from cli.main import main
from data_prep.config import DataConfig
from data_prep.records import SourceFile
from data_prep.store.tokenizing import WordTokenizer
from evaluation.config import EvaluateConfig
from experiments.recipes.results_folder import APART, RESULTS
from experiments.speed import measure, paired_steps, row_updates, selected_scores
from experiments.speed import pools as speed_pools
from experiments.speed import rounding as speed_rounding
from experiments.speed import scoring as speed_scoring
from experiments.speed import training as speed_training
from experiments.speed.config import SpeedConfig, folder_of, resolve_speed
from experiments.speed.extraction import drawn, measure_extraction
from experiments.speed.pools import PoolSpeed, Ranked, Task, in_rounds, longest_rows, perform, split_for, times
from experiments.speed.report import markdown
from experiments.speed.rounding import Rounding, measure_rounding
from experiments.speed.scoring import Block, all_operations, graph_operations, plan_of_width
from experiments.speed.timing import Growth, Spread, in_turn
from experiments.speed.training import Epoch, Reached
from galm.config import GalmConfig

JAVA = """class %s {
    %s() { }
    /** Returns the sum of both numbers. */
    int sum(int a, int b) { return new Object() { int of() { return a + b; } }.of(); }
    abstract void nothing();
}"""

ROUNDING = Rounding(float32_mrr=0.6, bfloat16_mrr=0.6, moved=0.0, moved_at_top=0.0, farthest=0)


@pytest.fixture(scope="module")
def tokenizer(small_data):
    return WordTokenizer.build(small_data.splits["train"], plan_of_width(32).words)


@pytest.fixture
def small(monkeypatch):
    """Measurements of a moment."""
    monkeypatch.setattr(speed_scoring, "BLOCK", 16)
    monkeypatch.setattr(speed_scoring, "_PRODUCT", 64)
    monkeypatch.setattr(speed_training, "BATCH", 6)
    monkeypatch.setattr(speed_training, "BATCHES", 1)
    monkeypatch.setattr(speed_pools, "LENGTHS", (5, 10))
    monkeypatch.setattr(speed_pools, "LENGTH_POOL", 6)
    monkeypatch.setattr(speed_pools, "in_a_process", perform)


def test_operations_are_those_of_a_hand_count():
    # d = 8, B = 2, F = 3, L = 2; queries of 2 and 1 words, methods of 5 and 3.
    config = GalmConfig(dim=8, num_blocks=2, gcn_dim=3, layers=2)
    logits_and_mix = 2 * 2 * 8 * (2 + 1) * (5 + 3)
    blocks = 4 * 8 * (2 + 1) * 2
    first = 2 * 2 * 3 * (2 + 1) * 2
    attention = logits_and_mix + blocks + first
    of_two = 2 * 4 * 3 + (2 * 4 * 3 + 2 * 2 * 9 + 2 * 4 * 3) + 2 * 2 * 9 + 2 * 2 * 3
    of_one = 2 * 1 * 3 + (2 * 1 * 3 + 2 * 1 * 9 + 2 * 1 * 3) + 2 * 1 * 9 + 2 * 1 * 3
    queries, codes = np.array([2, 1]), np.array([5, 3])
    assert graph_operations(config, queries).tolist() == [of_two, of_one]
    assert all_operations(config, queries, codes) == attention + 2 * (of_two + of_one)
    # One of the three query words stands twice: it is brought to each method once.
    assert all_operations(config, queries, codes, 2) == attention * 2 / 3 + 2 * (of_two + of_one)


def test_a_layer_more_adds_its_edges_and_its_weights():
    one, two = (GalmConfig(dim=8, num_blocks=2, gcn_dim=3, layers=layers) for layers in (1, 2))
    n = np.array([4])
    assert graph_operations(two, n) - graph_operations(one, n) == 2 * 16 * 3 + 2 * 4 * 9 + 2 * 16 * 3


def test_a_power_law_is_found_again():
    sizes = [10, 20, 50, 100]
    growth = Growth.of(sizes, [0.5 * size**1.7 for size in sizes])
    assert growth.exponent == pytest.approx(1.7)
    assert growth.factor == pytest.approx(0.5)
    assert growth.seconds(1000) == pytest.approx(0.5 * 1000**1.7)


def test_a_spread_has_median_least_and_most():
    assert Spread.of([3.0, 1.0, 10.0]) == Spread(median=3.0, least=1.0, most=10.0, repeats=3)
    assert Spread.of([1.0, 2.0]).median == 1.5


def test_forms_take_turns_and_the_first_round_is_not_kept():
    numbers = itertools.count()
    asked = []

    def form(name):
        return lambda: (asked.append(name), next(numbers))[1]

    assert in_turn({"a": form("a"), "b": form("b")}, 2) == {"a": [2, 4], "b": [3, 5]}
    assert asked == ["a", "b"] * 3


def test_a_block_is_in_order_of_length_and_its_sample_spread_over_it(tokenizer, small_data):
    ids = tokenizer.encode(small_data.splits["train"])
    block = Block.drawn(ids, 40)
    assert sorted(block.queries) == sorted(block.codes)
    assert len(set(block.queries)) == 40
    assert (np.diff(block.query_words) >= 0).all()
    assert (np.diff(block.code_words) >= 0).all()
    assert block.sample[0] == 0
    assert len(Block.drawn(ids, 10**6).queries) == len(ids)


@pytest.mark.usefixtures("small")
def test_both_forms_give_the_same_scores_and_gradients(tokenizer, small_data):
    train, test = (tokenizer.encode(small_data.splits[name]) for name in ("train", "test"))
    product, scored, scoring = speed_scoring.measure_scoring(tokenizer, train, test, 1)
    training = speed_training.measure_training(tokenizer, train, 1)
    assert list(scoring) == list(training) == [32, 256]
    assert product.gflops.median > 0
    for width in scoring:
        assert scoring[width].largest_difference < 1e-4
        assert scoring[width].executed_operations <= scoring[width].equation_operations
        assert training[width].gradient_difference < 1e-3
    assert scored.queries == scored.codes == 16


def test_pools_come_from_the_split_that_holds_them(small_data):
    test, train = len(small_data.splits["test"]), len(small_data.splits["train"])
    assert split_for(small_data, (2, test)) == "test"
    assert split_for(small_data, (2, test + 1)) == "train"
    with pytest.raises(ValueError, match=r"^--speed.pools asks for .* methods, but the training split has"):
        split_for(small_data, (2, train + 1))


def test_small_pools_are_ranked_more_often_and_all_in_rounds(monkeypatch):
    assert [times(size, 5) for size in (1000, 2000, 5000, 10_000)] == [5, 3, 1, 1]
    asked = []

    def ranked(task):
        asked.append(task.methods)
        return Ranked(methods=task.methods, query_words=1, code_words=1, seconds=len(asked), peak_memory_mb=len(asked),
                      memory_before_mb=0)  # fmt: skip

    monkeypatch.setattr(speed_pools, "in_a_process", ranked)
    found = in_rounds([Task(folder="", limit=0, split="test", methods=size) for size in (1000, 5000)], 3)
    assert asked == [1000, 5000, 1000, 1000]
    assert found[0].seconds == Spread(median=3, least=1, most=4, repeats=3)
    assert found[0].peak_memory_mb == 4
    assert found[1].pairs_per_second == 5000**2 / 2


def test_the_longest_methods_are_cut(tokenizer, small_data):
    train = small_data.splits["train"]
    rows = longest_rows(train, tokenizer, 5)
    lengths = WordTokenizer(tokenizer.vocabularies, speed_pools.cut_to(tokenizer.config, 80)).encode(train).code_lengths
    assert sorted(lengths[rows]) == sorted(lengths)[-5:]
    cut = WordTokenizer(tokenizer.vocabularies, speed_pools.cut_to(tokenizer.config, 10)).encode(train.take(rows))
    assert max(cut.code_lengths) == 10


def test_ten_thousand_is_measured_or_extrapolated():
    def pool(methods, seconds):
        ranked = Ranked(methods=methods, query_words=1, code_words=1, seconds=seconds, peak_memory_mb=1,
                        memory_before_mb=0)  # fmt: skip
        return PoolSpeed.of([ranked])

    assert measure.ten_thousand_minutes([pool(100, 1), pool(10_000, 120)]) == (2.0, True)
    assert measure.ten_thousand_minutes([pool(100, 1), pool(1000, 6)]) == (10.0, False)


def test_both_parsers_find_the_same_methods_and_broken_files_are_skipped():
    names = [f"A{number}" for number in range(6)]
    files = [SourceFile("test", name, (JAVA % (name, name)).encode()) for name in names]
    broken = [SourceFile("test", f"B{number}", b"class { nothing here parses") for number in range(2)]
    found = measure_extraction([*files, *broken], 7, 1)
    assert (found.files, found.skipped) == (6, 2)
    assert found.extracted.methods == found.found.methods == found.javalang.methods == 3 * 6
    assert drawn(files, 3) == drawn(reversed(files), 3)
    assert drawn(files, 3, seed=1) != drawn(files, 3)


@pytest.mark.parametrize(("rounded", "moved", "at_top", "farthest"), [(False, 0, 0, 0), (True, 0.5, 0.25, 3)])
def test_rounding_counts_the_golds_that_moved(monkeypatch, small_data, tokenizer, rounded, moved, at_top, farthest):
    exact, other = np.array([1, 2, 3, 4]), np.array([2, 2, 3, 7])

    class Found:
        def __init__(self, ranker, *_, **__):
            self.ranks = other if ranker.bfloat16 and rounded else exact

    monkeypatch.setattr(speed_rounding, "evaluate", Found)
    model = speed_scoring.galm_of_width(32, tokenizer, tokenizer.encode(small_data.splits["train"]))
    found = measure_rounding(model, tokenizer, small_data.splits["valid"], EvaluateConfig())
    assert (found.moved, found.moved_at_top, found.farthest) == (moved, at_top, farthest)
    assert (found.float32_mrr == found.bfloat16_mrr) != rounded


def test_bm25_is_reached_by_the_first_epoch_that_is_as_good():
    history = [Epoch(epoch=number, seconds=10.0 * number, mrr=mrr) for number, mrr in ((1, 0.2), (2, 0.5), (3, 0.6))]
    reached = Reached.of(100, 0.5, history, ROUNDING)
    assert (reached.seconds, reached.epochs) == (20.0, 2)
    missed = Reached.of(100, 0.7, history, ROUNDING)
    assert (missed.seconds, missed.epochs) == (None, None)


@pytest.mark.usefixtures("small")
def test_a_run_leaves_its_numbers_tables_and_picture(small_data, java_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "prepare_stage", lambda *_: small_data)
    monkeypatch.setattr(measure, "Jdk", lambda *_: resolve_folder(java_folder))
    monkeypatch.setattr(speed_training, "EPOCHS", 1)
    config = SpeedConfig(repeats=1, pools=(4, 8), files=3, out=str(tmp_path / "out"))
    report = measure.measure_speed(config, DataConfig(), {"speed.repeats": "1"})
    kept = json.loads((tmp_path / "out" / "speed.json").read_text())
    assert set(kept) == {field.name for field in dataclasses.fields(report)}
    for name in ("scoring_speedup", "training_speedup", "matmul_fraction", "ten_thousand_minutes", "peak_memory_mb"):
        assert kept[name] > 0
    assert set(kept["scoring"]) == set(kept["training"]) == {"32", "256"}
    assert [pool["methods"] for pool in kept["pools"]] == [4, 8]
    assert kept["command"] == "bash run.sh speed --speed.repeats=1"
    assert (tmp_path / "out" / "speed.md").read_text() == markdown(report)
    assert (tmp_path / "out" / "speed.png").read_bytes().startswith(b"\x89PNG")
    without = markdown(dataclasses.replace(report, reached=None, kernels=False))
    assert "Time to BM25" not in without
    assert "Without a C compiler" in without


def resolve_folder(path):
    from data_prep.registry import data_set

    return data_set("folder", DataConfig(path=str(path)))


def test_a_process_of_its_own_answers(small_data, monkeypatch):
    task = Task(folder=str(small_data.folder), limit=0, split="test", methods=3)
    found = speed_pools.in_a_process(task)
    assert found.methods == 3
    assert found.peak_memory_mb >= found.memory_before_mb > 0
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(ValueError, match="ended with code 1"):
        speed_pools.in_a_process(task)


def test_options_are_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config, data = resolve_speed({"speed.pools": "10,20", "speed.train": "false", "data.limit": "50", "speed.out": "x"})
    assert (config.pools, config.train, data.limit) == ((10, 20), False, 50)
    assert folder_of(config, data) == tmp_path / "x"


@pytest.mark.parametrize(
    ("typed", "folder"),
    [
        ({}, RESULTS),
        ({"data.path": "/elsewhere"}, RESULTS),
        ({"speed.repeats": "1"}, APART),
        ({"data.limit": "50"}, APART),
    ],
)
def test_only_measurements_with_the_default_options_are_tracked(typed, folder):
    assert folder_of(*resolve_speed(typed)) == folder


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["speed", "jdk"], "speed takes options only, not jdk"),
        (["speed", "--speed.repeat=3"], "did you mean --speed.repeats"),
        (["speed", "--train.epochs=3"], "unknown option of speed"),
        (["speed", "--speed.repeats=0"], "--speed.repeats takes a whole number from 1 to 1,000, not 0"),
        (["speed", "--speed.pools=10"], "--speed.pools takes two different sizes"),
        (["speed", "--speed.pools=1,b"], "--speed.pools takes a comma list, each a whole number"),
        (["speed", "--speed.train=1"], "--speed.train takes true or false"),
        (["speed", "--data.limit=-1"], "--data.limit takes"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("module", "measure", "name", "what", "few"),
    [
        (row_updates, "measure_rows", "row-updates", "BUCKETS", ("1", "8")),
        (
            selected_scores, "measure_selected", "selected-scores", "SIZES",
            {"small": ("galm", {}), "wide": ("galm_paper", {"model.gcn_dim": "64"})},
        ),
    ],
)  # fmt: skip
def test_steps_are_measured_in_both_ways(small_data, monkeypatch, tmp_path, module, measure, name, what, few):
    monkeypatch.setattr(paired_steps, "STEPS", 1)
    monkeypatch.setattr(paired_steps, "RESULTS", tmp_path)
    monkeypatch.setattr(module, what, few)
    monkeypatch.setattr(module, "prepare_stage", lambda *_: small_data)
    found = getattr(module, measure)(repeats=1)
    assert len(found.models) == 2
    assert all(each.speedup.median == pytest.approx(each.fast.median / each.plain.median) for each in found.models)
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert page == paired_steps.markdown(found)
    assert f"{found.models[1].parameters:,}" in page
