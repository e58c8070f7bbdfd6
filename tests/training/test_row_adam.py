"""Rows that wait until they are read end where Adam, which moves every row at every step, brings them."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import nn
from training_runs import SMALL

from training import optimiser
from training.config import TrainConfig
from training.optimiser import WINDOW, Optimiser, RowAdam

ROWS, DIM = 60, 3
BETAS = (0.9, 0.999)


class Sum(nn.Module):
    """A table that is read in two places, and a small weight."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(ROWS, DIM, padding_idx=0)
        self.weight = nn.Parameter(torch.ones(DIM))

    def forward(self, ids, others):
        return ((self.table(ids) - 2 * self.table(others)) ** 3 @ self.weight).sum()


def made():
    torch.manual_seed(1)
    return Sum().double()


def drawn(step):
    """Few rows, the first ones in every step and the last ones almost never; some twice."""
    generator = torch.Generator().manual_seed(step)
    ids = (torch.rand(2, 8, generator=generator) ** 6 * ROWS).long()
    return ids[0], ids[1]


def rate(step):
    """One that falls to a sixth and rises again."""
    return 1e-2 if step % 300 < 150 else 1.7e-3


def by_adam(steps, clip=0.0):
    model = made()
    adam = torch.optim.Adam(model.parameters(), betas=BETAS)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate(step)
        adam.zero_grad()
        model(*drawn(step)).backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        adam.step()
    return model


def by_rows(steps, monkeypatch, clip=0.0, flush_at=()):
    monkeypatch.setattr(optimiser, "LARGE", ROWS * DIM)
    model = made()
    found = Optimiser(model, TrainConfig(beta1=BETAS[0], beta2=BETAS[1]))
    for step in range(steps):
        found.zero_grad()
        model(*drawn(step)).backward()
        assert model.table.weight.grad.is_sparse
        found.clip(clip)
        found.step(rate(step))
        if step in flush_at:
            found.flush()
    found.close()
    return model


@pytest.mark.parametrize("steps", [1, 2, 30, 400, WINDOW + 300])
def test_the_weights_are_adams(steps, monkeypatch):
    lazy, every = by_rows(steps, monkeypatch), by_adam(steps)
    torch.testing.assert_close(lazy.table.weight, every.table.weight, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(lazy.weight, every.weight, rtol=1e-6, atol=1e-8)
    assert not lazy.table.weight[0].isnan().any()


def test_so_they_are_with_clipped_gradients_and_flushes_between(monkeypatch):
    lazy, every = by_rows(200, monkeypatch, clip=0.5, flush_at=(3, 50, 51)), by_adam(200, clip=0.5)
    torch.testing.assert_close(lazy.table.weight, every.table.weight, rtol=1e-6, atol=1e-8)


def test_a_row_that_waits_is_not_where_adam_has_it_until_it_is_read():
    model, every = made(), by_adam(20)
    rows = RowAdam([model.table], *BETAS)
    for step in range(20):
        model.zero_grad()
        model(*drawn(step)).backward()
        rows.gradients()
        rows.step(rate(step))
    waiting = (model.table.weight - every.table.weight).abs().amax(1) > 1e-4
    assert waiting.any()
    row = int(waiting.nonzero()[0])
    model.table(torch.tensor([row]))
    assert (model.table.weight[row] - every.table.weight[row]).abs().max() < 1e-2  # the small weight was not trained
    rows.close()
    assert not model.table.sparse
    assert not model.table._forward_pre_hooks


def test_a_restored_state_goes_on_to_the_same_bits(monkeypatch):
    monkeypatch.setattr(optimiser, "LARGE", ROWS * DIM)

    def go(model, found, steps):
        for step in steps:
            found.zero_grad()
            model(*drawn(step)).backward()
            found.clip(1.0)
            found.step(rate(step))

    whole = made()
    first = Optimiser(whole, TrainConfig())
    go(whole, first, range(40))
    stored = {name: weight.clone() for name, weight in whole.state_dict().items()}, deepcopy(first.state())
    resumed = made()
    second = Optimiser(resumed, TrainConfig())
    resumed.load_state_dict(stored[0])
    second.restore(stored[1])
    go(whole, first, range(40, 80))
    go(resumed, second, range(40, 80))
    first.close()
    second.close()
    assert torch.equal(whole.table.weight, resumed.table.weight)


@pytest.mark.parametrize("settings", [{"lazy_embedding_updates": False}, {"weight_decay": 0.01}])
def test_where_rows_cannot_wait_gradients_are_dense(settings, monkeypatch):
    monkeypatch.setattr(optimiser, "LARGE", 1)
    model = made()
    Optimiser(model, TrainConfig(**settings))
    assert not model.table.sparse


def test_tables_that_share_a_weight_are_updated_as_a_whole(monkeypatch):
    monkeypatch.setattr(optimiser, "LARGE", 1)
    model = nn.ModuleList([nn.Embedding(5, 2), nn.Embedding(5, 2), nn.Embedding(6, 2)])
    model[1].weight = model[0].weight
    Optimiser(model, TrainConfig())
    assert [table.sparse for table in model] == [False, False, True]


def test_a_run_by_rows_learns_what_one_of_all_rows_learns(setting, tmp_path):
    lazy, found = setting.run(tmp_path / "lazy", replace(SMALL, lazy_embedding_updates=True))
    every, expected = setting.run(tmp_path / "every", replace(SMALL, lazy_embedding_updates=False))
    assert not lazy.code.sparse
    assert found.history[-1]["loss"] == pytest.approx(expected.history[-1]["loss"], rel=1e-3)
    torch.testing.assert_close(lazy.code.weight, every.code.weight, rtol=1e-2, atol=1e-3)


def test_new_weights_have_their_own_rate():
    model = made()
    model.new_weights = lambda: [model.weight]
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    own = Optimiser(model, TrainConfig(new_weights_rate=20.0, gradient_clip=0.0))
    model(*drawn(0)).backward()
    own.clip(0.0)
    own.step(1e-3)
    moved = {name: (weight - before[name]).abs().max().item() for name, weight in model.named_parameters()}
    assert moved["weight"] == pytest.approx(20e-3, rel=1e-3)  # Adam's first step is as long as the rate
    assert moved["table.weight"] == pytest.approx(1e-3, rel=1e-3)
    assert own.rate == 1e-3
