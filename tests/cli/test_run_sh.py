"""run.sh as a user calls it: from anywhere, with mistakes, and with every command that the README shows."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

from cli.commands import COMMANDS, usage_lines
from cli.doctor import PARTS
from cli.help import help_lines
from cli.main import main
from cli.tables import ABOUT, CALIBRATION, CONTROL
from data_prep.config import DATASETS
from experiments.posts.config import MODELS as POSTS_MODELS
from experiments.posts.config import resolve_plan
from experiments.posts.results import ABLATIONS as POSTS_ABLATIONS
from experiments.recipes import config
from experiments.recipes.config import SECTIONS, all_options, parse_options, resolve
from experiments.recipes.models import MODELS
from experiments.tables.ablations import ABLATIONS, GRID
from experiments.tables.language_table import NAME as LANGUAGES
from experiments.tables.main_table import CELLS
from experiments.tables.sweep import PREFIX, Sweep
from experiments.tables.tuning import TUNED
from experiments.terminal.options import parsed, split_arguments
from modeling.base import NeuralRanker

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
EXPERIMENTS = (REPOSITORY / "docs" / "experiments.md").read_text(encoding="utf-8")
SNIPPER = (REPOSITORY / "docs" / "snipper.md").read_text(encoding="utf-8")
README_COMMANDS = [
    line.partition("  #")[0].strip()
    for page in (README, EXPERIMENTS, SNIPPER)
    for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    for line in block.splitlines()
    if "bash run.sh" in line
]


FIRST = ["index", "search", "serve", "DATASET", "board"]
"""What most people want."""


def run_sh(*arguments: str, root: Path = REPOSITORY, cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Run run.sh with this interpreter, so that nothing is set up."""
    return subprocess.run(
        ["bash", str(root / "run.sh"), *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "GALM_PYTHON": sys.executable},
        timeout=120,
    )


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> Path:
    """A copy of what runs, in a folder whose name has spaces."""
    root = tmp_path_factory.mktemp("a clone, with spaces") / "the code"
    ignored = shutil.ignore_patterns(".*", "data", "runs", "tests", "vscode", "__pycache__")
    return shutil.copytree(REPOSITORY, root, ignore=ignored)


def test_help_works_from_anywhere_and_lists_all_there_is(elsewhere, tmp_path):
    told = run_sh("help", root=elsewhere, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert told.stderr == ""
    for name in [*COMMANDS, *SECTIONS]:
        assert name in told.stdout
    assert [line.split()[0] for line in told.stdout.splitlines()[1:6]] == FIRST
    assert told.stdout.count("\n") <= 40  # a screen
    assert max(map(len, told.stdout.splitlines())) <= 104
    assert run_sh(root=elsewhere, cwd=tmp_path).stdout == told.stdout


@pytest.mark.parametrize("topic", [*COMMANDS, *DATASETS, *MODELS, *SECTIONS])
def test_help_describes_all_there_is(topic):
    told = help_lines([topic])
    assert topic in told[0]
    if topic in COMMANDS:
        command = COMMANDS[topic]
        assert command.about in told[1]
        assert ("--" in "".join(told[2:])) == bool(
            command.options or command.sections or command.named or command.parts
        )
    elif topic in MODELS:
        assert all(f"    --{name}={value}" in told for name, value in MODELS[topic].settings.items())
    elif topic not in DATASETS:
        assert len(told) > 2


@pytest.mark.parametrize(
    ("topic", "names"), [("datasets", DATASETS), ("models", MODELS), ("posts", POSTS_MODELS), ("install", PARTS)]
)
def test_help_lists_names_with_what_they_are(topic, names):
    told = help_lines([topic])
    for name in names:
        assert any(line.startswith(f"  {name} ") and len(line.split()) > 1 for line in told), name
    assert max(map(len, told)) <= 104


def test_every_option_is_described_somewhere():
    told = "\n".join(line for topic in (*SECTIONS, *MODELS) for line in help_lines([topic]))
    for model in MODELS:
        for name in all_options(model):
            assert f"  --{name}=" in told, name


def test_help_of_what_there_is_not_is_told_the_nearest():
    with pytest.raises(ValueError, match="did you mean index"):
        help_lines(["indx"])


def test_the_comment_of_run_sh_is_the_list_of_commands():
    listed = "".join(f"# {line}\n" for line in usage_lines())
    assert f"#\n{listed}#\n" in (REPOSITORY / "run.sh").read_text()


def test_a_command_is_called_by_the_function_that_the_list_names(monkeypatch):
    from cli.main import main

    called = []
    commands = {(name,): command for name, command in COMMANDS.items() if command.run}
    commands |= {(name, part): each for name, command in COMMANDS.items() for part, each in command.parts.items()}
    for name, command in commands.items():
        module, _, function = command.run.partition(":")
        monkeypatch.setattr(f"{module}.{function}", lambda given, name=name: called.append((name, given)))
        assert main([*name, "a word", "--an.option=1"]) == 0
    assert called == [(name, ["a word", "--an.option=1"]) for name in commands]


def test_modules_of_the_current_folder_are_not_taken_for_ours(tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    (tmp_path / "numpy.py").write_text("raise SystemExit('the wrong one')")
    assert run_sh("help", cwd=tmp_path).returncode == 0


def test_a_mistake_is_one_line_and_2():
    told = run_sh("jdk", "galm", "--train.epoch=3")
    assert (told.returncode, told.stdout) == (2, "")
    expected = "unknown option of galm '--train.epoch': did you mean --train.epochs? `bash run.sh help galm` lists all"
    assert told.stderr == f"galm: {expected}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jkd", "galm"], "did you mean jdk?"),
        (["jdk"], "expected a data set and a model"),
        (["prepare"], "prepare DATASET"),
        (["evaluate"], "evaluate RUN_DIR"),
        (["jdk", "galm", "bm25"], "expected a data set and a model"),
        (["--train.epochs=3"], "expected a data set and a model"),
        (["jdk", "galm", "--evaluate.extra_tests=cns"], "did you mean csn?"),
        (["folder", "galm"], "needs --data.path="),
        (["folder", "galm", "--data.path=/nowhere at all"], "/nowhere at all does not exist"),
    ],
)
def test_mistakes_tell_what_was_expected(arguments, message, capsys):
    from cli.main import main

    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_traceback_is_shown_to_who_asks(monkeypatch):
    from cli.main import main

    monkeypatch.setenv("GALM_TRACEBACK", "1")
    with pytest.raises(ValueError, match="did you mean jdk"):
        main(["jkd", "galm"])


