import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from fine_tuning_runs import PAIRS, SAVES, SMALL, TRAIN, VALID
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy

from data_prep.gencodesearchnet.records import as_split, example
from experiments.gencodesearchnet import fine_tune as module
from experiments.gencodesearchnet.config import FineTuneOptions
from experiments.gencodesearchnet.fine_tune import CHECKPOINT, RECORD, WEIGHTS, ClassifierTask, fine_tune
from experiments.gencodesearchnet.tasks import TrainingRows, Validation, fingerprint
from modeling.base import Encoded
from modeling.transformers.cross_encoder import CrossEncoderConfig, load_classifier, load_cross_encoder, load_tokenizer
from modeling.transformers.subword_pairs import subwords_in
from tests.tiny_models import library, tiny_bert
from training.checkpoint import load_checkpoint

transformers = library("transformers")
REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    torch.manual_seed(0)
    return str(tiny_bert(tmp_path_factory.mktemp("base")))


@pytest.fixture(scope="module")
def unbroken(base, tmp_path_factory):
    out = tmp_path_factory.mktemp("unbroken")
    lines = []
    record = fine_tune(TRAIN, VALID, base, out, SMALL, command="the tests", tell=lines.append)
    return out, record, lines


@pytest.fixture
def rows(base):
    reader = CrossEncoderConfig(max_length=16).tokenizer(subwords_in(load_tokenizer(base)))
    tokens = reader.read([pair.text for pair in TRAIN], [pair.code for pair in TRAIN])
    return TrainingRows.of(TRAIN, tokens, 13, seed=42)


def stopping(number: int):
    """A loss that presses Ctrl-C in step ``number``."""
    steps = iter(range(1, 1000))

    def loss(*arguments):
        if next(steps) == number:
            signal.raise_signal(signal.SIGINT)
        return cross_entropy(*arguments)

    return loss


def same_model(out: Path, other: Path) -> bool:
    left, right = load_file(out / WEIGHTS), load_file(other / WEIGHTS)
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def encoded(task: ClassifierTask, row: int) -> tuple[Encoded, Encoded]:
    """Both sides of a training row."""
    texts, codes = task.tokens.queries(task.rows.texts[[row]]), task.tokens.codes(task.rows.codes[[row]])
    return task.model.encode_query(texts), task.model.encode_code(codes)


def numbers(history: list[dict]) -> list[dict]:
    """What is not a time."""
    return [{name: value for name, value in epoch.items() if name != "seconds"} for epoch in history]


def test_each_pair_stands_beside_one_that_does_not_match(rows):
    assert rows.texts.tolist() == [row for row in range(len(TRAIN)) for _ in range(2)]
    assert rows.labels.tolist() == [1, 0] * len(TRAIN)
    assert rows.codes[::2].tolist() == list(range(len(TRAIN)))
    assert all(
        TRAIN[text].code != TRAIN[code].code for text, code in zip(rows.texts[1::2], rows.codes[1::2], strict=True)
    )
    assert len(set(rows.codes[1::2].tolist())) > 5


@pytest.mark.parametrize("window", [0, 2])
def test_batches_hold_each_row_once_in_another_order_each_epoch(rows, window):
    batches = [rows.batches(6, 42, epoch, window) for epoch in (0, 1)]
    for epoch in batches:
        assert sorted(np.concatenate(epoch).tolist()) == list(range(len(rows.texts)))
        assert max(map(len, epoch)) == 6
    assert np.concatenate(batches[0]).tolist() != np.concatenate(batches[1]).tolist()
    again = rows.batches(6, 42, 0, window)
    assert all(np.array_equal(batch, other) for batch, other in zip(batches[0], again, strict=True))


def test_sorting_leaves_less_padding(rows):
    lengths = np.random.default_rng(0).permutation(len(rows.texts)) + 5
    rows = replace(rows, lengths=lengths)
    padded = [sum(lengths[batch].max() * len(batch) for batch in rows.batches(4, 42, 0, window)) for window in (0, 4)]
    assert padded[1] < 0.9 * padded[0]


