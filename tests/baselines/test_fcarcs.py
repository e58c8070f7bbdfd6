"""FcarCS: its score summed by plain loops, its weights counted by hand, and what pads may do in each reading."""

import math
from collections.abc import Sequence

import pytest
import torch
from word_lists import words

from baselines import fcarcs
from baselines.fcarcs import Fcarcs, FcarcsConfig
from data_prep.store.batching import Words
from data_prep.store.tokenizing import FIRST_UNKNOWN, PAD, Vocabularies, Vocabulary
from modeling.base import NeuralRanker

Vector = list[float]

VOCABULARY = Vocabulary(tuple(f"w{number}" for number in range(18)))  # 20 ids
LENGTHS = {
    "query_length": 5, "name_length": 2, "api_length": 3, "tokens_length": 6, "ast_length": 4, "statements_length": 3,
}  # fmt: skip
SMALL = {"dim": 3, "filters": 4, **LENGTHS}
CODES = {
    "name": [[2, 3], [4], [5]],
    "api": [[], [5, 6, 7], [8]],
    "tokens": [[9, 10, 11, 12, 13], [14], [15, 2, 1]],
    "ast": [[16, 17], [], [18, 19, 3]],
    "statements": [[4, 5, 6, 7], [3], []],
}
QUERIES = [[2, 3, 4, 5], [6]]


def model(**choices: object) -> Fcarcs:
    torch.manual_seed(0)
    ranker = Fcarcs(FcarcsConfig(**choices), Vocabularies(*[VOCABULARY] * 4))  # type: ignore[arg-type]
    for name, weight in ranker.named_parameters():
        if "dense" not in name:
            torch.nn.init.uniform_(weight, -1, 1)  # far from 0, so that nothing hides behind small numbers
    return ranker.double().eval()


def scores(ranker: NeuralRanker, queries: Sequence[Sequence[int]], codes: dict[str, list[list[int]]]) -> torch.Tensor:
    code = ranker.encode_code({field: words(lists) for field, lists in codes.items()})
    return ranker.score_matrix(ranker.encode_query({"query": words(queries)}), code)


def softmax(logits: Vector) -> Vector:
    terms = [math.exp(logit) for logit in logits]
    return [term / sum(terms) for term in terms]


def dot(left: Vector, right: Vector) -> float:
    return sum(x * y for x, y in zip(left, right, strict=True))


def attended(layer: torch.nn.Module, states: list[Vector], release_compatible: bool) -> list[Vector]:
    """Each state times its weight, or each entry times its own in the released form."""
    if not release_compatible:
        vector, bias = layer.vector.tolist(), layer.bias.item()
        weights = softmax([math.tanh(dot(vector, state) + bias) for state in states])
        return [[weight * x for x in state] for weight, state in zip(weights, states, strict=True)]
    weight, bias = layer.weight.tolist(), layer.bias.tolist()
    columns = []
    for column in map(list, zip(*states, strict=True)):  # the entries of one dimension
        logits = [math.tanh(dot(column, [row[to] for row in weight]) + bias[to]) for to in range(len(states))]
        columns.append([w * x for w, x in zip(softmax(logits), column, strict=True)])
    return [list(state) for state in zip(*columns, strict=True)]


def plain_words(ranker: Fcarcs, field: str, ids: Sequence[int]) -> list[Vector]:
    config, table = ranker.config, ranker.words.tables[field].weight.tolist()
    ids = list(ids)[: config.length(field)]
    if config.release_compatible:
        ids = [PAD if each == FIRST_UNKNOWN else each for each in ids] + [PAD] * (config.length(field) - len(ids))
    return attended(ranker.attention[field], [table[each] for each in ids], config.release_compatible) if ids else []


def plain_weights(reader: torch.nn.Module, affinity: list[Vector]) -> Vector:
    """Weights of the columns, from convolutions along the rows; a row of zeros follows the last."""
    kernel, bias = reader.conv.weight.tolist(), reader.conv.bias.tolist()
    dense, columns = reader.dense.weight.tolist(), range(len(affinity[0]))
    logits = [0.0 for _ in columns]
    for row in range(len(affinity)):
        after = affinity[row + 1] if row + 1 < len(affinity) else [0.0 for _ in columns]
        for number in range(len(kernel)):
            total = bias[number]
            for column in columns:
                total += kernel[number][column][0] * affinity[row][column] + kernel[number][column][1] * after[column]
            for column in columns:
                logits[column] += max(0.0, total) * dense[column][number] / len(affinity)
    return softmax(logits)


