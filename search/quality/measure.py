"""The search measured by questions: the loop over those made from the code of a folder, and all results as text.

Every method and type of the folder is ranked. Queries from first sentences of comments are asked with all comments
hidden; queries from ``@return`` are asked with first sentences searchable.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np
from jaxtyping import Int64
from tqdm import tqdm

from data_prep.errors import UserError, one_line
from data_prep.languages.registry import language_of
from data_prep.pipeline.shards import CorpusFile
from data_prep.store.split import PairText, Texts
from evaluation.metrics import Measures, exact, short_columns
from evaluation.significance import Difference, compare
from search.engine.engine import Engine
from search.engine.question import RankingSettings
from search.engine.signals import Reranker, Retriever
from search.index.code_index import Index
from search.quality.questions import Questions, exchanged
from search.quality.typed_queries import ALL
from search.retrieval.word_index import WEIGHTS, Bm25Index

BASE: Final = "bm25"
FAILED: Final = 0.5
"""NDCG@10 below which a query is listed as failed."""
_ASKED: Final[Mapping[str, str]] = {
    "comment": "methods whose comment became a query",
    "return": "methods whose @return became a query",
    "member": "methods whose type's name and comment became a query",
    "name": "methods and types whose name became a query",
    "file": "functions whose comment became a query under the text above it in its file",
    "call": "functions whose comment became a query under the text above its first call in another file",
    "snippet": "first halves of functions' bodies",
    "namesake": "functions' bodies that functions of the same name in other files answer",
    "trace": "stack traces whose innermost function answers",
}
"""The values of ``--ask`` and ``--under`` in words."""

Question = TypeVar("Question")
Ranks = Mapping[str, tuple[int, bool | float]]
"""Configuration of the search -> rank of what answers, and whether it is a candidate (NaN: not looked up)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A configuration of the search, and its results."""

    name: str
    ranks: Int64[np.ndarray, " queries"]
    measures: Measures
    lead: Difference | None  # of its reciprocal ranks from those it is compared with; None: it is compared with none
    listed: float  # share of the queries whose answer is among the candidates; NaN: not measured


def measured(
    questions: Iterable[Question],
    ranks_of: Callable[[Question], Ranks],
    what: str,
    base: Mapping[str, str] | None = None,
) -> list[Measured]:
    """The results of all configurations of the search over the same questions.

    Args:
        questions: in order.
        ranks_of: what each configuration reaches on a question.
        what: is asked, for the progress bar.
        base: configuration -> the one that it is compared with; None: the first, for all others.
    """
    each = [ranks_of(question) for question in tqdm([*questions], desc=what, disable=None)]
    ranks = {name: np.array([own[name][0] for own in each]) for name in each[0]}
    base = dict.fromkeys([*ranks][1:], next(iter(ranks))) if base is None else base
    found = []
    for name, own in ranks.items():
        lead = compare(1 / own, 1 / ranks[base[name]]) if name in base else None
        found.append(Measured(name, own, exact(own), lead, float(np.mean([one[name][1] for one in each]))))
    return found


def with_comments(index: Index, weight: int) -> Index:
    """The same index, in which each word of a comment counts ``weight`` times; 0: comments are not searched."""
    return replace(index, lexical=Bm25Index.of(index.split, {**WEIGHTS, "query": weight}))


def without_documentation(index: Index) -> Index:
    """The same index, in whose sources there are no comments and docstrings: for models that read source text."""
    split = index.split
    texts = [split.text(row) for row in range(len(split))]
    return replace(index, split=replace(split, texts=Texts.of(replace(text, source=_bare(text)) for text in texts)))


def _bare(text: PairText) -> str:
    language, data = language_of(text.path), text.source.encode("utf-8", "replace")
    if language is None:
        return text.source
    try:
        found = language.parse(data, text.path)
    except UserError:  # what does not parse keeps its comments
        return text.source
    spans = sorted({*found.comments, *(each.docstring for each in found.types() if each.docstring)})
    return CorpusFile("", "", "", data, spans, ()).stripped(0, len(data)).decode("utf-8", "replace")


def measure_quality(
    index: Index,
    rerankers: Mapping[str, Reranker],
    ranking: RankingSettings,
    questions: Questions,
    retriever: Retriever | None = None,
) -> list[Measured]:
    """BM25 alone, then each of ``rerankers`` with it, over the same queries.

    Args:
        index: the index to search.
        rerankers: rerankers over the rows of ``index``, by name.
        ranking: the ranking settings.
        questions: the queries.
        retriever: a dense retriever that adds rows to the candidates.
    """
    beside = f"vectors + {BASE}" if retriever else BASE
    engines = {BASE: Engine(index, None, ranking)}
    engines |= {f"{name} + {beside}": Engine(index, each, ranking, retriever) for name, each in rerankers.items()}

    def ranks(question: tuple[Sequence[str], int, str]) -> Ranks:
        words, row, text = question
        return {
            name: (each.rank(words, row, text), row in each.shortlist(words, text)) for name, each in engines.items()
        }

    asked = zip(questions.words, questions.rows.tolist(), questions.texts, strict=True)
    return measured(asked, ranks, questions.source)


def measure_contexts(engines: Mapping[str, Engine], questions: Questions, seed: int) -> list[Measured]:
    """Each engine without contexts, with them and with exchanged ones; leads are over the same engine without."""
    nothing = [()] * len(questions.rows)
    contexts = {"": nothing, "in context": questions.contexts, "in another's": exchanged(questions.contexts, seed)}
    names = {(engine, kind): f"{engine} {kind}".strip() for engine in engines for kind in contexts}

    def ranks(place: int) -> Ranks:
        words, row, text = questions.words[place], int(questions.rows[place]), questions.texts[place]
        return {
            name: (engines[engine].rank(words, row, text, contexts[kind][place]), math.nan)
            for (engine, kind), name in names.items()
        }

    base = {name: engine for (engine, kind), name in names.items() if kind}
    return measured(range(len(questions.rows)), ranks, questions.source, base)


def quality_lines(found: Sequence[Measured], asked: str, pool: int, base: str = "bm25") -> list[str]:
    """The results of questions made from code.

    Args:
        found: the results.
        asked: the value of ``--ask``, or of ``--under``.
        pool: number of rows that are ranked.
        base: what differences are from.
    """
    wide = max(28, *(len(each.name) + 2 for each in found))
    titles = "".join(f"{metric.title:>8}" for metric in short_columns())
    lines = [
        f"{len(found[0].ranks):,} {_ASKED[asked]}, each ranked among {pool:,} functions, types and files",
        f"{'':<{wide}}{'listed':>8}{titles}   MRR - {base} (95 % interval)",
    ]
    for each in found:
        listed = f"{'-':>8}" if math.isnan(each.listed) else f"{each.listed:>8.3f}"
        cells = "".join(f"{metric.text(each.measures):>8}" for metric in short_columns())
        lines.append(f"{each.name:<{wide}}{listed}{cells}{_lead(asdict(each.lead) if each.lead else None)}")
    noise = max(((each.lead.high - each.lead.low) / 2 for each in found if each.lead), default=0.0)
    return [
        *lines,
        f"With so many queries, differences of about {noise:.3f} in MRR are significant; queries made from code differ "
        "from typed questions. listed: share of queries whose answer is among the candidates",
    ]


def _lead(lead: Mapping[str, float] | None) -> str:
    return "   {mean:+.3f} ({low:+.3f} to {high:+.3f}), p = {p_value:.4f}".format(**lead) if lead else ""


def query_lines(record: Mapping[str, Any]) -> list[str]:
    """The results of typed queries: by category, differences from the whole search, seconds, and what failed."""
    stages = record["stages"]
    whole, wide = stages[0], max(20, *(len(each["name"]) + 2 for each in stages))
    what = f"NDCG@10 by file (95 % interval) and the difference from {whole['name']}"
    lines = [f"{len(whole['queries']):,} queries over {record['files']:,} files; {what}", ""]
    for name, of_whole in whole["categories"].items():
        lines.append(f"{name}, {of_whole['queries']} {'queries' if of_whole['queries'] > 1 else 'query'}")
        for each in stages:
            own, lead = each["categories"][name], _lead(each["difference"] if name == ALL else None)
            lines.append(f"  {each['name']:<{wide}}{own['ndcg']:.3f} ({own['low']:.3f} to {own['high']:.3f}){lead}")
    lines.append(
        "seconds: of a question asked again (median); of all, the first time, with the encoding of rows as needed"
    )
    for each in stages:
        lines.append(f"  {each['name']:<{wide}}{each['seconds']['again']:.4f}{each['seconds']['first']:>10.2f}")
    failed = [place for place, each in enumerate(record["why"]) if each["ndcg"] < FAILED]
    if failed:
        lines.append(f"below {FAILED} with {whole['name']}: {len(failed)}")
    for place in sorted(failed, key=lambda place: record["why"][place]["ndcg"]):
        lines.append(_failure(record["why"][place], whole["queries"][place]["found"], whole["name"]))
    return lines


def _failure(why: Mapping[str, Any], found: Sequence[str], whole: str) -> str:
    first = ", ".join(map(one_line, found[:3])) or "nothing"
    ranks = {one_line(each["path"]): each["ranks"][whole] for each in why["relevant"][:3]}
    wanted = ", ".join(f"{path} ({f'rank {rank}' if rank else 'not found'})" for path, rank in ranks.items())
    return f"  {why['ndcg']:.2f}  {one_line(why['query'])}: expected {wanted}; found {first}"


def fit_lines(record: Mapping[str, Any]) -> list[str]:
    """The results of fits: a line per setting, a column per project."""
    projects, settings = record["projects"], record["settings"]
    shown, first = [one_line(name) for name in projects], max(len(each["name"]) for each in settings)
    wide = [max(8, len(name) + 2) for name in shown]

    def line(name: str, cells: Iterable[str], mean: str) -> str:
        return f"{name:<{first}}{''.join(f'{cell:>{w}}' for cell, w in zip(cells, wide, strict=True))}{mean:>9}"

    asked = sum(each["queries"] for each in projects.values())
    lines = [
        f"{asked:,} queries about {len(projects)} projects; {record['measure']}, and the projects' mean",
        line("", shown, "mean"),
        *(line(what, (f"{each[what]:,}" for each in projects.values()), "") for what in ("queries", "files")),
    ]
    for each in settings:
        lines.append(line(each["name"], (f"{value:.3f}" for value in each["ndcg"].values()), f"{each['mean']:.4f}"))
    lines.append("the weights that were fitted on the others:")
    for name, weights in settings[-1]["weights"].items():
        lines.append(f"  {one_line(name)}: {', '.join(f'{field} {value:g}' for field, value in weights.items())}")
    return lines
