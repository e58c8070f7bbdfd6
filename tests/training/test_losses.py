"""The losses against double loops over their equations."""

import math

import pytest
import torch

from training.config import LossConfig
from training.task import Loss, cross_entropy, ranking_loss

MARGIN = 0.2


@pytest.fixture(params=[5, 8], ids=["in-batch", "with three hard negatives"])
def example(request) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores of 5 queries over their codes and, in the second case, 3 that are no query's."""
    torch.manual_seed(3)
    scores = torch.randn(5, request.param, dtype=torch.float64)
    negatives = ~torch.eye(5, request.param, dtype=torch.bool)
    negatives[1, 3] = negatives[3, 1] = False  # pairs 1 and 3 read the same
    negatives[2, 5:6] = False  # and so does one of the others
    return scores, negatives


def costs(scores: torch.Tensor, negatives: torch.Tensor) -> tuple[list[list[float]], list[list[float]]]:
    """Costs of each query's and of each code's negatives, eq. 14 with both terms hinged."""
    s, n = scores.tolist(), negatives.tolist()
    of_query = [[max(0.0, MARGIN - s[i][i] + s[i][j]) for j in range(len(s[i])) if n[i][j]] for i in range(5)]
    of_code = [[max(0.0, MARGIN - s[j][j] + s[i][j]) for i in range(5) if n[i][j]] for j in range(5)]
    return of_query, of_code


@pytest.mark.parametrize(
    ("kind", "join"),
    [("average", lambda c: sum(c) / len(c)), ("sum", sum), ("hardest", max)],
    ids=["average", "sum", "hardest"],
)
def test_ranking_loss_is_equation_14(example: tuple, kind: str, join: object) -> None:
    scores, negatives = example
    of_query, of_code = costs(scores, negatives)
    expected = sum(join(c) for c in of_query + of_code) / 5  # type: ignore[operator]
    assert ranking_loss(scores, negatives, MARGIN, kind).item() == pytest.approx(expected)  # type: ignore[arg-type]


def test_one_random_negative_is_one_of_the_negatives_and_all_of_them_in_turn(example: tuple) -> None:
    scores, negatives = example
    of_query, of_code = costs(scores, negatives)
    found = [ranking_loss(scores, negatives, MARGIN, "random").item() for _ in range(3000)]
    least, most = (sum(pick(c) for c in of_query + of_code) / 5 for pick in (min, max))
    assert least - 1e-9 <= min(found)
    assert max(found) <= most + 1e-9
    mean = sum(sum(c) / len(c) for c in of_query + of_code) / 5
    assert sum(found) / len(found) == pytest.approx(mean, rel=0.03)


def test_cross_entropy_is_its_definition(example: tuple) -> None:
    scores, negatives = example
    s, n = (scores / 0.5).tolist(), negatives.tolist()
    total = 0.0
    for i in range(5):
        row = [math.exp(s[i][j]) for j in range(len(s[i])) if n[i][j] or i == j]
        column = [math.exp(s[j][i]) for j in range(5) if n[j][i] or i == j]
        total -= math.log(math.exp(s[i][i]) / sum(row)) + math.log(math.exp(s[i][i]) / sum(column))
    assert cross_entropy(scores, negatives, 0.5).item() == pytest.approx(total / 10)


@pytest.mark.parametrize(
    "config",
    [LossConfig(negatives=k) for k in ("average", "sum", "hardest", "random")] + [LossConfig(kind="cross_entropy")],
    ids=str,
)
def test_duplicates_are_never_negatives(example: tuple, config: LossConfig) -> None:
    scores, negatives = example
    scores.requires_grad_()
    Loss(config)(scores, negatives, 5.0).backward()
    assert scores.grad is not None
    assert scores.grad[1, 3] == 0
    assert scores.grad[3, 1] == 0
    alone = torch.zeros_like(negatives)  # a batch of equal pairs has no negative at all
    assert Loss(config)(scores.detach(), alone, 5.0).item() == pytest.approx(0.0)


def test_hardest_negatives_wait_for_the_warm_up(example: tuple) -> None:
    scores, negatives = example
    loss = Loss(LossConfig(negatives="hardest", warmup_epochs=1.0))
    assert loss(scores, negatives, 0.99).item() == pytest.approx(
        ranking_loss(scores, negatives, MARGIN, "average").item()
    )
    assert loss(scores, negatives, 1.0).item() == pytest.approx(
        ranking_loss(scores, negatives, MARGIN, "hardest").item()
    )
    assert [loss.selects(epoch) for epoch in (0.0, 0.99, 1.0, 7.0)] == [False, False, True, True]


@pytest.mark.parametrize("wrong", [{"margin": 0.0}, {"temperature": -1.0}, {"warmup_epochs": -1.0}], ids=str)
def test_refuses_what_makes_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"--loss\."):
        LossConfig(**wrong)  # type: ignore[arg-type]
