"""The ablations: each is a few variants of a model's configuration, with the claim that they test.

``bash run.sh ablate NAME`` trains every variant with three seeds on 12,000 pairs of the JDK, none of which copies a
validation or test pair (two to five minutes a run on one thread, more at width 256), ranks the validation split and
prints whether the claim holds; finished runs are not repeated. ``bash run.sh table`` writes
``experiments/results/ablations.md`` and, with a figure, ``experiments/results/ablations/NAME.md``. A page has a table,
a verdict on the claim and a figure; another is an overview of all.

Of the graph itself there is a grid, ``bash run.sh ablate graph``, with its page ``graph.md``. With small initial
vectors the attention of eq. 7 and the edges of eqs. 10 and 11 stay nearly uniform, so that all nodes of a graph become
alike, and nothing can be said of the graph. So it is compared with its absence where it is not degenerate: from larger
starts, with edges of cosines times a temperature, with and without an edge of a node to itself, with each node's block
cosines beside its last state, and with the settings of GSMN, whose graph GALM's is.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from evaluation.comparison import MARGIN, Entry, Lead, Pool, largest_pools, leads
from evaluation.results import Result
from experiments.tables.cells import Cell
from experiments.tables.comparison_pictures import forest_picture
from experiments.tables.comparison_tables import Clusters, cost, markdown_table, tables, with_interval
from galm.alignment_graph import degenerate_parts

SEEDS: Final = 3
_COMMON: Final = {"data.train_limit": "12000", "evaluate.split": "valid"}
"""The same budget for all: the recipe's epochs on a part of the JDK's training pairs, ranked on validation."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """Variants of a model that test one claim, as ``ablations.toml`` says."""

    claim: str
    variants: Mapping[str, Mapping[str, str]]  # label -> settings
    base: str = "galm"
    level: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Of all variants; the unchanged model comes first."""
        return (self.base, *self.variants)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every variant with every seed."""
        rows = {self.base: {}, **self.variants}
        return tuple(
            Cell("jdk", self.base, seed, label, {**_COMMON, **settings})
            for seed in range(SEEDS)
            for label, settings in rows.items()
        )


_WRITTEN: Final = tomllib.loads(Path(__file__).with_name("ablations.toml").read_text(encoding="utf-8"))
GRID: Final = "graph"
"""The name of the grid of graphs."""
FORMS, STARTS, EDGES, TABLES = (_WRITTEN[GRID][part] for part in ("forms", "starts", "edges", "tables"))
"""Of the grid: layers and heads, and the rows. Label -> settings."""
ABLATIONS: Final = {
    name: Ablation(**{**each, "level": tuple(each.get("level", ()))}) for name, each in _WRITTEN.items() if name != GRID
}
"""Name -> ablation. A new one is an entry of ``ablations.toml``."""


_SIDES: Final = {
    "worse": "Worse",
    "level": f"Level, within {MARGIN:g} of MRR",
    "not shown": "Not shown to differ",
    "better": "Better",
    "one seed": "No verdict, with one seed",
}


@dataclass(frozen=True, slots=True)
class Found:
    """The results of an ablation, on the pool that most of its variants were tested on."""

    name: str
    results: Sequence[tuple[str, Result]]  # with their labels
    pool: Pool
    base: Entry
    leads: Mapping[str, Lead]  # of each variant that has results over the base, in the ablation's order
    clusters: Clusters

    @property
    def ablation(self) -> Ablation:
        """The claim and the variants."""
        return ABLATIONS[self.name]


def found_by(name: str, kept: Sequence[tuple[str, Result]], clusters: Clusters) -> Found | None:
    """What the saved results of an ablation say, with their labels; None without the base or without a variant.

    A variant counts once it has as many seeds as the base.
    """
    ablation = ABLATIONS[name]
    for pool, entries in largest_pools(kept).values():
        base = next((entry for entry in entries if entry.label == ablation.base), None)
        whole = [entry for entry in entries if base and entry.seeds >= base.seeds]
        by_label = leads(whole, ablation.base, clusters.get(pool.fingerprint))
        if base and by_label:
            listed = {each: by_label[each] for each in ablation.variants if each in by_label}
            return Found(name, kept, pool, base, listed, clusters)
    return None


def ablation_page(found: Found) -> str:
    """The claim, whether it holds, and the table."""
    shown = [(label, result) for label, result in found.results if label in (found.ablation.base, *found.leads)]
    table = tables(shown, (found.ablation.base,), found.clusters, whole=False)
    return f"# Ablation: {found.name}\n\n{_answered(found)}\n\n![{found.name}]({found.name}.png)\n\n{table}\n"


def overview(found: Sequence[Found], sections: Sequence[str] = ()) -> str:
    """A page with every ablation's claim, verdict and differences, and further ``sections``; "" without ablations."""
    if not found:
        return ""
    text = (
        f"# Ablations\n\nWhich part of a model does what? On {found[0].pool.title}. A variant differs from its model "
        "in what its label says, with the same pairs, epochs and seeds. Its difference is that of the mean MRR over "
        "seeds, with a 95 % interval over training seeds and queries; it is better or worse at p < 0.05 after Holm's "
        "correction within the ablation, which intervals do not have, and level if the whole interval lies within "
        f"{MARGIN:g}. No training pair copies a validation or test pair; the epoch of each run was chosen on the same "
        "validation queries. Of the graph: [graph](ablations/graph.md)."
    )
    spent = cost(result for each in found for _, result in each.results)
    return "\n\n".join((text, spent, *map(_section, found), *sections)) + "\n"


