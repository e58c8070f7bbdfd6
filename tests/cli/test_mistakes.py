"""Whatever is typed wrong: exit code 2, one line that says what is wrong, and nothing written."""

import gzip
import json
import os
import re
import shlex
import shutil
import socket
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from pkgutil import resolve_name
from zipfile import ZipFile

import pytest
from mistaken_commands import MISTAKES

from cli.commands import COMMANDS
from cli.main import main
from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.prepare import prepare
from experiments.recipes.config import REPOSITORY, SECTIONS, resolve, section_types
from experiments.recipes.models import MODELS
from experiments.terminal.options import parsed

FOREWORDS = ("preparing ", "ruby: ", "missing: ", "thresholds cannot be chosen: ", "27 pairs to train on, ")
"""How lines begin that are no results, and may come before a mistake is seen."""
LONGEST = 400

VERBS = ("open", "close", "read", "write", "parse", "join", "split", "count", "merge", "find")
NOUNS = ("file", "stream", "buffer", "line", "record", "table", "queue", "packet", "window", "graph")


def java(number: int) -> str:
    """A class of ten methods with comments of their own."""
    methods = "".join(
        f"/** Tries to {verb} the {NOUNS[(place + number) % 10]} of the {NOUNS[place]} in step {number}. */\n"
        f"int {verb}{number}(int {NOUNS[place]}) {{\n  int sum = {number} + {place};\n"
        f"  sum += Math.abs({NOUNS[place]});\n  return sum * {place};\n}}\n"
        for place, verb in enumerate(VERBS)
    )
    return f"package p;\n/** Class {number}. */\nclass C{number} {{\n{methods}}}\n"


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    """Sources, a prepared data set of them, finished and unfinished runs, an index, and files of wrong kinds."""
    made = tmp_path_factory.mktemp("here")
    for name in ("java", "few", "no java", "bare", "empty", "raw", "open/r252", "unfinished", "trained"):
        (made / name).mkdir(parents=True)
    for number in range(12):
        (made / "java" / f"C{number}.java").write_text(java(number))
    (made / "few" / "C.java").write_text("class C { /** Adds one to it all. */ int add(int a) {\n\nreturn a;\n} }")
    (made / "no java" / "a.txt").write_text("a")
    (made / "bare" / "A.java").write_text("\n")
    (made / "file.txt").write_text("a text\n")
    (made / "bad.zip").write_bytes(b"PK\x03\x04 and no more")
    (made / "loop").symlink_to("loop")
    with ZipFile(made / "empty.zip", "w"):
        pass
    raw = {"target": 1, "target_options": ["no_match", "match"]}
    pairs = [json.dumps({"input": f"text {number} [CODESPLIT] code {number}"} | raw) for number in range(40)]
    for name in ("raw/test_ruby.jsonl", "trained/test_ruby.jsonl", "trained/train_adv.jsonl"):
        (made / name).write_text("\n".join(pairs if "train_adv" in name else pairs[:9]) + "\n")
    row = {"query": ["opens", "the", "file"], "name": ["open"], "tokens": ["sum"], "api": [], "eval_overlap": []}
    (made / "open" / "r252" / "train.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode() + b"\n"))
    options = data_options(made)
    config = DataConfig(path=str(made / "java"), root=str(made / "data"), valid_share=0.2, test_share=0.2, processes=1)
    for name, path in (("folder", "java"), ("open_java", "open")):
        prepare(name, replace(config, path=str(made / path)), command="the tests", say=lambda _: None)
    quick = ["--train.epochs=1", "--train.threads=1", "--evaluate.bootstrap_samples=100", "--model.dim=8"]
    assert main(["folder", "unif", *options, *quick, f"--out={made / 'run'}"]) == 0
    assert main(["folder", "bm25", *options, "--evaluate.bootstrap_samples=100", f"--out={made / 'bm25'}"]) == 0
    shutil.copy(made / "run" / "config.json", made / "unfinished")
    for folder, index in (("java", "index"), ("bare", "no methods")):
        assert main(["index", str(made / folder), f"--out={made / index}", "--vectors=none"]) == 0
    return made


def data_options(made: Path) -> list[str]:
    """Options under which the prepared data are found again."""
    shares = ["--data.valid_share=0.2", "--data.test_share=0.2", "--data.processes=1"]
    return [f"--data.path={made / 'java'}", f"--data.root={made / 'data'}", *shares]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    """An empty current folder, and a home of its own."""
    (tmp_path / "current").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    monkeypatch.delenv("GALM_TRACEBACK", raising=False)
    return tmp_path


def typed(line: str, here: Path) -> list[str]:
    """The words and options of a row of the table."""
    stand_for = {
        "here": here,
        "home": "~nobody-of-this-name/x",
        "name": "x" * 3000,
        "path": "x/" * 3000,
        "nul": "\0",
        "gcs": "gencodesearchnet",
    }
    stand_for |= {"gcs": "gencodesearchnet", "question": "x" * 10_000, "many": "9" * 23, "more": "9" * 5000}
    parts = (data_options(here) if each == "{data}" else [each.format(**stand_for)] for each in shlex.split(line))
    return [each for part in parts for each in part]


def files(*folders: Path) -> dict[str, tuple[int, ...]]:
    """Everything in some folders, with what changes when it is written to."""
    found = {}
    for path in (path for folder in folders for path in folder.rglob("*")):
        status = path.lstat()
        found[str(path)] = (status.st_size, status.st_mtime_ns) if path.is_file() else ()
    return found


def in_repository() -> set[str]:
    """The names in the folders of the repository that runs write to, without what other tests make in the meantime.

    These make its folder of data, which may come and go, and what other processes write to it.
    """
    folders = [REPOSITORY / name for name in (".", "runs", "experiments/results")]
    found = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
    return {str(path) for path in found if path.name[0] not in "._" and path != REPOSITORY / "data"}


@pytest.fixture
def refused(here, place, capsys) -> Callable[[list[str], str], None]:
    """Runs a command that is to be refused, and looks at all that it leaves."""

    def refused(arguments: list[str], fragment: str) -> None:
        before, repository = files(place, here), in_repository()
        capsys.readouterr()
        assert main(arguments) == 2
        told = capsys.readouterr()
        assert fragment in told.err
        assert told.err.count("\n") == 1
        assert told.err.startswith("galm: ")
        assert len(told.err) <= LONGEST
        assert all(line.startswith(FOREWORDS) for line in told.out.splitlines()), told.out
        assert files(place, here) == before
        assert in_repository() == repository

    return refused


@pytest.mark.parametrize(("line", "fragment"), [pytest.param(*row[1:], id=row[0]) for row in MISTAKES])
def test_a_mistake_is_one_line_and_nothing_is_written(line, fragment, here, refused):
    refused(typed(line, here), fragment.replace("{here}", str(here)))


@pytest.mark.parametrize(
    "line", ["gencodesearchnet nobody/nothing --path={here}/raw", "gencodesearchnet fine_tune nobody/nothing --out=o"]
)
def test_a_pretrained_model_that_is_not_here_is_one_line(line, here, refused, monkeypatch):
    pytest.importorskip("sentence_transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    place = [] if "--path" in line else [f"--path={here}/trained"]
    refused([*typed(line, here), *place], "nobody/nothing is not a folder, not an installed package")


def test_a_port_that_is_taken_is_one_line(here, refused):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        refused(["serve", f"--index={here / 'index'}", f"--port={port}"], f"cannot listen on port {port}")


@pytest.mark.parametrize("line", ["search 'open it'", "index .", "jdk galm", "evaluate {here}/run", "posts statistics"])
def test_a_current_folder_that_was_deleted_is_one_line(line, here, place, refused):
    (place / "current").rmdir()
    refused(typed(line, here), "begins at the current folder, which was deleted: go to another one")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("line", ["folder bm25 {data} --out=shut/run", "index {here}/java --out=shut/index"])
def test_a_folder_that_may_not_be_written_to_is_one_line(line, here, place, refused):
    (place / "current" / "shut").mkdir(mode=0o500)
    refused(typed(line, here), "no permission to write in")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_full_memory_is_one_line(error, refused, monkeypatch):
    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr("cli.tables.table", full)
    refused(["table"], "out of memory")


@pytest.mark.parametrize(
    "error", [ValueError("3 rows"), KeyError("x"), RuntimeError("shapes"), OSError("no file named")]
)
def test_other_errors_are_faults_with_their_traceback(error, monkeypatch, capsys):
    def wrong(*_: object) -> None:
        raise error

    monkeypatch.setattr("cli.tables.table", wrong)
    assert main(["table"]) == 70
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "Traceback (most recent call last):"
    assert any("test_mistakes.py" in line for line in told)
    assert told[-1].startswith("galm: this is a fault of the program")
    monkeypatch.setenv("GALM_TRACEBACK", "1")
    with pytest.raises(type(error)):
        main(["table"])


@pytest.mark.parametrize(
    "error", [FileNotFoundError(2, "No such file", "a.txt"), OSError(28, "No space left"), ChildProcessError("killed")]
)
def test_errors_of_files_and_the_machine_are_mistakes(error, refused, monkeypatch):
    def wrong(*_: object) -> None:
        raise error

    monkeypatch.setattr("cli.tables.table", wrong)
    refused(["table"], str(error.strerror or error))


def test_a_long_line_is_cut_between_words(capsys, monkeypatch):
    def wrong(*_: object) -> None:
        raise UserError(" ".join(["number", "x" * 3000, *(f"word{n}word" for n in range(100)), "end"]))

    monkeypatch.setattr("cli.tables.table", wrong)
    assert main(["table"]) == 2
    told = capsys.readouterr().err.split()
    assert told[:2] == ["galm:", "number"]
    assert told[-1] == "end"
    assert {each for each in told[3:-1] if not re.fullmatch(r"word\d+word", each)} == {"..."}


def test_a_search_without_a_hit_has_its_own_exit_code(here, tmp_path, capsys):
    index = f"--index={here / 'index'}"
    assert main(["search", "open the file", index]) == 0
    assert main(["search", "zyzzyva", index, "--model=none"]) == 1
    assert "nothing found" in capsys.readouterr().out
    assert main(["search", "zyzzyva", index, "--model=none", "--json"]) == 1
    (tmp_path / "code.java").write_text("void zyzzyva() { qwertz(); }")
    assert main(["search", f"--snippet={tmp_path / 'code.java'}", index, "--model=none"]) == 1
    assert main(["related", "C1.java:3", index]) == 0


def test_words_that_all_are_rare_are_one_line(here, capsys):
    """A vocabulary of nothing is seen when the pairs that are trained on are there, in the folder of the run."""
    assert main([*typed("folder unif {data} --words.min_count=1000 --out=run", here)]) == 2
    error = capsys.readouterr().err
    assert error == "galm: --words.min_count=1000 leaves no known word of the training pairs' queries: lower it\n"


def test_options_without_a_part_are_said_in_one_line(here, capsys):
    line = (
        "folder bm25 {data} --data.extra_train_sets=folder:{here}/java --data.exclude_overlap_with=folder:{here}/java"
    )
    assert main(typed(f"{line} --train.epochs=3 --train.seed=1 --evaluate.bootstrap_samples=100 --out=run", here)) == 0
    unused = "--data.extra_train_sets, --data.exclude_overlap_with, --train.epochs"
    assert f"without effect, since bm25 is not trained: {unused}" in capsys.readouterr().out.splitlines()


def is_bounded(kind: type, flag: Callable[[str], str], make: Callable[[str, str], object]) -> int:
    """Look at every number among the options ``kind``; how many there are."""
    numbers = [field.name for field in fields(kind) if type(field.default) in (int, float)]
    for name in numbers:
        for text in ("-1", "1e18", "10000000000", "9" * 23, "9" * 5000, "nan", "1e999", "", "x"):
            with pytest.raises(ValueError, match=re.escape(f"{flag(name)} takes")) as raised:
                make(name, text)
            assert len(str(raised.value)) < 200
    return len(numbers)


_FEW_NUMBERS = {"minilm": 2, "sentence_encoder": 2, "scotch": 1, "scotch_no_context": 1, "scotch_paper": 1}
"""Models whose section has fewer than three numbers."""


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("section", SECTIONS)
def test_every_number_of_a_section_has_bounds_that_its_message_names(section, model):
    kind = section_types(model)[section]
    count = is_bounded(
        kind, lambda name: f"--{section}.{name}", lambda name, text: resolve("jdk", model, {f"{section}.{name}": text})
    )
    assert count >= (_FEW_NUMBERS.get(model, 3) if section == "model" else 3)


@pytest.mark.parametrize(
    "options",
    [part.options for each in COMMANDS.values() for part in (each, *each.parts.values()) if part.options],
)
def test_every_number_of_a_command_has_bounds_that_its_message_names(options):
    kind = resolve_name(options)
    is_bounded(kind, lambda name: f"--{name}", lambda name, text: parsed([f"--{name}={text}"], kind))
