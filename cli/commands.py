"""The one list of commands, from which the help and the comment of run.sh are made.

Functions are given by name, so nothing is imported before a command is run. A new command is a function and an entry
here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_GENCODESEARCHNET: Final = "experiments.gencodesearchnet"


@dataclass(frozen=True, slots=True)
class Command:
    """A word after ``bash run.sh``."""

    usage: str
    """The arguments after its name."""
    about: str
    """What it does, in one line."""
    run: str = ""
    """The function that takes its words and options as typed; "" if run.sh runs it itself."""
    options: str = ""
    """The dataclass of its options, ``--field=value``; "" if it has none of its own."""
    sections: tuple[str, ...] = ()
    """Sections of a run's configuration whose options it takes, ``--section.field=value``."""
    named: tuple[tuple[str, str], ...] = ()
    """Sections of its own, as names and dataclasses."""
    names: str = ""
    """What its first word may be, as the mapping of names to what they are; "" if that is not listed."""
    needs: str = ""
    """What the first set-up does not install."""
    parts: Mapping[str, "Command"] = field(default_factory=dict)
    """Commands of two words, by the second."""


TRAIN: Final = Command(
    "[--section.field=value ...]",
    "prepare, train, test; writes a folder in runs/",
    "cli.runs:train",
    sections=("data", "words", "model", "loss", "train", "evaluate"),
)
"""What is run when a data set and a model are named."""

