"""DeepCS against the equations of an LSTM step by step, and what each reading may depend on."""

import math

import pytest
import torch
from torch import nn
from word_lists import CODES, LENGTHS, QUERIES, VOCABULARIES, as_read, codes, cosine, queries, randomised, scores_of

from baselines.deepcs import Deepcs, DeepcsConfig, max_over_words
from data_prep.store.tokenizing import PAD

DIM, HIDDEN = 4, 3
FIELDS = ("name", "api", "tokens")
Vector = list[float]


def build(**choices: object) -> Deepcs:
    model = Deepcs(DeepcsConfig(dim=DIM, hidden=HIDDEN, **LENGTHS, **choices), VOCABULARIES)  # type: ignore[arg-type]
    randomised(model)
    return model


def parameters(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


def linear(weight: list[Vector], bias: Vector, inputs: Vector) -> Vector:
    return [sum(w * x for w, x in zip(row, inputs, strict=True)) + b for row, b in zip(weight, bias, strict=True)]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def plain_lstm(lstm: nn.LSTM, suffix: str, words: list[Vector]) -> list[Vector]:
    """The states h_t: c_t = f c_(t-1) + i g and h_t = o tanh(c_t)."""
    into = [getattr(lstm, f"{kind}_ih_l0{suffix}").tolist() for kind in ("weight", "bias")]
    again = [getattr(lstm, f"{kind}_hh_l0{suffix}").tolist() for kind in ("weight", "bias")]
    state, cell, states = [0.0] * HIDDEN, [0.0] * HIDDEN, []
    for word in words:
        sums = [x + y for x, y in zip(linear(*into, word), linear(*again, state), strict=True)]
        i, f, g, o = (sums[HIDDEN * gate : HIDDEN * (gate + 1)] for gate in range(4))
        cell = [sigmoid(f[k]) * cell[k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(HIDDEN)]
        state = [sigmoid(o[k]) * math.tanh(cell[k]) for k in range(HIDDEN)]
        states.append(state)
    return states


def plain_maximum(words: list[Vector], width: int) -> Vector:
    return [math.tanh(max((word[k] for word in words), default=0.0)) for k in range(width)]


def plain_field(model: Deepcs, field: str, ids: list[int]) -> Vector:
    config, table = model.config, model.words.tables[field].weight.tolist()
    words = [table[each] for each in as_read(ids, config.length(field), release_compatible=config.release_compatible)]
    if field == "tokens":
        return plain_maximum(words, DIM)
    lstm = model.readers[field].lstm
    forward, backward = plain_lstm(lstm, "", words), plain_lstm(lstm, "_reverse", words[::-1])
    return plain_maximum(forward, HIDDEN) + plain_maximum(backward, HIDDEN)


def plain_score(model: Deepcs, query: list[int], code: dict[str, list[int]]) -> float:
    joined = [x for field in FIELDS for x in plain_field(model, field, code[field])]
    join = linear(model.join.weight.tolist(), model.join.bias.tolist(), joined)
    return cosine([math.tanh(x) for x in join], plain_field(model, "query", query))


def test_the_number_of_parameters() -> None:
    tables = (13 + 3 * 21) * DIM
    lstm = 2 * (4 * HIDDEN * DIM + 4 * HIDDEN * HIDDEN + 2 * 4 * HIDDEN)  # both directions
    assert parameters(build()) == tables + 3 * lstm + (4 * HIDDEN + DIM) * 2 * HIDDEN + 2 * HIDDEN
    assert parameters(build(release_compatible=True)) == parameters(build())
    release = Deepcs(DeepcsConfig(), VOCABULARIES)
    assert release.join.weight.shape == (200, 500)
    assert release.encode_code(codes()).states.shape == (3, 1, 200)
    assert parameters(release.readers["name"]) == 2 * (400 * 100 + 400 * 100 + 800)


def test_it_starts_as_keras_does_with_open_forget_gates() -> None:
    lstm = Deepcs(DeepcsConfig(dim=DIM, hidden=HIDDEN), VOCABULARIES).readers["api"].lstm
    for suffix in ("", "_reverse"):
        bias = getattr(lstm, f"bias_ih_l0{suffix}") + getattr(lstm, f"bias_hh_l0{suffix}")
        assert bias.tolist() == [0.0] * HIDDEN + [1.0] * HIDDEN + [0.0] * 2 * HIDDEN
        again = getattr(lstm, f"weight_hh_l0{suffix}")
        assert torch.allclose(again.T @ again, torch.eye(HIDDEN), atol=1e-6)
        assert getattr(lstm, f"weight_ih_l0{suffix}").abs().max() <= math.sqrt(6 / (DIM + 4 * HIDDEN))


@pytest.mark.parametrize("release_compatible", [False, True])
def test_scores_are_the_equations_step_by_step(release_compatible: bool) -> None:
    model = build(release_compatible=release_compatible)
    found = scores_of(model, queries(), codes())
    for q in range(3):
        for c in range(3):
            code = {field: lists[c] for field, lists in CODES.items()}
            assert found[q, c].item() == pytest.approx(plain_score(model, QUERIES[q], code), rel=1e-9)


def test_a_field_without_words_is_read_as_zeros() -> None:
    model = build()
    found = scores_of(model, queries(), codes(api=[[], [2], []], tokens=[[], [], [4, 5]]))
    for c, (api, tokens) in enumerate((([], []), ([2], []), ([], [4, 5]))):
        code = {"name": CODES["name"][c], "api": api, "tokens": tokens}
        assert found[0, c].item() == pytest.approx(plain_score(model, QUERIES[0], code), rel=1e-9)


@pytest.mark.parametrize("width", [6, 11])
def test_pads_change_nothing_by_default(width: int) -> None:
    model = build()
    plain = scores_of(model, queries(), codes())
    assert torch.allclose(scores_of(model, queries(width=width), codes(width=width)), plain, rtol=1e-12)


@pytest.mark.parametrize("release_compatible", [False, True])
def test_a_pads_vector_counts_in_parity_only(release_compatible: bool) -> None:
    model = build(release_compatible=release_compatible)
    plain = scores_of(model, queries(), codes(width=6))
    for field in ("query", *FIELDS):
        with torch.no_grad():
            model.words.tables[field].weight[PAD] += 1.0
        moved = scores_of(model, queries(), codes(width=6))
        assert torch.equal(moved, plain) != release_compatible
        plain = moved


@pytest.mark.parametrize("release_compatible", [False, True])
def test_word_order_counts_in_all_but_the_tokens(release_compatible: bool) -> None:
    model = build(release_compatible=release_compatible)
    plain = scores_of(model, queries(), codes())
    for field in FIELDS:
        turned = scores_of(model, queries(), codes(**{field: [row[::-1] for row in CODES[field]]}))
        assert torch.allclose(turned, plain, rtol=1e-10) == (field == "tokens")
    assert not torch.allclose(scores_of(model, queries([row[::-1] for row in QUERIES]), codes()), plain)


def test_the_maximum_over_words_leaves_pads_out() -> None:
    states = torch.tensor([[[-3.0, 1.0], [-2.0, -1.0], [9.0, 9.0]], [[5.0, 5.0]] * 3])
    mask = torch.tensor([[True, True, False], [False] * 3])
    assert max_over_words(states, mask).tolist() == [[-2.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize("release_compatible", [False, True])
def test_nothing_to_read_has_finite_scores_and_gradients(release_compatible: bool) -> None:
    model = build(release_compatible=release_compatible)
    empty = codes(name=[[]] * 3, tokens=[[], [2], []], api=[[]] * 3)
    found = scores_of(model, queries([[], [2, 3], []]), empty)
    found.sum().backward()
    assert found.isfinite().all()
    assert all(each.grad is None or each.grad.isfinite().all() for each in model.parameters())
    if not release_compatible:
        assert (found != 0).tolist() == [[False] * 3, [True] * 3, [False] * 3]  # code is the dense layer's bias then


def test_a_width_below_1_is_refused() -> None:
    with pytest.raises(ValueError, match=r"--model\.hidden takes a whole number from 1 to 4,096, not 0"):
        DeepcsConfig(hidden=0)
    with pytest.raises(ValueError, match=r"--model\.dropout"):
        DeepcsConfig(dropout=2.0)
