"""``--data.extra_train_sets``: pairs of other data sets are trained on, but none that the run is validated or tested
on."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bm25s.stopwords import STOPWORDS_EN_PLUS

from cli.main import main
from data_prep.config import DataConfig
from data_prep.records import WORD_FIELDS
from data_prep.store.prepared_data import PreparedData, limit_pairs
from data_prep.store.split import Split
from data_prep.store.tokenizing import Vocabularies
from experiments.recipes.config import resolve
from experiments.run import data as run_data

LIMIT = 240


def words(split: Split, row: int) -> dict[str, list[str]]:
    return {field: split.word_list(field, row) for field in ("query", "name", "tokens", "api")}


def fresh(number: int) -> dict[str, list[str]]:
    return {
        "query": ["quokka", "number", f"q{number}", "runs"],
        "name": ["quokka"],
        "tokens": ["quokka", "x" * number + "y"],
        "api": [],
    }


@pytest.fixture(scope="module")
def drawn(small_data) -> Mapping[str, Split]:
    """The splits of a run with the limit."""
    return limit_pairs(small_data, LIMIT).splits


@pytest.fixture(scope="module")
def extra(drawn, tmp_path_factory) -> Path:
    """Twelve fresh pairs, four whose query is a test pair's, and three whose code is one of validation or test."""
    test, valid = drawn["test"], drawn["valid"]
    asked = [words(test, row) | {"name": ["leak"], "tokens": ["leaked", "query"]} for row in range(4)]
    read = [words(split, 5) | {"query": ["leaked", "code", "of", split.name, "pair"]} for split in (valid, test)]
    both = words(test, 6) | {"query": words(valid, 7)["query"]}
    rows = [*asked, *map(fresh, range(1, 13)), *read, both]
    folder = tmp_path_factory.mktemp("open java")
    (folder / "r252").mkdir()
    lines = "".join(json.dumps(row | {"eval_overlap": []}) + "\n" for row in rows)
    (folder / "r252" / "train.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return folder


@pytest.fixture
def options(java_folder, small_data) -> list[str]:
    data = [f"--data.path={java_folder}", f"--data.root={small_data.folder.parent}", f"--data.limit={LIMIT}"]
    split = [
        "--data.valid_share=0.2",
        "--data.test_share=0.2",
        "--data.processes=1",
        "--evaluate.bootstrap_samples=200",
    ]
    return [*data, *split, "--train.epochs=1", "--train.threads=1", "--words.min_count=1"]


def rows_of(split: Split) -> list[tuple]:
    return [(split.text(row), *(split.word_list(field, row) for field in WORD_FIELDS)) for row in range(len(split))]


def test_a_run_trains_on_them_and_is_tested_as_before(extra, options, drawn, tmp_path, capsys):
    typed = [f"--data.extra_train_sets=open_java:{extra}", "--data.clean_splits=false", f"--out={tmp_path / 'run'}"]
    assert main(["folder", "unif", *options, *typed]) == 0
    said = capsys.readouterr().out
    line = (
        "train: added 12 pairs of open_java, without 7 that are also in valid or test, 5 by their query and 3 by name"
    )
    assert line in said
    sizes = {name: len(split) for name, split in drawn.items()}
    assert f": train {sizes['train'] + 12:,}, valid {sizes['valid']:,}, test {sizes['test']:,} pairs;" in said
    vocabularies = Vocabularies.load(tmp_path / "run" / "vocabulary.json")
    assert "quokka" in vocabularies.query.words
    assert "quokka" in vocabularies.code.words
    assert "leak" not in vocabularies.code.words
    assert main(["folder", "bm25", *options, f"--out={tmp_path / 'alone'}"]) == 0
    trained, alone = (json.loads((tmp_path / run / "metrics.json").read_text()) for run in ("run", "alone"))
    assert trained["data"] == alone["data"]
    assert trained["controls"]["bm25"]["exact"] == alone["exact"]
    assert trained["config"]["data"]["extra_train_sets"] == f"open_java:{extra.name}"


def test_prepare_tells_what_is_added(extra, options, drawn, capsys):
    data = [option for option in options if option.startswith("--data.")]
    assert main(["prepare", "folder", *data, f"--data.extra_train_sets=open_java:{extra}"]) == 0
    assert f"folder: train {len(drawn['train']) + 12:,}, valid" in capsys.readouterr().out


@pytest.fixture
def other(small_data, monkeypatch) -> PreparedData:
    """Another data set: all pairs of this one, and some of each split again, in a lexicon of its own."""
    pieces = [small_data.splits[name] for name in ("test", "train", "valid")]
    both = run_data.joined(run_data.joined(pieces[0], pieces[1].take(np.arange(60))), pieces[2])
    backwards = dict(zip(range(len(both.lexicon)), range(len(both.lexicon))[::-1], strict=True))
    numbers = np.array(list(backwards.values()), np.int32)
    fields = {field: replace(lists, values=numbers[lists.values]) for field, lists in both.words.items()}
    split = replace(both, name="train", lexicon=both.lexicon[::-1], words=fields)
    data = replace(small_data, splits={**small_data.splits, "train": split})
    monkeypatch.setattr(run_data, "prepared_beside", lambda *_: data)
    monkeypatch.setattr(run_data, "say", lambda _: None)
    return data


def test_no_pair_of_validation_or_test_is_added(other, small_data):
    """Against the plain definition, row by row."""

    def query(split: Split, row: int) -> frozenset[str]:
        letters = frozenset(word.lower() for word in split.word_list("query", row))
        return letters - set(STOPWORDS_EN_PLUS) or letters

    def code(split: Split, row: int) -> tuple[frozenset[str], frozenset[str]]:
        return tuple(frozenset(word.lower() for word in split.word_list(field, row)) for field in ("name", "tokens"))

    queries, codes = set(), set()
    for name in ("valid", "test"):
        split = small_data.splits[name]
        queries |= {query(split, row) for row in range(len(split))} - {frozenset()}
        codes |= {code(split, row) for row in range(len(split)) if split.word_list("tokens", row)}
    added = other.splits["train"]
    expected = [row for row in range(len(added)) if query(added, row) not in queries and code(added, row) not in codes]
    assert 0 < len(expected) <= 60

    plan = resolve("folder", "galm", {"data.extra_train_sets": "folder:elsewhere"})
    found = run_data.add_training_sets(plan, small_data, "")
    train = small_data.splits["train"]
    assert rows_of(found.splits["train"]) == rows_of(train) + rows_of(added.take(np.array(expected)))
    assert all(found.splits[name] is small_data.splits[name] for name in ("valid", "test"))


def test_several_are_added_one_after_the_other(other, small_data):
    once = run_data.add_training_sets(resolve("folder", "galm", {"data.extra_train_sets": "folder:a"}), small_data, "")
    twice = run_data.add_training_sets(
        resolve("folder", "galm", {"data.extra_train_sets": "folder:a, jdk"}), small_data, ""
    )
    before, after = len(small_data.splits["train"]), len(once.splits["train"])
    assert len(twice.splits["train"]) - after == after - before > 0
    assert other.splits["test"] is small_data.splits["test"]


@pytest.mark.usefixtures("other")
@pytest.mark.parametrize(("model", "extra"), [("galm", ""), ("bm25", "folder:elsewhere")])
def test_nothing_is_added_where_none_is_named_or_nothing_is_trained(small_data, model, extra):
    assert (
        run_data.add_training_sets(resolve("folder", model, {"data.extra_train_sets": extra}), small_data, "")
        is small_data
    )


def test_what_stands_in_another_test_is_left_out_of_what_was_added(other, small_data):
    """``--evaluate.extra_tests`` comes after ``--data.extra_train_sets``."""
    plan = resolve("folder", "galm", {"data.extra_train_sets": "folder:a", "evaluate.extra_tests": "folder:a"})
    whole = run_data.add_training_sets(plan, small_data, "")
    found = run_data.drop_test_overlap(plan, whole, "")
    assert run_data.overlap(whole.splits["train"], [other.splits["test"]]).rows.size > 0
    assert run_data.overlap(found.splits["train"], [other.splits["test"]]).rows.size == 0


def test_the_extra_set_is_prepared_whole_and_adds_nothing_itself(small_data, monkeypatch, tmp_path):
    asked: list[tuple[str, DataConfig]] = []
    monkeypatch.setattr(run_data, "prepare_stage", lambda name, data, _: asked.append((name, data)) or small_data)
    monkeypatch.setattr(run_data, "say", lambda _: None)
    monkeypatch.chdir(tmp_path)
    plan = resolve(
        "jdk", "galm", {"data.extra_train_sets": "folder:my code, csn", "data.limit": "9", "data.path": "/jdk"}
    )
    run_data.add_training_sets(plan, small_data, "")
    whole = replace(plan.data, limit=0, extra_train_sets="")
    here = replace(whole, path=str(tmp_path / "my code"))
    assert asked == [("folder", here), ("csn", replace(whole, path=""))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["jdk", "unif", "--data.extra_train_sets=open_jave"],
            "unknown data set in --data.extra_train_sets 'open_jave': did you",
        ),
        (
            ["jdk", "unif", "--data.extra_train_sets=,jdk"],
            "--data.extra_train_sets takes comma-separated DATASET or DATASET:PATH, not",
        ),
        (
            ["jdk", "unif", "--data.exclude_overlap_with=,jdk"],
            "--data.exclude_overlap_with takes comma-separated DATASET or DATASET:PATH, not",
        ),
        (
            ["jdk", "unif", "--data.exclude_overlap_with=jdkk"],
            "unknown data set in --data.exclude_overlap_with 'jdkk': did you mean jdk?",
        ),
        (
            ["folder", "unif", "{options}", "--data.extra_train_sets=open_java:{here}/none"],
            "open_java needs one or more of",
        ),
        (["open_java", "unif", "--data.path={extra}", "--data.root={here}"], "open_java has training pairs only"),
        (["open_java", "bm25", "--data.path={extra}", "--data.root={here}"], "by --data.extra_train_sets=open_java"),
        (
            ["folder", "bm25", "{options}", "--evaluate.extra_tests=open_java:{extra}"],
            "open_java has no test pairs for",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(extra, options, tmp_path, capsys, arguments, message):
    typed = [part for each in arguments for part in (options if each == "{options}" else [each])]
    typed = [each.replace("{extra}", str(extra)).replace("{here}", str(tmp_path)) for each in typed]
    assert main([*typed, f"--out={tmp_path / 'run'}"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_set_without_training_pairs_is_refused(small_data, monkeypatch):
    empty = replace(small_data, splits={**small_data.splits, "train": Split.of("train", [])})
    monkeypatch.setattr(run_data, "prepared_beside", lambda *_: empty)
    with pytest.raises(ValueError, match="csn_tabcs has no training pairs to add by --data"):
        run_data.add_training_sets(
            resolve("folder", "galm", {"data.extra_train_sets": "csn_tabcs:here"}), small_data, ""
        )
