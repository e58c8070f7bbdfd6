"""The commands about GenCodeSearchNet and posts of Stack Exchange: options are checked before torch is imported."""

import shlex
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Final

from data_prep.errors import UserError, unexpected
from data_prep.files.access import check_file_place, check_folder_place, check_replaceable_folder, named_path
from data_prep.installation import default_or_named
from experiments.gencodesearchnet.config import (
    BenchmarkOptions,
    FineTuneCommand,
    FormatOptions,
    RPairsOptions,
    SampleOptions,
    StatisticsOptions,
)
from experiments.posts.config import MODELS, TrackerOptions, all_options, resolve_plan
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed, split_arguments, switches_of, unknown


def gencodesearchnet(arguments: Sequence[str]) -> None:
    """Rank and match GenCodeSearchNet's subsets by each model named, packed ones too.

    Raises:
        UserError: a model or the data are not available, or an option is wrong.
    """
    models, options = parsed(arguments, BenchmarkOptions)
    if not models:
        raise unexpected("a model, such as bm25: bash run.sh gencodesearchnet MODEL [MODEL ...]", models)
    out = default_or_named(options.out)
    check_folder_place(out, "--out")
    if options.save:
        check_folder_place(named_path(options.save), "--save")
    from experiments.gencodesearchnet.report import pages
    from experiments.gencodesearchnet.scorers import load_ranker
    from experiments.gencodesearchnet.suite import find_data, run_benchmark

    load = resolve_name("search.models.packed_model:load_packed")  # needs torch
    data = find_data(options)
    for model in models[1:]:
        load_ranker(model, options, data.valid, load)  # missing models are reported before the first one is tested
    command = _command("gencodesearchnet", arguments)
    results = [run_benchmark(model, data, options, command, load) for model in models]
    show(f"\n{pages(results)}\n\nresults and TREC files: {out}")


def fine_tuning(arguments: Sequence[str]) -> None:
    """Fine-tune a cross-encoder on the fine-tuning set.

    Raises:
        UserError: the base or the data are not available, or an option is wrong.
    """
    words, options = parsed(arguments, FineTuneCommand)
    if len(words) != 1 or not options.out:
        raise unexpected("a base and a folder: bash run.sh gencodesearchnet fine_tune BASE --out=FOLDER", words)
    from data_prep.gencodesearchnet.sets import find_fine_tuning
    from data_prep.gencodesearchnet.subsets import find_subsets
    from experiments.gencodesearchnet.fine_tune import fine_tune

    path, out = default_or_named(options.path), named_path(options.out)
    check_folder_place(out, "--out")
    tests, _ = find_subsets(path)
    data = find_fine_tuning(path, tests)
    say(f"{len(data.train.texts):,} pairs to train on, {len(data.valid.texts):,} to validate on: {data.train.origin}")
    fine_tune(
        data.train.examples,
        data.valid.examples,
        words[0],
        out,
        options,
        command=_command("gencodesearchnet fine_tune", arguments),
    )


def sizes_of_subsets(arguments: Sequence[str]) -> None:
    """Sizes of the subsets in pairs and tokens, and the distances of their token distributions.

    Raises:
        UserError: the data are not available, or an option is wrong.
    """
    words, options = parsed(arguments, StatisticsOptions)
    if words:
        raise UserError(f"bash run.sh gencodesearchnet statistics takes options only, not {' '.join(words)}")
    from data_prep.files.writing import sole_writer, write_atomically
    from experiments.corpus_statistics import measured

    out = default_or_named(options.out)
    check_folder_place(out, "--out")
    with sole_writer(out):
        page, picture = measured(default_or_named(options.path))
        files = {out / "statistics.md": page} | ({out / "statistics.png": picture} if picture else {})
        for path, content in files.items():
            write_atomically(path, content)
    show(f"{page}\n{', '.join(map(str, files))}")


def format_pairs(arguments: Sequence[str]) -> None:
    """Convert source files to the benchmark's raw form.

    Raises:
        UserError: there is no such formatter, a file is damaged or not in its form, or an option is wrong.
    """
    words, options = parsed(arguments, FormatOptions)
    from data_prep.gencodesearchnet.records import write_raw
    from data_prep.gencodesearchnet.subsets import FORMS, read_pairs

    if len(words) < 2 or not options.out:
        known = "|".join(FORMS)
        raise unexpected(f"a form and files: gencodesearchnet format_pairs {known} FILE [...] --out=FILE", words)
    out = named_path(options.out)
    check_file_place(out, "--out")
    files = [read_pairs(words[0], named_path(word)) for word in words[1:]]
    for word, file in zip(words[1:], files, strict=True):
        dropped = "".join(f"; left out {count:,}: {reason}" for reason, count in file.dropped.items())
        say(f"{word}: {len(file.examples):,} pairs{dropped}")
    write_raw(out, [pair for file in files for pair in file.examples])


