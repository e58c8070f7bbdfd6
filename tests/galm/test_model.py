"""GALM as a whole: the fast form against the plain one, and what no score may depend on."""

import numpy as np
import pytest
import torch

from data_prep.records import CODE_FIELDS, WORD_FIELDS
from data_prep.store.arrays import Ragged
from data_prep.store.batching import Batch, Words
from data_prep.store.split import TokenizedPairs
from data_prep.store.tokenizing import Vocabularies, Vocabulary
from galm.config import GalmConfig
from galm.model import Galm
from modeling.base import NeuralRanker
from modeling.layers import mutual_information

VOCABULARIES = Vocabularies(
    Vocabulary(tuple(f"w{number}" for number in range(40))),
    Vocabulary(tuple(f"w{number}" for number in range(20, 80))),
    Vocabulary(tuple(f"A{number}" for number in range(70))),
    Vocabulary(tuple(f"S{number}" for number in range(60))),
)
ABLATED = [
    {"layers": 0},
    {"layers": 0, "head": "mean"},
    {"graph": "query", "layers": 3},
    {"graph": "uniform"},
    {"graph": "identity"},
    {"fields": "name,api"},
    {"fields": "tokens,ast,name", "code_tables": "per_field"},
    {"fields": "statements,api,ast"},
    {"fields": "name,ast", "code_tables": "offsets", "nodes": "query_and_name"},
]
GRAPHS = [
    {"edges": "cosine"},
    {"edges": "cosine", "edge_temperature": 20.0, "self_loops": False, "layers": 3},
    {"self_loops": False},
    {"self_loops": False, "graph": "query"},
    {"activation": "none"},
    {"activation": "none", "self_loops": False, "edges": "scaled", "nodes": "both"},
    {"skip": True},
    {"skip": True, "head": "mean", "layers": 1},
    {"skip": True, "layers": 0},
]
CHOICES = [
    {},
    {"gcn_dim": 7, "layers": 3},
    {"layers": 1, "layer_input": "first"},
    {"nodes": "code"},
    {"nodes": "both", "readout": "weighted"},
    {"nodes": "query_and_name"},
    {"attention": "cosine", "edges": "cosine"},
    *GRAPHS,
    {"attention": "scaled", "edges": "scaled", "weight_norm": True},
    {"tied": True, "share_layers": True, "gcn_dim": 4},
    {"code_tables": "per_field", "normalise": True},
    {"code_tables": "offsets"},
    {"init_range": 2.0},
    {"affinity": "pooled"},
    {"affinity": "pooled", "nodes": "both"},
    *ABLATED,
]


BASE = {"dim": 16, "num_blocks": 4, "layers": 2, "gcn_dim": 16, "code_tables": "one", "init": "uniform"}


def build(**choices: object) -> Galm:
    torch.manual_seed(0)
    return Galm(GalmConfig(**BASE | {"init_range": 0.1} | choices), VOCABULARIES).double()  # type: ignore[arg-type]


def words(rows: int, least: int, most: int, ids: int, seed: int) -> Words:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(least, most + 1, (rows,), generator=generator)
    mask = torch.arange(max(1, int(lengths.max())))[None, :] < lengths[:, None]
    return Words(torch.randint(1, ids, mask.shape, generator=generator) * mask, mask)


QUERIES: Batch = {"query": words(7, 1, 9, 41, seed=1)}
CODES: Batch = {field: words(9, 0, 12, 61, seed=2 + place) for place, field in enumerate(CODE_FIELDS)}


