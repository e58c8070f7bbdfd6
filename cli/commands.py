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
    heading: str = ""
    """What it and the commands after it are for; "" if it belongs to those before it."""
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
    "index": Command(
        "DIR|--list=FILE [--out=FILE]",
        "index the methods, types and files of one folder or many",
        "search.making:index",
        "search.options:IndexOptions",
    ),
    "search": Command(
        '["QUESTION"] [DIR] [--at=FILE:LINE]',
        "search by a question, a name, or a comment `# search: ...`",
        "search.cli:search",
        "search.options:SearchOptions",
    ),
    "serve": Command(
        "[DIR] [--port=8765]",
        "a web page that searches, at http://127.0.0.1:8765",
        "search.serve.server:serve",
        "search.options:ServeOptions",
    ),
    "board": Command(
        "[DIR] [TensorBoard options]", "curves and pictures of all runs, at http://localhost:6006", "cli.runs:board"
    ),
    "related": Command(
        "FILE:LINE [--json]",
        "find code like that at a place, such as src/app.py:120",
        "search.snippets.command:related",
        "search.options:RelatedOptions",
        heading="more of the search",
    ),
    "mcp": Command(
        "[DIR] [--configure=CLIENT]",
        "an MCP server for coding agents, on its standard streams",
        "search.serve.mcp_server:mcp",
        "search.serve.mcp_server:McpOptions",
    ),
    "quality": Command(
        "DIR [--queries=FILE.json]",
        "measure the search on your documented methods or queries",
        "search.quality.command:quality",
        "search.quality.options:QualityOptions",
    ),
    "indexes": Command(
        "[--remove=DIR|gone]",
        "list the indexes: folder, size, age; remove some",
        "search.upkeep:indexes",
        "search.upkeep:IndexesOptions",
    ),
    "prepare": Command(
        "DATASET [--data.field=value ...]",
        "only prepare the data set (a run does it when needed)",
        "cli.runs:prepare",
        sections=("data",),
        heading="data and runs",
    ),
    "export": Command(
        "DATASET|RUN_DIR --out=DIR",
        "a data set in BEIR's form, or a run's model for others",
        "cli.runs:export",
        "cli.weights:ExportOptions",
        ("data",),
    ),
    "corpus": Command(
        "NAME [--data.field=value ...]", "statistics of a corpus of source trees", "cli.runs:corpus", sections=("data",)
    ),
    "evaluate": Command(
        "RUN_DIR [--evaluate.field=value]",
        "test a finished run again, on another pool or data set",
        "cli.runs:evaluate",
        sections=("evaluate",),
    ),
    "compare": Command(
        "RUN_DIR RUN_DIR [...] [--out=DIR]",
        "compare runs: intervals, wins and losses, kinds of query",
        "cli.tables:compare",
        "cli.tables:CompareOptions",
    ),
    "encode": Command(
        "RUN_DIR FILES --out=X.npy",
        "vectors of functions or questions",
        "cli.weights:encode",
        "cli.weights:EncodeOptions",
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
    "benchmark": Command(
        "PART [--out=DIR]",
        "train the main table's models that have no saved result",
        "cli.tables:benchmark",
        heading="tables of results",
    ),
    "ablate": Command("NAME [--out=DIR]", "train the variants of an ablation that have none", "cli.tables:ablate"),
    "tune": Command("MODEL", "compare a model's initializations and losses", "cli.tables:tune"),
    "table": Command(
        "[--results=DIR]",
        "write the tables of the saved results, or of your own",
        "cli.tables:table",
        "cli.tables:TableOptions",
    ),
    "speed": Command(
        "NAME [PATH]",
        "measure two forms of a part in one run, and their ratio",
        "cli.tables:speed",
        "evaluation.speed:SpeedOptions",
        names="cli.tables:ABOUT",
    ),
    "gencodesearchnet": Command(
        "MODEL [...]|statistics|...",
        "rank and match its test sets; make such sets",
        "cli.papers:gencodesearchnet",
        f"{_GENCODESEARCHNET}.config:BenchmarkOptions",
        needs="`bash run.sh install sentences`, for models named by a folder or MiniLM",
        parts={
            "statistics": Command(
                "",
                "token counts and distances of its sets",
                "cli.papers:sizes_of_subsets",
                f"{_GENCODESEARCHNET}.config:StatisticsOptions",
            ),
            "fine_tune": Command(
                "BASE --out=FOLDER",
                "fine-tune a cross-encoder, as its baselines",
                "cli.papers:fine_tuning",
                f"{_GENCODESEARCHNET}.config:FineTuneCommand",
                needs="`bash run.sh install sentences`",
            ),
            "format_pairs": Command(
                "FORM FILE [...] --out=FILE",
                "convert source files to its raw form",
                "cli.papers:format_pairs",
                f"{_GENCODESEARCHNET}.config:FormatOptions",
            ),
            "sample_pairs": Command(
                "FILE --task=T --out=FILE",
                "sample a ranking or matching file from a raw file",
                "cli.papers:sample_pairs",
                f"{_GENCODESEARCHNET}.config:SampleOptions",
            ),
            "r_pairs": Command(
                "SOURCE [...] --out=FOLDER",
                "extract comments and their code from R files or packages",
                "cli.papers:r_pairs",
                f"{_GENCODESEARCHNET}.config:RPairsOptions",
            ),
        },
        heading="other papers",
    ),
    "posts": Command(
        "MODEL|index|search|...",
        "search posts by code and an error; train and test that",
        "cli.papers:posts",
        names="experiments.posts.config:MODELS",
        named=(
            ("data", "data_prep.posts.sets:PostsConfig"),
            ("loop", "experiments.posts.config:LoopConfig"),
            ("evaluate", "experiments.posts.config:TestConfig"),
        ),
        parts={
            "index": Command(
                "DUMP",
                "index the answered questions of a dump",
                "search.snippets.command:index_posts",
                "search.snippets.command:PostsIndexOptions",
            ),
            "search": Command(
                "[--snippet=FILE]",
                "search it by code and an error, from standard input or a file",
                "search.snippets.command:search_posts",
                "search.snippets.command:PostsSearchOptions",
            ),
            "statistics": Command("--data.path=DUMP", "sizes of a dump's fields", "cli.papers:sizes_of_posts"),
            "tune": Command("--data.path=DUMP", "compare settings of BM25", "cli.papers:tune_posts"),
            "table": Command("", "write the tables of the saved results", "cli.papers:table_of_posts"),
            "sample": Command("MODEL", "the same on synthetic posts", "cli.papers:sample_posts"),
            "from_tracker": Command(
                "TICKETS --out=FOLDER",
                "write a bug tracker as a dump of posts",
                "cli.papers:from_tracker",
                "experiments.posts.config:TrackerOptions",
            ),
        },
    ),
    "install": Command(
        "NAME [...]",
        "add the libraries of a part, such as sentences or vectors",
        "cli.doctor:install",
        names="cli.doctor:PARTS",
        heading="this program",
    ),
    "doctor": Command("", "what is installed, what is missing, and how to get it", "cli.doctor:doctor"),
    "help": Command("[NAME ...]", "details of a command, data set, model or section"),
    "--version": Command("", "the version of this program", "cli.doctor:show_version"),
    "test": Command("[pytest options]", "run all checks", needs="the packages of the tests, which it installs itself"),
    "test_editor": Command(
        "",
        "try the VS Code extension in an editor (docs/editor.md)",
        needs="node 20, npm and Chromium; 550 MB, which it installs itself",
    ),
}
"""Name -> command."""

RENAMED: Final = {f"posts_{name}": f"posts {name}" for name in ("sample", "from_tracker")} | {
    name: f"gencodesearchnet {name}" for name in COMMANDS["gencodesearchnet"].parts
}
"""Earlier name -> today's."""

_WIDTH: Final = 44


def usage_lines() -> list[str]:
    """The commands that most people want, then the others below headings: how each is typed, and what it does."""
    lines: list[str] = []
    for name, each in COMMANDS.items():
        lines += [f"{each.heading}:"] if each.heading else []
        lines += [_line(f"DATASET MODEL {TRAIN.usage}", TRAIN.about)] if name == "board" else []
        lines.append(_line(f"{name} {each.usage}".rstrip(), each.about))
    return lines


def _line(typed: str, about: str) -> str:
    return f"  {typed:<{_WIDTH}}{about}"
