"""The command ``bash run.sh quality``: the search measured on a folder of code, and the results as text."""

import json
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError, one_line, unexpected
from data_prep.files.access import named_path
from data_prep.installation import processors
from evaluation.metrics import short_columns
from experiments.terminal import console
from experiments.terminal.options import parsed
from search.engine.engine import Engine
from search.engine.signals import Retriever
from search.index.build import refresh
from search.index.code_index import Index
from search.index.index_file import open_index, save_index
from search.making import build_vectors, checked_run, complain_about
from search.models.packed import check_model, reranker_maker
from search.opening import opened
from search.quality.certainty_fit import Part, answers, certainty_lines, measure_certainty
from search.quality.measure import (
    Measured,
    measure_contexts,
    measure_pieces,
    measure_quality,
    of_halves,
    of_namesakes,
    with_comments,
    without_documentation,
)
from search.quality.options import QualityOptions
from search.quality.query_file import QueryFile, read_query_file, read_query_files
from search.quality.questions import questions_of, with_contexts
from search.quality.trace_questions import frame_lines, measure_traces, of_traces
from search.quality.typed_queries import ALL, measure_queries, seen, stages, unmatched
from search.quality.weight_fit import FILES, SEARCH, FileProject, FitPlan, Project, SearchProject, measure_weights

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


def quality(arguments: Sequence[str]) -> None:
    """Measure the search on a folder of code, by queries made from its comments or by typed ones."""
    words, options = parsed(arguments, QualityOptions)
    if len(words) != 1:
        raise unexpected("a folder: bash run.sh quality DIR", words)
    if options.fit:
        _by_fit(named_path(words[0]), options)
        return
    names = [options.model, *filter(None, [options.against])]
    for name in names:
        if name not in ("", "none"):
            check_model(name)
    run = checked_run(options.vectors)
    measure = _by_typed_queries if options.query_file else _by_code if options.code_asked else _by_comments
    measure(named_path(words[0]), run, options, _labels(names))


def _labels(names: Sequence[str]) -> dict[str, str]:
    """Label -> model; its whole path if two share the last part."""
    alike = len({Path(name).name for name in names}) < len(names)
    return {one_line(name if alike else Path(name).name) or "default": name for name in names}