def padded(batch: Batch, more: int) -> Batch:
    return {
        field: Words(
            torch.nn.functional.pad(each.ids, (0, more), value=3), torch.nn.functional.pad(each.mask, (0, more))
        )
        for field, each in batch.items()
    }


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@pytest.mark.parametrize("pairs_per_block", [1, 20, 4096])
def test_the_matrix_equals_pair_after_pair_in_values_and_gradients(
    choices: dict[str, object], pairs_per_block: int
) -> None:
    model, results = build(**choices), []
    for form in (Galm.score_matrix, NeuralRanker.score_matrix):
        model.zero_grad()
        scores = form(model, model.encode_query(QUERIES), model.encode_code(CODES), pairs_per_block=pairs_per_block)
        (scores * torch.linspace(-1, 1, scores.numel(), dtype=scores.dtype).view_as(scores)).sum().backward()
        results.append((scores.detach(), {name: each.grad for name, each in model.named_parameters()}))
    (fast, fast_gradients), (plain, plain_gradients) = results
    assert torch.allclose(fast, plain, rtol=1e-12, atol=1e-14)
    for name, gradient in plain_gradients.items():
        assert (gradient is None) == (fast_gradients[name] is None), name
        if gradient is not None:
            assert torch.allclose(fast_gradients[name], gradient, rtol=1e-9, atol=1e-13), name


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_a_score_depends_neither_on_word_order_nor_on_padding(choices: dict[str, object]) -> None:
    model = build(**choices)
    expected = model.score_matrix(model.encode_query(QUERIES), model.encode_code(CODES))
    more = model.score_matrix(model.encode_query(padded(QUERIES, 3)), model.encode_code(padded(CODES, 5)))
    assert torch.allclose(more, expected, rtol=1e-12, atol=1e-14)
    turned = [{f: Words(w.ids.flip(1), w.mask.flip(1)) for f, w in batch.items()} for batch in (QUERIES, CODES)]
    flipped = model.score_matrix(model.encode_query(turned[0]), model.encode_code(turned[1]))
    assert torch.allclose(flipped, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("choices", [{}, {"nodes": "code"}, {"tied": True}, {"code_tables": "per_field"}], ids=str)
def test_what_the_board_shows_is_what_the_score_reads(choices: dict[str, object]) -> None:
    model = build(**choices)
    queries, codes = model.encode_query(QUERIES).rows(slice(0, 7)), model.encode_code(CODES).rows(slice(0, 7))
    weights, edges = model.alignment(queries, codes), model.edges(queries)
    assert weights.shape == (7, queries.mask.shape[1], codes.mask.shape[1])
    assert codes.mask[0].any()
    sums = weights[0].sum(0)[codes.mask[0]] if "nodes" in choices else weights[0].sum(1)[queries.mask[0]]
    assert torch.allclose(sums, torch.ones_like(sums))  # the side that attends
    assert (edges is None) == ("nodes" in choices)
    for vectors, words in model.word_vectors().values():
        assert len(vectors) == len(words)
    code = model.word_vectors()["name words" if "code_tables" in choices else "code words"]
    word = code[1].index("w30")
    assert torch.equal(code[0][word], model.words.table("name").weight[VOCABULARIES.code.id("w30")])


def test_tied_words_have_one_vector_and_others_their_own() -> None:
    model = build(tied=True)
    query, code = VOCABULARIES.query, VOCABULARIES.code
    assert model.words.query_rows is not None
    assert int(model.words.query_rows[query.id("w25")]) == code.id("w25")
    assert int(model.words.query_rows[query.id("w3")]) >= len(code)
    assert len(set(model.words.query_rows.tolist())) == len(query)


def test_shared_start_gives_equal_words_equal_vectors() -> None:
    model = build(init="shared")
    model.start_from(TokenizedPairs({}))
    query, code = VOCABULARIES.query, VOCABULARIES.code
    left, right = model.words.table("query").weight[query.id("w30")], model.words.table("tokens").weight
    assert torch.equal(left, right[code.id("w30")])
    assert not torch.equal(left, right[code.id("w31")])


def test_offsets_start_at_one_vector_a_word_and_move_it_on_both_sides() -> None:
    model = build(code_tables="offsets", layers=1)
    query, code = (
        {field: Words(torch.tensor([[ids.id("w30")]]), torch.ones(1, 1, dtype=torch.bool))}
        for field, ids in (("query", VOCABULARIES.query), ("tokens", VOCABULARIES.code))
    )

    def vectors() -> list[torch.Tensor]:
        return [model.words(field, batch[field].ids[0])[0] for batch in (query, code) for field in batch]

    start = vectors()[0].detach().clone()
    assert torch.equal(*vectors())
    vectors()[0].sum().backward()
    with torch.no_grad():
        for parameter in model.words.parameters():
            if parameter.grad is not None:
                parameter -= parameter.grad
    moved = vectors()
    assert torch.allclose(moved[0], start - 2)  # the shared vector and the query's offset
    assert torch.allclose(moved[1], start - 1)  # the shared vector alone


def training_pairs() -> TokenizedPairs:
    rng = np.random.default_rng(0)
    lists = {f: Ragged.of([rng.integers(1, 12, rng.integers(1, 6)).tolist() for _ in range(60)]) for f in WORD_FIELDS}
    return TokenizedPairs(lists)


def test_mutual_information_is_its_definition() -> None:
    train = training_pairs()
    found = mutual_information(train, ("name", "tokens", "api"), 12, 12).to_dense()
    together = np.zeros((12, 12))
    for row in range(len(train)):
        for left in set(train.fields["query"][row].tolist()):
            for right in {word for field in ("name", "tokens", "api") for word in train.fields[field][row].tolist()}:
                together[left, right] += 1
    for left in range(12):
        for right in range(12):
            joint = together[left, right]
            value = 0.0
            if joint > 1:
                value = max(0.0, np.log(joint * together.sum() / (together[left].sum() * together[:, right].sum())))
            assert found[left, right].item() == pytest.approx(value, abs=1e-6)
    assert (found > 0).any()


def test_start_from_statistics_draws_words_that_meet_together() -> None:
    rng, rows = np.random.default_rng(1), 200
    topics = rng.integers(0, 4, rows)  # topic t: query words 1 + 3t.., code words 21 + 3t..
    query = [(1 + 3 * t + rng.integers(0, 3, 4)).tolist() for t in topics]
    code = [(31 + 3 * t + rng.integers(0, 3, 6)).tolist() for t in topics]
    empty: list[list[int]] = [[] for _ in range(rows)]
    train = TokenizedPairs(
        {k: Ragged.of(v) for k, v in {"query": query, "name": empty, "tokens": code, "api": empty}.items()}
    )
    torch.manual_seed(0)
    model = Galm(GalmConfig(dim=16, num_blocks=4, init="statistics"), VOCABULARIES)
    model.start_from(train)
    left = torch.nn.functional.normalize(model.words.table("query").weight[1:13], dim=1)
    right = torch.nn.functional.normalize(model.words.table("tokens").weight[31:43], dim=1)
    near = (left @ right.T).view(4, 3, 4, 3).mean((1, 3))
    assert near.argmax(1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        {"dim": 10},
        {"layers": -1},
        {"fields": ""},
        {"fields": "name,name"},
        {"fields": "name,body"},
        {"fields": "tokens", "nodes": "query_and_name"},
        {"fields": "ast", "init": "shared"},
        {"fields": "statements,ast", "init": "shared"},
        {"share_layers": True, "gcn_dim": 5},
        {"dropout": 1.0},
        {"tied": True, "init": "shared"},
    ],
    ids=str,
)
def test_bad_configurations_name_the_flag(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"--model\."):
        build(**wrong)
