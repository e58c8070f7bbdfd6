"""The model of a finished run: what of its folder must be as it was, and what somebody may have made up."""

import hashlib
import json
import os
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save

from cli.main import main
from data_prep.files.json_text import sorted_json
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.config import FREE, resolve
from experiments.recipes.models import class_of
from experiments.recipes.run_folder import RunFolder, load_run
from search.models.folder import DEFAULT_MODEL
from training.checkpoint import save_weights, sealed_weights

SECTIONS = ("data", "words", "model", "loss", "train", "evaluate")
TYPED = {"model.dim": "16", "model.num_blocks": "4", "model.layers": "1", "data.root": "/somewhere"}


@pytest.fixture
def run(small_data, tmp_path) -> RunFolder:
    """A run of a model that has not learnt anything."""
    plan, folder = resolve("folder", "galm", TYPED), RunFolder(tmp_path / "run")
    tokenizer = WordTokenizer.build(small_data.splits["valid"], plan.words)
    folder.path.mkdir()
    plan.save(folder.config)
    tokenizer.vocabularies.save(folder.vocabulary)
    torch.manual_seed(0)
    save_weights(class_of("galm")(plan.model, tokenizer.vocabularies), folder.weights, folder.made_with)
    return folder


def change(file, section, **options):
    content = json.loads(file.read_text())
    content[section] |= options
    file.write_text(json.dumps(content))


