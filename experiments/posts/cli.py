"""The commands about posts: ``posts MODEL``, ``posts statistics``, ``posts tune``, ``posts from_tracker``."""

import shlex
from collections.abc import Sequence
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import check_folder_place, check_replaceable_folder, named_path
from experiments.posts.config import MODELS, TrackerOptions, all_options, resolve_plan
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed, split_arguments, switches_of, unknown

_OTHERS: Final = ("index", "search", "statistics", "tune", "table", "sample", "from_tracker")
"""What may be typed in place of a model, for messages."""


def test_model(arguments: Sequence[str]) -> None:
    """Train and test a model on the questions of a dump.

    Raises:
        UserError: there is no such model or option, or the data are not available.
    """
    names, typed = _split(arguments)
    if len(names) != 1 or names[0] not in MODELS:
        raise unknown("model of posts", " ".join(names), [*MODELS, *_OTHERS])
    plan = resolve_plan(names[0], typed)
    check_folder_place(named_path(plan.loop.out), "--loop.out")
    from experiments.posts.run import run_posts

    show(f"\n{run_posts(plan, _command('posts', arguments), say).page}")


def _split(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words and options of a command line; switches are those of the models that it names."""
    models = [each for each in arguments if each in MODELS] or ["bm25"]
    return split_arguments(arguments, {name for model in models for name in switches_of(all_options(model).values())})


def statistics(arguments: Sequence[str]) -> None:
    """Sizes of the fields of the posts of a dump, and of its sets.

    Raises:
        UserError: an option is wrong, or the data are not available.
    """
    words, typed = _split(arguments)
    if words:
        raise UserError(f"bash run.sh posts statistics takes options only, not {' '.join(words)}")
    plan = resolve_plan("bm25", typed)
    from experiments.posts.pages import write_statistics

    show(write_statistics(plan, _command("posts statistics", arguments), say))


def tune(arguments: Sequence[str]) -> None:
    """Compare settings of BM25 on the development sets.

    Raises:
        UserError: an option is wrong, or the data are not available.
    """
    words, typed = _split(arguments)
    if words:
        raise UserError(f"bash run.sh posts tune takes options only, not {' '.join(words)}")
    from experiments.posts.rankers import tuned_page

    show(tuned_page(resolve_plan("bm25_tuned", typed), _command("posts tune", arguments), say))


def table(arguments: Sequence[str]) -> None:
    """Write the tables of the saved results.

    Raises:
        UserError: there are words or options, or no results.
    """
    if arguments:
        raise UserError("bash run.sh posts table takes no words or options")
    from experiments.posts.pages import write_summaries

    say(f"wrote {', '.join(map(str, write_summaries()))}")


def sample(arguments: Sequence[str]) -> None:
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
        raise UserError("expected tickets and a folder: bash run.sh posts from_tracker TICKETS --out=FOLDER")
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
