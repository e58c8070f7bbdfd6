"""The attention layers against plain loops over words, and what pads and empty rows may do to them: nothing."""

import math
from itertools import pairwise

import pytest
import torch

from modeling import layers
from modeling.layers import CoAttention, PositionAttention, WordAttention, masked_softmax, word_blocks

DIM = 5


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def some(*shape: int, seed: int = 0) -> torch.Tensor:
    """A mask with holes; of two rows or more the second is empty."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.6
    mask[:, 0] = True
    mask[1:2] = False
    return mask


def softmax(logits: list[float]) -> list[float]:
    terms = [math.exp(each) for each in logits]
    return [term / sum(terms) for term in terms]


def test_masked_softmax_is_the_softmax_of_what_the_mask_leaves() -> None:
    logits, mask = draw(4, 6), some(4, 6)
    found = masked_softmax(logits, mask)
    for row in range(4):
        places = [place for place in range(6) if mask[row, place]]
        expected = dict(zip(places, softmax([logits[row, place].item() for place in places]), strict=True))
        assert found[row].tolist() == pytest.approx([expected.get(place, 0.0) for place in range(6)])
    assert found[1].tolist() == [0.0] * 6


def test_masked_softmax_goes_along_any_axis() -> None:
    logits, mask = draw(3, 4, 6), some(4, 6).expand(3, -1, -1)
    turned = masked_softmax(logits.transpose(0, 2), mask.transpose(0, 2), dim=0)
    assert torch.allclose(turned.transpose(0, 2), masked_softmax(logits, mask))


def test_masked_softmax_has_finite_gradients_in_empty_rows() -> None:
    logits = draw(4, 6).requires_grad_()
    (masked_softmax(logits, some(4, 6)) * draw(4, 6, seed=1)).sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert logits.grad[1].abs().sum() == 0
    assert logits.grad[0].abs().sum() > 0


def test_word_attention_is_the_softmax_of_products_with_its_vector() -> None:
    layer, states, mask = WordAttention(DIM).double(), draw(3, 6, DIM), some(3, 6)
    torch.nn.init.uniform_(layer.vector, -2, 2)
    found = layer(states, mask)
    assert found.shape == (3, 6, 1)
    for row in range(3):
        places = [place for place in range(6) if mask[row, place]]
        logits = [sum((layer.vector[d] * states[row, place, d]).item() for d in range(DIM)) for place in places]
        expected = dict(zip(places, softmax(logits) if places else [], strict=True))
        assert found[row, :, 0].tolist() == pytest.approx([expected.get(place, 0.0) for place in range(6)])


def test_word_attention_follows_the_order_of_words() -> None:
    layer, states, mask = WordAttention(DIM).double(), draw(3, 6, DIM), some(3, 6)
    assert torch.allclose(layer(states.flip(1), mask.flip(1)), layer(states, mask).flip(1))


def test_position_attention_is_a_softmax_over_positions_for_each_dimension() -> None:
    positions = 4
    layer, states, mask = PositionAttention(positions).double(), draw(3, positions, DIM), some(3, positions)
    torch.nn.init.uniform_(layer.weight, -1, 1)
    torch.nn.init.uniform_(layer.bias, -1, 1)
    found = layer(states, mask)
    assert found.shape == (3, positions, DIM)
    for row in range(3):
        places = [place for place in range(positions) if mask[row, place]]
        for d in range(DIM):
            # every word has a part in the logit of every place
            sums = [
                sum((states[row, other, d] * layer.weight[other, place]).item() for other in places) for place in places
            ]
            logits = [math.tanh(each + layer.bias[place].item()) for each, place in zip(sums, places, strict=True)]
            expected = dict(zip(places, softmax(logits) if places else [], strict=True))
            assert found[row, :, d].tolist() == pytest.approx([expected.get(place, 0.0) for place in range(positions)])


def test_position_attention_tells_positions_apart() -> None:
    layer, states = PositionAttention(4).double(), draw(2, 4, DIM)
    mask = torch.ones(2, 4, dtype=torch.bool)
    assert not torch.allclose(layer(states.flip(1), mask), layer(states, mask).flip(1), rtol=1e-3)


@pytest.mark.parametrize("layer", [WordAttention(DIM), PositionAttention(6)], ids=["word", "position"])
def test_attention_to_no_words_is_0_with_finite_gradients(layer: torch.nn.Module) -> None:
    layer, states = layer.double(), draw(3, 6, DIM).requires_grad_()
    weights = layer(states, torch.zeros(3, 6, dtype=torch.bool))
    (weights * states).sum().backward()
    assert weights.abs().sum() == 0
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in (states, *layer.parameters()))


def plain_co_attention(weight: list[list[float]], code: list[list[float]], query: list[list[float]]) -> float:
    """Eqs. 5 to 9 of TabCS, one word after the other."""
    if not (code and query):
        return 0.0
    affinity = [
        [math.tanh(sum(c[i] * weight[i][j] * q[j] for i in range(DIM) for j in range(DIM))) for q in query]
        for c in code
    ]
    of_code = softmax([max(row) for row in affinity])
    of_query = softmax([max(column) for column in zip(*affinity, strict=True)])
    left = [sum(w * c[d] for w, c in zip(of_code, code, strict=True)) for d in range(DIM)]
    right = [sum(w * q[d] for w, q in zip(of_query, query, strict=True)) for d in range(DIM)]
    product = sum(x * y for x, y in zip(left, right, strict=True))
    return product / math.hypot(*left) / math.hypot(*right)


def co_attention(seed: int = 0) -> CoAttention:
    torch.manual_seed(seed)
    layer = CoAttention(DIM).double()
    torch.nn.init.uniform_(layer.weight, -0.5, 0.5)
    return layer


def sides(count: int, other: int, scale: float = 1.0) -> tuple[torch.Tensor, ...]:
    return (
        scale * draw(count, 4, DIM, seed=2),
        some(count, 4, seed=3),
        scale * draw(other, 7, DIM, seed=4),
        some(other, 7, seed=5),
    )


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_co_attention_is_its_equations_word_by_word(scale: float) -> None:
    layer = co_attention()
    queries, query_mask, codes, code_mask = sides(6, 6, scale)
    found = layer.pairs(queries, query_mask, codes, code_mask)
    assert found[1] == 0
    for pair in range(6):
        code, query = codes[pair][code_mask[pair]].tolist(), queries[pair][query_mask[pair]].tolist()
        assert found[pair].item() == pytest.approx(plain_co_attention(layer.weight.tolist(), code, query), rel=1e-10)


@pytest.mark.parametrize("pairs_per_block", [1, 5, 20, 4096])
def test_the_matrix_holds_the_scores_of_pairs(pairs_per_block: int) -> None:
    layer = co_attention()
    queries, query_mask, codes, code_mask = sides(37, 19)
    found = layer.matrix(queries, query_mask, codes, code_mask, pairs_per_block)
    assert found.shape == (37, 19)
    for column in range(19):
        same = layer.pairs(queries, query_mask, codes[[column] * 37], code_mask[[column] * 37])
        assert torch.allclose(found[:, column], same, rtol=1e-10, atol=1e-14)


def test_gradients_of_the_matrix_are_those_of_pairs() -> None:
    layer, weights = co_attention(), draw(20, 18, seed=9)

    def gradients(*, whole: bool) -> list[torch.Tensor]:
        queries, query_mask, codes, code_mask = sides(20, 18)
        leaves = [queries.requires_grad_(), codes.requires_grad_(), layer.weight]
        left, right = torch.arange(20).repeat_interleave(18), torch.arange(18).repeat(20)
        if whole:
            scores = layer.matrix(queries, query_mask, codes, code_mask, 4096)
        else:
            scores = layer.pairs(queries[left], query_mask[left], codes[right], code_mask[right]).view(20, 18)
        return list(torch.autograd.grad((scores * weights).sum(), leaves))

    for by_matrix, by_pairs in zip(gradients(whole=True), gradients(whole=False), strict=True):
        assert by_pairs.abs().max() > 1e-3
        assert torch.allclose(by_matrix, by_pairs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("pairs_per_block", [1, 7, 100])
def test_no_block_of_the_matrix_has_more_pairs_than_asked(
    monkeypatch: pytest.MonkeyPatch, pairs_per_block: int
) -> None:
    pairs, scores = [], layers._block_scores

    def counted(*block: object) -> torch.Tensor:
        found = scores(*block)  # type: ignore[arg-type]
        pairs.append(found.numel())
        return found

    monkeypatch.setattr(layers, "_block_scores", counted)
    co_attention().matrix(*sides(37, 19), pairs_per_block)
    assert max(pairs) <= pairs_per_block
    assert sum(pairs) == 37 * 19


def test_what_stands_at_pads_and_how_many_there_are_changes_nothing() -> None:
    layer = co_attention()
    queries, query_mask, codes, code_mask = sides(6, 6)
    for read in (layer.pairs, lambda *given: layer.matrix(*given, 4096)):
        plain = read(queries, query_mask, codes, code_mask)
        filled = queries.masked_fill(~query_mask[..., None], 7.0), codes.masked_fill(~code_mask[..., None], -9.0)
        assert torch.allclose(read(filled[0], query_mask, filled[1], code_mask), plain, rtol=1e-10, atol=1e-14)
        wider = [torch.cat([each, torch.zeros_like(each[:, :3])], 1) for each in (*filled, query_mask, code_mask)]
        assert torch.allclose(read(wider[0], wider[2], wider[1], wider[3]), plain, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("whole", [False, True], ids=["pairs", "matrix"])
def test_sides_without_words_score_0_with_finite_gradients(whole: bool) -> None:
    layer = co_attention()
    queries, query_mask, codes, code_mask = sides(6, 6)
    query_mask[2], code_mask[4] = False, False
    leaves = [queries.requires_grad_(), codes.requires_grad_(), layer.weight]
    given = (queries, query_mask, codes, code_mask)
    scores = layer.matrix(*given, 4096) if whole else layer.pairs(*given)
    empty = scores[[1, 2]], (scores[:, [1, 4]] if whole else scores[[1, 4]])
    assert all(each.abs().sum() == 0 for each in empty)
    assert (scores != 0).sum() == (16 if whole else 3)
    for gradient in torch.autograd.grad(scores.sum(), leaves):
        assert gradient.isfinite().all()
        assert gradient.abs().sum() > 0
    pads = torch.autograd.grad(layer.pairs(*given).sum(), leaves[:2])
    assert all(each[~mask].abs().sum() == 0 for each, mask in zip(pads, (query_mask, code_mask), strict=True))


def test_longer_word_vectors_turn_the_weights_to_single_words() -> None:
    """With a weight matrix of the identity, the words that both sides share get the most."""
    layer = CoAttention(DIM).double()
    with torch.no_grad():
        layer.weight.copy_(torch.eye(DIM))
    word = torch.eye(DIM, dtype=torch.float64)
    everywhere = torch.ones(1, 2, dtype=torch.bool)
    found = [
        layer.pairs(scale * word[None, :2], everywhere, scale * word[None, 1:3], everywhere).item()
        for scale in (0.1, 1.0, 3.0)
    ]
    assert all(shorter < longer for shorter, longer in pairwise(found))
    assert found[0] == pytest.approx(0.5, abs=0.01)  # nearly the means: cos of (½, ½, 0) and (0, ½, ½)


def test_blocks_hold_every_row_once_without_needless_pads() -> None:
    generator = torch.Generator().manual_seed(0)
    mask = torch.rand(23, 9, generator=generator) < torch.rand(23, 1, generator=generator)
    mask[5] = False
    states = torch.randn(23, 9, 4, generator=generator)
    blocks, places = word_blocks(states, mask, 6)
    assert [len(block) for block in blocks] == [6, 6, 6, 5]
    rows = [(block, row) for block in blocks for row in range(len(block))]
    for number in range(23):
        block, row = rows[int(places[number])]
        words = states[number][mask[number]]
        assert torch.equal(block.states[row][block.mask[row]], words)  # in their order
        assert block.mask[row].tolist() == [place < len(words) for place in range(block.mask.shape[1])]
    lengths = [block.mask.sum(1) for block in blocks]
    assert [block.mask.shape[1] for block in blocks] == [max(1, int(each.max())) for each in lengths]
    assert torch.equal(torch.cat(lengths), mask.sum(1).sort().values)


def test_rows_without_words_are_a_block_of_pads() -> None:
    blocks, places = word_blocks(torch.ones(3, 2, 1), torch.zeros(3, 2, dtype=torch.bool), 2)
    assert [block.mask.shape for block in blocks] == [(2, 1), (1, 1)]
    assert not any(block.mask.any() for block in blocks)
    assert sorted(places.tolist()) == [0, 1, 2]
