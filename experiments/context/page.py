"""The page of all saved tests with contexts, ``scotch.md``, and its pictures.

``bash run.sh table`` writes them with all others; ``context table`` writes them alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.writing import write_atomically
from data_prep.pipeline.contexts import PARTS
from evaluation.result_store import ResultStore
from evaluation.tables import SCOTCH
from experiments.context.gains import (
    GAINS,
    SPLITS,
    WITH,
    WITHOUT_CONTEXT,
    System,
    both_splits,
    difference_cell,
    gains,
    have_both,
    mrr_cells,
    pictures,
    title_of,
    trees_in_turn,
)
from experiments.context.measure import (
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
from experiments.context.results import (
    ALL,
    OVERLAPS,
    ContextResult,
    Key,
    Pairs,
    load_results,
    mean_mrr,
    paired,
)
from experiments.recipes.results_folder import RESULTS
from experiments.tables.comparison_tables import table_lines
from experiments.terminal.console import say

FOLDER: Final = "context"
NAME: Final = "scotch"
"""Of the page."""
_CONVENTIONS: Final = (
    "Each test query is ranked over the functions of its pool, ties against it; pools are drawn at random, and the "
    "last is padded with functions of others. Means over seeds. Intervals are 95 %, over seeds of training and over "
    "whole repositories; with one seed there is none. BM25 reads the query, or with it the rarest words of its "
    "context; tuned: with settings chosen on validation pairs of the JDK. The weight of a fusion is chosen on "
    "validation pairs. A language with fewer test pairs than a pool has is one pool of all. Intervals of the tables "
    "are not adjusted for their number. The results have no times, so no cost is stated."
)
_MEANS: Final[Mapping[str, System]] = {
    "without context": WITHOUT_CONTEXT,
    "with context": WITH,
    "other contexts": (0, OTHERS),
    "same repository": (0, NEIGHBOURS),
    "left out": (0, NONE),
    "BM25": (0, BM25),
    "BM25 + own": (0, BM25_OWN),
    "BM25 + other": (0, BM25_OTHERS),
    "BM25, tuned": (0, BM25_TUNED),
    "fused with BM25": (0, FUSED),
    "without, fused with tuned BM25": (1, FUSED_TUNED),
    "fused with tuned BM25": (0, FUSED_TUNED),
}
_DIFFERENCES: Final[Mapping[str, tuple[System, System]]] = {
    **GAINS,
    "other contexts - without": ((0, OTHERS), WITHOUT_CONTEXT),
    "same repository's - without": ((0, NEIGHBOURS), WITHOUT_CONTEXT),
    "own - other contexts": (WITH, (0, OTHERS)),
    "own - same repository's": (WITH, (0, NEIGHBOURS)),
    "context left out - without": ((0, NONE), WITHOUT_CONTEXT),
    "BM25 + own - BM25": ((0, BM25_OWN), (0, BM25)),
    "with context - BM25": (WITH, (0, BM25)),
    "with context - tuned BM25": (WITH, (0, BM25_TUNED)),
    "fused - BM25": ((0, FUSED), (0, BM25)),
    "fused with tuned BM25 - tuned BM25": ((0, FUSED_TUNED), (0, BM25_TUNED)),
}


def table(arguments: Sequence[str]) -> None:
    """Write the page and its pictures.

    Raises:
        UserError: there are words or options, or no results, or one is damaged.
    """
    if arguments:
        raise UserError("bash run.sh context table takes no words or options")
    ResultStore(RESULTS / FOLDER).fold()
    results = load_results(RESULTS / FOLDER)
    if not results:
        raise UserError(f"expected results in {RESULTS / FOLDER}: bash run.sh context RUN_DIR --save=DIR makes them")
    written = {f"{NAME}.md": page(results).encode(), **pictures(results)}
    for name, content in written.items():
        write_atomically(RESULTS / name, content)
    say(f"wrote {', '.join(written)}")


def page(results: Sequence[ContextResult]) -> str:
    """Tables of all results, with the published numbers beside; "" without results."""
    if not results:
        return ""
    found = paired(results)
    whole, valid = (
        {key: pairs for key, pairs in sorted(each.items()) if key[1] in SPLITS}
        for each in (found, paired(results, "valid"))
    )
    parts = [gains(whole), [_CONVENTIONS]]
    for key, pairs in whole.items():
        parts += _section(key, pairs)
    parts += [both_splits(whole), _words_by_validation(valid), trees_in_turn(found), [SCOTCH]]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _section(key: Key, pairs: Pairs) -> Iterator[list[str]]:
    """The tables of one key, each as lines."""
    *_, of_all, train, _ = key
    seeds = "; ".join(f"{name} {', '.join(str(each.train_seed) for each in own)}" for name, (own, _) in pairs.items())
    yield [
        f"## {title_of(key)}",
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
        if all(names[1] in with_context[0].systems for with_context, _ in pairs.values()):
            yield _by_system(pairs, title, names)
            yield _minus_none(pairs, title, [name for name in names if name != NONE])
    yield _by_overlap(pairs)


def _means_of(rows: Mapping[str, Sequence[float | None]]) -> list[float | None] | None:
    """The mean of each column over the languages but that of all mixed; None: there are not several."""
    apart = [values for language, values in rows.items() if language != ALL]
    columns = zip(*apart, strict=True)
    return [None if None in each else float(np.mean(each)) for each in columns] if len(apart) > 1 else None


def _means(pairs: Pairs) -> list[str]:
    tested = {name for both in pairs.values() for seeds in both for each in seeds for name in each.systems}
    columns = {title: each for title, each in _MEANS.items() if each[1] in tested}
    values = {
        language: [mean_mrr(both[side], system) for side, system in columns.values()]
        for language, both in pairs.items()
    }
    rows = {}
    for language, ((one, *_), _) in pairs.items():
        sizes = (f"{one.queries:,}", f"{len(one.repositories)}", f"{one.pool:,}", f"{one.padded:,}")
        rows[language] = [*sizes, *mrr_cells(values[language])]
    if means := _means_of(values):
        rows["mean of languages"] = ["", "", "", "", *mrr_cells(means)]
    return table_lines(["MRR", "queries", "repositories", "pool", "padded", *columns], rows)


def _as_published(pairs: Pairs) -> list[str]:
    """MRR by the published convention, in which the last pool is smaller, of the results that have it."""
    columns = {title: _MEANS[title] for title in ("without context", "with context", "BM25, tuned")}
    values: dict[str, list[float | None]] = {}
    for language, both in pairs.items():
        means = [mean_mrr(both[side], system, as_published=True) for side, system in columns.values()]
        if None not in means:
            values[language] = means
    rows = {language: mrr_cells(each) for language, each in values.items()}
    if over_languages := _means_of(values):
        rows["mean of languages"] = mrr_cells(over_languages)
    return table_lines(["MRR, the last pool smaller, as published", *columns], rows)


def _differences(pairs: Pairs) -> list[str]:
    columns = {title: sides for title, sides in _DIFFERENCES.items() if have_both(pairs.values(), sides)}
    rows = {
        language: [difference_cell([both], *sides) for sides in columns.values()]
        for language, both in pairs.items() if len(both[0][0].repositories) > 1
    }  # fmt: skip
    apart = [both for language, both in pairs.items() if language != ALL]
    if len(apart) > 1:
        rows["mean of languages"] = [difference_cell(apart, *sides) for sides in columns.values()]
    return table_lines(["difference of MRR", *columns], rows)


def _by_system(pairs: Pairs, title: str, names: Sequence[str], means: Sequence[float] = ()) -> list[str]:
    """The MRR of the model with context by system; ``means``: over languages, for a last row."""
    heads = [*map(_short, names)]
    rows = {language: mrr_cells([mean_mrr(seeds, name) for name in names]) for language, (seeds, _) in pairs.items()}
    if means:
        rows["mean of languages"] = mrr_cells(means)
    return table_lines([f"MRR by {title}", *heads], rows)


def _minus_none(pairs: Pairs, title: str, names: Sequence[str]) -> list[str]:
    """The MRR of the model with context by system, minus that where contexts are left out."""
    rows = {
        language: [difference_cell([both], (0, name), (0, NONE)) for name in names]
        for language, both in pairs.items()
        if len(both[0][0].repositories) > 1 and all(have_both([both], ((0, name), (0, NONE))) for name in names)
    }
    return table_lines([f"MRR by {title}, minus that of contexts left out", *map(_short, names)], rows)


def _short(name: str) -> str:
    """The name of a system of the model, without the model."""
    return name.removeprefix("model, ").removeprefix("model") or "all"


def _by_overlap(pairs: Pairs) -> list[str]:
    heads = [f"{low:g} to {high:g}" for low, high in zip(OVERLAPS, [*OVERLAPS[1:], 1.0], strict=True)]
    rows = {}
    for language, both in pairs.items():
        of, without = (np.mean([each.systems[OWN].by_overlap for each in seeds], axis=0) for seeds in both)
        gains = zip((of - without).tolist(), both[0][0].overlaps, strict=True)
        rows[language] = [f"{gain:+.4f} ({count:,})" if count else "" for gain, count in gains]
    return table_lines(["with - without context, by the share of the function's words in its context", *heads], rows)


def _words_by_validation(found: Mapping[Key, Pairs]) -> list[str]:
    """MRR on validation pairs by the number of words of a context, and the best number in the mean over languages."""
    names = [NONE, *map(shortened, LENGTHS), OWN]
    lines = []
    for (dataset, split, model, _, train, pool), pairs in found.items():
        tested = {language: both for language, both in pairs.items() if names[1] in both[0][0].systems}
        if tested:
            apart = [seeds for language, (seeds, _) in tested.items() if language != ALL] or [tested[ALL][0]]
            means = [float(np.mean([mean_mrr(each, name) or 0.0 for each in apart])) for name in names]
            what = f"{dataset} by {SPLITS[split]}, {model}, {train:,} training pairs, pools of {pool:,}"
            words = "all" if (best := names[int(np.argmax(means))]) == OWN else best.removeprefix("model, ")
            lines += ["", *_by_system(tested, f"words, {what}", names, means), "", f"Best in the mean: {words}."]
    return ["## Number of context words, on validation pairs", *lines] if lines else []
