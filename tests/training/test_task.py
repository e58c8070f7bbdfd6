"""Batches with hard negatives, steps over several batches, and bfloat16."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import torch
from training_runs import SMALL, MeanConfig, MeanPool, hinge

from baselines.carlcs import Carlcs, CarlcsConfig
from baselines.tabcs import Tabcs, TabcsConfig
from galm.config import GalmConfig
from galm.model import Galm
from training.config import LossConfig
from training.task import Loss, PairTask

ROWS = np.arange(6)


class NoLoss:
    """Content with every batch."""

    def __call__(self, scores, _negatives, _epoch):
        return (scores * 0).sum()

    def selects(self, _epoch):
        return True


def hard_of(setting, count: int) -> np.ndarray:
    """The next pairs' codes, the query's own among the last of them."""
    pairs = len(setting.train)
    return np.stack([(np.arange(pairs) + 7 * (each + 1)) % pairs for each in range(count - 1)] + [np.arange(pairs)], 1)


def test_hard_negatives_stand_behind_the_codes_of_the_batch(setting):
    seen = []

    def loss(scores, negatives, epochs):
        seen.append((scores.detach(), negatives, epochs))
        return hinge(scores[:, : len(scores)], negatives[:, : len(scores)], epochs)

    model, hard = setting.model(MeanConfig(dropout=0.0)), hard_of(setting, 3)
    PairTask(model, loss, setting.train, setting.validate, SMALL, "cpu", hard).loss(ROWS, 0.5, 0)
    PairTask(model, loss, setting.train, setting.validate, SMALL).loss(ROWS, 0.5, 0)
    (scores, negatives, epochs), (plain, plain_negatives, _) = seen
    assert epochs == 0.5
    assert scores.shape == negatives.shape == (6, 6 + 6 * 3)
    torch.testing.assert_close(scores[:, :6], plain)
    assert torch.equal(negatives[:, :6], plain_negatives)
    codes = np.concatenate([ROWS, hard[ROWS].ravel()])
    for query in range(6):
        for place, code in enumerate(codes):
            same = (
                setting.train.query_keys[query] == setting.train.query_keys[code]
                or setting.train.code_keys[query] == setting.train.code_keys[code]
            )
            assert negatives[query, place].item() is not bool(same)
            alone = model.score_pairs(
                model.encode_query(setting.train.queries([query])), model.encode_code(setting.train.codes([int(code)]))
            )
            assert scores[query, place].item() == pytest.approx(alone.item(), abs=1e-6)


@pytest.mark.parametrize("kind", ["ranking", "cross_entropy"])
def test_a_run_with_hard_negatives_learns_and_is_another_one(setting, tmp_path, kind):
    loss, config = Loss(LossConfig(kind=kind, negatives="average")), replace(SMALL, epochs=4)
    _, plain = setting.run(tmp_path / "plain", config, loss=loss)
    _, hard = setting.run(tmp_path / "hard", config, loss=loss, hard_negatives=hard_of(setting, 2))
    assert hard.history[-1]["loss"] < hard.history[0]["loss"]
    assert hard.history[0]["loss"] != plain.history[0]["loss"]


def test_other_hard_negatives_are_other_training_data(setting):
    def of(hard: np.ndarray | None) -> int:
        return PairTask(setting.model(), hinge, setting.train, setting.validate, SMALL, "cpu", hard).fingerprint

    assert len({of(None), of(hard_of(setting, 2)), of(hard_of(setting, 3))}) == 3
    assert of(hard_of(setting, 2)) == of(hard_of(setting, 2))


def test_accumulated_gradients_are_those_of_the_batches_by_their_share(setting, tmp_path):
    config = replace(
        SMALL, epochs=1, accumulate=3, gradient_clip=0.0, schedule="constant", lazy_embedding_updates=False
    )
    model, report = setting.run(tmp_path, config, model=setting.model(MeanConfig(dropout=0.0)))

    plain = setting.model(MeanConfig(dropout=0.0))
    optimiser = torch.optim.AdamW(plain.parameters(), lr=config.learning_rate, weight_decay=0.0)
    task = PairTask(plain, hinge, setting.train, setting.validate, config)
    batches, steps = task.batches(0), 0
    for start in range(0, len(batches), 3):
        group = batches[start : start + 3]
        optimiser.zero_grad()
        count = sum(map(len, group))
        sum(task.loss(rows, 0.0, 0) * len(rows) / count for rows in group).backward()
        optimiser.step()
        steps += 1
    assert steps == -(-len(batches) // 3)
    assert report.history[0]["loss"] > 0
    for name, weight in plain.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], weight, atol=2e-5, rtol=1e-4)


def test_a_run_that_accumulates_goes_on_to_the_same_end(setting, tmp_path):
    config = replace(SMALL, accumulate=3)
    whole, _ = setting.run(tmp_path / "whole", config)
    calls = iter(range(10_000))

    def breaking(*arguments):
        if next(calls) == 40:
            raise KeyboardInterrupt
        return hinge(*arguments)

    with pytest.raises(KeyboardInterrupt):
        setting.run(tmp_path / "cut", replace(config, checkpoint_minutes=1e-6), loss=breaking)
    again, _ = setting.run(tmp_path / "cut", replace(config, resume=str(tmp_path / "cut")))
    for name, weight in whole.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name])


def test_bfloat16_computes_about_the_same_and_keeps_weights_in_float32(setting, tmp_path):
    seen = []

    def loss(scores, negatives, epochs):
        seen.append(scores.dtype)
        return hinge(scores, negatives, epochs)

    config = replace(SMALL, epochs=1)
    _, exact = setting.run(tmp_path / "exact", config)
    model, rounded = setting.run(tmp_path / "rounded", replace(config, precision="bfloat16"), loss=loss)
    assert set(seen) == {torch.float32}
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert rounded.history[0]["loss"] == pytest.approx(exact.history[0]["loss"], rel=0.02)


class DearPool(MeanPool):
    """Scored without gradients first."""

    with_gradient: ClassVar[list[bool]] = []
    expensive_scoring = True

    def score_matrix(self, queries, codes, **options):
        self.with_gradient.append(torch.is_grad_enabled())
        return super().score_matrix(queries, codes, **options)


def gradients_of(setting, model, loss, epochs, hard=None, **settings):
    """The loss of a batch, and its gradients, with the same dropout and the same random negatives."""
    torch.manual_seed(3)
    task = PairTask(model, loss, setting.train, setting.validate, replace(SMALL, **settings), "cpu", hard)
    task = replace(task, selects=loss.selects)
    model.zero_grad()
    value = task.loss(ROWS, epochs, 0)
    value.backward()
    return value.item(), [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]


@pytest.mark.parametrize("negatives", ["hardest", "random", "random_query"])
@pytest.mark.parametrize("mined", [0, 2])
def test_gradients_of_the_selected_scores_are_those_of_all(setting, negatives, mined):
    loss = Loss(LossConfig(negatives=negatives))
    hard = hard_of(setting, mined) if mined else None
    plain, dear = setting.model(), setting.model()
    dear.__class__ = DearPool
    DearPool.with_gradient.clear()
    (value, gradients), (same, selected) = (gradients_of(setting, each, loss, 1.0, hard) for each in (plain, dear))
    assert DearPool.with_gradient == [False]
    assert same == pytest.approx(value, rel=1e-6)
    assert any(each.abs().sum() > 0 for each in gradients)
    for one, other in zip(gradients, selected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-7, rtol=1e-4)


def test_a_batch_that_the_loss_is_content_with_has_gradients_of_zero(setting):
    model = setting.model()
    model.__class__ = DearPool
    value, gradients = gradients_of(setting, model, NoLoss(), 1.0)
    assert value == 0
    assert gradients
    assert all(each.abs().sum() == 0 for each in gradients)


@pytest.mark.parametrize(
    ("config", "epochs", "precision"),
    [
        (LossConfig(), 0.5, "float32"),
        (LossConfig(negatives="sum"), 1.0, "float32"),
        (LossConfig(kind="cross_entropy"), 1.0, "float32"),
        (LossConfig(), 1.0, "bfloat16"),
    ],
)
def test_all_scores_have_gradients_where_the_loss_reads_all_or_rounding_differs(setting, config, epochs, precision):
    model = setting.model()
    model.__class__ = DearPool
    DearPool.with_gradient.clear()
    gradients_of(setting, model, Loss(config), epochs, precision=precision)
    assert DearPool.with_gradient == [True]


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        (Galm, GalmConfig(dim=32, num_blocks=8, layers=2, gcn_dim=48)),
        (Galm, GalmConfig(dim=32, num_blocks=8, layers=1, gcn_dim=8, dropout=0.3)),
        (Carlcs, CarlcsConfig(dim=32, filters=12)),
        (Tabcs, TabcsConfig(dim=32)),
    ],
)
def test_a_model_with_dear_scores_has_the_gradients_of_all_scores(setting, kind, config, monkeypatch):
    model = kind(config, setting.tokenizer.vocabularies).train()
    model.start_from(setting.train)
    assert model.expensive_scoring
    loss = Loss(LossConfig())
    value, gradients = gradients_of(setting, model, loss, 1.0)
    monkeypatch.setattr(kind, "expensive_scoring", False)
    same, plain = gradients_of(setting, model, loss, 1.0)
    assert same == pytest.approx(value, rel=1e-6)
    assert any(each.abs().sum() > 0 for each in plain)
    for one, other in zip(gradients, plain, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-3)


@pytest.mark.parametrize("mined", [0, 2])
@pytest.mark.parametrize("model", [MeanPool, Galm])
def test_a_batch_encoded_in_parts_has_the_same_gradients(setting, mined, model):
    loss = Loss(LossConfig(kind="cross_entropy"))
    if model is Galm:
        own = Galm(GalmConfig(dim=32, num_blocks=8, layers=1, gcn_dim=8), setting.tokenizer.vocabularies).train()
    else:
        own = setting.model()
    own.eval()  # dropout is drawn for each part
    hard = hard_of(setting, mined) if mined else None
    value, gradients = gradients_of(setting, own, loss, 1.0, hard)
    for size in (1, 5):
        same, parts = gradients_of(setting, own, loss, 1.0, hard, encode_at_once=size)
        assert same == pytest.approx(value, rel=1e-5)
        for one, other in zip(gradients, parts, strict=True):
            torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-3)