def test_training_is_that_of_the_plain_loop(tmp_path):
    torch.manual_seed(0)
    base = str(tiny_bert(tmp_path / "base", dropout=0.0))
    record = fine_tune(TRAIN, VALID, base, tmp_path / "out", replace(SMALL, epochs=1), tell=lambda _: None)

    torch.manual_seed(SMALL.seed)
    task = ClassifierTask.of(TRAIN, VALID, base, SMALL)
    model, rows = task.model.classifier, task.rows
    steps = rows.batches(6, SMALL.seed, 0, 0)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=False)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / len(steps))
    losses = []
    model.train()
    for step in steps:
        logits = torch.cat(
            [task.model.pair_logits(*encoded(task, row)) for row in step]  # one by one
        )
        wanted = torch.tensor(rows.labels[step])
        loss = -logits.log_softmax(dim=1)[torch.arange(len(step)), wanted].mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        falling.step()
        losses += [loss.item()] * len(step)
    assert record["history"][0]["loss"] == pytest.approx(np.mean(losses), abs=1e-5)
    found = load_file(tmp_path / "out" / WEIGHTS)
    for name, weight in model.state_dict().items():
        if not name.endswith("key.bias"):  # its gradient is 0 but for rounding, which Adam makes as large as any other
            np.testing.assert_allclose(found[name], weight, atol=2e-4, err_msg=name)


def test_the_folder_is_a_cross_encoder_and_says_how_it_was_made(unbroken, base):
    out, record, lines = unbroken
    assert json.loads((out / RECORD).read_text()) == record
    assert not (out / CHECKPOINT).exists()
    assert record["command"] == "the tests"
    assert record["base"] == base
    assert record["options"]["seed"] == 42
    assert record["data"]["train"] == {"pairs": 16, "sha256": fingerprint(TRAIN)}
    assert (record["rows"], record["steps"]) == (32, 18)
    assert record["seconds"] > 0
    assert [epoch["epoch"] for epoch in record["history"]] == [1, 2, 3]
    assert record["history"][-1]["loss"] < record["history"][0]["loss"]
    best = max(record["history"], key=lambda epoch: epoch["mrr"])
    assert record["best_epoch"] == best["epoch"]
    assert sum("best so far" in line for line in lines) >= 1
    encoder = load_cross_encoder(str(out))
    assert encoder.model.config.max_length == 16
    validation = Validation.of(encoder, VALID, 42, most=500, queries=100, distractors=7)
    assert validation.measure() == {name: best[name] for name in ("accuracy", "mrr")}


def test_validation_measures_what_its_names_say(base, tmp_path):
    torch.manual_seed(1)
    load_classifier(base, new_head=True).save_pretrained(tmp_path)
    load_tokenizer(base).save_pretrained(tmp_path)
    encoder = load_cross_encoder(str(tmp_path), 16)
    validation = Validation.of(encoder, VALID, 42, most=10, queries=5, distractors=7)
    pairs = as_split("valid", VALID)
    scores = encoder.over(pairs, pairs)(np.arange(16), np.tile(np.arange(16), (16, 1)))
    assert validation.negatives.shape == (10,)
    assert validation.blocks.shape == (5, 8)
    assert validation.blocks[:, 0].tolist() == [0, 1, 2, 3, 4]
    right = [scores[row, row] >= 0.5 for row in range(10)]
    right += [scores[row, other] < 0.5 for row, other in enumerate(validation.negatives)]
    ranks = [sum(scores[row, code] >= scores[row, row] for code in validation.blocks[row]) for row in range(5)]
    measured = validation.measure()
    assert measured["accuracy"] == pytest.approx(np.mean(right))
    assert measured["mrr"] == pytest.approx(np.mean([1 / rank for rank in ranks]))
    assert all(code != row for row, code in enumerate(validation.negatives))


