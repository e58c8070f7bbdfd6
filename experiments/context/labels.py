"""Labels of functions for queries, and the NDCG of runs by them: ``context ndcg`` (Scotch, row K-15).

The file, which ``context annotate`` makes (:mod:`experiments.context.study`), is a CSV with the columns ``Language,
Query, GitHubUrl, Relevance, Notes`` of CodeSearchNet's annotations; its relevance is 0 to 3. A set of queries under
contexts also has ``QueryUrl``, the function that a query is of: the same words under another context are another query.
Language and query are compared in lower case, and several labels of one URL for one query are averaged. NDCG is as
CodeSearchNet's script computes it (Husain et al., arXiv 1909.09436),

    DCG = sum over ranked URLs of (2^relevance - 1) / log2(rank + 1),   NDCG = DCG / DCG of the best order

over the first 300 URLs of a query. Variant ``annotated``: URLs without a label take no rank. Variant ``full``: they do.
Queries without any relevant URL are left out of the mean.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from data_prep.errors import UserError, reason_and_file, unexpected
from data_prep.files.access import check_file_place, named_path
from data_prep.files.text_rows import csv_rows
from data_prep.files.writing import write_atomically
from data_prep.languages.identifiers import query_words
from data_prep.languages.registry import LANGUAGES, language
from data_prep.pipeline.contexts import asked_under, nearest_words, without_contexts
from data_prep.records import CONTEXT_FIELD, Method, Pair
from data_prep.store.split import Split
from evaluation.reading import gain_of
from experiments.context.finished_run import FinishedRun, rows_of_languages, same_pairs, url_of
from experiments.context.measure import LENGTHS
from experiments.context.options import JudgeOptions
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed
from modeling.base import BiEncoder

MOST_RANKED: Final = 300
"""URLs that count for a query."""
HIGHEST: Final = 3
COLUMNS: Final = ("Language", "Query", "GitHubUrl", "Relevance", "Notes")
Variant = Literal["annotated", "full"]
VARIANTS: Final[tuple[Variant, ...]] = ("annotated", "full")


@dataclass(frozen=True, slots=True, order=True)
class LabelledQuery:
    """A query of a set of labels."""

    language: str  # lower case
    query: str  # lower case
    query_url: str = ""  # of the function that it is of, "" if the set does not say


Labels = Mapping[LabelledQuery, Mapping[str, float]]
"""Query -> URL -> relevance, the mean of its labels."""


def read_labels(path: Path) -> Labels:
    """The labels of a CSV file; rows without one do not count.

    Raises:
        UserError: the file is missing, has other columns or a relevance that is no number from 0 to 3, or no labels;
            the message names the line.
    """
    found: dict[LabelledQuery, dict[str, list[float]]] = {}
    rows = 0
    for line, row in _rows(path):
        rows += 1
        if label := row["Relevance"].strip():
            query = LabelledQuery(
                row["Language"].strip().lower(), row["Query"].strip().lower(), row.get("QueryUrl") or ""
            )
            found.setdefault(query, {}).setdefault(row["GitHubUrl"].strip(), []).append(_relevance(label, path, line))
    if not found:
        raise UserError(f"{path} has no labels in its {rows} rows: fill in the column Relevance with 0 to {HIGHEST}")
    return {query: {url: float(np.mean(each)) for url, each in urls.items()} for query, urls in found.items()}


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The number of each line, and its cells by their columns; says what is left out."""
    try:
        yield from csv_rows(path, lambda place, why: say(f"left out {place}: {why}"), COLUMNS)
    except (OSError, UserError) as error:
        expected = f"expected annotations, a CSV file with the columns {', '.join(COLUMNS)}"
        raise UserError(f"{expected}: {reason_and_file(error)}") from error


def _relevance(label: str, path: Path, line: int) -> float:
    try:
        value = float(label)
    except ValueError:
        value = math.nan
    if not 0 <= value <= HIGHEST:
        raise UserError(f"{path}:{line}: expected a relevance from 0 to {HIGHEST}, not {label!r:.40}")
    return value


def ndcg(ranked: Sequence[str], labels: Mapping[str, float], variant: Variant) -> float:
    """The NDCG of one query; NaN if nothing is relevant.

    Args:
        ranked: URLs, best first; those after :data:`MOST_RANKED` do not count.
        labels: URL -> relevance; those that are not ranked count in the best order.
        variant: whether URLs without a label take a rank.
    """
    places = [labels.get(url, 0.0) for url in ranked[:MOST_RANKED] if url in labels or variant == "full"]
    best = gain_of(sorted(labels.values(), reverse=True))
    return gain_of(places) / best if best else math.nan


