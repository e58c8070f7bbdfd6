from dataclasses import replace

from evaluation.results import Validation
from experiments.tables.graph_grid import EDGES, FORMS, STARTS, TABLES, grid_cells, grid_of, grid_page
from tests.evaluation.test_results import SIZE, result

PLAIN = result(model="galm", also={})
WHOLE = {"graph/layer1_edge_entropy": 0.7, "graph/layer1_node_variance": 0.4}
FLAT = {"graph/layer1_edge_entropy": 0.99, "graph/layer1_node_variance": 0.4}


def cell(label: str, rank: int, inside=WHOLE, seeds: int = 3):
    history = [Validation(epoch=1, pairs=1, seconds=1.0, top1=0.1, mrr=0.1, inside=inside)]
    one = replace(PLAIN, ranks=[rank] * SIZE, exact={**PLAIN.exact, "mrr": 1 / rank}, history=history)
    return [(f"graph {label}", replace(one, seed=seed)) for seed in range(seeds)]


def page(*cells):
    grid = grid_of([each for one in cells for each in one], {})
    assert grid is not None
    return grid_page(grid)


def test_the_grid_is_of_starts_and_edges_on_validation():
    cells = grid_cells()
    assert len({each.key for each in cells}) == len(cells)
    plans = [each.plan({}) for each in cells]
    assert {plan.evaluate.split for plan in plans} == {"valid"}
    assert {plan.data.train_limit for plan in plans} == {12_000}
    assert len({str(plan) for plan in plans}) == len(plans) - sum(
        each.label.startswith("graph start 0.1, L = 2, perceptron, no") for each in cells
    )
    first = [each for each in cells if each.seed == 0]
    assert len(first) == len(FORMS) * len(STARTS) + 4 * len(EDGES) + 2 + 3 * len(TABLES)
    assert cells[: len(first)] == tuple(first)


def test_a_degenerate_graph_is_marked_and_does_not_count_as_the_best():
    text = page(
        cell("start 0.1, no graph, mean", 1),
        cell("start 0.1, no graph, perceptron", 4),
        cell("start 0.1, L = 2, perceptron", 1, FLAT),
        cell("start 0.3, L = 2, perceptron", 2),
    )
    assert "1.000 ± 0.000°" in text
    assert text.startswith(
        "# Does the graph help?\n\nWith the perceptron as head, the best graph minus the best without one: +0.250 "
        "(+0.250 to +0.250) of MRR. They are *start 0.3, L = 2, perceptron* and *start 0.1, no graph, perceptron*."
    )
    assert "With the mean as head, no graph that is not degenerate has two seeds yet" in text
    assert "| start 0.3, L = 2, perceptron |  | 0.700 |" in text


def test_fewer_tables_are_compared_with_a_table_per_field_from_the_same_start():
    text = page(
        cell("start 0.15, L = 1, perceptron", 2),
        cell("one code table, start 0.15, L = 1, perceptron", 4),
        cell("one code table, start 0.2, L = 1, perceptron", 4),
        cell("one table for both sides, start 0.15, L = 1, perceptron", 4, seeds=1),
    )
    assert "L = 1, perceptron: one code table, start 0.15, -0.250 (-0.250 to -0.250).\n" in text
    assert "Minus a table per field" not in page(cell("start 0.15, L = 1, perceptron", 2))


def test_one_seed_gives_no_answer_and_is_said():
    text = page(cell("start 0.1, no graph, mean", 4, seeds=1), cell("start 0.3, L = 2, mean", 2, seeds=1))
    assert "0.250 (1)" in text
    assert "there is no answer" in text


def test_without_results_there_is_no_page():
    assert grid_of([], {}) is None
