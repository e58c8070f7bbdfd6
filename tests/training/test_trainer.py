import logging
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from training_runs import SMALL, MeanConfig, hinge

from data_prep.store.split import TokenizedPairs
from training.optimiser import Optimiser
from training.trainer import DivergedError


def test_a_few_pairs_are_learnt_by_heart(setting, tmp_path):
    few = TokenizedPairs({field: lists.take(np.arange(30)) for field, lists in setting.train.fields.items()})
    by_heart = replace(setting, train=few, valid=few)
    model = setting.model(MeanConfig(dropout=0.0))
    _, report = by_heart.run(tmp_path, replace(SMALL, epochs=60, batch_size=32, learning_rate=0.05), model=model)
    assert report.history[-1]["mrr"] > 0.95 > 0.6 > report.history[0]["mrr"]
    assert report.history[-1]["loss"] < report.history[0]["loss"] / 3


def test_the_best_epoch_is_what_remains(setting, tmp_path):
    scores, seen = iter([0.2, 0.5, 0.4, 0.45]), []

    def validate(ranker):
        assert not ranker.training
        assert not torch.is_grad_enabled()
        seen.append({name: weight.clone() for name, weight in ranker.state_dict().items()})
        return {"mrr": next(scores)}

    model, report = setting.run(tmp_path, replace(SMALL, epochs=4), validate=validate)
    assert (report.best_epoch, report.epochs_run) == (2, 4)
    assert [record["mrr"] for record in report.history] == [0.2, 0.5, 0.4, 0.45]
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, seen[1][name])
        assert name == "dropout" or not torch.equal(weight, seen[3][name])


@pytest.mark.parametrize(("patience", "epochs"), [(1, 2), (2, 3), (0, 6)])
def test_it_stops_when_validation_has_not_got_better(setting, tmp_path, patience, epochs):
    config = replace(SMALL, epochs=6, patience=patience)
    _, report = setting.run(tmp_path, config, validate=lambda _: {"mrr": 0.5})
    assert (report.best_epoch, report.epochs_run) == (1, epochs)


def test_the_last_epoch_is_always_validated(setting, tmp_path):
    _, report = setting.run(tmp_path, replace(SMALL, epochs=3, validate_every=2))
    assert ["mrr" in record for record in report.history] == [False, True, True]


def test_the_same_seed_gives_the_same_numbers_and_another_gives_others(setting, tmp_path):
    runs = [
        setting.run(tmp_path / str(place), replace(SMALL, epochs=1, seed=seed)) for place, seed in enumerate((3, 3, 4))
    ]
    losses = [report.history[0]["loss"] for _, report in runs]
    assert losses[0] == losses[1] != losses[2]
    assert torch.equal(runs[0][0].query.weight, runs[1][0].query.weight)


def test_the_loss_sees_each_pair_once_with_the_gold_on_the_diagonal(setting, tmp_path):
    seen = []

    def loss(scores, negatives, epoch):
        assert scores.shape == negatives.shape
        assert not negatives.diagonal().any()
        seen.append((epoch, len(scores)))
        return hinge(scores, negatives, epoch)

    _, report = setting.run(tmp_path, replace(SMALL, epochs=2), loss=loss)
    assert sum(pairs for _, pairs in seen) == 2 * len(setting.train)
    epochs = [epoch for epoch, _ in seen]
    assert epochs == sorted(epochs)
    assert epochs[0] == 0 < epochs[len(epochs) // 2] == 1 < epochs[-1] < 2
    assert report.pairs == len(setting.train)
    assert report.pairs_per_second == pytest.approx(2 * report.pairs / report.seconds)


def test_a_loss_that_is_no_number_stops_with_the_place_and_what_to_try(setting, tmp_path):
    calls = iter(range(1, 1000))

    def loss(scores, negatives, epoch):
        return hinge(scores, negatives, epoch) * (math.nan if next(calls) == 53 else 1.0)

    with pytest.raises(
        DivergedError, match=r"loss is nan in epoch 3, batch 3 of 25 \(step 53\).*--train.learning_rate"
    ):
        setting.run(tmp_path, loss=loss)


def test_a_gradient_that_is_no_number_stops_before_the_weights_are_lost(setting, tmp_path):
    model = setting.model()

    def loss(scores, negatives, epoch):
        return hinge(scores, negatives, epoch) + torch.sqrt(scores.sum() * 0)  # its slope at 0 is infinite

    with pytest.raises(DivergedError, match="gradient's norm is nan in epoch 1, batch 1"):
        setting.run(tmp_path, model=model, loss=loss)
    assert all(weight.isfinite().all() for weight in model.parameters())


def test_gradients_are_clipped(setting, tmp_path, monkeypatch):
    norms = []
    step = Optimiser.step

    def noted(optimiser, *arguments):
        norms.append(optimiser.clip(0.0))
        return step(optimiser, *arguments)

    monkeypatch.setattr(Optimiser, "step", noted)
    setting.run(tmp_path, replace(SMALL, epochs=1, gradient_clip=0.001))
    assert max(norms) == pytest.approx(0.001, rel=1e-2)
    norms.clear()
    setting.run(tmp_path, replace(SMALL, epochs=1, gradient_clip=0.0))
    assert max(norms) > 0.01


def test_what_is_said_is_one_line_an_epoch(setting, tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="training.trainer"):
        setting.run(tmp_path, replace(SMALL, epochs=2))
    assert [line[:14] for line in caplog.messages] == ["epoch 1 of 2: ", "epoch 2 of 2: "]
    assert "validation mrr 0." in caplog.messages[0]


def test_the_bar_shows_loss_speed_and_time_left(setting, tmp_path, capsys):
    setting.run(tmp_path, replace(SMALL, epochs=1))
    shown = capsys.readouterr().err
    assert "200/200" in shown
    assert "loss=" in shown
    assert "examples/s" in shown