def seal_again(run):
    """The weights for the configuration and the vocabulary as they are now."""
    run.weights.write_bytes(sealed_weights(load_file(run.weights), "weights", {"made_with": run.made_with}))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("vocabulary.json", b"stream", b"dream"),
        ("config.json", b'"stem": true', b'"stem": false'),
        ("config.json", b'"graph": "alignment"', b'"graph": "uniform"'),
        ("config.json", b'"seed": 0', b'"seed": 8'),
        ("config.json", b'"limit": 0', b'"limit": 8'),
        ("config.json", b'"dataset": "folder"', b'"dataset": "jdk"'),
    ],
)
def test_a_damaged_vocabulary_or_configuration_is_refused_in_one_line(run, capsys, name, old, new):
    path = run.path / name
    whole = path.read_bytes()
    assert whole.count(old) >= 1
    path.write_bytes(whole.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"{re.escape(name)} has changed since the weights beside it were") as error:
        load_run(run.path)
    assert "\n" not in str(error.value)
    assert main(["search", "a stream", f"--model={run.path}", f"--index={run.path}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_run_from_before_an_option_had_its_present_name_is_loaded(run):
    content = json.loads(run.config.read_text())
    for section, old, new in [("model", "graph_width", "gcn_dim"), ("train", "late_rate", "final_learning_rate")]:
        content[section][old] = content[section].pop(new)
    run.config.write_text(json.dumps(content))
    settings = {f"{name}.{field}": value for name in SECTIONS for field, value in content[name].items()}
    settings |= {name: content[name] for name in ("dataset", "model_name")}
    settings = {name: value for name, value in settings.items() if not name.startswith(FREE)}
    made_with = {"config.json": hashlib.sha256(sorted_json(settings)).hexdigest()}  # as it was when it was trained
    run.weights.write_bytes(sealed_weights(load_file(run.weights), "weights", {"made_with": made_with}))
    load_run(run.path)


def test_what_may_change_after_a_run_has_no_part_in_it(run):
    change(run.config, "evaluate", pool=30)
    change(run.config, "data", root="/elsewhere", path="/elsewhere")
    content = json.loads(run.config.read_text())
    run.config.write_text(json.dumps(content | {"out": "/elsewhere"}, indent=1))
    load_run(run.path)


def test_a_run_of_before_the_checksum_is_read(run):
    run.weights.write_bytes(save(load_file(run.weights)))
    change(run.config, "train", seed=3)
    load_run(run.path)


@pytest.mark.parametrize(
    ("section", "options", "message"),
    [
        ("model", {"dim": 4096}, "do not fit the model"),
        ("model", {"dim": 2**62}, "--model.dim takes a whole number from 1 to 4,096"),
        ("model", {"gcn_dim": 4096}, "do not fit the model"),
        ("model", {"layers": 10**9}, "--model.layers takes a whole number from 0 to 100"),
        ("model", {"dim": 2**70}, "--model.dim takes a whole number"),
        ("model", {"dim": "16"}, "--model.dim takes a whole number, not '16'"),
        ("model", {"dim": True}, "--model.dim takes a whole number, not True"),
        ("model", {"dropout": float("nan")}, "--model.dropout takes a number, not nan"),
        ("model", {"graph": 3}, "--model.graph takes one of"),
        ("model", {"fields": ["name"]}, "--model.fields takes text"),
        ("words", {"tokens_length": 10**12}, "--words.tokens_length takes a whole number from 1 to 1,000"),
        ("words", {"unknown_buckets": 10**12}, "--words.unknown_buckets takes a whole number from 1 to"),
    ],
)
def test_a_made_up_configuration_is_one_line_and_takes_no_memory(run, section, options, message):
    change(run.config, section, **options)
    seal_again(run)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        load_run(run.path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("option", [None, {"a": 1}, [[1]]])
def test_an_option_that_is_no_value_is_one_line(run, option):
    change(run.config, "train", epochs=option)
    with pytest.raises(ValueError, match=r"expected the configuration of a run in .*: 'train' contains no options"):
        load_run(run.path)


@pytest.mark.parametrize("content", ["[]", '{"model_name": 3}', '{"data": 3}', "[" * 100_000, "", "\ud800"])
def test_what_is_no_configuration_is_one_line(run, content):
    run.config.write_bytes(content.encode(errors="surrogatepass"))
    with pytest.raises(ValueError, match="expected the configuration of a run in") as error:
        load_run(run.path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "other",
    [
        *({"unknown_buckets": 0}, {"unknown_buckets": 10**9}, {"unknown_buckets": 1.5}, {"unknown_buckets": True}),
        *({"words": "abc"}, {"words": [1, 2]}, {"words": [["a"]]}, {"words": {"a": 1}}, {"more": 1}),
    ],
    ids=str,
)
def test_a_made_up_vocabulary_is_one_line(run, other):
    content = json.loads(run.vocabulary.read_text())
    run.vocabulary.write_text(json.dumps(content | {"code": content["code"] | other}))
    seal_again(run)
    with pytest.raises(ValueError, match="expected the vocabularies of a run in") as error:
        load_run(run.path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["[]", "{}", "[" * 100_000, '{"query": {}, "code": {}, "tree": {}}', "\0"])
def test_what_is_no_vocabulary_is_one_line(run, content):
    run.vocabulary.write_text(content)
    seal_again(run)
    with pytest.raises(ValueError, match="expected the vocabularies of a run in") as error:
        load_run(run.path)
    assert "\n" not in str(error.value)


def test_more_buckets_than_weights_are_one_line(run):
    content = json.loads(run.vocabulary.read_text())
    content["query"]["unknown_buckets"] = 1 << 16
    run.vocabulary.write_text(json.dumps(content))
    seal_again(run)
    with pytest.raises(ValueError, match=r"do not fit the model: words\.tables\.query\.weight is"):
        load_run(run.path)


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "weights.safetensors"])
def test_a_pipe_or_a_device_is_one_line_at_once(run, capsys, name):
    path: Path = run.path / name
    for make in (os.mkfifo, lambda place: place.symlink_to("/dev/zero")):
        path.unlink()
        make(path)
        for command in (["evaluate", str(run.path)], ["search", "x", f"--model={run.path}", f"--index={run.path}"]):
            assert main(command) == 2
            assert capsys.readouterr().err.count("\n") == 1
        with pytest.raises((ValueError, OSError), match="not a regular file"):
            load_run(run.path)


@pytest.mark.parametrize(
    "command",
    [["context", "{}"], ["evaluate", "{}"], ["folder", "galm", "--train.resume={}"]],
    ids=lambda each: each[0],
)
def test_a_packed_model_is_no_run(capsys, command):
    assert main([word.format(DEFAULT_MODEL) for word in command]) == 2
    said = capsys.readouterr().err
    assert said.endswith("which can only search: name the folder of the run that it was packed from\n")
    assert f"{DEFAULT_MODEL} has a packed model, " in said
    assert said.count("\n") == 1