def test_killed_again_and_again_it_ends_the_same(unbroken, base, tmp_path):
    command = [sys.executable, str(Path(__file__).with_name("fine_tuning_runs.py")), base, str(tmp_path / "out")]
    environment = {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1", "PATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    assert json.loads(done.stdout) == {"kills": len(SAVES), "exit": 0}
    lines = (tmp_path / "out.lines").read_text()
    assert "resuming after epoch 0, batch 1" in lines
    out, record, _ = unbroken
    assert same_model(tmp_path / "out", out)
    found = json.loads((tmp_path / "out" / RECORD).read_text())
    assert numbers(found["history"]) == numbers(record["history"])
    assert found["best_epoch"] == record["best_epoch"]


@pytest.mark.parametrize("step", [1, 6, 10])
def test_ctrl_c_leaves_a_checkpoint_and_the_next_run_goes_on(unbroken, base, tmp_path, monkeypatch, step):
    later = replace(SMALL, checkpoint_minutes=5.0)
    monkeypatch.setattr(module, "cross_entropy", stopping(step))
    with pytest.raises(KeyboardInterrupt):
        fine_tune(TRAIN, VALID, base, tmp_path, later, tell=lambda _: None)
    monkeypatch.undo()
    assert load_checkpoint(tmp_path / CHECKPOINT)["progress"]["step"] == step
    record = fine_tune(TRAIN, VALID, base, tmp_path, later, tell=lambda _: None)
    assert same_model(tmp_path, unbroken[0])
    assert numbers(record["history"]) == numbers(unbroken[1]["history"])


def test_a_run_that_ended_is_not_repeated(unbroken, base, monkeypatch):
    monkeypatch.setattr(module, "load_classifier", lambda *_, **__: pytest.fail("trained"))
    out, record, _ = unbroken
    assert fine_tune(TRAIN, VALID, base, out, SMALL) == record


@pytest.mark.parametrize("change", ["options", "pairs", "base"])
def test_a_folder_of_another_run_is_refused(unbroken, base, tmp_path, change):
    other = {"options": replace(SMALL, seed=1), "pairs": TRAIN[1:], "base": str(tmp_path)}[change]
    train = other if change == "pairs" else TRAIN
    options = other if change == "options" else SMALL
    with pytest.raises(ValueError, match="has a fine-tuning of another base, other options or other pairs"):
        fine_tune(train, VALID, other if change == "base" else base, unbroken[0], options)


def test_a_folder_of_something_else_is_refused(base, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(ValueError, match="is not an empty folder, nor a fine-tuning that can be resumed"):
        fine_tune(TRAIN, VALID, base, tmp_path, SMALL)
    with pytest.raises(ValueError, match="is no folder: name another"):
        fine_tune(TRAIN, VALID, base, tmp_path / "thesis.tex", SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_word_vectors_can_stay_as_they_are(base, tmp_path):
    fine_tune(TRAIN, VALID, base, tmp_path, replace(SMALL, epochs=1, freeze_words=True), tell=lambda _: None)
    before, after = load_file(Path(base) / WEIGHTS), load_file(tmp_path / WEIGHTS)
    assert torch.equal(after["bert.embeddings.word_embeddings.weight"], before["embeddings.word_embeddings.weight"])
    name = "encoder.layer.0.output.dense.weight"
    assert not torch.equal(after[f"bert.{name}"], before[name])


def test_options_are_the_papers_unless_said_otherwise():
    options = FineTuneOptions()
    assert (options.batch_size, options.weight_decay, options.max_length) == (32, 0.01, 512)
    for base, epochs, rate in (("roberta-base", 5, 2e-5), ("microsoft/codebert-base", 8, 1e-5), ("elsewhere", 5, 2e-5)):
        found = options.of_base(base)
        assert (found.epochs, found.learning_rate) == (epochs, rate)
    assert replace(options, epochs=1).of_base("microsoft/codebert-base").epochs == 1


@pytest.mark.parametrize("settings", [{"epochs": -1}, {"batch_size": 0}, {"learning_rate": float("nan")}])
def test_bad_options_are_named(settings):
    with pytest.raises(ValueError, match=f"--{next(iter(settings))} takes "):
        FineTuneOptions(**settings)


def test_too_few_pairs_and_too_long_ones_are_refused(base, tmp_path):
    with pytest.raises(ValueError, match="two training and two validation pairs or more, got 1 and 16"):
        fine_tune(PAIRS[:1], VALID, base, tmp_path, SMALL)
    with pytest.raises(ValueError, match="takes 5 to 64 tokens with this model, not 65"):
        fine_tune(TRAIN, VALID, base, tmp_path, replace(SMALL, max_length=65))
    with pytest.raises(ValueError, match="all the same"):
        fine_tune([example("read", "open()")] * 4, VALID, base, tmp_path, SMALL)
