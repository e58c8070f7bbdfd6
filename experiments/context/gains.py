"""What context brings, as tables: the gain of a model alone and fused, by split and within single source trees.

And as pictures: recall at k of both models of a pair, MRR by the length of the context.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from evaluation.comparison import judged
from evaluation.significance import RunDifference
from experiments.context.measure import BM25, FUSED, FUSED_TUNED, LENGTHS, NONE, OWN, shortened
from experiments.context.results import (
    ALL,
    DEPTHS,
    ContextResult,
    Key,
    Pairs,
    Seeds,
    difference,
    mean_interval,
    mean_mrr,
    paired,
)
from experiments.tables.comparison_pictures import as_png
from experiments.tables.comparison_tables import SAID, counted, table_lines, with_interval
from training.drawing import Figure

SPLITS: Final = {"repo": "repository", "random": "chance"}
"""--data.split -> what it is split by."""
System = tuple[int, str]
"""Side of a pair (0: the model with context, 1: without) and system."""
WITH, WITHOUT_CONTEXT = (0, OWN), (1, OWN)
GAINS: Final[Mapping[str, tuple[System, System]]] = {
    "with - without context": (WITH, WITHOUT_CONTEXT),
    "with - without, both fused with tuned BM25": ((0, FUSED_TUNED), (1, FUSED_TUNED)),
}


def mrr_cells(values: Sequence[float | None]) -> list[str]:
    """Values of MRR; those that are not known are left open."""
    return ["" if value is None else f"{value:.4f}" for value in values]


def have_both(languages: Collection[tuple[Seeds, Seeds]], sides: tuple[System, System]) -> bool:
    """Whether all results have both systems of a difference."""
    return all(of in each.systems for side, of in sides for both in languages for each in both[side])


def difference_cell(languages: Sequence[tuple[Seeds, Seeds]], first: System, second: System) -> str:
    """A difference with its interval, if there is one."""
    found = difference_of(languages, first, second)
    return _interval(found.mean, found.low, found.high)


def difference_of(languages: Sequence[tuple[Seeds, Seeds]], first: System, second: System) -> RunDifference:
    """The difference of two systems, in the mean of the languages."""
    one, other = ([both[side] for both in languages] for side, _ in (first, second))
    return difference(one, first[1], other, second[1])


def _interval(mean: float, low: float, high: float) -> str:
    return f"{mean:+.4f}" if math.isnan(low) else f"{mean:+.4f} ({low:+.4f} to {high:+.4f})"


def gains(whole: Mapping[Key, Pairs]) -> list[str]:
    """The head of the page: the gain alone and fused, in the mean of the languages of each key."""
    found: dict[Key, tuple[int, list[RunDifference]]] = {}
    for key, pairs in whole.items():
        apart = [both for language, both in pairs.items() if language != ALL and len(both[0][0].repositories) > 1]
        if apart and all(have_both(apart, sides) for sides in GAINS.values()):
            found[key] = len(apart), [difference_of(apart, *sides) for sides in GAINS.values()]
    rows = {
        title_of(key): [f"{languages}", *(_interval(each.mean, each.low, each.high) for each in of)]
        for key, (languages, of) in found.items()
    }
    head = ["# Scotch: does the text above a function help to find it?", "", _answer(found), ""]
    return [*head, *table_lines(["difference of MRR, mean of languages", "languages", *GAINS], rows)]


def _answer(found: Mapping[Key, tuple[int, list[RunDifference]]]) -> str:
    """The gains alone and fused of the pair with most languages, in sentences."""
    if not found:
        return "No pair of models was tested beside tuned BM25, so there is no answer."
    leads = iter(judged([each for _, of in found.values() for each in of]))
    of_key = {key: [next(leads) for _ in of] for key, (_, of) in found.items()}
    asked = max(found, key=lambda key: (key[1] == "repo", not key[3], found[key][0], -key[5]))
    (alone, fused), (languages, _), (_, split, model, *_, pool) = of_key[asked], found[asked], asked
    apart = "repositories that training has not seen" if split == "repo" else f"functions split by {SPLITS[split]}"
    return (
        f"With the text above, `{model}` {SAID[alone.side]} the same model without: {with_interval(alone.difference)} "
        f"of MRR. Both fused with tuned BM25, it {SAID[fused.side]} that: {with_interval(fused.difference)}. Means of "
        f"{counted(languages, 'language')} on {apart}, in pools of {pool:,}; p is adjusted by Holm over this table."
    )


def title_of(key: Key) -> str:
    """The heading of a section."""
    dataset, split, model, of_all, _, pool = key
    return f"{dataset}, split by {SPLITS[split]}: {model}{', learned from all languages' * of_all}, pools of {pool:,}"


def both_splits(found: Mapping[Key, Pairs]) -> list[str]:
    """MRR and gain where whole repositories are unseen beside those where functions are split by chance."""
    lines = []
    for (dataset, split, model, of_all, train, pool), of_repositories in found.items():
        by_chance = found.get((dataset, "random", model, of_all, train, pool), {})
        both = [language for language in of_repositories if language in by_chance]
        if split == "repo" and both:
            what = f"{dataset}, {model}{' of all languages' * of_all}, {train:,} training pairs, pools of {pool:,}"
            heads = [f"{name}: {part}" for name in SPLITS.values() for part in ("without", "with", "gain")]
            rows = {language: [*_gain(of_repositories[language]), *_gain(by_chance[language])] for language in both}
            lines += ["", what, "", *table_lines(["split by", *heads], rows)]
    return ["## Split by repository beside split by chance", *lines] if lines else []


def _gain(both: tuple[Seeds, Seeds]) -> list[str]:
    gain = difference_cell([both], WITH, WITHOUT_CONTEXT) if len(both[0][0].repositories) > 1 else ""
    return [*mrr_cells([mean_mrr(both[1], OWN), mean_mrr(both[0], OWN)]), gain]


def trees_in_turn(found: Mapping[Key, Pairs]) -> list[str]:
    """The gain within each source tree that was left out of training, and its mean over trees."""
    found_of: dict[tuple[str, str, int], dict[str, list[float]]] = {}
    for (_, tree, model, _, _, pool), pairs in sorted(found.items()):
        for language, both in pairs.items() if tree not in SPLITS else ():
            known = [sides for sides in GAINS.values() if have_both([both], sides)]
            means = [[mean_mrr(both[side], of) or 0.0 for side, of in sides] for sides in known]
            found_of.setdefault((model, language, pool), {})[tree] = [one - other for one, other in means]
    lines = ["## Within one source tree, each left out in turn"]
    for (model, language, pool), of_trees in found_of.items():
        rows = {tree: [f"{gain:+.4f}" for gain in each] for tree, each in of_trees.items()}
        rows["mean of trees"] = [_interval(*mean_interval(each)) for each in zip(*of_trees.values(), strict=False)]
        lines += ["", *table_lines([f"MRR, {model}, {language}, pools of {pool:,} of one tree", *GAINS], rows)]
    return lines if found_of else []


CONTEXT_WORDS = 100


def pictures(results: Sequence[ContextResult]) -> Mapping[str, bytes]:
    """The pictures by file name: of each data set split by repository, its largest pools."""
    found = {}
    for key, pairs in sorted(paired(results).items()):
        dataset, split, model, of_all, _, pool = key
        if split == "repo":
            name = f"scotch-{dataset}-{model}{'-all' * of_all}"
            found[f"{name}-recall.png"] = _recall_picture(pairs, pool)
            shortest = shortened(LENGTHS[0])
            ablated = {language: each for language, (each, _) in pairs.items() if shortest in each[0].systems}
            if ablated:
                found[f"{name}-length.png"] = _length_picture(ablated, pool)
    return found


def _recall_picture(pairs: Pairs, pool: int) -> bytes:
    """A PNG: recall at k with and without context and of BM25, a panel for each language."""
    figure = Figure(figsize=(3.2 * len(pairs), 3.6), dpi=110, layout="constrained")
    panels = figure.subplots(1, len(pairs), sharey=True, squeeze=False)[0]
    for axes, (language, (with_context, without)) in zip(panels, pairs.items(), strict=True):
        curves = (
            ("with context", with_context, OWN),
            ("without", without, OWN),
            ("with context and BM25 fused", with_context, FUSED),
            ("BM25", with_context, BM25),
        )
        for name, results, system in curves:
            axes.plot(DEPTHS, _mean([each.systems[system].recall for each in results]), marker=".", label=name)
        axes.set(xscale="log", title=language, xlabel="k", xticks=DEPTHS[::2], ylim=(0, 1))
        axes.set_xticklabels([str(k) for k in DEPTHS[::2]])
        axes.grid(color="0.9")
    panels[0].set_ylabel(f"recall at k, pools of {pool:,}")
    panels[-1].legend(fontsize=8, loc="lower right")
    return as_png(figure)


def _length_picture(results: Mapping[str, Seeds], pool: int) -> bytes:
    """A PNG: MRR of a model with context by the number of context words that it is given, a line for each language."""
    figure = Figure(figsize=(6, 3.8), dpi=110, layout="constrained")
    axes = figure.subplots()
    systems = [NONE, *map(shortened, LENGTHS), OWN]
    for language, found in results.items():
        values = _mean(
            [[each.mrr(system) for system in systems] for each in found if set(systems) <= set(each.systems)]
        )
        axes.plot([0, *LENGTHS, CONTEXT_WORDS], values, marker=".", label=language)
    axes.set(xlabel="nearest words of the context", ylabel=f"MRR, pools of {pool:,}")
    axes.grid(color="0.9")
    figure.legend(fontsize=9, loc="outside right upper")
    return as_png(figure)


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    found: list[float] = np.mean(rows, axis=0).tolist()
    return found
