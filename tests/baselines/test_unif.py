"""UNIF against its formula word by word, and what each reading may depend on."""

import math

import pytest
import torch
from word_lists import CODES, LENGTHS, QUERIES, VOCABULARIES, as_read, codes, cosine, queries, randomised, scores_of

from baselines.unif import Unif, UnifConfig
from data_prep.store.tokenizing import PAD

DIM = 4
READINGS = [
    {},
    {"fields": "all"},
    {"attention": "position"},
    {"release_compatible": True},
    {"release_compatible": True, "fields": "all"},
]


def build(**choices: object) -> Unif:
    model = Unif(UnifConfig(dim=DIM, **LENGTHS, **choices), VOCABULARIES)  # type: ignore[arg-type]
    randomised(model)
    return model


def parameters(model: Unif) -> int:
    return sum(weight.numel() for weight in model.parameters())


def plain_score(model: Unif, query: list[int], code: dict[str, list[int]]) -> float:
    """The formula of the module, one word after the other."""
    config, tables = model.config, {field: table.weight.tolist() for field, table in model.words.tables.items()}
    asked = [
        tables["query"][each]
        for each in as_read(query, config.query_length, release_compatible=config.release_compatible)
    ]
    mean = [sum(vector[d] for vector in asked) / len(asked) for d in range(DIM)]
    words, real = [], []
    for field in model.fields:
        length = config.length(field)
        ids = as_read(code[field], length, release_compatible=config.release_compatible)
        fill = length - len(ids) if config.by_position else 0
        words += [tables[field][each] for each in ids] + [[0.0] * DIM] * fill
        real += [True] * len(ids) + [False] * fill
    total = [0.0] * DIM
    for d in range(DIM):
        if config.by_position:
            weight, bias = model.attention.weight.tolist(), model.attention.bias.tolist()
            logits = [
                math.tanh(sum(word[d] * weight[i][place] for i, word in enumerate(words)) + bias[place])
                for place in range(len(words))
            ]
        else:
            logits = [sum(a * x for a, x in zip(model.attention.vector.tolist(), word, strict=True)) for word in words]
        terms = [math.exp(logit) if here else 0.0 for logit, here in zip(logits, real, strict=True)]
        total[d] = sum(term * word[d] for term, word in zip(terms, words, strict=True)) / sum(terms)
    return cosine(total, mean)


def test_the_number_of_parameters() -> None:
    tables = (13 + 21) * DIM
    assert parameters(build()) == tables + DIM
    assert parameters(build(fields="all")) == tables + 2 * 21 * DIM + DIM
    assert parameters(build(release_compatible=True)) == tables + 5 * 5 + 5
    assert parameters(build(attention="position", fields="all")) == tables + 2 * 21 * DIM + 12 * 12 + 12


def test_each_side_is_one_vector_of_length_1() -> None:
    model = build()
    for side in (model.encode_query(queries()), model.encode_code(codes())):
        assert side.states.shape == (3, 1, DIM)
        assert side.mask.all()
        assert torch.allclose(side.states.norm(dim=-1), torch.ones(3, 1, dtype=torch.float64))


@pytest.mark.parametrize("release_compatible", [False, True])
def test_a_query_is_the_mean_of_its_words_and_in_parity_of_its_pads_too(release_compatible: bool) -> None:
    model = build(release_compatible=release_compatible)
    table = model.words.tables["query"].weight
    expected = table[[2, 3, PAD, PAD]].mean(0) if release_compatible else table[[2, 3]].mean(0)
    assert torch.allclose(model.query_vectors(queries([[2, 3]]))[0], expected, rtol=1e-12)


@pytest.mark.parametrize("choices", READINGS, ids=str)
def test_scores_are_the_formula_word_by_word(choices: dict[str, object]) -> None:
    model = build(**choices)
    found = scores_of(model, queries(), codes())
    for q in range(3):
        for c in range(3):
            code = {field: lists[c] for field, lists in CODES.items()}
            assert found[q, c].item() == pytest.approx(plain_score(model, QUERIES[q], code), rel=1e-9)


@pytest.mark.parametrize("choices", READINGS, ids=str)
def test_word_order_counts_where_positions_have_weights(choices: dict[str, object]) -> None:
    model = build(**choices)
    plain = scores_of(model, queries(), codes())
    turned = scores_of(model, queries(), codes(tokens=[row[::-1] for row in CODES["tokens"]]))
    assert torch.allclose(turned, plain, rtol=1e-10) != model.config.by_position
    asked = scores_of(model, queries([row[::-1] for row in QUERIES]), codes())
    assert torch.allclose(asked, plain, rtol=1e-10)  # the mean has no order in any reading


@pytest.mark.parametrize("choices", READINGS, ids=str)
def test_a_pads_vector_counts_in_parity_only(choices: dict[str, object]) -> None:
    model = build(**choices)
    plain = scores_of(model, queries(), codes())
    for field in ("query", "tokens"):
        with torch.no_grad():
            model.words.tables[field].weight[PAD] += 1.0
        moved = scores_of(model, queries(), codes())
        assert torch.equal(moved, plain) != model.config.release_compatible
        plain = moved


def test_only_what_is_named_is_read() -> None:
    api, name = codes(api=[[3], [4], [5]]), codes(name=[[7], [8], [9]])
    tokens = build()
    assert torch.equal(scores_of(tokens, queries(), api), scores_of(tokens, queries(), codes()))
    everything = build(fields="all")
    for other in (api, name):
        assert not torch.allclose(scores_of(everything, queries(), other), scores_of(everything, queries(), codes()))


@pytest.mark.parametrize("choices", READINGS, ids=str)
def test_nothing_to_read_has_finite_scores_and_gradients(choices: dict[str, object]) -> None:
    model = build(**choices)
    empty = codes(name=[[]] * 3, tokens=[[], [2], []], api=[[]] * 3)
    found = scores_of(model, queries([[], [2, 3], []]), empty)
    found.sum().backward()
    assert all(each.grad is None or each.grad.isfinite().all() for each in model.parameters())
    if not model.config.release_compatible:
        assert (found != 0).tolist() == [[False] * 3, [False, True, False], [False] * 3]
