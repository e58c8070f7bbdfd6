"""CARLCS: its rows against windows counted by hand and summed by plain loops, and what pads may do in each reading."""

import itertools
import math
from collections.abc import Sequence

import pytest
import torch
from word_lists import words

from baselines.carlcs import KERNELS, Carlcs, CarlcsConfig, LstmRows
from data_prep.store.batching import Batch
from data_prep.store.tokenizing import FIRST_UNKNOWN, PAD, Vocabularies, Vocabulary

VOCABULARY = Vocabulary(tuple(f"w{number}" for number in range(18)))  # 20 ids
SMALL = {"dim": 3, "filters": 4, "query_length": 5, "name_length": 4, "api_length": 4, "tokens_length": 6}
CODES = {"name": [[2, 3], [4]], "api": [[], [5, 6, 7, 8]], "tokens": [[9, 10, 11, 12, 13, 14], [15, 2, 1]]}
QUERIES = [[2, 3, 4, 5, 6], [7]]


def model(seed: int = 0, **choices: object) -> Carlcs:
    torch.manual_seed(seed)
    ranker = Carlcs(CarlcsConfig(**choices), Vocabularies(VOCABULARY, VOCABULARY, VOCABULARY))  # type: ignore[arg-type]
    for name, weight in ranker.named_parameters():
        if "tables" in name or "bias" in name:
            torch.nn.init.uniform_(weight, -1, 1)  # far from 0, so that nothing hides behind small numbers
    return ranker.double().eval()


def sides(queries: Sequence[Sequence[int]], codes: dict[str, list[list[int]]]) -> tuple[Batch, Batch]:
    return {"query": words(queries)}, {field: words(lists) for field, lists in codes.items()}


def scores(ranker: Carlcs, queries: Sequence[Sequence[int]], codes: dict[str, list[list[int]]]) -> torch.Tensor:
    query, code = sides(queries, codes)
    return ranker.score_matrix(ranker.encode_query(query), ranker.encode_code(code))


def lists_of(count: int, **lengths: int) -> dict[str, list[list[int]]]:
    return {field: [[2] * length] * count for field, length in lengths.items()}


def plain_rows(ranker: Carlcs, field: str, ids: Sequence[int]) -> list[list[float]]:
    """The rows of a field, window by window."""
    config, table = ranker.config, ranker.words.tables[field].weight.tolist()
    if config.release_compatible:
        ids = [PAD if each == FIRST_UNKNOWN else each for each in ids] + [PAD] * (config.length(field) - len(ids))
    vectors, rows = [table[each] for each in ids], []
    for kernel, convolution in zip(KERNELS, ranker.rows[field].convolutions, strict=True):
        weight, bias = convolution.weight.tolist(), convolution.bias.tolist()
        for start in range(max(len(ids) - kernel + 1, min(1, len(ids)))):
            row = []
            for filter_weight, filter_bias in zip(weight, bias, strict=True):
                total = filter_bias
                for place in range(kernel):
                    if start + place < len(vectors):
                        total += sum(vectors[start + place][d] * filter_weight[d][place] for d in range(config.dim))
                row.append(max(0.0, total))
            rows.append(row)
    return rows


