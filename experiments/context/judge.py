"""NDCG of runs on labels from a file, also by the length of the context: ``context ndcg``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.named_paths import named_path
from data_prep.languages.java.javadoc import query_words
from data_prep.languages.registry import LANGUAGES, language
from data_prep.pipeline.contexts import CONTEXT_FIELD, asked_under, nearest_words, without_contexts
from data_prep.records import Method, Pair
from data_prep.store.prepared_data import Split
from evaluation.annotations import (
    MOST_RANKED,
    VARIANTS,
    AnnotatedQuery,
    AnnotatedSet,
    mean_ndcg,
    ndcg,
    read_annotations,
)
from experiments.context.encoded_pairs import code_vectors, query_vectors
from experiments.context.loaded_runs import LoadedRun, rows_of_languages, same_pairs, url_of
from experiments.context.options import JudgeOptions
from experiments.context.systems import LENGTHS
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed
from modeling.bi_encoder import BiEncoder

_OWN: Final = "its context"


def judge(arguments: Sequence[str]) -> None:
    """Print the NDCG of finished runs on labels from a file.

    Raises:
        UserError: no run or no file is named, a run is not finished, or no labelled query can be asked.
    """
    words, options = parsed(arguments, JudgeOptions)
    if not words or not options.annotations:
        raise UserError("expected runs and labels: bash run.sh context ndcg RUN_DIR [...] --annotations=FILE.csv")
    labels = read_annotations(named_path(options.annotations))
    found = []
    for run in same_pairs([LoadedRun.of(Path(word)) for word in words]):
        found.append(judged(run, labels))
        show(page_of(found[-1]))
    if options.save:
        path = named_path(options.save)
        write_atomically(path, json.dumps([each.as_dict() for each in found], indent=1) + "\n")
        say(f"wrote {path}")


@dataclass(frozen=True, slots=True)
class Judged:
    """The NDCG of a run: way of asking -> language -> variant -> value."""

    run: str
    model: str
    queries: Mapping[str, int]  # language -> queries that were asked
    left_out: int  # labelled queries of functions that are not in the test split, or of other languages
    values: Mapping[str, Mapping[str, Mapping[str, float]]]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def judged(run: LoadedRun, labels: AnnotatedSet) -> Judged:
    """Rank all test functions of a query's language for each labelled query.

    Raises:
        UserError: no labelled query can be asked, or the model has no vectors.
    """
    if not isinstance(run.ranker.model, BiEncoder):
        raise UserError(f"{run.plan.model_name} has no vectors: take a model with one vector a side")
    places = {url_of(run.split.text(row), run.plan.dataset): row for row in range(len(run.split))}
    urls, codes = [*places], code_vectors(run.ranker, run.split)
    queries: dict[str, int] = {}
    values: dict[str, dict[str, dict[str, float]]] = {}
    for name, rows in rows_of_languages(run.split).items():
        asked = [each for each in labels.labels if each.language == name and _can_be_asked(each, places)]
        if not asked:
            continue
        queries[name] = len(asked)
        for way, split in _ways(_questions(run.split, asked, places)):
            order = np.argsort(-(query_vectors(run.ranker, split) @ codes[rows].T), axis=1, kind="stable")
            ranked = [[urls[row] for row in rows[first[: _needed(len(first))]]] for first in order]
            each = values.setdefault(way, {}).setdefault(name, {})
            for variant in VARIANTS:
                pairs = zip(ranked, asked, strict=True)
                each[variant] = mean_ndcg([ndcg(found, labels.labels[query], variant) for found, query in pairs])
    if not queries:
        raise UserError("no labelled query is of a function of these test pairs, or of their languages")
    left_out = len(labels.labels) - sum(queries.values())
    return Judged(run.path.name, run.plan.model_name, queries, left_out, values)


def _needed(functions: int) -> int:
    return min(functions, MOST_RANKED)


def _can_be_asked(query: AnnotatedQuery, places: Mapping[str, int]) -> bool:
    return not query.query_url or query.query_url in places


def _questions(split: Split, asked: Sequence[AnnotatedQuery], places: Mapping[str, int]) -> Split:
    """The labelled queries: those of a function under its context; if one is of none, all as typed without context."""
    if all(each.query_url for each in asked):
        return split.take(np.array([places[each.query_url] for each in asked], np.int64))
    return asked_under(typed_split(asked), [""] * len(asked), longest=1, lines=True)


def typed_split(asked: Sequence[AnnotatedQuery]) -> Split:
    """Queries without a function."""
    pairs = []
    for each in asked:
        path = f"query{language(each.language).suffixes[0]}" if each.language in LANGUAGES else "query"
        method = Method("", path, 1, 1, "", "", "method", "", "", {})
        pairs.append(Pair(method, each.query, query_words(each.query)))
    return Split.of("queries", pairs)


def _ways(split: Split) -> Iterator[tuple[str, Split]]:
    """The queries with their contexts, and with fewer words of them."""
    yield _OWN, split
    if CONTEXT_FIELD in split.words:
        yield "no context", without_contexts(split)
        for longest in LENGTHS:
            yield f"nearest {longest} context words", nearest_words(split, longest)


def page_of(found: Judged) -> str:
    """The values, for display."""
    lines = [f"{found.run} ({found.model}): {found.queries} queries; {found.left_out} labelled ones were not asked"]
    for way, languages in found.values.items():
        for name, variants in languages.items():
            numbers = ", ".join(f"{variant} {value:.4f}" for variant, value in variants.items())
            lines.append(f"  {way:28} {name:12} NDCG {numbers}")
    return "\n".join(lines)
