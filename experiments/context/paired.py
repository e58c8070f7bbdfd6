"""Saved results of models with context beside those of the same models without."""

from collections.abc import Mapping, Sequence

from experiments.context.differences import Seeds
from experiments.context.results import ContextResult

WITHOUT = "_no_context"
"""End of the name of a model's form without context."""

Key = tuple[str, str, str, bool, int, int]
"""Data set, --data.split, model with context, whether it learned from all languages, training pairs, pool."""
Pairs = Mapping[str, tuple[Seeds, Seeds]]
"""Language -> results with context, results without."""


def paired(results: Sequence[ContextResult], split: str = "test") -> Mapping[Key, Pairs]:
    """The results of each model with context beside those of the same model without, on the same pairs of ``split``."""
    groups: dict[tuple[Key, str], list[ContextResult]] = {}
    for each in sorted(results, key=lambda each: each.train_seed):
        if each.split == split:
            key = (each.dataset, each.data_split, each.model, each.of_all, each.train_pairs, each.pools_of)
            groups.setdefault((key, each.language), []).append(each)
    found: dict[Key, dict[str, tuple[Seeds, Seeds]]] = {}
    for (key, language), seeds in groups.items():
        without = groups.get(((key[0], key[1], key[2] + WITHOUT, *key[3:]), language))
        if without:
            found.setdefault(key, {})[language] = seeds, without
    return found
