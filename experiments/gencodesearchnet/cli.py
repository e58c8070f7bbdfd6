"""The commands about GenCodeSearchNet."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from data_prep.errors import UserError
from data_prep.files.access import check_file_place, check_folder_place, named_path
from experiments.gencodesearchnet.config import (
    BenchmarkOptions,
    FineTuneCommand,
    FormatOptions,
    RPairsOptions,
    SampleOptions,
    StatisticsOptions,
)
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed

if TYPE_CHECKING:
    from experiments.gencodesearchnet.scorers import Loader


def benchmark(arguments: Sequence[str], load_packed: "Loader | None" = None) -> None:
    """Rank and match the test subsets by each model named; ``load_packed`` loads packed models.

    Raises:
        UserError: a model or the data are not available, or an option is wrong.
    """
    models, options = parsed(arguments, BenchmarkOptions)
    if not models:
        raise UserError("expected a model, such as bm25: bash run.sh gencodesearchnet MODEL [MODEL ...]")
    check_folder_place(named_path(options.out), "--out")
    from experiments.gencodesearchnet.report import pages
    from experiments.gencodesearchnet.scorers import load_ranker
    from experiments.gencodesearchnet.suite import find_data, run_benchmark
    from experiments.recipes.run_folder import load_run

    load = load_packed or load_run
    data = find_data(options)
    for model in models[1:]:
        load_ranker(model, options, data.valid, load)  # missing models are reported before the first one is tested
    command = _command("gencodesearchnet", arguments)
    results = [run_benchmark(model, data, options, command, load) for model in models]
    show(f"\n{pages(results)}\n\nresults and TREC files: {options.out}")


def fine_tuning(arguments: Sequence[str]) -> None:
    """Fine-tune a cross-encoder on the fine-tuning set.

    Raises:
        UserError: the base or the data are not available, or an option is wrong.
    """
    words, options = parsed(arguments, FineTuneCommand)
    if len(words) != 1 or not options.out:
        raise UserError("expected a base and a folder: bash run.sh gencodesearchnet fine_tune BASE --out=FOLDER")
    from data_prep.gencodesearchnet.sets import find_fine_tuning
    from data_prep.gencodesearchnet.subsets import find_subsets
    from experiments.gencodesearchnet.fine_tune import fine_tune

    path, out = named_path(options.path), named_path(options.out)
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


def statistics(arguments: Sequence[str]) -> None:
    """Sizes of the subsets in pairs and tokens, and the distances of their token distributions.

    Raises:
        UserError: the data are not available, or an option is wrong.
    """
    words, options = parsed(arguments, StatisticsOptions)
    if words:
        raise UserError(f"bash run.sh gencodesearchnet statistics takes options only, not {' '.join(words)}")
    from data_prep.files.writing import sole_writer, write_atomically
    from experiments.corpus_statistics import measured

    out = named_path(options.out)
    check_folder_place(out, "--out")
    with sole_writer(out):
        page, picture = measured(named_path(options.path))
        write_atomically(out / "statistics.md", page)
        write_atomically(out / "statistics.png", picture)
    show(f"{page}\n{out / 'statistics.md'}, {out / 'statistics.png'}")


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
        raise UserError(f"expected a form and files: gencodesearchnet format_pairs {known} FILE [...] --out=FILE")
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
        raise UserError("expected a raw file: gencodesearchnet sample_pairs FILE --task=ranking|matching --out=FILE")
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
        raise UserError("expected sources and a folder: bash run.sh gencodesearchnet r_pairs SOURCE [...] --out=FOLDER")
    from data_prep.gencodesearchnet.r_corpus import build_r_pairs

    out = named_path(options.out)
    check_folder_place(out, "--out")
    build_r_pairs(sources, out, options.mode, say)


def _command(name: str, arguments: Sequence[str]) -> str:
    return shlex.join(["bash", "run.sh", name, *arguments])
