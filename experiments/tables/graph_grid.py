"""The grid of graphs, ``bash run.sh ablate graph``, with its page ``graph.md``.

With small initial vectors the attention of eq. 7 and the edges of eqs. 10 and 11 stay nearly uniform, so that all nodes
of a graph become alike, and nothing can be said of the graph. So it is compared with its absence where it is not
degenerate: from larger starts, with edges of cosines times a temperature, with and without an edge of a node to itself,
with each node's block cosines beside its last state, and with the settings of GSMN, whose graph GALM's is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from evaluation.comparison import Entry, Pool, largest_pools, leads
from evaluation.results import Result
from experiments.tables.ablations import COMMON, GRID, SEEDS, WRITTEN
from experiments.tables.cells import Cell, saved_results
from experiments.tables.comparison_tables import Clusters, cost, markdown_table, with_interval
from experiments.tables.query_kinds import clusters
from galm.alignment_graph import degenerate_parts

FORMS, STARTS, EDGES, TABLES = (WRITTEN[GRID][part] for part in ("forms", "starts", "edges", "tables"))
"""Layers and heads, and the rows. Label -> settings."""
_START: Final = EDGES["as GSMN"]["model.init_range"]
_OF_GRID: Final = {**COMMON, "model.gcn_dim": "32"}
"""With GSMN's graph width."""


def grid_cells() -> tuple[Cell, ...]:
    """All cells of the grid: of the first seed the starts, the forms of edges, the tables; then of the others."""
    without = [form for form, settings in FORMS.items() if settings.get("model.layers") == "0"]
    wanted = [
        *((row, form, STARTS[row]) for form, row in product(FORMS, STARTS)),
        *((row, form, EDGES[row]) for form, row in product(FORMS, EDGES) if form not in without),
        *(("as GSMN", form, EDGES["as GSMN"]) for form in without),
        *((row, form, TABLES[row]) for form, row in product(FORMS, TABLES) if form.endswith("perceptron")),
    ]
    return tuple(
        Cell("jdk", "galm", seed, f"graph {row}, {form}", {**_OF_GRID, **settings, **FORMS[form]})
        for seed in range(SEEDS)
        for row, form, settings in wanted
    )


@dataclass(frozen=True, slots=True)
class Grid:
    """The results of the grid, on the pool that most of them are of."""

    pool: Pool
    entries: Mapping[str, Entry]  # by label
    results: Sequence[tuple[str, Result]]
    clusters: Clusters

    def entry(self, row: str, form: str) -> Entry | None:
        """The cell's seeds that have a result."""
        return self.entries.get(f"graph {row}, {form}")


def grid_of(results: Sequence[tuple[str, Result]], clusters: Clusters) -> Grid | None:
    """The saved results, with their labels; None if there are none."""
    for pool, entries in largest_pools(results).values():
        return Grid(pool, {entry.label: entry for entry in entries}, results, clusters)
    return None


def grid_page(grid: Grid) -> str:
    """The page of the grid: MRR of all cells, the insides of graphs, the best with a graph against that without."""
    forms = list(FORMS)
    rows = [
        (row, *(_mrr(grid.entry(row, form)) for form in forms))
        for row in (*STARTS, *EDGES, *TABLES)
        if any(grid.entry(row, form) for form in forms)
    ]
    answers = "\n\n".join(_answer_of(grid, head) for head in ("perceptron", "mean"))
    return (
        f"# Does the graph help?\n\n{answers}\n\n{_CHOSEN}\n\n{_of_tables(grid)}On {grid.pool.title}. "
        f"{cost(result for _, result in grid.results)}\n\n"
        "MRR after training on 12,000 pairs, graph width 32: the mean over seeds ± their standard deviation, with the "
        "number of seeds if it is not three. °: in a seed, the graph is degenerate at the epoch that was tested. Its "
        "edges are uniform, or the nodes of a graph all alike: the cell says nothing of a graph. That epoch "
        f"was chosen on the same queries. Forms of edges start from {_START}; code words have a table per field, "
        f"unless said otherwise.\n\n{markdown_table(('', *forms), rows)}\n\n"
        "## Inside the graphs\n\nAt the epoch that was tested, first seed. Attention, edges: their entropy, relative "
        "to the uniform distribution's. Variance: the share of the nodes' that lies inside graphs, of the block "
        f"cosines (V) and after each layer.\n\n{_inside_table(grid)}\n"
    )