def plain_score(ranker: Fcarcs, query: Sequence[int], code: dict[str, Sequence[int]]) -> float:
    others, weight = plain_words(ranker, "query", query), ranker.affinity.tolist()
    width, vectors, query_vectors = range(ranker.config.dim), [], []
    for field in ranker.code_fields:
        states = plain_words(ranker, field, code[field])
        if not states:
            continue
        affinity = [
            [math.tanh(sum(state[a] * weight[a][b] * other[b] for a in width for b in width)) for other in others]
            for state in states
        ]
        of_code = plain_weights(ranker.of_code[field], [list(column) for column in zip(*affinity, strict=True)])
        of_query = plain_weights(ranker.of_query[field], affinity)
        vectors.append([dot(of_code, [state[d] for state in states]) for d in width])
        query_vectors.append([dot(of_query, [other[d] for other in others]) for d in width])
    release_compatible = ranker.config.release_compatible
    left = [sum(column) for column in zip(*attended(ranker.fusion["code"], vectors, release_compatible), strict=True)]
    right = [
        sum(column) for column in zip(*attended(ranker.fusion["query"], query_vectors, release_compatible), strict=True)
    ]
    return dot(left, right) / math.hypot(*left) / math.hypot(*right)


@pytest.mark.parametrize("release_compatible", [False, True])
@pytest.mark.parametrize("structure", ["statements", "ast", "none"])
def test_scores_are_those_of_plain_loops(structure, release_compatible):
    ranker = model(**SMALL, structure=structure, release_compatible=release_compatible)
    found = scores(ranker, QUERIES, CODES)
    for i, query in enumerate(QUERIES):
        for j in range(3):
            expected = plain_score(ranker, query, {field: lists[j] for field, lists in CODES.items()})
            assert found[i, j].item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("release_compatible", [False, True])
def test_words_beyond_the_length_of_a_field_are_not_read(release_compatible):
    ranker = model(**SMALL, release_compatible=release_compatible)
    longer = CODES | {"name": [[2, 3, 9], [4], [5]]}
    assert torch.equal(scores(ranker, QUERIES, longer), scores(ranker, QUERIES, CODES))
    code = {field: lists[0] for field, lists in longer.items()}
    assert scores(ranker, QUERIES, longer)[0, 0].item() == pytest.approx(plain_score(ranker, QUERIES[0], code))


@pytest.mark.parametrize("release_compatible", [False, True])
def test_sides_have_the_lengths_of_the_configuration(release_compatible):
    ranker = model(release_compatible=release_compatible)
    code = ranker.encode_code({field: words(lists) for field, lists in CODES.items()})
    query = ranker.encode_query({"query": words(QUERIES)})
    assert code.states.shape == (3, 6 + 30 + 40 + 20, 100)
    assert query.states.shape == (2, 30, 100)
    assert code.mask.sum().item() == (3 * 96 if release_compatible else 4 + 4 + 9 + 5)


@pytest.mark.parametrize("release_compatible", [False, True])
def test_parameters_are_as_many_as_counted_by_hand(release_compatible):
    def reader(columns: int) -> int:
        return 2 * columns * 100 + 100 + 100 * columns  # convolution and dense layer

    def attention(positions: int) -> int:
        return positions**2 + positions if release_compatible else 101

    lengths = {"query": 30, "name": 6, "api": 30, "tokens": 40, "statements": 20}
    for fields in (("name", "api", "tokens"), ("name", "api", "tokens", "statements")):
        counted = 100 * 100 + 2 * attention(len(fields))
        for field in ("query", *fields):
            counted += 20 * 100 + attention(lengths[field])
        for field in fields:
            counted += reader(30) + reader(lengths[field])
        structure = fields[3] if len(fields) > 3 else "none"
        found = sum(
            weight.numel() for weight in model(release_compatible=release_compatible, structure=structure).parameters()
        )
        assert found == counted
    if release_compatible:
        assert counted == 5 * 2000 + 3962 + 10_000 + 36_400 + 29_200 + 40


