"""How flat and how alike: against values by hand, and against what a model computes."""

import math

import pytest
import torch
from test_model import CODES, QUERIES, build

from galm.alignment_graph import degenerate_parts, relative_entropy, share_inside

MASK = torch.tensor([[True, True, True], [True, True, False], [True, False, False]])


def test_uniform_rows_have_an_entropy_of_one_and_one_hot_rows_of_zero():
    uniform = MASK[:, None, :] / MASK.sum(1)[:, None, None]
    assert relative_entropy(uniform.expand(3, 3, 3), MASK, MASK) == pytest.approx(1)
    one_hot = torch.zeros(3, 3, 3)
    one_hot[:, :, 0] = 1
    assert relative_entropy(one_hot, MASK, MASK) == 0
    half = torch.tensor([[[0.5, 0.5, 0]] * 3] * 3)
    expected = (3 * math.log(2) / math.log(3) + 2 * 1) / 5  # three rows of three words, two of two, none of one
    assert relative_entropy(half, MASK, MASK) == pytest.approx(expected)
    assert math.isnan(relative_entropy(half[2:], MASK[2:], MASK[2:]))


def test_the_variance_inside_graphs_is_a_share_of_the_whole():
    states = torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(0))
    rows = [states[graph][MASK[graph]] for graph in range(3)]
    every = torch.cat(rows)
    inside = sum(float((each - each.mean(0)).square().sum()) for each in rows)
    assert share_inside(states, MASK) == pytest.approx(inside / float((every - every.mean(0)).square().sum()))
    equal = states[:, :1].expand(3, 3, 4)
    assert share_inside(equal, MASK) == pytest.approx(0, abs=1e-12)
    assert math.isnan(share_inside(torch.ones(3, 3, 4), MASK))


def test_small_initial_vectors_make_a_graph_degenerate_and_cosine_edges_keep_it():
    queries = {"query": QUERIES["query"]}
    found = {}
    for name, choices in (("small", {"init_range": 0.01}), ("cosine", {"edges": "cosine", "edge_temperature": 20.0})):
        model = build(**choices)
        with torch.no_grad():
            codes = {field: type(words)(words.ids[:7], words.mask[:7]) for field, words in CODES.items()}
            found[name] = model.diagnostics(queries, codes)
    assert set(found["small"]) == {
        "graph/attention_entropy", "graph/layer0_node_variance",
        "graph/layer1_edge_entropy", "graph/layer1_node_variance",
        "graph/layer2_edge_entropy", "graph/layer2_node_variance",
    }  # fmt: skip
    assert found["small"]["graph/attention_entropy"] > 0.999
    assert found["small"]["graph/layer1_edge_entropy"] > 0.999
    assert found["small"]["graph/layer1_node_variance"] < 0.01 < found["small"]["graph/layer0_node_variance"]
    assert "layer1_edge_entropy 1.000 (1: uniform)" in degenerate_parts(found["small"])
    assert found["cosine"]["graph/layer1_edge_entropy"] < 0.2
    assert degenerate_parts({"graph/layer1_edge_entropy": 0.9, "graph/layer1_node_variance": 0.2}) == ""


@pytest.mark.parametrize(
    "choices", [{"layers": 0}, {"nodes": "code"}, {"nodes": "both"}, {"graph": "identity"}], ids=str
)
def test_every_arrangement_has_numbers(choices):
    model = build(**choices)
    codes = {field: type(words)(words.ids[:7], words.mask[:7]) for field, words in CODES.items()}
    found = model.diagnostics({"query": QUERIES["query"]}, codes)
    assert all(0 <= value <= 1 + 1e-6 for value in found.values())
    assert len(found) == 2 + 2 * model.config.layers
