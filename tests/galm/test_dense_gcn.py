"""The dense GCN against sums over single nodes, and PyG's normalisation, which must change nothing here."""

import math

import pytest
import torch

from galm.alignment_graph import GlobalAlignment, edge_weights
from galm.config import GalmConfig

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