_CHOSEN: Final = (
    "Intervals: 95 %, over seeds and the queries of each file. All four were chosen by these numbers, of cells with "
    "two seeds or more, whose graphs are not degenerate. There are more cells with a graph than without, which favours "
    "the graph. So this is no verdict."
)


def _mrr(entry: Entry | None) -> str:
    if entry is None:
        return ""
    seeds = "" if entry.seeds == SEEDS else f" ({entry.seeds})"
    return f"{entry.mrr_text}{'°' if _degenerate(entry) else ''}{seeds}"


def _degenerate(entry: Entry) -> bool:
    return any(degenerate_parts(_inside_of(result)) for result in entry.results if result.history)


def _inside_of(result: Result) -> Mapping[str, float]:
    """The numbers of the epoch whose weights were tested: the first of the highest MRR on validation."""
    return max(result.history, key=lambda each: each.mrr).inside


def _answer_of(grid: Grid, head: str) -> str:
    """With a head, the best cell with a graph that is not degenerate, against the best without a graph."""
    whole = [entry for entry in grid.entries.values() if entry.seeds >= 2 and entry.label.endswith(f", {head}")]
    plain = [entry for entry in whole if ", no graph" in entry.label]
    graphs = [entry for entry in whole if ", no graph" not in entry.label and not _degenerate(entry)]
    if not plain or not graphs:
        return f"With the {head} as head, no graph that is not degenerate has two seeds yet, so there is no answer."
    best, base = (max(each, key=lambda entry: entry.mrr) for each in (graphs, plain))
    lead = leads([best, base], base.label, grid.clusters.get(grid.pool.fingerprint))[best.label]
    return (
        f"With the {head} as head, the best graph minus the best without one: {with_interval(lead.difference)} of MRR. "
        f"They are *{best.label.removeprefix('graph ')}* and *{base.label.removeprefix('graph ')}*."
    )


def _of_tables(grid: Grid) -> str:
    """Fewer tables against a table per field from the same start, in galm's form; a paragraph, or nothing yet."""
    form, said = "L = 1, perceptron", []
    for row in TABLES:
        one, apart = grid.entry(row, form), grid.entry(row.rpartition(", ")[2], form)
        if one and apart and min(one.seeds, apart.seeds) >= 2:
            lead = leads([one, apart], apart.label, grid.clusters.get(grid.pool.fingerprint))[one.label]
            said.append(f"{row}, {with_interval(lead.difference)}")
    begin = f"Tables of words, minus a table per field from the same start, {form}"
    return f"{begin}: {'; '.join(said)}.\n\n" if said else ""


def _inside_table(grid: Grid) -> str:
    names = (
        "graph/attention_entropy",
        "graph/layer1_edge_entropy",
        "graph/layer2_edge_entropy",
        "graph/layer0_node_variance",
        "graph/layer1_node_variance",
        "graph/layer2_node_variance",
    )
    rows = []
    for label, entry in grid.entries.items():
        if entry.results[0].history:
            inside = _inside_of(entry.results[0])
            shown = [f"{inside[name]:.3f}" if name in inside else "" for name in names]
            rows.append((label.removeprefix("graph "), *shown))
    header = ("cell", "attention", "edges 1", "edges 2", "variance V", "variance 1", "variance 2")
    return markdown_table(header, sorted(rows))


def grid_text(results: Path, typed: Mapping[str, str] | None) -> str:
    """The page of the grid with the options typed, None: with any; "" without results."""
    grid = grid_of(saved_results(grid_cells(), results / "ablations", typed), clusters(results))
    return grid_page(grid) if grid else ""