@contextmanager
def _new_index(root: Path) -> Iterator[Path]:
    """The file of an index of a folder, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        refresh(root, path, processes=processors(), tell=complain_about, recorded=False)
        yield path


def _indexed(root: Path, run: str, tell: Callable[[str], None] = console.say) -> tuple[Index, Retriever | None]:
    """An index of a folder and its vectors; ``run`` is the value of ``--vectors``, ``tell`` hears what was done."""
    with _new_index(root) as path:
        build_vectors(run, path, tell)
        return opened(path, "")


def _by_comments(root: Path, run: str, options: QualityOptions, models: Mapping[str, str]) -> None:
    hidden = options.ask in ("comment", "member")
    with _new_index(root) as path:
        whole = open_index(path)
        questions = questions_of(options.words_asked, whole, root, options.most, options.seed)
        if hidden:
            save_index(without_documentation(whole), path)
        build_vectors(run, path)
        index, retriever = opened(path, "")
    rerankers = {label: each for label, name in models.items() if (each := reranker_maker(name)(index))}
    ranking = replace(options.ranking, comments=0 if hidden else options.comments)
    searched = with_comments(index, ranking.comments)
    if options.under:
        questions = with_contexts(questions, searched, root, options.under)
        engines = {"bm25": Engine(searched, None, ranking)}
        engines |= {label: Engine(searched, each, ranking, retriever) for label, each in rerankers.items()}
        found = measure_contexts(engines, questions, options.seed)
        lines = quality_lines(found, options.under, len(index), "without context")
    else:
        found = measure_quality(searched, rerankers, ranking, questions, retriever)
        lines = quality_lines(found, options.words_asked, len(index))
    console.show("\n".join(lines))


def _by_code(root: Path, run: str, options: QualityOptions, _: Mapping[str, str]) -> None:
    index, retriever = _indexed(root, run)
    engine = Engine(index, None, retriever=retriever)
    if options.ask == "trace":
        found, frames = measure_traces(engine, of_traces(index, root, options.most, options.seed))
        lines = frame_lines(frames)
    else:
        made = of_halves if options.ask == "snippet" else of_namesakes
        found, lines = measure_pieces(engine, made(index, options.most, options.seed)), []
    console.show("\n".join([*quality_lines(found, options.ask, len(index)), *lines]))


def _by_typed_queries(root: Path, run: str, options: QualityOptions, models: Mapping[str, str]) -> None:
    asked = read_query_file(named_path(options.query_file), options.project)
    _ = options.changed  # a bad setting is reported before anything is read
    index, retriever = _indexed(root / asked.root, run, (lambda _: None) if options.json else console.say)
    _complain_of_unmatched(asked, index)
    rerankers = {label: each for label, name in models.items() if (each := reranker_maker(name)(index))}
    engines = stages(index, rerankers, retriever, options.ranking)
    if options.change:
        engines[f"with {options.change}"] = Engine(index, rerankers[next(iter(rerankers))], options.changed, retriever)
    record = measure_queries(engines, asked)
    console.show(json.dumps(record, indent=1) if options.json else "\n".join(query_lines(record)))


def _by_fit(root: Path, options: QualityOptions) -> None:
    asked = _asked_projects(root, named_path(options.query_file))
    if options.fit == "certainty":
        _by_certainty(root, asked, options)
        return
    if options.fit == "files":
        files = {name: FileProject(each, _indexed(root / name / each.root, "none")[0]) for name, each in asked.items()}
        _show_fit(files, FILES, options)
        return
    if options.model not in ("", "none"):
        check_model(options.model)
    run = checked_run(options.vectors)
    maker = reranker_maker(options.model)
    searched = {}
    for name, each in asked.items():
        index, retriever = _indexed(root / name / each.root, run, lambda _: None)
        searched[name] = SearchProject(each, index, maker(index), retriever)
    _show_fit(searched, SEARCH, options)


def _by_certainty(root: Path, asked: Mapping[str, QueryFile], options: QualityOptions) -> None:
    maker, parts = reranker_maker(""), {}
    for name, each in asked.items():
        index, retriever = _indexed(root / name / each.root, "", lambda _: None)
        parts[name] = Part(each, Engine(index, maker(index), retriever=retriever))
    others = read_query_files(named_path(options.query_file))
    answered = answers(parts, [others[name] for name in others if name not in asked], options.seed)
    record = measure_certainty(answered)
    console.show(json.dumps(record, indent=1) if options.json else "\n".join(certainty_lines(record)))


def _asked_projects(root: Path, path: Path) -> dict[str, QueryFile]:
    """The projects of a file that are folders of ``root``."""
    files = read_query_files(path)
    inside = [name for name in files if name not in ("", "..") and Path(name).name == name]
    there = {name: files[name] for name in inside if (root / name).is_dir()}
    if len(there) < 2:
        raise UserError(f"--fit needs 2 or more projects of {path} as folders of {root}, found {len(there)}")
    if missing := [one_line(name) for name in files if name not in there]:
        complain_about(str(root), f"left out, since they are no folders of it: {', '.join(missing)}")
    return there


def _show_fit(projects: Mapping[str, Project[Any]], plan: FitPlan[Any], options: QualityOptions) -> None:
    for each in projects.values():
        _complain_of_unmatched(each.asked, each.index)
    record = measure_weights(projects, plan)
    console.show(json.dumps(record, indent=1) if options.json else "\n".join(fit_lines(record)))


def _complain_of_unmatched(asked: QueryFile, index: Index) -> None:
    for missing in unmatched(asked.queries, [seen(asked.root, file.path) for file in index.files]):
        complain_about(missing, "a relevant file that is not indexed, and so counts as not found")


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
