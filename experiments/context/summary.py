"""The page of saved results with contexts: ``context table`` writes ``experiments/results/scotch.md`` and pictures."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from data_prep.corpus.context_parts import PARTS
from data_prep.files.atomic import write_atomically
from evaluation import published_scotch as published
from evaluation.run_comparison import RunDifference
from experiments.context.differences import Seeds, difference, macro_difference, mean_interval
from experiments.context.pictures import length_picture, recall_picture
from experiments.context.results import OVERLAPS, ContextResult, load_results
from experiments.context.systems import (
    BM25,
    BM25_OTHERS,
    BM25_OWN,
    FUSED,
    LENGTHS,
    NEIGHBOURS,
    NONE,
    OTHERS,
    OWN,
    part_name,
    shortened,
)
from recipes.config import REPOSITORY
from terminal.console import say

RESULTS: Final = REPOSITORY / "experiments" / "results"
FOLDER: Final = "context"
WITHOUT: Final = "_no_context"
_SPLITS: Final = ("repo", "random")
_MIXED: Final = "all"
_PAGE: Final = "scotch"

Key = tuple[str, str, str, int, int]
"""Data set, --data.split, model with context, training pairs, pool."""
Pairs = Mapping[str, tuple[Seeds, Seeds]]
"""Language -> results with context, results without."""


def table(arguments: Sequence[str]) -> None:
    """Write the page and its pictures.

    Raises:
        ValueError: there are words or options, or no results, or one is damaged.
    """
    if arguments:
        raise ValueError("bash run.sh context table takes no words or options")
    results = load_results(RESULTS / FOLDER)
    if not results:
        raise ValueError(
            f"expected results in {RESULTS / FOLDER}: bash run.sh context RUN_DIR --save={FOLDER} makes them"
        )
    written = {f"{_PAGE}.md": page(results).encode(), **pictures(results)}
    for name, content in written.items():
        write_atomically(RESULTS / name, content)
    say(f"wrote {', '.join(written)}")


def paired(results: Sequence[ContextResult]) -> Mapping[Key, Pairs]:
    """The results of each model with context beside those of the same model without, on the same pairs."""
    groups: dict[tuple[Key, str], list[ContextResult]] = {}
    for each in sorted(results, key=lambda each: each.train_seed):
        key = (each.dataset, each.data_split, each.model, each.train_pairs, each.pool)
        groups.setdefault((key, each.language), []).append(each)
    found: dict[Key, dict[str, tuple[Seeds, Seeds]]] = {}
    for (key, language), seeds in groups.items():
        without = groups.get(((key[0], key[1], key[2] + WITHOUT, *key[3:]), language))
        if without:
            found.setdefault(key, {})[language] = seeds, without
    return found


def page(results: Sequence[ContextResult]) -> str:
    """Tables of all results, with the published numbers beside."""
    whole = {key: pairs for key, pairs in paired(results).items() if key[1] in _SPLITS}
    parts = ["# Scotch: what the text above a function brings", _conventions()]
    for key, pairs in sorted(whole.items()):
        parts += ["\n".join(lines) for lines in _sections(key, pairs)]
    parts += ["\n".join(lines) for lines in (_turns(paired(results)), _published()) if lines]
    return "\n\n".join(parts) + "\n"


def pictures(results: Sequence[ContextResult]) -> Mapping[str, bytes]:
    """The pictures by file name: of each data set split by repository, its largest pools."""
    found = {}
    for key, pairs in sorted(paired(results).items()):
        dataset, split, model, _, pool = key
        if split == "repo":
            found[f"scotch-{dataset}-{model}-recall.png"] = recall_picture(pairs, pool)
            ablated = {name: each for name, (each, _) in pairs.items() if shortened(LENGTHS[0]) in each[0].systems}
            if ablated:
                found[f"scotch-{dataset}-{model}-length.png"] = length_picture(ablated, pool)
    return found


def _conventions() -> str:
    return (
        "Each test query is ranked over the functions of its pool, ties against it; pools are drawn at random, and the "
        "last is padded with functions of others. Means over seeds. Intervals are 95 %, over seeds of training and "
        "over whole repositories; with one seed there is none. BM25 reads the query, or with it "
        "the rarest words of its context. The weight of a fusion is chosen on validation pairs."
    )


def _sections(key: Key, pairs: Pairs) -> Iterator[list[str]]:
    dataset, split, model, train, pool = key
    yield [
        f"## {dataset}, split by {'repository' if split == 'repo' else 'chance'}: {model}, pools of {pool:,}",
        "",
        f"Trained on {train:,} pairs of the language of each row; seeds "
        + "; ".join(
            f"{language} {', '.join(str(each.train_seed) for each in both[0])}" for language, both in pairs.items()
        )
        + ". Parts of the context and numbers of its words: of the seeds that were tested so.",
    ]
    yield _means(pairs)
    yield _differences(pairs)
    for title, names in (
        ("part of the context", [OWN, *map(part_name, PARTS[1:]), NONE]),
        ("context words", [NONE, *map(shortened, LENGTHS), OWN]),
    ):
        if all(names[1] in seeds[0].systems for seeds, _ in pairs.values()):
            yield _by_system(pairs, title, names)
    yield _by_overlap(pairs)


def _means(pairs: Pairs) -> list[str]:
    columns: Mapping[str, tuple[int, str]] = {
        "without context": (1, OWN),
        "with context": (0, OWN),
        "other contexts": (0, OTHERS),
        "same repository": (0, NEIGHBOURS),
        "left out": (0, NONE),
        "BM25": (0, BM25),
        "BM25 + own": (0, BM25_OWN),
        "BM25 + other": (0, BM25_OTHERS),
        "fused with BM25": (0, FUSED),
    }
    lines = [
        f"| MRR | queries | repositories | padded | {' | '.join(columns)} |",
        "|---|" + "---:|" * (len(columns) + 3),
    ]
    for language, both in pairs.items():
        first = both[0][0]
        cells = [f"{_mrr(both[side], system):.4f}" for side, system in columns.values()]
        lines.append(
            f"| {language} | {first.queries:,} | {len(first.repositories)} | {first.padded:,} | {' | '.join(cells)} |"
        )
    return lines


def _mrr(seeds: Seeds, system: str) -> float:
    return float(np.mean([each.mrr(system) for each in seeds if system in each.systems]))


_COMPARED: Final[Mapping[str, tuple[int, str, int, str]]] = {
    "with - without context": (0, OWN, 1, OWN),
    "own - other contexts": (0, OWN, 0, OTHERS),
    "own - same repository's": (0, OWN, 0, NEIGHBOURS),
    "context left out - without": (0, NONE, 1, OWN),
    "with context - BM25": (0, OWN, 0, BM25),
    "fused - BM25": (0, FUSED, 0, BM25),
}
"""Title -> side of the pair (0: with context) and system, minus side and system."""


def _differences(pairs: Pairs) -> list[str]:
    lines = [f"| difference of MRR | {' | '.join(_COMPARED)} |", "|---|" + "---:|" * len(_COMPARED)]
    apart = {name: both for name, both in pairs.items() if name != _MIXED}

    for name, both in pairs.items():
        if len(both[0][0].repositories) > 1:
            cells = [_cell(difference(both[i], of, both[j], against)) for i, of, j, against in _COMPARED.values()]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    if len(apart) > 1:
        sides = [[both[side] for both in apart.values()] for side in (0, 1)]
        cells = [_cell(macro_difference(sides[i], of, sides[j], against)) for i, of, j, against in _COMPARED.values()]
        lines.append(f"| mean of languages | {' | '.join(cells)} |")
    return lines


def _cell(found: RunDifference) -> str:
    if math.isnan(found.low):
        return f"{found.mean:+.4f}"
    return f"{found.mean:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def _by_system(pairs: Pairs, title: str, names: Sequence[str]) -> list[str]:
    heads = [name.removeprefix("model, ").removeprefix("model") or "all" for name in names]
    lines = [f"| MRR by {title} | {' | '.join(heads)} |", "|---|" + "---:|" * len(names)]
    for language, (seeds, _) in pairs.items():
        lines.append(f"| {language} | {' | '.join(f'{_mrr(seeds, name):.4f}' for name in names)} |")
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


def _turns(found: Mapping[Key, Pairs]) -> list[str]:
    """The gain on each source tree that was left out of training, and its mean over trees."""
    rows: dict[tuple[str, str, int], dict[str, float]] = {}
    for (_, tree, model, _, pool), pairs in sorted(found.items()):
        if tree not in _SPLITS:
            for language, (seeds, without) in pairs.items():
                rows.setdefault((model, language, pool), {})[tree] = _mrr(seeds, OWN) - _mrr(without, OWN)
    if not rows:
        return []
    lines = ["## Each source tree left out in turn: MRR with - without context", ""]
    for (model, language, pool), gains in rows.items():
        mean, low, high = mean_interval([*gains.values()])
        each = ", ".join(f"{tree} {gain:+.4f}" for tree, gain in gains.items())
        interval = "" if math.isnan(low) else f" ({low:+.4f} to {high:+.4f} over trees)"
        lines.append(f"- {model}, {language}, pools of {pool:,}: mean {mean:+.4f}{interval}; {each}")
    return lines


def _published() -> list[str]:
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
