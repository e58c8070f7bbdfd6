"""The ablations: each is a few variants of a model's configuration, with the claim that they test.

``bash run.sh ablate NAME`` trains every variant with three seeds on 12,000 pairs of the JDK, none of which copies a
validation or test pair (two to five minutes a run on one thread, more at width 256), ranks the validation split and
prints whether the claim holds; finished runs are not repeated. ``bash run.sh table`` writes
``experiments/results/ablations.md`` and, with a figure, ``experiments/results/ablations/NAME.md``. A page has a table,
a verdict on the claim and a figure; another is an overview of all. The grid of graphs: ``graph_grid.py``.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluation.comparison import MARGIN, Entry, Lead, Pool, largest_pools, leads
from evaluation.results import Result
from experiments.tables.cells import Cell, saved_results
from experiments.tables.comparison_pictures import forest_picture
from experiments.tables.comparison_tables import Clusters, cost, markdown_table, tables, with_interval
from experiments.tables.query_kinds import clusters

SEEDS: Final = 3
COMMON: Final = {"data.train_limit": "12000", "evaluate.split": "valid"}
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
            Cell("jdk", self.base, seed, label, {**COMMON, **settings})
            for seed in range(SEEDS)
            for label, settings in rows.items()
        )


WRITTEN: Final = tomllib.loads(Path(__file__).with_name("ablations.toml").read_text(encoding="utf-8"))
GRID: Final = "graph"
"""The name of the grid of graphs."""
ABLATIONS: Final = {
    name: Ablation(**{**each, "level": tuple(each.get("level", ()))}) for name, each in WRITTEN.items() if name != GRID
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


def ablation_text(name: str, results: Path, typed: Mapping[str, str]) -> str:
    """The page of an ablation with the options typed; "" without results."""
    found = found_by(name, saved_results(ABLATIONS[name].cells, results / "ablations", typed), clusters(results))
    return ablation_page(found) if found else ""