def understood_posts(arguments):
    if arguments[0] in COMMANDS["posts"].parts and (options := COMMANDS["posts"].parts[arguments[0]].options):
        parsed(arguments[1:], resolve_name(options))
        return
    names, typed = split_arguments(arguments)
    assert names[0] in (*COMMANDS["posts"].parts, *POSTS_MODELS)
    resolve_plan(names[0] if names[0] in POSTS_MODELS else "bm25", typed)


def own_model(typed):
    """A model with the same options in place of an own one, if one is named."""
    if own := typed.pop("model", ""):
        assert issubclass(resolve_name(own.replace("/", ".").replace(".py:", ":")), NeuralRanker)
    return ["unif"] if own else []


def test_the_board_names_the_newest_run(tmp_path, monkeypatch, capsys):
    told = []
    monkeypatch.setattr(config, "REPOSITORY", tmp_path)
    monkeypatch.setattr(os, "execv", lambda _, words: told.append((words[1:], capsys.readouterr().out)))
    main(["board", "--port=7"])
    for age, folder in enumerate(["new", "old/events"]):  # the latter as runs of earlier versions have them
        (tmp_path / "runs" / folder).mkdir(parents=True)
        (tmp_path / "runs" / folder / "events.out.tfevents.1").touch()
        os.utime(tmp_path / "runs" / folder / "events.out.tfevents.1", (9 - age, 9 - age))
    main(["board", "--port=7"])
    server = ["-m", "tensorboard.main", "--logdir", str(tmp_path / "runs"), "--host", "localhost", "--port=7"]
    assert [words for words, _ in told] == [server, server]
    assert "; there are no runs yet; " in told[0][1]
    assert "; the newest run is new; " in told[1][1]


def test_the_readme_has_commands():
    assert any("jdk galm" in command for command in README_COMMANDS)


@pytest.mark.parametrize("command", README_COMMANDS)
def test_every_command_of_the_readme_is_understood(command):
    words = shlex.split(command)
    arguments = words[words.index("run.sh") + 1 :]
    if arguments[0] == "help":
        assert help_lines(arguments[1:])
        return
    if arguments[0] in ("test", "test_editor", "board", "doctor", "--version", "install"):
        assert {*arguments[1:]} <= {*(PARTS if arguments[0] == "install" else ())}
        return
    if arguments[0] == "posts":
        understood_posts(arguments[1:])
        return
    if arguments[0] in COMMANDS and COMMANDS[arguments[0]].options:
        words, _ = parsed(arguments[1:], resolve_name(COMMANDS[arguments[0]].options))
        assert bool(words) == (arguments[0] not in ("serve", "table"))
        assert arguments[0] != "speed" or words[0] in ABOUT
        return
    names, typed = split_arguments(arguments)
    names += own_model(typed)
    if names[0] == "evaluate":
        assert names[1].startswith("runs/")
        assert parse_options("galm", typed)
    elif names[0] in ("benchmark", "ablate", "tune"):
        ablations = (GRID, *ABLATIONS, CONTROL, CALIBRATION, *POSTS_ABLATIONS)
        assert names[1] in {"benchmark": (*CELLS, LANGUAGES), "ablate": ablations, "tune": TUNED}[names[0]]
    elif names[0] in ("prepare", "export"):
        assert names[1] in DATASETS
        parse_options("galm", typed)
    else:
        assert names[0] in DATASETS
        swept = any(name.startswith(PREFIX) for name in typed)
        assert (Sweep.of if swept else resolve)(names[0], names[1], typed)
