"""Builds a set of queries and functions to be labelled from two runs (Scotch, row K-15): ``context annotate``.

For a sample of test queries of each language, the first functions of both runs over all test functions of the language,
without duplicates and in random order, as a CSV file in CodeSearchNet's form with the context and the code beside.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Int64

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.named_paths import named_path
from evaluation.annotations import COLUMNS, QUERY_URL
from experiments.context.encoded_pairs import model_scores
from experiments.context.loaded_runs import LoadedRun, rows_of_languages, same_pairs, url_of
from experiments.context.options import AnnotateOptions
from experiments.context.pools import Pool
from experiments.terminal.console import say
from experiments.terminal.options import parsed

CONTEXT_LINES: Final = 40
"""Lines of a context that are shown, its last."""
_HEAD: Final = (*COLUMNS, QUERY_URL, "Context", "Code")


def annotate(arguments: Sequence[str]) -> None:
    """Write a set to be labelled.

    Raises:
        UserError: there are not two finished runs of the same data, or the file exists.
    """
    words, options = parsed(arguments, AnnotateOptions)
    if len(words) != 2 or not options.out:
        raise UserError("expected two runs and a file: bash run.sh context annotate RUN_DIR RUN_DIR --out=FILE.csv")
    out = named_path(options.out)
    if out.exists():
        raise UserError(f"--out={out} exists, perhaps with labels: name a new file")
    runs = same_pairs([LoadedRun.of(Path(word)) for word in words])
    rows = [*rows_to_label(runs, options)]
    write_atomically(out, as_csv(rows))
    say(f"{out}: {len(rows):,} functions for {len({row[QUERY_URL] for row in rows}):,} queries; label them with 0 to 3")


def rows_to_label(runs: Sequence[LoadedRun], options: AnnotateOptions) -> Iterator[Mapping[str, str]]:
    """The rows of the file: of each language a sample of queries, of each query the first functions of all runs."""
    split, dataset = runs[0].split, runs[0].plan.dataset
    random = np.random.default_rng(options.seed)
    for language, rows in rows_of_languages(split).items():
        asked = sampled(rows, options.queries, random)
        firsts = [first_rows(run, asked, rows, options.top) for run in runs]
        found = {int(row): joined_rows([[*first[at]] for first in firsts]) for at, row in enumerate(asked)}
        shown = runs[0].triples([*found, *(row for each in found.values() for row in each)])
        for query, candidates in found.items():
            for row in random.permutation(candidates).tolist():
                yield {
                    "Language": language,
                    "Query": split.text(query).query_text,
                    "GitHubUrl": url_of(split.text(row), dataset),
                    "Relevance": "",
                    "Notes": "",
                    QUERY_URL: url_of(split.text(query), dataset),
                    "Context": "\n".join(shown[query].context.splitlines()[-CONTEXT_LINES:]),
                    "Code": shown[row].function,
                }


def sampled(rows: Int64[np.ndarray, " rows"], most: int, random: np.random.Generator) -> Int64[np.ndarray, " some"]:
    """At most ``most`` of ``rows``, drawn without replacement, in order."""
    return np.sort(random.choice(rows, min(most, len(rows)), replace=False))


def first_rows(
    run: LoadedRun, asked: Int64[np.ndarray, " queries"], among: Int64[np.ndarray, " rows"], top: int
) -> Int64[np.ndarray, "queries top"]:
    """The rows of the first ``top`` functions of ``among`` for each of the queries ``asked``, which are among them."""
    others = np.setdiff1d(among, asked)
    pool = Pool(np.concatenate([asked, others]), len(asked))
    scores = model_scores(run.ranker, run.split)(run.split)(pool)
    return pool.rows[np.argsort(-scores, axis=1, kind="stable")[:, :top]]


def joined_rows(lists: Iterable[Sequence[int]]) -> list[int]:
    """The distinct rows of all lists, in the order of their first occurrence."""
    return [*dict.fromkeys(int(row) for rows in lists for row in rows)]


def as_csv(rows: Iterable[Mapping[str, str]]) -> str:
    """The file's text."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _HEAD, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
