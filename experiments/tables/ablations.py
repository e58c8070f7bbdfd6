"""The ablations: each is a few variants of a model's configuration, with the claim that they test.

``bash run.sh ablate NAME`` trains every variant with three seeds on 12,000 pairs of the JDK, none of which copies a
validation or test pair (two to five minutes a run on one thread, more at width 256), ranks the validation split and
prints whether the claim holds; finished runs are not repeated. ``bash run.sh table`` writes
``experiments/results/ablations.md`` and, with a figure, ``experiments/results/ablations/NAME.md``. A page has a table,
a verdict on the claim and a figure; another is an overview of all. The grid of graphs: ``graph_grid.py``.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evaluation.comparison import MARGIN, Entry, Lead, Pool, largest_pools, leads
from evaluation.results import Result
from experiments.tables.cells import Cell, saved_results
from experiments.tables.comparison_pictures import forest_picture
from experiments.tables.comparison_tables import (
    WORDS,
    Clusters,
    by_side,
    cost,
    counted,
    markdown_table,
    tables,
    with_interval,
)
from experiments.tables.query_kinds import clusters

SEEDS: Final = 3
COMMON: Final = {"data.train_limit": "12000", "evaluate.split": "valid"}
"""The same budget for all: the recipe's epochs on a part of the JDK's training pairs, ranked on validation."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """Variants of a model that test one claim, as ``ablations.toml`` says."""

    question: str
    claim: str
    variants: Mapping[str, Mapping[str, str]]  # label -> settings
    base: str = "galm"
    level: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)  # label of saved results -> as pages name it

    def name(self, label: str) -> str:
        """A variant as pages name it."""
        return self.names.get(label, label)

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
    kept = [(ablation.name(label), result) for label, result in kept]
    for pool, entries in largest_pools(kept).values():
        base = next((entry for entry in entries if entry.label == ablation.base), None)
        whole = [entry for entry in entries if base and entry.seeds >= base.seeds]
        by_label = leads(whole, ablation.base, clusters.get(pool.fingerprint))
        if base and by_label:
            listed = {each: by_label[each] for each in map(ablation.name, ablation.variants) if each in by_label}
            return Found(name, kept, pool, base, listed, clusters)
    return None


def ablation_page(found: Found) -> str:
    """The question, whether the claim holds, and the table."""
    shown = [(label, result) for label, result in found.results if label in (found.ablation.base, *found.leads)]
    table = tables(shown, (found.ablation.base,), found.clusters, whole=False)
    spent = cost(result for _, result in shown)
    picture = f"![{found.name}]({found.name}.png)"
    return "\n\n".join((f"# {found.ablation.question}", verdict(found), picture, table, spent)) + "\n"


_CONVENTIONS: Final = (
    "A variant differs from its model in what its label says, with the same pairs, epochs and seeds. Its difference is "
    "that of the mean MRR over seeds, with a 95 % interval over training seeds and queries. Ahead and behind: p < 0.05 "
    "after Holm's correction within the ablation, which intervals do not have. Level: the whole interval lies within "
    f"{MARGIN:g}. No training pair copies a validation or test pair. The epoch of each run was chosen on the same "
    "validation queries. Of the graph: [graph](ablations/graph.md)."
)


def overview(found: Sequence[Found], sections: Sequence[str] = ()) -> str:
    """A page with every ablation's claim, verdict and differences, and further ``sections``; "" without ablations."""
    if not found:
        return ""
    text = f"On {found[0].pool.title}. {_CONVENTIONS}"
    spent = cost(result for each in found for _, result in each.results)
    title = "# Which parts of GALM and of galm_plus help?"
    return "\n\n".join((title, _counts(found), text, spent, *map(_section, found), *sections)) + "\n"


def _counts(found: Sequence[Found]) -> str:
    """How many variants are behind their models and how many ahead, and the furthest of these, in sentences."""
    of = {(each.name, label): lead for each in found for label, lead in each.leads.items()}
    said = []
    for side, furthest in (("worse", min), ("better", max)):
        names = [name for name, lead in of.items() if lead.side == side]
        if names:
            first = furthest(names, key=lambda name: of[name].difference.mean)
            number = f"{len(names)} {'is' if len(names) == 1 else 'are'} {WORDS[of[first].side]}"
            said.append(f"{number}: furthest `{first[1]}`, {with_interval(of[first].difference)}.")
    rest = Counter(WORDS[lead.side] for lead in of.values() if lead.side not in ("worse", "better"))
    left = [f"Of the others: {', '.join(f'{number} {word}' for word, number in rest.items())}."] if rest else []
    return " ".join((f"{counted(len(of), 'variant')}, each compared with its model.", *said, *left))


def _section(found: Found) -> str:
    rows = [(label, with_interval(lead.difference), WORDS[lead.side]) for label, lead in found.leads.items()]
    table = markdown_table(("variant", f"MRR - {found.base.label}", "it is"), rows)
    return f"## [{found.name}](ablations/{found.name}.md)\n\n{verdict(found)}\n\n{table}"


def verdict(found: Found) -> str:
    """Whether the claim of an ablation holds, in a sentence or two, and how each comparison came out, as a list."""
    ablation, base = found.ablation, found.base
    sides = {label: lead.side for label, lead in found.leads.items()}
    level = {*map(ablation.name, ablation.level)}
    met = sum(side == ("level" if label in level else "worse") for label, side in sides.items())
    is_open = all(side in ("not shown", "one seed") for side in sides.values())
    answer = "Yes" if met == len(sides) else "In part" if met else "That is not shown" if is_open else "No"
    missing = [f"`{name}`" for name in map(ablation.name, ablation.variants) if name not in sides]
    known = ", as far as it is measured" if missing else ""
    lines = [*by_side(found.leads), *([f"- Not measured: {'; '.join(missing)}."] if missing else [])]
    model = f"`{base.label}` (MRR {base.mrr:.3f}, {counted(base.seeds, 'seed')})"
    met_of = f"{_met(met, len(sides))} Variants beside {model}:"
    return f"**{answer}{known}.** The claim: {ablation.claim} {met_of}\n\n" + "\n".join(lines)


def _met(met: int, of: int) -> str:
    """How many comparisons come out as a claim expects, in a sentence."""
    if of == 1:
        return f"The one comparison {'comes' if met else 'does not come'} out so."
    return f"{met or 'None'} of {of} comparisons {'comes' if met == 1 else 'come'} out so."


def ablation_picture(found: Found) -> bytes:
    """A PNG of each variant's difference from the model, with its interval."""
    return forest_picture(found.leads, found.ablation.base, f"Ablation {found.name}: {found.pool.title}")


def ablation_text(name: str, results: Path, typed: Mapping[str, str]) -> str:
    """The page of an ablation with the options typed; "" without results."""
    found = found_by(name, saved_results(ABLATIONS[name].cells, results / "ablations", typed), clusters(results))
    return ablation_page(found) if found else ""
