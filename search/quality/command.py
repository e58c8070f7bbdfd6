"""The command ``bash run.sh quality``: the search measured on a folder of code."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.files.printable import one_line
from experiments.terminal import console
from experiments.terminal.options import parsed
from search.making import build_vectors, checked_run, complain_about
from search.opening import check_model, opened, reranker_maker
from search.options import QualityOptions

if TYPE_CHECKING:
    from search.engine.signals import Reranker, Retriever
    from search.index.code_index import Index
    from search.quality.query_file import QueryFile
    from search.quality.questions import Questions
    from search.quality.weight_fit import FitPlan, Project, Weights


def quality(arguments: Sequence[str]) -> None:
    """Measure the search on a folder of code, by queries made from its comments or by typed ones."""
    words, options = parsed(arguments, QualityOptions)
    if len(words) != 1:
        raise UserError("expected a folder: bash run.sh quality DIR")
    if options.fit:
        _by_fit(named_path(words[0]), options)
        return
    names = [options.model, *filter(None, [options.against])]
    for name in filter(None, names):
        check_model(name)
    run = checked_run(options.vectors)
    measure = _by_typed_queries if options.query_file else _by_code if options.code_asked else _by_comments
    with tempfile.TemporaryDirectory() as folder:
        measure(named_path(words[0]), Path(folder) / "index", run, options, _labels(names))


def _labels(names: Sequence[str]) -> dict[str, str]:
    """Label -> model; its whole path if two share the last part."""
    alike = len({Path(name).name for name in names}) < len(names)
    return {one_line(name if alike else Path(name).name) or "default": name for name in names}


def _by_comments(root: Path, path: Path, run: str, options: QualityOptions, models: Mapping[str, str]) -> None:
    from search.index.build import refresh
    from search.index.index_file import open_index
    from search.quality.measure import measure_quality, quality_lines, with_comments
    from search.quality.questions import asked

    refresh(root, path, processes=os.cpu_count() or 1, tell=complain_about)
    questions = asked(options.words_asked, open_index(path), root, options.most, options.seed)
    makers = {label: reranker_maker(name) for label, name in models.items()}
    build_vectors(run, path)
    found, retriever = opened(path, "")
    hidden = options.ask in ("comment", "member")
    rerankers = {label: maker(found) for label, maker in makers.items()}
    ranking = replace(options.ranking, comments=0 if hidden else options.comments)
    searched = with_comments(found, ranking.comments)
    if options.under:
        _under_contexts(root, searched, rerankers, retriever, questions, replace(options, comments=ranking.comments))
        return
    measured = measure_quality(searched, rerankers, ranking, questions, retriever)
    console.show("\n".join(quality_lines(measured, questions.source, len(found))))


def _under_contexts(
    root: Path,
    index: "Index",
    rerankers: "Mapping[str, Reranker]",
    retriever: "Retriever | None",
    questions: "Questions",
    options: QualityOptions,
) -> None:
    from search.engine.engine import Engine
    from search.quality.contexts import context_lines, measure_contexts, with_contexts

    contexts = with_contexts(questions, index, root, options.under)
    engines = {"bm25": Engine(index, None, options.ranking)}
    engines |= {label: Engine(index, each, options.ranking, retriever) for label, each in rerankers.items()}
    console.show("\n".join(context_lines(measure_contexts(engines, contexts, options.seed), options.under, len(index))))


def _by_code(root: Path, path: Path, run: str, options: QualityOptions, _: Mapping[str, str]) -> None:
    from search.engine.engine import Engine
    from search.index.build import refresh
    from search.quality.code_measure import code_lines, measure_code

    refresh(root, path, processes=os.cpu_count() or 1, tell=complain_about)
    build_vectors(run, path)
    found, retriever = opened(path, "")
    engine = Engine(found, None, retriever=retriever)
    measured = measure_code(engine, root, options.code_asked or "snippet", options.most, options.seed)
    console.show("\n".join(code_lines(measured, found)))


def _by_typed_queries(root: Path, path: Path, run: str, options: QualityOptions, models: Mapping[str, str]) -> None:
    from search.engine.engine import Engine
    from search.index.build import refresh
    from search.quality.query_file import read_query_file
    from search.quality.records import as_records
    from search.quality.stages import stages
    from search.quality.typed_queries import measure_queries, query_lines

    asked = read_query_file(named_path(options.query_file), options.project)
    _ = options.changed  # a bad setting is reported before anything is read
    refresh(root / asked.root, path, processes=os.cpu_count() or 1, tell=complain_about)
    build_vectors(run, path, (lambda _: None) if options.json else console.say)
    found, retriever = opened(path, "")
    _complain_of_unmatched(asked, found)
    rerankers = {label: reranker_maker(name)(found) for label, name in models.items()}
    engines = stages(found, rerankers, retriever, options.ranking)
    if options.change:
        engines[f"with {options.change}"] = Engine(found, rerankers[next(iter(rerankers))], options.changed, retriever)
    measured = measure_queries(engines, asked)
    if options.json:
        console.show(json.dumps(as_records(measured, asked.queries, found, asked.root), indent=1))
    else:
        console.show("\n".join(query_lines(measured, asked.queries, len(found.files))))


def _by_fit(root: Path, options: QualityOptions) -> None:
    path = named_path(options.query_file)
    asked = _asked_projects(root, path)
    if options.fit == "files":
        from search.quality import file_fit

        files = {name: file_fit.FileProject(each, _indexed(root / name / each.root)) for name, each in asked.items()}
        _show_fit(files, file_fit.PLAN, options)
        return
    from search.quality import search_fit

    if options.model not in ("", "none"):
        check_model(options.model)
    run = checked_run(options.vectors)
    maker = None if options.model == "none" else reranker_maker(options.model)
    searched = {}
    for name, each in asked.items():
        index, retriever = _indexed_with_vectors(root / name / each.root, run)
        searched[name] = search_fit.SearchProject(each, index, maker(index) if maker else None, retriever)
    _show_fit(searched, search_fit.PLAN, options)


def _asked_projects(root: Path, path: Path) -> "dict[str, QueryFile]":
    """The projects of a file that are folders of ``root``."""
    from search.quality.query_file import read_query_files

    files = read_query_files(path)
    inside = [name for name in files if name not in ("", "..") and Path(name).name == name]
    there = {name: files[name] for name in inside if (root / name).is_dir()}
    if len(there) < 2:
        raise UserError(f"--fit needs 2 or more projects of {path} as folders of {root}, found {len(there)}")
    if missing := [one_line(name) for name in files if name not in there]:
        complain_about(str(root), f"left out, since they are no folders of it: {', '.join(missing)}")
    return there


def _show_fit(projects: "Mapping[str, Project[Weights]]", plan: "FitPlan[Weights]", options: QualityOptions) -> None:
    from search.quality.weight_fit import WeightFit, fit_lines, fit_record

    for each in projects.values():
        _complain_of_unmatched(each.asked, each.index)
    measured = WeightFit(projects, plan).measured()
    if options.json:
        console.show(json.dumps(fit_record(projects, plan, measured), indent=1))
    else:
        console.show("\n".join(fit_lines(projects, plan, measured)))


def _complain_of_unmatched(asked: "QueryFile", index: "Index") -> None:
    from search.quality.typed_queries import seen, unmatched

    for missing in unmatched(asked.queries, [seen(asked.root, file.path) for file in index.files]):
        complain_about(missing, "a relevant file that is not indexed, and so counts as not found")


def _indexed(root: Path) -> "Index":
    """An index of a folder that is not kept."""
    return _indexed_with_vectors(root, "none")[0]


def _indexed_with_vectors(root: Path, run: str) -> "tuple[Index, Retriever | None]":
    """The same, and its vectors; ``run`` is the value of ``--vectors``."""
    from search.index.build import refresh

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        refresh(root, path, processes=os.cpu_count() or 1, tell=complain_about)
        build_vectors(run, path, lambda _: None)
        return opened(path, "")