def plain_score(ranker: Carlcs, query: Sequence[int], code: dict[str, Sequence[int]]) -> float:
    """The co-attention of the rows, pair by pair."""
    rows = [row for field in ranker.code_fields for row in plain_rows(ranker, field, code[field])]
    others, weight = plain_rows(ranker, "query", query), ranker.co_attention.weight.tolist()
    width = range(ranker.config.filters)
    affinity = [
        [math.tanh(sum(row[a] * weight[a][b] * other[b] for a in width for b in width)) for other in others]
        for row in rows
    ]

    def summed(states: list[list[float]], logits: list[float]) -> list[float]:
        terms = [math.exp(logit) for logit in logits]
        return [sum(t * state[d] for t, state in zip(terms, states, strict=True)) / sum(terms) for d in width]

    of_code = summed(rows, [max(row) for row in affinity])
    of_query = summed(others, [max(column) for column in zip(*affinity, strict=True)])
    return sum(x * y for x, y in zip(of_code, of_query, strict=True)) / math.hypot(*of_code) / math.hypot(*of_query)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"release_compatible": True},
        {"ast": True, "ast_length": 4},
        {"ast": True, "ast_length": 4, "release_compatible": True},
    ],
)
def test_scores_are_those_of_plain_loops(choices):
    ranker = model(**SMALL, **choices)
    codes = CODES | {"ast": [[3, 1, 4], []]}
    found = scores(ranker, QUERIES, codes)
    for i, query in enumerate(QUERIES):
        for j in range(2):
            expected = plain_score(ranker, query, {field: lists[j] for field, lists in codes.items()})
            assert found[i, j].item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("choices", "rows"),
    [
        ({}, 12 + 84 + 114),  # 3 T - 6 for each of the CodeSearchNet lengths 6, 30 and 40
        ({"ast": True}, 12 + 84 + 114 + 54),
        ({"tokens_length": 50}, 12 + 84 + 144),  # the JCG lengths
        ({"tokens_length": 50, "ast": True, "ast_length": 150}, 12 + 84 + 144 + 444),
    ],
)
def test_full_fields_have_the_rows_of_the_release_in_both_readings(choices, rows):
    config = CarlcsConfig(**choices)
    full = lists_of(2, **{field: config.length(field) for field in ("name", "api", "tokens", "ast")})
    short = lists_of(2, name=1, api=1, tokens=1, ast=1)
    for release_compatible, codes in ((True, full), (True, short), (False, full)):
        ranker = model(**choices, release_compatible=release_compatible)
        encoded = ranker.encode_code({field: words(lists) for field, lists in codes.items()})
        assert encoded.states.shape == (2, rows, 100)
        assert encoded.mask.all()
    query = model(release_compatible=True).encode_query({"query": words([[2]])})
    assert query.states.shape == (1, 84, 100)


@pytest.mark.parametrize(("length", "rows"), [(0, 0), (1, 3), (2, 3), (3, 4), (4, 6), (5, 9), (30, 84)])
def test_short_fields_keep_a_window_for_each_kernel_and_empty_ones_none(length, rows):
    mask = model().encode_query({"query": words([[2] * length, [3] * 30])}).mask
    assert mask.sum(1).tolist() == [rows, 84]


def test_parameters_are_as_many_as_counted_by_hand():
    convolutions = (2 + 3 + 4) * 100 * 100 + 3 * 100  # of a field
    tables, u = 20 * 100, 100 * 100
    counts = [sum(weight.numel() for weight in model(ast=ast).parameters()) for ast in (False, True)]
    assert counts == [4 * (tables + convolutions) + u, 5 * (tables + convolutions) + u]
    lstm = 2 * (4 * 50 * (100 + 50) + 2 * 4 * 50)
    found = sum(weight.numel() for weight in model(api_encoder="bilstm").parameters())
    assert found == counts[0] - convolutions + lstm


@pytest.mark.parametrize("length", [1, 2, 4])
def test_the_bilstm_reads_a_sequence_as_if_it_were_alone(length):
    ranker = model(**SMALL, api_encoder="bilstm")
    api = [[5, 6, 7, 8][:length], [9, 10, 11, 12]]
    found = ranker.rows["api"](*ranker.words("api", words(api, width=7)))
    alone, _ = ranker.rows["api"].lstm(ranker.words.tables["api"](torch.tensor([api[0]])))
    torch.testing.assert_close(found.states[:1, :length], alone)
    assert found.mask[0].tolist() == [True] * length + [False] * (7 - length)
    assert scores(ranker, QUERIES, CODES).isfinite().all()  # a method without API words


