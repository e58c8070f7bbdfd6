"""The tables of one section of the page about contexts: a model on a data set, in pools of one size."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from data_prep.pipeline.contexts import PARTS
from evaluation.run_comparison import RunDifference
from experiments.context.differences import Seeds, difference, macro_difference
from experiments.context.paired import Key, Pairs
from experiments.context.results import ALL, OVERLAPS
from experiments.context.systems import (
    BM25,
    BM25_OTHERS,
    BM25_OWN,
    BM25_TUNED,
    FUSED,
    FUSED_TUNED,
    LENGTHS,
    NEIGHBOURS,
    NONE,
    OTHERS,
    OWN,
    part_name,
    shortened,
)

SPLIT_NAMES: Final = {"repo": "repository", "random": "chance"}
"""--data.split -> what it is split by."""


def sections(key: Key, pairs: Pairs) -> Iterator[list[str]]:
    """The tables of one key, each as lines."""
    dataset, split, model, of_all, train, pool = key
    seeds = "; ".join(
        f"{language} {', '.join(str(each.train_seed) for each in both[0])}" for language, both in pairs.items()
    )
    yield [
        f"## {dataset}, split by {SPLIT_NAMES[split]}: {model}{', learned from all languages' * of_all}, "
        f"pools of {pool:,}",
        "",
        f"Trained on {train:,} pairs of {'all languages together' if of_all else 'the language of each row'}; seeds "
        f"{seeds}. Parts of the context and numbers of its words: of the seeds that were tested so.",
    ]
    yield _means(pairs)
    yield _as_published(pairs)
    yield _differences(pairs)
    for title, names in (
        ("part of the context", [OWN, *map(part_name, PARTS[1:]), NONE]),
        ("context words", [NONE, *map(shortened, LENGTHS), OWN]),
    ):
        if all(names[1] in seeds[0].systems for seeds, _ in pairs.values()):
            yield by_system(pairs, title, names)
    yield _by_overlap(pairs)


_MEANS: Final[Mapping[str, tuple[int, str]]] = {
    "without context": (1, OWN),
    "with context": (0, OWN),
    "other contexts": (0, OTHERS),
    "same repository": (0, NEIGHBOURS),
    "left out": (0, NONE),
    "BM25": (0, BM25),
    "BM25 + own": (0, BM25_OWN),
    "BM25 + other": (0, BM25_OTHERS),
    "BM25, tuned": (0, BM25_TUNED),
    "fused with BM25": (0, FUSED),
    "fused with tuned BM25": (0, FUSED_TUNED),
}
"""Title -> side of the pair (0: with context) and system."""


def _means(pairs: Pairs) -> list[str]:
    columns = {title: each for title, each in _MEANS.items() if _known(pairs, *each)}
    lines = [
        f"| MRR | queries | repositories | pool | padded | {' | '.join(columns)} |",
        "|---|" + "---:|" * (len(columns) + 4),
    ]
    for language, both in pairs.items():
        first = both[0][0]
        cells = [shown_mrr(both[side], system) for side, system in columns.values()]
        lines.append(
            f"| {language} | {first.queries:,} | {len(first.repositories)} | {first.pool:,} | {first.padded:,} | "
            f"{' | '.join(cells)} |"
        )
    apart = apart_of(pairs)
    if len(apart) > 1:
        cells = [shown_mean([both[side] for both in apart.values()], system) for side, system in columns.values()]
        lines.append(f"| mean of languages | | | | | {' | '.join(cells)} |")
    return lines


def apart_of(pairs: Pairs) -> Pairs:
    """The languages without that of all mixed."""
    return {name: both for name, both in pairs.items() if name != ALL}


def _known(pairs: Pairs, side: int, system: str) -> bool:
    return any(system in each.systems for both in pairs.values() for each in both[side])


def _as_published(pairs: Pairs) -> list[str]:
    """MRR by the published convention, in which the last pool is smaller, of the results that have it."""
    columns = {"without context": (1, OWN), "with context": (0, OWN), "BM25, tuned": (0, BM25_TUNED)}
    lines = [f"| MRR, the last pool smaller, as published | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    rows: dict[str, list[float]] = {}
    for language, both in pairs.items():
        found = [[each.systems[of].as_published for each in both[side]] for side, of in columns.values()
                 if all(of in each.systems for each in both[side])]  # fmt: skip
        values = [[value for value in each if value is not None] for each in found]
        if len(values) == len(columns) and all(values):
            rows[language] = [float(np.mean(each)) for each in values]
    for language, means in rows.items():
        lines.append(f"| {language} | {' | '.join(f'{mean:.4f}' for mean in means)} |")
    apart = [means for language, means in rows.items() if language != ALL]
    if len(apart) > 1:
        lines.append(f"| mean of languages | {' | '.join(f'{mean:.4f}' for mean in np.mean(apart, axis=0))} |")
    return lines if rows else []


def mean_mrr(seeds: Seeds, system: str) -> float | None:
    """The mean over the seeds that were tested with a system; None: none was."""
    values = [each.mrr(system) for each in seeds if system in each.systems]
    return float(np.mean(values)) if values else None


def shown_mrr(seeds: Seeds, system: str) -> str:
    """The same for a table, "" for None."""
    mean = mean_mrr(seeds, system)
    return "" if mean is None else f"{mean:.4f}"


def shown_mean(languages: Sequence[Seeds], system: str) -> str:
    """The mean over languages, "" if it is not known for one."""
    means = [mean_mrr(each, system) for each in languages]
    known = [each for each in means if each is not None]
    return f"{np.mean(known):.4f}" if len(known) == len(means) else ""


_COMPARED: Final[Mapping[str, tuple[int, str, int, str]]] = {
    "with - without context": (0, OWN, 1, OWN),
    "own - other contexts": (0, OWN, 0, OTHERS),
    "own - same repository's": (0, OWN, 0, NEIGHBOURS),
    "context left out - without": (0, NONE, 1, OWN),
    "with context - BM25": (0, OWN, 0, BM25),
    "with context - tuned BM25": (0, OWN, 0, BM25_TUNED),
    "fused - BM25": (0, FUSED, 0, BM25),
    "fused with tuned BM25 - tuned BM25": (0, FUSED_TUNED, 0, BM25_TUNED),
}
"""Title -> side of the pair (0: with context) and system, minus side and system."""


def _differences(pairs: Pairs) -> list[str]:
    compared = {title: each for title, each in _COMPARED.items() if all(_everywhere(pairs, *side) for side in
                ((each[0], each[1]), (each[2], each[3])))}  # fmt: skip
    lines = [f"| difference of MRR | {' | '.join(compared)} |", "|---|" + "---:|" * len(compared)]
    apart = apart_of(pairs)
    for name, both in pairs.items():
        if len(both[0][0].repositories) > 1:
            cells = [cell(difference(both[i], of, both[j], against)) for i, of, j, against in compared.values()]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    if len(apart) > 1:
        sides = [[both[side] for both in apart.values()] for side in (0, 1)]
        cells = [cell(macro_difference(sides[i], of, sides[j], against)) for i, of, j, against in compared.values()]
        lines.append(f"| mean of languages | {' | '.join(cells)} |")
    return lines


def _everywhere(pairs: Pairs, side: int, system: str) -> bool:
    return all(system in each.systems for both in pairs.values() for each in both[side])


def cell(found: RunDifference) -> str:
    """A difference with its interval, if there is one."""
    if math.isnan(found.low):
        return f"{found.mean:+.4f}"
    return f"{found.mean:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def by_system(pairs: Pairs, title: str, names: Sequence[str]) -> list[str]:
    """The MRR of the model with context by system."""
    heads = [name.removeprefix("model, ").removeprefix("model") or "all" for name in names]
    lines = [f"| MRR by {title} | {' | '.join(heads)} |", "|---|" + "---:|" * len(names)]
    for language, (seeds, _) in pairs.items():
        lines.append(f"| {language} | {' | '.join(shown_mrr(seeds, name) for name in names)} |")
    return lines


def _by_overlap(pairs: Pairs) -> list[str]:
    ends = [*OVERLAPS[1:], 1.0]
    heads = [f"{low:g} to {high:g}" for low, high in zip(OVERLAPS, ends, strict=True)]
    lines = [
        f"| with - without context, by the share of the function's words in its context | {' | '.join(heads)} |",
        "|---|" + "---:|" * len(heads),
    ]
    for language, both in pairs.items():
        of, without = (np.mean([each.systems[OWN].by_overlap for each in seeds], axis=0) for seeds in both)
        counts = both[0][0].overlaps
        cells = [
            f"{gain:+.4f} ({count:,})" if count else ""
            for gain, count in zip((of - without).tolist(), counts, strict=True)
        ]
        lines.append(f"| {language} | {' | '.join(cells)} |")
    return lines