COMMANDS: Final[dict[str, Command]] = {
    "prepare": Command(
        "DATASET [--data.field=value ...]",
        "only prepare the data set (a run does it when needed)",
        "cli.runs:prepare",
        sections=("data",),
    ),
    "corpus": Command(
        "NAME [--data.field=value ...]",
        "statistics of the corpus repositories or installed",
        "cli.runs:corpus",
        sections=("data",),
    ),
    "evaluate": Command(
        "RUN_DIR [--evaluate.field=value]",
        "test a finished run again, on another pool or data set",
        "cli.runs:evaluate",
        sections=("evaluate",),
    ),
    "context": Command(
        "RUN_DIR|turns|table|ndcg|...",
        "test runs with the contexts of their queries and of others",
        "cli.runs:context",
        "experiments.context.options:ContextOptions",
        parts={
            "annotate": Command(
                "RUN_DIR RUN_DIR --out=FILE.csv",
                "write hits of two runs, to be labelled by hand",
                "experiments.context.study:annotate",
                "experiments.context.options:AnnotateOptions",
            ),
            "ndcg": Command(
                "RUN_DIR [...] --annotations=FILE.csv",
                "the nDCG of runs by such labels",
                "experiments.context.labels:judge",
                "experiments.context.options:JudgeOptions",
            ),
            "study": Command(
                "[RUN_DIR RUN_DIR] --out=FILE.json",
                "a page on which people compare the hits of two runs",
                "experiments.context.study:study",
                "experiments.context.options:StudyOptions",
            ),
            "table": Command("", "write the page of saved results", "experiments.context.page:table"),
            "turns": Command(
                "DATASET MODEL [--section.field=value ...]",
                "train and test with each source tree left out in turn",
                "experiments.context.turns:turns",
            ),
        },
    ),
    "board": Command(
        "[TensorBoard options]", "curves and pictures of all runs, at http://localhost:6006", "cli.runs:board"
    ),
    "benchmark": Command(
        "PART", "train the models of the main table that have no saved result", "cli.tables:benchmark"
    ),
    "ablate": Command("NAME", "train the variants of an ablation, except those saved already", "cli.tables:ablate"),
    "tune": Command("MODEL", "compare initializations and losses of a model on validation", "cli.tables:tune"),
    "table": Command("", "write the tables of the saved results, including README's", "cli.tables:table"),
    "speed": Command(
        "NAME [PATH]",
        "measure two forms of a part in one run, and their ratio",
        "cli.tables:speed",
        "evaluation.speed:SpeedOptions",
        names="cli.tables:ABOUT",
    ),
    "index": Command(
        "DIR|--list=FILE [--out=FILE]",
        "index the methods, types and files of one folder or many",
        "search.making:index",
        "search.options:IndexOptions",
    ),
    "search": Command(
        '["QUESTION"] [--at=FILE:LINE]',
        "search by a question, a name, or a comment `# search: ...`",
        "search.cli:search",
        "search.options:SearchOptions",
    ),
    "related": Command(
        "FILE:LINE [--json]",
        "find code like that at a place, such as src/app.py:120",
        "search.snippets.command:related",
        "search.options:RelatedOptions",
    ),
    "serve": Command(
        "[--port=8765]",
        "a web page that searches, at http://127.0.0.1:8765",
        "search.serve.server:serve",
        "search.options:ServeOptions",
    ),
    "mcp": Command(
        "[DIR] [--configure=CLIENT]",
        "an MCP server for coding agents, on standard input and output",
        "search.serve.mcp_server:mcp",
        "search.options:McpOptions",
        needs="requirements-agents.txt",
    ),
    "quality": Command(
        "DIR [--queries=FILE.json]",
        "measure the search on your own documented methods or queries",
        "search.quality.command:quality",
        "search.options:QualityOptions",
    ),
    "gencodesearchnet": Command(
        "MODEL [...]|statistics|...",
        "rank and match GenCodeSearchNet's test sets; make such sets",
        f"{_GENCODESEARCHNET}.cli:benchmark",
        f"{_GENCODESEARCHNET}.config:BenchmarkOptions",
        needs="requirements-sentences.txt, for models named by a folder or MiniLM",
        parts={
            "statistics": Command(
                "",
                "token counts and distances of its sets",
                f"{_GENCODESEARCHNET}.cli:statistics",
                f"{_GENCODESEARCHNET}.config:StatisticsOptions",
            ),
            "fine_tune": Command(
                "BASE --out=FOLDER",
                "fine-tune a cross-encoder, as its baselines",
                f"{_GENCODESEARCHNET}.cli:fine_tuning",
                f"{_GENCODESEARCHNET}.config:FineTuneCommand",
                needs="requirements-sentences.txt",
            ),
            "format_pairs": Command(
                "FORM FILE [...] --out=FILE",
                "convert source files to its raw form",
                f"{_GENCODESEARCHNET}.cli:format_pairs",
                f"{_GENCODESEARCHNET}.config:FormatOptions",
            ),
            "sample_pairs": Command(
                "FILE --task=T --out=FILE",
                "sample a ranking or matching file from a raw file",
                f"{_GENCODESEARCHNET}.cli:sample_pairs",
                f"{_GENCODESEARCHNET}.config:SampleOptions",
            ),
            "r_pairs": Command(
                "SOURCE [...] --out=FOLDER",
                "extract comments and their code from R files or packages",
                f"{_GENCODESEARCHNET}.cli:r_pairs",
                f"{_GENCODESEARCHNET}.config:RPairsOptions",
            ),
        },
    ),
    "posts": Command(
        "MODEL|index|search|...",
        "search posts by code and an error; train and test that",
        "experiments.posts.cli:test_model",
        named=(
            ("data", "data_prep.posts.config:PostsConfig"),
            ("loop", "experiments.posts.config:LoopConfig"),
            ("evaluate", "experiments.posts.config:TestConfig"),
        ),
        parts={
            "index": Command(
                "DUMP",
                "index the answered questions of a dump",
                "search.posts.cli:index",
                "search.posts.cli:PostsIndexOptions",
            ),
            "search": Command(
                "[--snippet=FILE]",
                "search it by code and an error, from standard input or a file",
                "search.posts.cli:search",
                "search.posts.cli:PostsSearchOptions",
            ),
            "statistics": Command(
                "--data.path=DUMP", "sizes of a dump's fields and sets", "experiments.posts.cli:statistics"
            ),
            "tune": Command(
                "--data.path=DUMP", "compare settings of BM25 on the development sets", "experiments.posts.cli:tune"
            ),
            "table": Command("", "write the tables of the saved results", "experiments.posts.cli:table"),
        },
    ),
    "posts_sample": Command(
        "MODEL",
        "the same on synthetic posts, which it makes itself",
        "experiments.posts.cli:sample",
    ),
    "posts_from_tracker": Command(
        "TICKETS --out=FOLDER",
        "write a bug tracker as a dump of posts",
        "experiments.posts.cli:from_tracker",
        "experiments.posts.config:TrackerOptions",
    ),
    "test": Command("[pytest options]", "run all checks", needs="the packages of the tests, which are added to .venv"),
    "test_editor": Command(
        "",
        "try the VS Code extension in a real editor (docs/editor.md)",
        needs="node 20, npm and Chromium; 550 MB, which it installs itself",
    ),
    "help": Command("[NAME ...]", "this list, or details of a command, data set, model or section"),
}
"""Name -> command."""

RENAMED: Final = {
    "compare": "benchmark",
    **{name: f"gencodesearchnet {name}" for name in COMMANDS["gencodesearchnet"].parts},
}
"""Earlier name -> today's."""

_WIDTH: Final = 44


def usage_lines() -> list[str]:
    """One line per command: how it is typed, and what it does."""
    lines = [_line(f"DATASET MODEL {TRAIN.usage}", TRAIN.about)]
    return [*lines, *(_line(f"{name} {each.usage}".rstrip(), each.about) for name, each in COMMANDS.items())]


def _line(typed: str, about: str) -> str:
    return f"{typed:<{_WIDTH}}{about}"
