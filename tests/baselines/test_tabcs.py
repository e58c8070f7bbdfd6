"""TabCS against its formula word by word, and what each reading may depend on."""

import math

import pytest
import torch
from word_lists import CODES, LENGTHS, QUERIES, VOCABULARIES, as_read, codes, cosine, queries, randomised, scores_of

from baselines.tabcs import Tabcs, TabcsConfig
from data_prep.store.tokenizing import PAD

DIM = 4
READINGS = [
    {},
    {"ast": False},
    {"attention": "position"},
    {"release_compatible": True},
    {"release_compatible": True, "ast": False},
]


def build(**choices: object) -> Tabcs:
    model = Tabcs(TabcsConfig(dim=DIM, **LENGTHS, **choices), VOCABULARIES)  # type: ignore[arg-type]
    randomised(model)
    return model


def parameters(model: Tabcs) -> int:
    return sum(weight.numel() for weight in model.parameters())


def softmax(logits: list[float]) -> list[float]:
    terms = [math.exp(each) for each in logits]
    return [term / sum(terms) for term in terms]


def plain_words(model: Tabcs, field: str, ids: list[int]) -> list[list[float]]:
    """The weighted words of a field."""
    config, table = model.config, model.words.tables[field].weight.tolist()
    vectors = [table[each] for each in as_read(ids, config.length(field), release_compatible=config.release_compatible)]
    if not vectors:
        return []
    if not config.by_position:
        vector = model.attention[field].vector.tolist()
        weights = softmax([sum(a * x for a, x in zip(vector, word, strict=True)) for word in vectors])
        return [[weight * x for x in word] for weight, word in zip(weights, vectors, strict=True)]
    real = len(vectors)
    matrix, bias = model.attention[field].weight.tolist(), model.attention[field].bias.tolist()
    found = [[0.0] * DIM for _ in range(real)]
    for d in range(DIM):
        logits = [
            math.tanh(sum(word[d] * matrix[i][place] for i, word in enumerate(vectors)) + bias[place])
            for place in range(real)
        ]
        for place, weight in enumerate(softmax(logits)):
            found[place][d] = weight * vectors[place][d]
    return found


def plain_score(model: Tabcs, query: list[int], code: dict[str, list[int]]) -> float:
    """The formulas of the module, one word after the other."""
    left = [word for field in model.code_fields for word in plain_words(model, field, code[field])]
    right, weight = plain_words(model, "query", query), model.co_attention.weight.tolist()
    affinity = [
        [math.tanh(sum(c[i] * weight[i][j] * q[j] for i in range(DIM) for j in range(DIM))) for q in right]
        for c in left
    ]
    of_code = softmax([max(row) for row in affinity])
    of_query = softmax([max(column) for column in zip(*affinity, strict=True)])
    return cosine(
        [sum(w * word[d] for w, word in zip(of_code, left, strict=True)) for d in range(DIM)],
        [sum(w * word[d] for w, word in zip(of_query, right, strict=True)) for d in range(DIM)],
    )


def test_the_number_of_parameters() -> None:
    tables = (13 + 3 * 21 + 9) * DIM
    assert parameters(build()) == tables + 5 * DIM + DIM * DIM
    assert parameters(build(ast=False)) == tables - 9 * DIM + 4 * DIM + DIM * DIM
    squares = sum(length * length + length for length in (4, 3, 5, 4, 6))
    assert parameters(build(release_compatible=True)) == tables + squares + DIM * DIM


def test_with_the_lengths_of_the_release_a_method_has_96_words_and_a_query_30() -> None:
    model = Tabcs(TabcsConfig(release_compatible=True), VOCABULARIES).eval()
    assert model.encode_code(codes()).states.shape == (3, 6 + 30 + 40 + 20, 100)
    assert model.encode_query(queries()).states.shape == (3, 30, 100)
    assert Tabcs(TabcsConfig(release_compatible=True, ast=False), VOCABULARIES).encode_code(codes()).mask.shape == (
        3,
        76,
    )


@pytest.mark.parametrize("choices", READINGS, ids=str)
def test_scores_are_the_formulas_word_by_word(choices: dict[str, object]) -> None:
    model = build(**choices)
    found = scores_of(model, queries(), codes())
    for q in range(3):
        for c in range(3):
            code = {field: lists[c] for field, lists in CODES.items()}
            assert found[q, c].item() == pytest.approx(plain_score(model, QUERIES[q], code), rel=1e-8)


@pytest.mark.parametrize("choices", READINGS, ids=str)
def test_word_order_counts_where_positions_have_weights(choices: dict[str, object]) -> None:
    model = build(**choices)
    plain = scores_of(model, queries(), codes())
    asked = scores_of(model, queries([row[::-1] for row in QUERIES]), codes())
    assert torch.allclose(asked, plain, rtol=1e-10) != model.config.by_position
    for field in model.code_fields:
        turned = scores_of(model, queries(), codes(**{field: [row[::-1] for row in CODES[field]]}))
        assert torch.allclose(turned, plain, rtol=1e-10) != model.config.by_position


@pytest.mark.parametrize("choices", READINGS, ids=str)
def test_a_pads_vector_counts_in_parity_only(choices: dict[str, object]) -> None:
    model = build(**choices)
    plain = scores_of(model, queries(), codes(width=6))
    for field in ("query", *model.code_fields):
        with torch.no_grad():
            model.words.tables[field].weight[PAD] += 1.0
        moved = scores_of(model, queries(), codes(width=6))
        assert torch.equal(moved, plain) != model.config.release_compatible
        plain = moved


def test_the_same_word_weighs_apart_in_each_field() -> None:
    model = build()
    code = codes(name=[[5]] * 3, tokens=[[5]] * 3, api=[[5]] * 3, ast=[[]] * 3)
    states = model.encode_code(code)
    assert int(states.mask[0].sum()) == 3
    kept = states.states[0][states.mask[0]]
    for place, field in enumerate(("name", "api", "tokens")):  # alone in its field a word has weight 1
        assert torch.equal(kept[place], model.words.tables[field].weight[5])


def test_without_the_ast_it_is_not_read() -> None:
    other = codes(ast=[[4], [5], [6]])
    with_ast, without = build(), build(ast=False)
    assert not torch.allclose(scores_of(with_ast, queries(), other), scores_of(with_ast, queries(), codes()))
    assert torch.equal(scores_of(without, queries(), other), scores_of(without, queries(), codes()))


@pytest.mark.parametrize("choices", READINGS, ids=str)
def test_nothing_to_read_has_finite_scores_and_gradients(choices: dict[str, object]) -> None:
    model = build(**choices)
    empty = codes(name=[[]] * 3, tokens=[[], [2], []], api=[[]] * 3, ast=[[]] * 3)
    found = scores_of(model, queries([[], [2, 3], []]), empty)
    found.sum().backward()
    assert all(each.grad is None or each.grad.isfinite().all() for each in model.parameters())
    if not model.config.release_compatible:
        assert (found != 0).tolist() == [[False] * 3, [False, True, False], [False] * 3]
