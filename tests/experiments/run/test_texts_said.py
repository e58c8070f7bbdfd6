"""What a run says of the texts that its models read, and what it refuses: once, before anything is trained."""

from dataclasses import replace

import pytest

from cli.main import main
from data_prep.store.split import Split, Texts
from evaluation.results import load_result
from experiments.recipes.config import resolve
from experiments.run import data as run_data
from experiments.run import texts
from tests.data_prep.datasets.test_tabcs_data import release_of

FROM_FIELDS = "folder has no sources: text models read the words of its name, tokens and API fields"


def without_sources(split: Split, rows=None) -> Split:
    """The split, some or all of its rows without their source."""
    gone = {*range(len(split))} if rows is None else {*rows}
    each = (replace(split.text(row), source="" if row in gone else split.text(row).source) for row in range(len(split)))
    return replace(split, texts=Texts.of(each))


@pytest.fixture
def said(monkeypatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(texts, "say", lines.append)
    return lines


@pytest.fixture
def stripped(small_data):
    """The data set without any source."""
    return replace(small_data, splits={name: without_sources(split) for name, split in small_data.splits.items()})


TEXT_MODELS = {
    "minilm": {},
    "late_interaction": {},
    "galm_contextual": {},
    "cross_encoder": {},
    "sentence_encoder": {},
    "scotch": {},
    "bm25": {"model.reads": "text"},
}


@pytest.mark.parametrize(("model", "options"), TEXT_MODELS.items(), ids=TEXT_MODELS)
def test_that_codes_are_made_from_fields_is_said_once_of_models_of_texts(stripped, said, model, options):
    run_data.prepare_others(resolve("folder", model, options), stripped, "", trains=True)
    assert said == [FROM_FIELDS]


@pytest.mark.parametrize("model", ["galm", "unif", "bm25", "bm25_tuned", "scotch_light_no_context"])
def test_nothing_is_said_where_words_are_read_or_all_have_texts(stripped, small_data, said, model):
    run_data.prepare_others(resolve("folder", model, {}), stripped, "", trains=True)
    run_data.prepare_others(resolve("folder", "minilm", {}), small_data, "", trains=True)
    assert not said


@pytest.mark.parametrize(
    "options",
    [{"evaluate.fuse_with": "sentence_encoder"}, {"train.hard_negatives": "1", "train.mined_by": "sentence_encoder"}],
    ids=["fused", "mined"],
)
def test_a_second_ranker_that_reads_texts_counts_too(stripped, said, options):
    run_data.prepare_others(resolve("folder", "unif", options), stripped, "", trains=True)
    assert said == [FROM_FIELDS]


@pytest.mark.parametrize("option", ["evaluate.extra_tests", "data.extra_train_sets", "evaluate.fuse_tuned_on"])
def test_of_each_other_data_set_it_is_said(small_data, stripped, said, monkeypatch, option):
    monkeypatch.setattr(run_data, "prepared_beside", lambda *_: stripped)
    fused = {"evaluate.fuse_with": "bm25"} if option.endswith("tuned_on") else {}
    run_data.prepare_others(resolve("folder", "minilm", {option: "csn:there", **fused}), small_data, "", trains=True)
    assert said == [FROM_FIELDS.replace("folder", "csn")]


def test_a_share_is_said_of_some_codes(small_data, said):
    test = small_data.splits["test"]
    some = replace(small_data, splits={**small_data.splits, "test": without_sources(test, [0, 2])})
    run_data.prepare_others(resolve("folder", "sentence_encoder", {}), some, "", trains=True)
    share = f"2 of {len(test):,} codes ({2 / len(test):.1%})"
    assert said == [f"folder: {share} have no source: text models read the words of their name, tokens and API fields"]


def wordless(split: Split, rows) -> Split:
    """The split, where some rows have no words."""
    without = {*rows}
    words = {
        name: lists.of([() if row in without else lists[row].tolist() for row in range(len(split))])
        for name, lists in split.words.items()
    }
    return replace(split, words=words)


def test_the_share_of_codes_without_any_text_is_said(small_data, said):
    test = wordless(without_sources(small_data.splits["test"], [1]), [1])
    some = replace(small_data, splits={**small_data.splits, "test": test})
    run_data.prepare_others(resolve("folder", "sentence_encoder", {}), some, "", trains=True)
    assert said == [f"folder: 1 of {len(test):,} codes ({1 / len(test):.1%}) have no text and no words at all"]


@pytest.mark.parametrize("side", ["codes", "queries"])
def test_where_nothing_can_be_read_it_is_a_mistake(small_data, said, side):
    test = wordless(small_data.splits["test"], range(len(small_data.splits["test"])))
    blank = {"source": ""} if side == "codes" else {"query_text": " "}
    test = replace(test, texts=Texts.of(replace(test.text(row), **blank) for row in range(len(test))))
    nothing = replace(small_data, splits={**small_data.splits, "test": test})
    with pytest.raises(ValueError, match=rf"^the {len(test):,} {side} of folder have no text and no words") as error:
        run_data.prepare_others(resolve("folder", "sentence_encoder", {}), nothing, "", trains=True)
    assert "\n" not in str(error.value)
    assert not said


def test_a_ranker_of_texts_finds_what_has_words_alone(tmp_path, capsys):
    typed = [f"--data.path={release_of('csn_tabcs')}", f"--data.root={tmp_path}", "--data.limit=400"]
    command = ["csn_tabcs", "bm25", "--model.reads=text", *typed, f"--out={tmp_path / 'run'}"]
    assert main([*command, "--evaluate.bootstrap_samples=100"]) == 0
    assert capsys.readouterr().out.count(FROM_FIELDS.replace("folder", "csn_tabcs")) == 1
    assert load_result(tmp_path / "run" / "metrics.json").exact["mrr"] > 0.5
