"""Every equation of the alignment graph against a plain double loop, and what must always hold."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from galm.alignment_graph import GlobalAlignment, attention, block_cosines, edge_weights, fixed_edges, pooled_attention
from galm.config import GalmConfig
from modeling.base import Encoded

shapes = st.tuples(st.integers(1, 6), st.integers(1, 7), st.integers(0, 10_000))


def draw(n: int, m: int, seed: int, dim: int = 12) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.randn(n, dim, generator=generator, dtype=torch.float64),
        torch.randn(m, dim, generator=generator, dtype=torch.float64),
    )


@pytest.mark.parametrize("logits", ["raw", "scaled", "cosine"])
def test_attention_is_equation_7(logits: str) -> None:
    query, code = draw(4, 5, seed=1)
    mask = torch.tensor([True, True, False, True, True])
    found = attention(query, code, mask, logits, 9.0)
    for j in range(4):
        terms = []
        for t in range(5):
            dot = sum(float(query[j, d] * code[t, d]) for d in range(12))
            if logits == "scaled":
                dot /= math.sqrt(12)
            elif logits == "cosine":
                dot *= 9.0 / (
                    math.sqrt(sum(float(x) ** 2 for x in query[j])) * math.sqrt(sum(float(x) ** 2 for x in code[t]))
                )
            terms.append(math.exp(dot) if mask[t] else 0.0)
        assert found[j].tolist() == pytest.approx([term / sum(terms) for term in terms])


def test_block_cosines_are_equation_9() -> None:
    aligned, query = draw(3, 3, seed=2)
    found = block_cosines(aligned, query, blocks=4)
    assert found.shape == (3, 4)
    for j in range(3):
        for b in range(4):
            left, right = aligned[j, 3 * b : 3 * b + 3].tolist(), query[j, 3 * b : 3 * b + 3].tolist()
            dot = sum(x * y for x, y in zip(left, right, strict=True))
            assert found[j, b].item() == pytest.approx(dot / (math.hypot(*left) * math.hypot(*right)))


def test_edges_are_equations_10_and_11() -> None:
    states, _ = draw(4, 1, seed=3)
    mask = torch.tensor([True, True, True, False])
    found = edge_weights(states, mask)
    for i in range(4):
        terms = [math.exp(float(states[i] @ states[j])) if mask[j] else 0.0 for j in range(4)]
        assert found[i].tolist() == pytest.approx([term / sum(terms) for term in terms])


@given(shapes)
@settings(deadline=None)
def test_rows_sum_to_one_and_cosines_stay_in_range(shape: tuple[int, int, int]) -> None:
    query, code = draw(*shape)
    weights = attention(query, code, torch.ones(len(code), dtype=torch.bool))
    assert torch.allclose(weights.sum(-1), torch.ones(len(query), dtype=torch.float64))
    assert block_cosines(weights @ code, query, 4).abs().max() <= 1 + 1e-12
    edges = edge_weights(query, torch.ones(len(query), dtype=torch.bool))
    assert torch.allclose(edges.sum(-1), torch.ones(len(query), dtype=torch.float64))


@given(shapes)
@settings(deadline=None)
def test_a_word_aligned_to_itself_has_cosine_one(shape: tuple[int, int, int]) -> None:
    query, _ = draw(*shape)
    assert torch.allclose(block_cosines(query, query, 4), torch.ones(len(query), 4, dtype=torch.float64))


def test_a_single_code_word_is_what_every_query_word_aligns_to() -> None:
    query, code = draw(5, 1, seed=4)
    assert torch.allclose(attention(query, code, torch.tensor([True])) @ code, code.expand(5, -1))


def test_a_single_query_word_has_one_edge() -> None:
    assert edge_weights(draw(1, 1, seed=5)[0], torch.tensor([True])).tolist() == [[1.0]]


def test_nothing_to_align_to_is_zero_and_not_nan() -> None:
    query, code = draw(2, 3, seed=6)
    query.requires_grad_()
    weights = attention(query, code, torch.zeros(3, dtype=torch.bool))
    cosines = block_cosines(weights @ code, query, 4)
    cosines.sum().backward()
    assert weights.abs().sum() == 0
    assert cosines.abs().sum() == 0
    assert query.grad is not None
    assert query.grad.isfinite().all()


def test_pooled_attention_is_equation_3() -> None:
    query, code = draw(4, 5, seed=4)
    asked, read = torch.tensor([True, True, False, True]), torch.tensor([True, False, True, True, True])
    found = pooled_attention(Encoded(query[None], asked[None]), Encoded(code[None], read[None]))[0]
    terms = []
    for t in range(5):
        largest = max(float(query[j] @ code[t]) for j in range(4) if asked[j])
        terms.append(math.exp(math.tanh(largest)) if read[t] else 0.0)
    for j in range(4):
        assert found[j].tolist() == pytest.approx([term / sum(terms) for term in terms])


def test_fixed_edges_join_all_words_alike_or_none() -> None:
    mask = torch.tensor([[True, True, True, False], [False, False, False, False]])
    alike = fixed_edges(mask, torch.float64, alike=True)
    expected = torch.tensor([[1 / 3] * 3 + [0]] * 3 + [[0] * 4], dtype=torch.float64)
    assert torch.allclose(alike[0], expected)
    assert fixed_edges(mask, torch.float64, alike=False)[0].tolist() == torch.diag(mask[0].double()).tolist()
    assert alike[1].eq(0).all()


WORDS, BLOCKS = 4, 4


def graph_and_inputs(**choices: object) -> tuple[GlobalAlignment, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    config = GalmConfig(**{"dim": 16, "num_blocks": BLOCKS, "gcn_dim": 5, "layers": 2} | choices)  # type: ignore[arg-type]
    graph = GlobalAlignment(config).double()
    for layer in graph.layers:
        torch.nn.init.uniform_(layer.bias, -0.5, 0.5)
    query = torch.randn(1, WORDS, 16, dtype=torch.float64)
    cosines = torch.rand(1, WORDS, BLOCKS, dtype=torch.float64) * 2 - 1
    return graph, query, cosines


def score(graph: GlobalAlignment, query: torch.Tensor, cosines: torch.Tensor) -> torch.Tensor:
    mask = torch.ones(1, WORDS, dtype=torch.bool)
    return graph(cosines, edge_weights(query, mask), mask, torch.full((1, WORDS), 1 / WORDS, dtype=torch.float64))


def plain(graph: GlobalAlignment, query: torch.Tensor, cosines: torch.Tensor) -> float:
    """Eqs. 10 to 13, one node after the other."""

    def edges(states: list[list[float]]) -> list[list[float]]:
        rows = []
        for left in states:
            terms = [math.exp(sum(x * y for x, y in zip(left, right, strict=True))) for right in states]
            rows.append([term / sum(terms) for term in terms])
        return rows

    states, around = cosines[0].tolist(), edges(query[0].tolist())
    for number, layer in enumerate(graph.layers):
        if number:
            around = edges(states)
        below = cosines[0].tolist() if graph.config.layer_input == "first" else states
        weight, bias = layer.lin.weight.tolist(), layer.bias.tolist()
        states = []
        for i in range(WORDS):
            mixed = [sum(around[i][j] * below[j][k] for j in range(WORDS)) for k in range(len(below[0]))]
            states.append(
                [
                    max(0.0, sum(w * x for w, x in zip(row, mixed, strict=True)) + b)
                    for row, b in zip(weight, bias, strict=True)
                ]
            )
    inner, inner_bias = graph.head_in.weight.tolist(), graph.head_in.bias.tolist()
    outer, outer_bias = graph.head_out.weight.tolist()[0], graph.head_out.bias.item()
    total = 0.0
    for node in states:
        hidden = [
            math.tanh(sum(w * x for w, x in zip(row, node, strict=True)) + b)
            for row, b in zip(inner, inner_bias, strict=True)
        ]
        total += sum(w * x for w, x in zip(outer, hidden, strict=True)) + outer_bias
    return total / WORDS


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"layers": 0},
        {"layers": 1},
        {"layers": 3},
        {"layer_input": "first"},
        {"share_layers": True, "gcn_dim": BLOCKS},
    ],
    ids=str,
)
def test_equals_node_by_node_sums(choices: dict[str, object]) -> None:
    graph, query, cosines = graph_and_inputs(**choices)
    assert score(graph, query, cosines).item() == pytest.approx(plain(graph, query, cosines), rel=1e-10)


def test_degree_normalisation_changes_nothing() -> None:
    graph, query, cosines = graph_and_inputs()
    layer, edges = graph.layers[0], edge_weights(query, torch.ones(1, WORDS, dtype=torch.bool))
    without = edges @ (cosines @ layer.lin.weight.T) + layer.bias
    assert torch.allclose(layer(cosines, edges, add_loop=False), without, rtol=1e-12, atol=0)


def test_one_layer_never_forms_the_edges_of_equation_11(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, query, cosines = graph_and_inputs(layers=1)
    edges = edge_weights(query, torch.ones(1, WORDS, dtype=torch.bool))

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("eq. 11 was used")

    monkeypatch.setattr("galm.alignment_graph.edge_weights", forbidden)
    mask = torch.ones(1, WORDS, dtype=torch.bool)
    graph(cosines, edges, mask, torch.full((1, WORDS), 0.25, dtype=torch.float64))
    with pytest.raises(AssertionError, match=r"eq\. 11"):
        score(graph_and_inputs(layers=2)[0], query, cosines)


def test_the_edges_of_equation_11_depend_on_the_code_and_those_of_equation_10_do_not() -> None:
    graph, query, cosines = graph_and_inputs()
    mask = torch.ones(1, WORDS, dtype=torch.bool)
    first = edge_weights(query, mask)
    states = [graph.layers[0](v, first, add_loop=False).relu() for v in (cosines, -cosines)]
    assert not torch.allclose(edge_weights(states[0], mask), edge_weights(states[1], mask))
