"""The planted task: its two graphs differ in edges alone, and the graph solves it where it may use them."""

import json

import pytest
import torch

from experiments.ablations.positive_control import FILE, control_section, planted, share_told_apart
from experiments.recipes.results_folder import RESULTS


def test_the_two_graphs_have_the_same_nodes_and_degrees():
    nodes, first, second = planted(50, torch.Generator().manual_seed(0))
    assert nodes.shape == (50, 6, 16)
    for edges, agreeing in ((first, 2), (second, 0)):
        torch.testing.assert_close(edges, edges.transpose(1, 2))
        torch.testing.assert_close(edges.sum(-1), torch.ones(50, 6))
        kinds = nodes[..., 0].sign()
        alike = (edges * kinds[:, :, None] * kinds[:, None, :] > 0).sum((1, 2)) - 6  # without the nodes themselves
        assert (alike == 2 * agreeing).all()
    assert not torch.equal(first, second)


@pytest.mark.parametrize("label", ["given edges, L = 1", "given edges, then eq. 11, L = 2"])
def test_the_graph_finds_an_answer_that_edges_carry(label):
    assert share_told_apart(label, 0) > 0.95


@pytest.mark.parametrize("label", ["uniform edges, L = 2", "no edges between nodes, L = 2", "no graph, L = 0"])
def test_nothing_finds_it_without_them(label):
    assert share_told_apart(label, 0) == pytest.approx(0.5, abs=0.02)


def test_what_is_saved_says_that_the_graph_won():
    if not (RESULTS / FILE).exists():
        pytest.skip(f"needs experiments/results/{FILE}")
    assert min(json.loads((RESULTS / FILE).read_text())["shares"]["given edges, L = 1"]) > 0.95
    assert "| given edges, L = 1 |" in control_section(RESULTS)


def test_without_a_result_there_is_no_section(tmp_path):
    assert control_section(tmp_path) == ""