def sample_pairs(arguments: Sequence[str]) -> None:
    """Write the file of a task, sampled from a raw file as the task package does.

    Raises:
        UserError: the file is damaged or has too few pairs, or an option is wrong.
    """
    words, options = parsed(arguments, SampleOptions)
    if len(words) != 1 or not options.out:
        raise unexpected("a raw file: gencodesearchnet sample_pairs FILE --task=ranking|matching --out=FILE", words)
    from data_prep.gencodesearchnet.records import read_raw
    from data_prep.gencodesearchnet.sets import matching_negatives, ranking_blocks, write_matching, write_ranking

    path, out = named_path(words[0]), named_path(options.out)
    check_file_place(out, "--out")
    file = read_raw(path)
    for reason, count in file.dropped.items():
        say(f"left out {count:,}: {reason}")
    if options.task == "matching":
        write_matching(out, file.examples, matching_negatives(file.examples, options.seed))
    else:
        write_ranking(out, file.examples, ranking_blocks(len(file.examples), options.distractors, options.seed))
    say(f"{out}: of {len(file.examples):,} pairs")


def r_pairs(arguments: Sequence[str]) -> None:
    """Extract comments and their code from R sources.

    Raises:
        UserError: a source is not available, or an option is wrong.
    """
    sources, options = parsed(arguments, RPairsOptions)
    if not sources or not options.out:
        raise unexpected("sources and a folder: bash run.sh gencodesearchnet r_pairs SOURCE [...] --out=DIR", sources)
    from data_prep.gencodesearchnet.r_corpus import build_r_pairs

    out = named_path(options.out)
    check_folder_place(out, "--out")
    build_r_pairs(sources, out, options.mode, say)


_OTHERS: Final = ("index", "search", "statistics", "tune", "table", "sample", "from_tracker")
"""What may be typed in place of a model, for messages."""


def posts(arguments: Sequence[str]) -> None:
    """Train and test a model on the questions of a dump.

    Raises:
        UserError: there is no such model or option, or the data are not available.
    """
    names, typed = _split(arguments)
    if len(names) != 1 or names[0] not in MODELS:
        raise unknown("model of posts", " ".join(names), [*MODELS, *_OTHERS])
    plan = resolve_plan(names[0], typed)
    check_folder_place(default_or_named(plan.loop.out), "--loop.out")
    if plan.evaluate.save:
        check_folder_place(named_path(plan.evaluate.save), "--evaluate.save")
    from experiments.posts.run import run_posts

    show(f"\n{run_posts(plan, _command('posts', arguments), say).page}")


def _split(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words and options of a command line; switches are those of the models that it names."""
    models = [each for each in arguments if each in MODELS] or ["bm25"]
    return split_arguments(arguments, {name for model in models for name in switches_of(all_options(model).values())})


def sizes_of_posts(arguments: Sequence[str]) -> None:
    """Sizes of the fields of the posts of a dump, and of its sets.

    Raises:
        UserError: an option is wrong, or the data are not available.
    """
    words, typed = _split(arguments)
    if words:
        raise UserError(f"bash run.sh posts statistics takes options only, not {' '.join(words)}")
    plan = resolve_plan("bm25", typed)
    from experiments.posts.sizes import write_statistics

    show(write_statistics(plan, _command("posts statistics", arguments), say))


def tune_posts(arguments: Sequence[str]) -> None:
    """Compare settings of BM25 on the development sets.

    Raises:
        UserError: an option is wrong, or the data are not available.
    """
    words, typed = _split(arguments)
    if words:
        raise UserError(f"bash run.sh posts tune takes options only, not {' '.join(words)}")
    from experiments.posts.run import tuned_page

    show(tuned_page(resolve_plan("bm25_tuned", typed), _command("posts tune", arguments), say))


def table_of_posts(arguments: Sequence[str]) -> None:
    """Write the tables of the saved results.

    Raises:
        UserError: there are words or options, or no results.
    """
    if arguments:
        raise UserError("bash run.sh posts table takes no words or options")
    from experiments.posts.pages import write_summaries

    say(f"wrote {', '.join(map(str, write_summaries()))}")


def sample_posts(arguments: Sequence[str]) -> None:
    """Test a model on the synthetic sample.

    Raises:
        UserError: there is no such model or option, or too few examples could be broken.
    """
    names, typed = _split(arguments)
    if len(names) != 1 or names[0] not in MODELS:
        raise unknown("model of posts", " ".join(names), [*MODELS])
    if "data.path" in typed:
        raise UserError("bash run.sh posts sample makes its own posts: leave out --data.path, or use posts")
    from experiments.posts.run import run_sample

    show(f"\n{run_sample(names[0], typed, _command('posts sample', arguments), say)}")


def from_tracker(arguments: Sequence[str]) -> None:
    """Write a bug tracker as the tables of a dump.

    Raises:
        UserError: a file is missing or damaged, or an option is wrong.
    """
    words, options = parsed(arguments, TrackerOptions)
    if len(words) != 1 or not options.out:
        raise unexpected("tickets and a folder: bash run.sh posts from_tracker TICKETS --out=FOLDER", words)
    from data_prep.posts.tracker import write_tracker

    out = named_path(options.out)
    check_replaceable_folder(out, "--out", "Posts.xml")
    links = named_path(options.links) if options.links else None
    site = {"site": options.site or out.name, "question_url": options.question_url, "licence": options.licence}
    counts = write_tracker(named_path(words[0]), links, out, site)
    say(f"{out}: {', '.join(f'{count:,} {name}' for name, count in counts.items())}")
    say(f"next: bash run.sh posts bm25 --data.path={shlex.quote(options.out)} --data.tag= --data.inline=false")


def _command(name: str, arguments: Sequence[str]) -> str:
    return shlex.join(["bash", "run.sh", *name.split(), *arguments])