def mean_ndcg(values: Sequence[float]) -> float:
    """The mean over the queries that have one; NaN if none has."""
    counted = [value for value in values if not math.isnan(value)]
    return float(np.mean(counted)) if counted else math.nan


@dataclass(frozen=True, slots=True)
class Judged:
    """The NDCG of a run: way of asking -> language -> variant -> value."""

    run: str
    model: str
    queries: Mapping[str, int]  # language -> queries that were asked
    left_out: int  # labelled queries of functions that are not in the test split, or of other languages
    values: Mapping[str, Mapping[str, Mapping[str, float]]]


def judge(arguments: Sequence[str]) -> None:
    """Print the NDCG of finished runs on labels from a file.

    Raises:
        UserError: no run or no file is named, a run is not finished, or no labelled query can be asked.
    """
    words, options = parsed(arguments, JudgeOptions)
    if not words or not options.annotations:
        raise unexpected("runs and labels: bash run.sh context ndcg RUN_DIR [...] --annotations=FILE.csv", words)
    if options.save:
        check_file_place(named_path(options.save), "--save")
    labels = read_labels(named_path(options.annotations))
    found = []
    for run in same_pairs([FinishedRun.of(Path(word)) for word in words]):
        found.append(judged(run, labels))
        show(_page(found[-1]))
    if options.save:
        path = named_path(options.save)
        write_atomically(path, json.dumps([asdict(each) for each in found], indent=1) + "\n")
        say(f"wrote {path}")


def judged(run: FinishedRun, labels: Labels) -> Judged:
    """Rank all test functions of a query's language for each labelled query.

    Raises:
        UserError: no labelled query can be asked, or the model has no vectors.
    """
    if not isinstance(run.ranker.model, BiEncoder):
        raise UserError(f"{run.plan.model_name} has no vectors: take a model with one vector a side")
    urls = [url_of(run.split.text(row), run.plan.dataset) for row in range(len(run.split))]
    places, codes = {url: row for row, url in enumerate(urls)}, run.ranker.vectors(run.split, "code")
    queries: dict[str, int] = {}
    values: dict[str, dict[str, dict[str, float]]] = {}
    for name, rows in rows_of_languages(run.split).items():
        asked = [each for each in labels if each.language == name and (not each.query_url or each.query_url in places)]
        if not asked:
            continue
        queries[name], relevance = len(asked), [labels[each] for each in asked]
        for way, split in _ways(_questions(run.split, asked, places)):
            order = np.argsort(-(run.ranker.vectors(split, "query") @ codes[rows].T), axis=1, kind="stable")
            ranked = [[urls[row] for row in rows[first[:MOST_RANKED]]] for first in order]
            values.setdefault(way, {})[name] = {
                variant: mean_ndcg([ndcg(*each, variant) for each in zip(ranked, relevance, strict=True)])
                for variant in VARIANTS
            }
    if not queries:
        raise UserError("no labelled query is of a function of these test pairs, or of their languages")
    return Judged(run.path.name, run.plan.model_name, queries, len(labels) - sum(queries.values()), values)


def _questions(split: Split, asked: Sequence[LabelledQuery], places: Mapping[str, int]) -> Split:
    """The labelled queries: those of a function under its context; if one is of none, all as typed without context."""
    if all(each.query_url for each in asked):
        return split.take(np.array([places[each.query_url] for each in asked], np.int64))
    pairs = []
    for each in asked:
        path = f"query{language(each.language).suffixes[0]}" if each.language in LANGUAGES else "query"
        method = Method("", path, 1, 1, "", "", "method", "", "", {})
        pairs.append(Pair(method, each.query, query_words(each.query)))
    return asked_under(Split.of("queries", pairs), [""] * len(asked), longest=1, lines=True)


def _ways(split: Split) -> Iterator[tuple[str, Split]]:
    """The queries with their contexts, and with fewer words of them."""
    yield "its context", split
    if CONTEXT_FIELD in split.words:
        yield "no context", without_contexts(split)
        for longest in LENGTHS:
            yield f"nearest {longest} context words", nearest_words(split, longest)


def _page(found: Judged) -> str:
    """The values, for display."""
    lines = [f"{found.run} ({found.model}): {found.queries} queries; {found.left_out} labelled ones were not asked"]
    for way, languages in found.values.items():
        for name, variants in languages.items():
            numbers = ", ".join(f"{variant} {value:.4f}" for variant, value in variants.items())
            lines.append(f"  {way:28} {name:12} NDCG {numbers}")
    return "\n".join(lines)