@pytest.mark.parametrize("choices", [{}, {"ast": True}, {"api_encoder": "bilstm"}, {"release_compatible": True}])
def test_gradients_are_finite_where_fields_are_empty(choices):
    ranker = model(**SMALL, **choices).train()
    empty = lists_of(2, name=0, api=0, tokens=0, ast=0)
    for queries, codes in ((QUERIES, empty), ([[], []], CODES | {"ast": [[], [2]]}), ([[], []], empty)):
        ranker.zero_grad()
        scores(ranker, queries, codes).sum().backward()
        gradients = [weight.grad for weight in ranker.parameters() if weight.grad is not None]
        assert all(gradient.isfinite().all() for gradient in gradients)
        assert gradients


def test_dropout_acts_in_training_alone():
    ranker = model(**SMALL, dropout=0.5)
    assert torch.equal(scores(ranker, QUERIES, CODES), scores(ranker, QUERIES, CODES))
    ranker.train()
    for field in ("query", "name"):
        for convolution in ranker.rows[field].convolutions:
            torch.nn.init.constant_(convolution.bias, 50.0)  # so that only dropout makes a row's entry 0
        batch = {field: words([[2, 3, 4, 5]])}
        states, mask = ranker.words(field, batch[field])
        rows = ranker.rows[field](states, mask).states
        assert (states == 0).any()
        assert (rows != 0).all()
        assert (ranker.encode_field(batch, field).states == 0).any()


def read_words(ranker: Carlcs, batch: Batch, field: str, pair: int) -> list[set[tuple[str, int]]]:
    """Of each row of a field the words that it was read from; none where it does not count."""
    width, length = batch[field].mask.shape[1], int(batch[field].mask[pair].sum())
    kernels = (1,) if isinstance(ranker.rows[field], LstmRows) else KERNELS
    found = []
    for kernel in kernels:
        for start in range(max(1, width - kernel + 1)):
            places = range(start, min(start + kernel, length))
            found.append({(field, place) for place in places if start < max(length - kernel + 1, 1)})
    return found


@torch.no_grad()
@pytest.mark.parametrize("choices", [{}, {"api_encoder": "bilstm"}, {"ast": True, "ast_length": 4}], ids=str)
def test_what_the_board_shows_is_the_mean_affinity_of_the_windows_that_hold_two_words(choices):
    ranker = model(**SMALL, **choices)
    query, code = sides(QUERIES, CODES | {"ast": [[3, 1, 4], []]})
    asked, read = ranker.encode_query(query), ranker.encode_code(code)
    found, read_fields = ranker.alignment(asked, read), ranker.code_fields
    places = [(field, place) for field in read_fields for place in range(code[field].mask.shape[1])]
    assert asked.shown.tolist() == query["query"].mask.tolist()
    assert read.shown.tolist() == torch.cat([code[field].mask for field in read_fields], 1).tolist()
    for pair in (0, 1):
        affinity = torch.tanh(asked.states[pair] @ (read.states[pair] @ ranker.co_attention.weight).T).tolist()
        of_query = read_words(ranker, query, "query", pair)
        of_code = [row for field in read_fields for row in read_words(ranker, code, field, pair)]
        for row, (column, word) in itertools.product(range(5), enumerate(places)):
            held = [
                affinity[i][j]
                for (i, left), (j, right) in itertools.product(enumerate(of_query), enumerate(of_code))
                if ("query", row) in left and word in right
            ]
            expected = sum(held) / max(1, len(held))
            assert found[pair, row, column].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"filters": 0}, r"--model\.filters takes a whole number from 1 to 4,096, not 0"),
        ({"filters": 25, "api_encoder": "bilstm"}, r"--model\.filters must be even, not 25"),
        ({"dropout": 1.0}, r"--model\.dropout"),
    ],
)
def test_bad_choices_are_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        CarlcsConfig(**choices)
