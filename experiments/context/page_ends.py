"""The last parts of the page about contexts, and what validation says of the number of words of a context.

Both splits beside each other, source trees in turn, and the published numbers.
"""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from evaluation import published_scotch as published
from experiments.context.differences import difference, mean_interval
from experiments.context.page_sections import SPLIT_NAMES, apart_of, by_system, cell, mean_mrr, shown_mrr
from experiments.context.paired import Key, Pairs
from experiments.context.systems import LENGTHS, NONE, OWN, shortened

_SPLIT: Final = 1
"""The place of the split in a key."""


def both_splits(found: Mapping[Key, Pairs]) -> list[str]:
    """MRR and gain where whole repositories are unseen beside those where functions are split by chance."""
    lines = []
    for key, of_repositories in sorted(found.items()):
        by_chance = found.get((key[0], "random", *key[2:]), {})
        if key[_SPLIT] != "repo" or not of_repositories.keys() & by_chance.keys():
            continue
        dataset, _, model, of_all, train, pool = key
        what = f"{dataset}, {model}{' of all languages' * of_all}, {train:,} training pairs, pools of {pool:,}"
        heads = [f"{name}: {what}" for name in SPLIT_NAMES.values() for what in ("without", "with", "gain")]
        lines += ["", what, "", f"| split by | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
        for language in of_repositories:
            if language in by_chance:
                cells = [each for pairs in (of_repositories, by_chance) for each in _gain(pairs, language)]
                lines.append(f"| {language} | {' | '.join(cells)} |")
    return ["## Split by repository beside split by chance", *lines] if lines else []


def _gain(pairs: Pairs, language: str) -> list[str]:
    with_context, without = pairs[language]
    gain = cell(difference(with_context, OWN, without, OWN)) if len(with_context[0].repositories) > 1 else ""
    return [shown_mrr(without, OWN), shown_mrr(with_context, OWN), gain]


def words_by_validation(found: Mapping[Key, Pairs]) -> list[str]:
    """MRR on validation pairs by the number of words of a context, and the best number in the mean over languages."""
    names = [NONE, *map(shortened, LENGTHS), OWN]
    lines = []
    for (dataset, split, model, _, train, pool), pairs in sorted(found.items()):
        tested = {language: both for language, both in pairs.items() if shortened(LENGTHS[0]) in both[0][0].systems}
        if not tested:
            continue
        apart = [both[0] for both in (apart_of(tested) or tested).values()]
        means = {name: float(np.mean([mean_mrr(each, name) or 0.0 for each in apart])) for name in names}
        best = max(means, key=means.__getitem__)
        what = f"{dataset} by {SPLIT_NAMES.get(split, split)}, {model}, {train:,} training pairs, pools of {pool:,}"
        lines += ["", *by_system(tested, f"words, {what}", names)]
        lines.append(f"| mean of languages | {' | '.join(f'{means[name]:.4f}' for name in names)} |")
        lines += ["", f"Best in the mean: {best.removeprefix('model, ') if best != OWN else 'all'}."]
    return ["## Number of context words, on validation pairs", *lines] if lines else []


def trees_in_turn(found: Mapping[Key, Pairs]) -> list[str]:
    """The gain on each source tree that was left out of training, and its mean over trees."""
    rows: dict[tuple[str, str, int], dict[str, float]] = {}
    for (_, tree, model, _, _, pool), pairs in sorted(found.items()):
        if tree not in SPLIT_NAMES:
            for language, (seeds, without) in pairs.items():
                gain = (mean_mrr(seeds, OWN) or 0.0) - (mean_mrr(without, OWN) or 0.0)
                rows.setdefault((model, language, pool), {})[tree] = gain
    if not rows:
        return []
    lines = ["## Each source tree left out in turn: MRR with - without context", ""]
    for (model, language, pool), gains in rows.items():
        mean, low, high = mean_interval([*gains.values()])
        each = ", ".join(f"{tree} {gain:+.4f}" for tree, gain in gains.items())
        interval = "" if math.isnan(low) else f" ({low:+.4f} to {high:+.4f} over trees)"
        lines.append(f"- {model}, {language}, pools of {pool:,}: mean {mean:+.4f}{interval}; {each}")
    return lines


def published_numbers() -> list[str]:
    """The numbers of the paper."""
    heads = ["", *published.LANGUAGES, "mean", "mixed"]
    lines = [
        "## Published, on other data: not comparable",
        "",
        "Pools of 5,000 of the paper's test set, which is not split by repository as far as it says, the last smaller.",
        "",
        f"| MRR | {' | '.join(heads[1:])} |",
        "|---|" + "---:|" * (len(heads) - 1),
    ]
    for model, values in published.MRR.items():
        lines.append(f"| {model} | {' | '.join(f'{value:.4f}' for value in (*values, *published.MRR_MEANS[model]))} |")
    lines += ["", f"| NDCG, variant not stated | {' | '.join(heads[1:-1])} |", "|---|" + "---:|" * (len(heads) - 2)]
    for model, values in published.NDCG.items():
        lines.append(f"| {model} | {' | '.join(f'{value:.4f}' for value in (*values, published.NDCG_MEANS[model]))} |")
    return lines