def _section(found: Found) -> str:
    rows = [(label, with_interval(lead.difference), lead.side) for label, lead in found.leads.items()]
    table = markdown_table(("variant", f"MRR - {found.base.label}", "it is"), rows)
    return f"## [{found.name}](ablations/{found.name}.md)\n\n{_answered(found)}\n\n{table}"


def verdict(found: Found) -> str:
    """Whether the claim of an ablation holds, in a sentence or two."""
    base, level = found.ablation.base, found.ablation.level
    sides = {label: found.leads[label].side for label in found.leads}
    met = sum(side == ("level" if label in level else "worse") for label, side in sides.items())
    is_open = all(side in ("not shown", "one seed") for side in sides.values())
    answer = "yes" if met == len(sides) else "in part" if met else "not shown" if is_open else "no"
    seeds = "one seed" if found.base.seeds == 1 else f"{found.base.seeds} seeds"
    model = f"{base} (MRR {found.base.mrr:.3f}, {seeds})"
    missing = [label for label in found.ablation.variants if label not in sides]
    groups = {text: [label for label in sides if sides[label] == side] for side, text in _SIDES.items()}
    groups["Not measured"] = missing
    listed = [f"{text}: {'; '.join(labels)}." for text, labels in groups.items() if labels]
    answer = f"so far {answer}" if missing else answer
    return " ".join(
        (f"{answer.capitalize()}: {met} of its {len(sides)} comparisons with {model} come out as it expects.", *listed)
    )


def ablation_picture(found: Found) -> bytes:
    """A PNG of each variant's difference from the model, with its interval."""
    return forest_picture(found.leads, found.ablation.base, f"Ablation {found.name}: {found.pool.title}")


def _answered(found: Found) -> str:
    return f"The claim: {found.ablation.claim}\n\n**Does it hold?** {verdict(found)}"


_START: Final = EDGES["as GSMN"]["model.init_range"]
_OF_GRID: Final = {**_COMMON, "model.gcn_dim": "32"}
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
        f"# Does the graph help?\n\n{grid.pool.title}. {cost(result for _, result in grid.results)}\n\n"
        "MRR after training on 12,000 pairs, graph width 32: the mean over seeds ± their standard deviation, with the "
        "number of seeds if it is not three. °: the graph is degenerate in a seed, its edges uniform or the nodes of a "
        "graph all alike at the epoch that was tested, so that the cell says nothing of a graph. That epoch was chosen "
        f"on the same queries. Forms of edges start from {_START}; code words have a table per field, unless said "
        "otherwise.\n\n"
        f"{markdown_table(('', *forms), rows)}\n\n{answers}\n\n{_of_tables(grid)}"
        "## Inside the graphs\n\nAt the epoch that was tested, first seed: entropy of the attention and of each "
        "layer's edges, relative to the uniform distribution's, and the share of the nodes' variance that lies inside "
        f"graphs, of the block cosines (V) and after each layer.\n\n{_inside_table(grid)}\n"
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
        return f"With the {head}, no graph that is not degenerate has two seeds yet, so there is no answer."
    best, base = (max(each, key=lambda entry: entry.mrr) for each in (graphs, plain))
    lead = leads([best, base], base.label, grid.clusters.get(grid.pool.fingerprint))[best.label]
    return (
        f"With the {head}, the best graph that is not degenerate is *{best.label.removeprefix('graph ')}*, the best "
        f"without a graph *{base.label.removeprefix('graph ')}*, both of two seeds or more: their difference is "
        f"{with_interval(lead.difference)}, over seeds and the queries of each file. Both were chosen by these "
        "numbers, among more cells with a graph than without."
    )


def _of_tables(grid: Grid) -> str:
    """Fewer tables against a table per field from the same start, in galm's form; a paragraph, or nothing yet."""
    form, said = "L = 1, perceptron", []
    for row in TABLES:
        one, apart = grid.entry(row, form), grid.entry(row.rpartition(", ")[2], form)
        if one and apart and min(one.seeds, apart.seeds) >= 2:
            lead = leads([one, apart], apart.label, grid.clusters.get(grid.pool.fingerprint))[one.label]
            said.append(f"{row}, {with_interval(lead.difference)}")
    return f"Minus a table per field from the same start, {form}: {'; '.join(said)}.\n\n" if said else ""


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
