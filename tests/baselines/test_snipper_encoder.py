"""The loss against its equation; mined negatives against a full sort."""

import math

import numpy as np
import torch

from baselines.snipper_encoder import hard_negatives
from training.config import LossConfig
from training.task import Loss


def test_loss_against_its_equation_where_some_documents_are_no_negatives():
    scores = torch.randn(3, 5, generator=torch.Generator().manual_seed(1))
    negatives = torch.rand(3, 5, generator=torch.Generator().manual_seed(2)) < 0.5
    negatives[torch.arange(3), torch.arange(3)] = False
    expected = 0.0
    for row in range(3):
        gold = math.exp(scores[row, row])
        others = sum(math.exp(scores[row, column]) for column in range(5) if negatives[row, column])
        expected -= math.log(gold / (gold + others)) / 3
    loss = Loss(LossConfig("cross_entropy", directions="queries"))
    assert math.isclose(loss(scores, negatives, 0.0).item(), expected, rel_tol=1e-5)


def test_the_best_documents_without_gold_and_its_duplicates():
    scores = np.random.default_rng(0).normal(size=(20, 20)).astype(np.float32)
    scores[np.arange(20), np.arange(20)] = 9  # the gold is ranked first
    forbidden = [frozenset({(row + 1) % 20}) for row in range(20)]
    found = hard_negatives([scores[:7], scores[7:]], forbidden, 4)
    for row in range(20):
        banned = {row, (row + 1) % 20}
        order = [place for place in np.argsort(-scores[row]).tolist() if place not in banned]
        assert found[row].tolist() == order[:4]


def test_rows_with_too_few_documents_are_filled_with_their_own():
    found = hard_negatives([np.ones((2, 2), np.float32)], [frozenset(), frozenset({0})], 3)
    assert found.tolist() == [[1, 0, 0], [1, 1, 1]]
