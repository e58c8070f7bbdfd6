"""NDCG with graded labels from a file, as CodeSearchNet's script computes it (Husain et al., arXiv 1909.09436).

The file is a CSV with the columns ``Language, Query, GitHubUrl, Relevance, Notes`` of CodeSearchNet's annotations; its
relevance is 0 to 3. A set of queries under contexts also has ``QueryUrl``, the function that a query is of: the same
words under another context are another query. Language and query are compared in lower case, and several labels of one
URL for one query are averaged.

    DCG = sum over ranked URLs of (2^relevance - 1) / log2(rank + 1),   NDCG = DCG / DCG of the best order

over the first 300 URLs of a query. Variant ``annotated``: URLs without a label take no rank. Variant ``full``: they do.
Queries without any relevant URL are left out of the mean.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from data_prep.errors import UserError
from data_prep.files.reading import read_whole

MOST_RANKED: Final = 300
"""URLs that count for a query."""
HIGHEST: Final = 3
COLUMNS: Final = ("Language", "Query", "GitHubUrl", "Relevance", "Notes")
QUERY_URL: Final = "QueryUrl"
Variant = Literal["annotated", "full"]
VARIANTS: Final[tuple[Variant, ...]] = ("annotated", "full")


@dataclass(frozen=True, slots=True, order=True)
class AnnotatedQuery:
    """A query of an annotated set."""

    language: str  # lower case
    query: str  # lower case
    query_url: str = ""  # of the function that it is of, "" if the set does not say


Annotations = Mapping[AnnotatedQuery, Mapping[str, float]]
"""Query -> URL -> relevance, the mean of its labels."""


@dataclass(frozen=True, slots=True)
class AnnotatedSet:
    """A read file."""

    labels: Annotations
    rows: int
    unlabelled: int  # rows without a label, which do not count


def read_annotations(path: Path) -> AnnotatedSet:
    """The labels of a CSV file.

    Raises:
        UserError: the file is missing, has other columns or a relevance that is no number from 0 to 3, or no labels;
            the message names the line.
    """
    found: dict[AnnotatedQuery, dict[str, list[float]]] = {}
    rows = unlabelled = 0
    for line, row in _rows(path):
        rows += 1
        label = (row["Relevance"] or "").strip()
        if not label:
            unlabelled += 1
            continue
        query = AnnotatedQuery(row["Language"].strip().lower(), row["Query"].strip().lower(), row.get(QUERY_URL) or "")
        found.setdefault(query, {}).setdefault(row["GitHubUrl"].strip(), []).append(_relevance(label, path, line))
    if not found:
        raise UserError(f"{path} has no labels in its {rows} rows: fill in the column Relevance with 0 to {HIGHEST}")
    labels = {query: {url: float(np.mean(each)) for url, each in urls.items()} for query, urls in found.items()}
    return AnnotatedSet(labels, rows, unlabelled)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    try:
        text = read_whole(path).decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise UserError(f"it lacks the columns {', '.join(missing)}")
        for row in reader:
            if None in row or None in row.values():
                raise UserError(f"line {reader.line_num} has another number of columns than the first")
            yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error, UserError) as error:
        expected = f"expected annotations, a CSV file with the columns {', '.join(COLUMNS)}"
        raise UserError(f"{expected}, in {path}: {error}") from error


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
    gained, rank = 0.0, 1
    for url in ranked[:MOST_RANKED]:
        if url in labels:
            gained += _gain(labels[url]) / math.log2(rank + 1)
        if url in labels or variant == "full":
            rank += 1
    best = sum(_gain(each) / math.log2(at + 1) for at, each in enumerate(sorted(labels.values(), reverse=True), 1))
    return gained / best if best else math.nan


def _gain(relevance: float) -> float:
    return 2.0**relevance - 1


def mean_ndcg(values: Sequence[float]) -> float:
    """The mean over the queries that have one; NaN if none has."""
    counted = [value for value in values if not math.isnan(value)]
    return float(np.mean(counted)) if counted else math.nan