def drawn(count: int, seed: int, **longest: int) -> dict[str, Words]:
    """Lists of random words, some of them empty."""
    generator = torch.Generator().manual_seed(seed)
    batch = {}
    for field, most in longest.items():
        lengths = torch.randint(0, most + 1, (count,), generator=generator).tolist()
        batch[field] = words([torch.randint(1, 20, (length,), generator=generator).tolist() for length in lengths])
    return batch


@pytest.mark.parametrize(
    "choices", [{}, {"structure": "none"}, {"structure": "ast"}, {"release_compatible": True}], ids=str
)
@pytest.mark.parametrize(("pairs_per_block", "queries"), [(1, 64), (30, 64), (4096, 64), (4096, 5), (4096, 1)])
def test_scores_and_gradients_of_the_matrix_are_those_of_pairs(choices, pairs_per_block, queries, monkeypatch):
    monkeypatch.setattr(fcarcs, "_QUERIES", queries)
    monkeypatch.setattr(fcarcs, "_PAIRS", 40)
    ranker = model(**SMALL, **choices)
    count = 4 if pairs_per_block == 1 else 0  # pairs that are all blocks of their own take long
    query, code = drawn(count or 13, 0, query=5), drawn(count or 11, 1, name=2, api=3, tokens=6, ast=4, statements=3)
    results = []
    for form in (NeuralRanker.score_matrix, Fcarcs.score_matrix):  # pair by pair, in blocks
        ranker.zero_grad()
        scores = form(ranker, ranker.encode_query(query), ranker.encode_code(code), pairs_per_block=pairs_per_block)
        (scores * torch.linspace(-1, 1, scores.numel()).view_as(scores)).sum().backward()
        gradients = [weight.grad for weight in ranker.parameters() if weight.grad is not None]
        results.append((scores.detach(), *gradients))
    assert len(results[0]) > 10
    assert any(score == 0 for score in results[0][0].flatten().tolist()) != ranker.config.release_compatible
    for by_pairs, by_blocks in zip(*results, strict=True):
        torch.testing.assert_close(by_blocks, by_pairs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("pairs_per_block", [1, 7, 100, 4096])
def test_no_block_has_more_pairs_than_asked(monkeypatch, pairs_per_block):
    pairs, block = [], Fcarcs._block

    def counted(*given: object) -> torch.Tensor:
        found = block(*given)  # type: ignore[arg-type]
        pairs.append(found.numel())
        return found

    monkeypatch.setattr(Fcarcs, "_block", counted)
    ranker = model(**SMALL)
    count = 9 if pairs_per_block == 1 else 70
    query, code = drawn(count, 0, query=5), drawn(20, 1, name=2, api=3, tokens=6, ast=4, statements=3)
    ranker.score_matrix(ranker.encode_query(query), ranker.encode_code(code), pairs_per_block=pairs_per_block)
    assert max(pairs) <= min(pairs_per_block, 512)
    assert sum(pairs) == count * 20


@pytest.mark.parametrize(
    "choices", [{}, {"structure": "none"}, {"structure": "ast"}, {"release_compatible": True}], ids=str
)
def test_gradients_are_finite_where_fields_are_empty(choices):
    ranker = model(**SMALL, **choices).train()
    empty = {field: [[], []] for field in CODES}
    for queries, codes in ((QUERIES, empty), ([[], []], CODES), ([[], []], empty)):
        ranker.zero_grad()
        scores(ranker, queries, codes).sum().backward()
        gradients = [weight.grad for weight in ranker.parameters() if weight.grad is not None]
        assert all(gradient.isfinite().all() for gradient in gradients)
        assert gradients


def test_a_side_without_words_scores_nothing():
    ranker = model(**SMALL)
    assert scores(ranker, [[], [2]], {field: [[]] for field in CODES}).tolist() == [[0.0], [0.0]]
    assert scores(ranker, [[]], CODES).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("structure", ["statements", "ast", "none"])
def test_of_the_structure_it_reads_what_it_is_told(structure):
    ranker = model(**SMALL, structure=structure)
    for field in ("ast", "statements"):
        other = scores(ranker, QUERIES, CODES | {field: [[5, 6, 7], [8], [9]]})
        assert torch.equal(other, scores(ranker, QUERIES, CODES)) == (field != structure)


@pytest.mark.parametrize(("choices", "message"), [({"filters": 0}, r"--model\.filters"), ({"dim": 0}, r"--model\.dim")])
def test_bad_choices_are_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        FcarcsConfig(**choices)
