"""The loop over a small dump: stages, their cache, resuming, and what the tests of it report."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from baselines.snipper_texts import QueryText
from data_prep.files.writing import sole_holder
from data_prep.posts.sets import PostSets
from data_prep.posts.store import prepare_posts
from data_prep.records import Method, Pair
from data_prep.store.prepared_data import write_prepared
from experiments.posts.config import MODELS, resolve_plan
from experiments.posts.loop import Loop
from experiments.posts.pools import Pool, docstring_pairs
from experiments.posts.run import run_posts
from tests.data_prep.posts.dumps import TRACEBACK, answer, code, link, question, write_dump
from tests.evaluation.rankers import ChosenScores
from tests.tiny_models import tiny_bert

WORDS = ["file", "list", "tree", "sum", "path", "name", "value", "index", "key", "read", "write", "open", "close"]


def dump(folder):
    """Forty answered questions about two words each; duplicates, linked questions and an unanswered pair."""
    pairs = [(first, second) for first in WORDS for second in WORDS if first < second][:40]
    posts, links = [], []
    for number, (first, second) in enumerate(pairs, 1):
        body = f"<p>about {first}</p>{code(f'{first}_{second} = {number}')}{code(f'{TRACEBACK}{second}')}"
        posts.append(question(number, body, accepted=1000 + number, title=f"{first} and {second}"))
        posts.append(answer(1000 + number, number, f"<p>Set {first} before {second}.</p>"))
    for number in range(1, 13):
        first, second = pairs[number]
        posts.append(question(100 + number, code(f"{second}({first})"), title=f"Why {first}"))
        links.append(link(100 + number, number + 1, 3 if number < 7 else 1))
    for number in range(201, 205):
        posts += [question(number, code(WORDS[number % 13])), question(number + 100, f"<p>{WORDS[number % 13]}</p>")]
        links.append(link(number, number + 100))
    return write_dump(folder, sorted(posts, key=lambda row: row["Id"]), links)


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("posts")
    return {
        "data.path": str(dump(folder)), "data.root": str(folder / "data"), "loop.out": str(folder / "runs"),
        "loop.mined": "5", "loop.pretrain_epochs": "1", "data.dev_share": "0.2",
    }  # fmt: skip


@pytest.fixture(scope="module")
def light(typed):
    options = {"model.dim": "16", "model.buckets": "64", "train.epochs": "2", "train.batch_size": "8"}
    return resolve_plan("snipper_light", typed | options | {"train.checkpoint_epochs": "1"})


def loop_of(plan, said):
    posts = prepare_posts(plan.data, command="", say=lambda _: None).posts
    return Loop(plan, PostSets(posts, plan.data), said.append)


def test_stages_are_cached_by_their_content(light):
    said: list[str] = []
    loop = loop_of(light, said)
    stages = loop.run()
    assert [stage.name for stage in stages] == ["pretrain", "round-1", "round-2"]
    again: list[str] = []
    assert loop_of(light, again).run()[-1].key == stages[-1].key
    assert any("training on" in line for line in said)
    assert not any("training on" in line for line in again)
    rankers = (each.ranker(stages[-1]) for each in (loop, loop_of(light, [])))
    np.testing.assert_array_equal(*(next(each.over(loop.pools[0]).blocks()) for each in rankers))


def test_a_stage_that_another_process_makes_is_waited_for(light):
    stages = loop_of(light, []).run()
    place = stages[0].folder
    other = sole_holder(place.with_name(f"{place.name}.lock"))
    assert other.__enter__()
    said = []

    def say(line):
        said.append(line)
        if line.startswith("waiting"):
            other.__exit__(None, None, None)

    posts = prepare_posts(light.data, command="", say=lambda _: None).posts
    again = Loop(light, PostSets(posts, light.data), say).run()
    assert said[0] == f"waiting for another process that makes {place.name}"
    assert [each.key for each in again] == [each.key for each in stages]


def test_a_lost_stage_is_trained_to_the_same_weights(light):
    stages = loop_of(light, []).run()
    weights = (stages[-1].folder / "weights.safetensors").read_bytes()
    shutil.rmtree(stages[-1].folder)
    again = loop_of(light, []).run()
    assert (again[-1].folder / "weights.safetensors").read_bytes() == weights


def test_a_killed_stage_continues_from_its_checkpoint(light, monkeypatch):
    stages = loop_of(light, []).run()
    weights = (stages[-1].folder / "weights.safetensors").read_bytes()
    shutil.rmtree(stages[-1].folder)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.posts.loop.save_weights", killed)  # after the last checkpoint
    with pytest.raises(KeyboardInterrupt):
        loop_of(light, []).run()
    monkeypatch.undo()
    assert (stages[-1].folder / "checkpoint.pt").exists()
    said: list[str] = []
    again = loop_of(light, said).run()
    assert any("resuming after epoch 2" in line for line in said)
    assert (again[-1].folder / "weights.safetensors").read_bytes() == weights
    assert not (again[-1].folder / "checkpoint.pt").exists()


def test_a_stage_on_docstrings_comes_first(typed, tmp_path):
    folder = tmp_path / "functions"
    methods = [
        Method("a", "a.py", 1, 3, "", f"open_{word}", "method", "", "", {"name": ("open", word), "tokens": (word, "x")})
        for word in WORDS
    ]
    found = [Pair(method, f"Opens the {method.name}.", ("opens",)) for method in methods]
    write_prepared(folder, {"train": found, "valid": found[:2], "test": []}, {})
    pairs = docstring_pairs(folder)
    assert len(pairs) == len(WORDS)
    assert pairs[0] == (QueryText("open file file x", ""), "Opens the open_file.")
    options = {"model.dim": "16", "model.buckets": "64", "train.epochs": "1", "train.batch_size": "8"}
    own = {
        "loop.docstrings": str(folder),
        "loop.docstring_epochs": "1",
        "loop.rounds": "1",
        "train.validate_every": "1",
    }
    plan = resolve_plan("snipper_light", typed | options | own)
    stages = loop_of(plan, []).run()
    assert [stage.name for stage in stages] == ["docstrings", "pretrain", "round-1"]
    assert stages[0].record["pairs"] == len(pairs)
    without = loop_of(resolve_plan("snipper_light", {**typed, **options, **own, "loop.docstrings": ""}), []).run()
    assert {stage.key for stage in stages}.isdisjoint(stage.key for stage in without)
    with pytest.raises(ValueError, match="prepare installed --data"):
        docstring_pairs(tmp_path)


def test_variants_share_the_stages_that_they_have_in_common(light, typed):
    stages = loop_of(light, []).run()
    options = {"model.dim": "16", "model.buckets": "64", "train.epochs": "2", "train.batch_size": "8"}
    more = resolve_plan("snipper_light", typed | options | {"loop.mined": "3"})
    others = loop_of(more, []).run()
    assert [one.key == other.key for one, other in zip(stages, others, strict=True)] == [True, True, False]


def test_mined_negatives_are_neither_gold_nor_its_duplicates(light):
    loop = loop_of(light, [])
    stages = loop.run()
    _, mined = loop._mined("mine-1", stages[1].key)
    rows = loop.pairs.rows
    for place, negatives in enumerate(mined.tolist()):
        own = {place} | {rows.index(each) for each in loop.sets.duplicates_of.get(rows[place], ()) if each in rows}
        assert not own & {*negatives}


@pytest.mark.parametrize("left", [0, 6, -8])
def test_damaged_negatives_are_refused(light, left):
    loop = loop_of(light, [])
    stages = loop.run()
    loop._mined("mine-again", stages[1].key)
    (path,) = Path(light.loop.out).rglob("mine-again-*/negatives.npy")
    whole = path.read_bytes()
    path.write_bytes(whole[:left])
    with pytest.raises(ValueError, match=r"is damaged .*remove it, it is made again"):
        loop._mined("mine-again", stages[1].key)
    path.unlink()
    loop._mined("mine-again", stages[1].key)
    assert path.read_bytes() == whole


def test_a_run_reports_every_stage_kind_and_fusion(light):
    tested = run_posts(light, "bash run.sh posts snipper_light", lambda _: None)
    full = [result.ranker for result in tested.results if result.pool == "full"]
    assert full[:4] == ["snipper_light pretrain", "snipper_light round-1", "snipper_light round-2", "bm25_tuned"]
    assert full[4].startswith("snipper_light round-2 + bm25_tuned (weight")
    assert {len(result.ranks) for result in tested.results} == {6}
    assert "| chance | all | 6 |" in tested.page
    saved = json.loads(Path(tested.page.rpartition("results: ")[2]).read_text())
    assert [each["ranker"] for each in saved["results"]] == [result.ranker for result in tested.results]
    assert light.data.path[0] not in json.dumps(saved)  # no paths of this machine


def test_the_transformer_goes_through_the_same_loop(typed, tmp_path):
    base = tiny_bert(tmp_path / "base")
    options = {
        "model.base": str(base), "model.query_length": "16", "model.document_length": "16", "train.epochs": "1",
        "loop.out": str(tmp_path / "runs"), "loop.negatives": "2", "evaluate.fusion": "false",
    }  # fmt: skip
    tested = run_posts(resolve_plan("snipper", typed | options), "bash run.sh posts snipper", lambda _: None)
    assert len(tested.results) == 6
    alone = {"evaluate.stages": "none", "loop.out": str(tmp_path / "alone")}
    begun = run_posts(resolve_plan("snipper", typed | options | alone), "", lambda _: None)
    assert [(each.ranker, each.pool) for each in begun.results] == [
        ("snipper untrained", "full"), ("snipper untrained", "closed")
    ]  # fmt: skip
    assert begun.results[0].ranks == tested.results[0].ranks  # one step of the warm-up from the same weights
    assert [each.name for each in (tmp_path / "alone").iterdir()] == ["results"]  # nothing is trained
    assert "snipper-untrained-seed" in begun.page


def test_bm25_finds_the_originals(typed):
    rows = {"evaluate.titles": "true", "evaluate.first_link": "true"}
    tested = run_posts(resolve_plan("bm25", typed | rows), "a command", lambda _: None)
    assert tested.results[0].hits(5).mean() > 0.5
    names = ["bm25", "bm25, first link only", "bm25, titles as queries", "bm25"]
    assert [result.ranker for result in tested.results] == names


def test_of_the_first_link_the_others_count_as_wrong():
    pool = Pool("full", [QueryText("a", "")], ["x", "y", "z"], [0, 1, 2], [(2, 0)], [(1,)], [1])
    scores = ChosenScores(np.array([[3.0, 5.0, 2.0]]), 1)
    assert (pool.ranks(scores).tolist(), pool.of_first_link().ranks(scores).tolist()) == ([1], [2])


def test_a_dump_without_duplicates_has_nothing_to_test_on(tmp_path):
    path = write_dump(tmp_path, [question(1, accepted=2), answer(2, 1)], [])
    plan = resolve_plan("bm25", {"data.path": str(path), "data.root": str(tmp_path / "data")})
    with pytest.raises(ValueError, match="nothing to test on"):
        run_posts(plan, "", lambda _: None)


@pytest.mark.parametrize("name", [*MODELS])
def test_every_model_has_a_plan(name):
    assert resolve_plan(name, {}).name == name


@pytest.mark.parametrize(
    ("options", "said"),
    [({"loop.rouns": "3"}, "did you mean --loop.rounds"), ({"train.resume": "x"}, "not needed"),
     ({"train.from_run": "x"}, "leave it out"),
     ({"model.dim": "0"}, "model.dim"), ({"loop.pretrain": "all"}, "one of")],
)  # fmt: skip
def test_options_that_cannot_be_meant(options, said):
    with pytest.raises(ValueError, match=said):
        resolve_plan("snipper_light", options)
