"""A pipe, an endless device or a link to itself in the place of any file or folder that a command takes."""

import os
import re
import shutil
from pathlib import Path

import pytest

from cli.main import main
from data_prep.gencodesearchnet.records import example, write_raw
from tests.odd_files import KINDS, deadline, odd_thing

COMMANDS = [
    *(f"prepare {name} --data.path=ODD" for name in ("jdk", "folder", "csn", "debian", "debian_sample")),
    *(f"prepare {name} --data.path=ODD" for name in ("csn_tabcs", "jcg_tabcs", "open_java")),
    "prepare jdk --data.path=ODD.deb",
    "prepare jdk --data.path=ODD.zip",
    "prepare csn --data.path=ODD.jsonl.gz",
    "prepare folder --data.path=SOURCES --data.extra_train_sets=folder:ODD",
    "folder bm25 --data.path=ODD",
    "folder bm25 --data.path=SOURCES --out=ODD",
    "folder bm25 --data.path=SOURCES --out=NEW --evaluate.extra_tests=folder:ODD",
    "folder galm --data.path=SOURCES --train.resume=ODD",
    "evaluate ODD",
    "speed search ODD",
    "speed posts ODD",
    "speed serve SOURCES --index=ODD --out=NEW",
    "speed rows --out=ODD",
    "index ODD",
    "index SOURCES --out=ODD",
    "index SOURCES --out=ODD/index",
    "index SOURCES --vectors=ODD",
    "search question --index=ODD",
    "search question --index=INDEX --model=ODD",
    "search question --index=INDEX --nearest=ODD.db",
    "serve --port=0 --index=ODD",
    "serve --port=0 --index=INDEX --model=ODD",
    "quality ODD",
    "quality SOURCES --vectors=ODD",
    "quality SOURCES --model=ODD",
    "quality SOURCES --against=ODD",
    "gencodesearchnet bm25 --path=ODD",
    "gencodesearchnet bm25 --path=BENCHMARK --out=ODD",
    "gencodesearchnet ODD --path=BENCHMARK --out=NEW",
    "fine_tune ODD --path=BENCHMARK --out=NEW",
    "fine_tune BASE --path=ODD --out=NEW",
    "fine_tune BASE --path=BENCHMARK --out=ODD",
    "statistics --path=ODD --out=NEW",
    "statistics --path=BENCHMARK --out=ODD",
    *(f"format_pairs raw ODD{suffix} --out=NEW" for suffix in ("", ".gz")),
    *(f"format_pairs pairs ODD{suffix} --out=NEW" for suffix in ("", ".csv", ".json", ".jsonl")),
    "format_pairs raw RAW --out=ODD",
    "sample_pairs ODD --task=matching --out=NEW",
    "sample_pairs RAW --task=matching --out=ODD",
    "r_pairs ODD --out=NEW",
    "r_pairs SOURCES --out=ODD",
]
"""ODD stands for the odd thing, the other words for what is as it should be."""
PAIRS = [
    (f"{verb} the given {thing}{end}", f"{verb} ( {thing}{end} )")
    for verb in ("read", "write", "open", "close", "find", "count", "sort")
    for thing in ("line", "page", "word", "tree", "list", "name", "path", "value", "token", "letter", "number")
    for end in ("", "s")
]
DATA = ["--data.near_duplicate=1", "--data.valid_share=0.2", "--data.test_share=0.2", "--data.processes=1"]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Sources, a benchmark and an index, by the words that COMMANDS have for them."""
    place = tmp_path_factory.mktemp("good")
    (place / "sources").mkdir()
    for number, (text, code) in enumerate(PAIRS):
        name = code.split()[0] + code.split()[2].title()
        method = f"/** {text}, and tell. */\n  int {name}() {{\n    return {number};\n  }}\n"
        (place / "sources" / f"A{number}.java").write_text(f"class A{number} {{\n  {method}}}\n")
    (place / "benchmark").mkdir()
    write_raw(raw := place / "benchmark" / "test_java.jsonl", [example(*pair) for pair in PAIRS])
    write_raw(place / "benchmark" / "train_adv.jsonl", [example(f"{text} now", code + " ;") for text, code in PAIRS])
    assert main(["index", str(place / "sources"), f"--out={place / 'index'}"]) == 0
    names = {"SOURCES": place / "sources", "BENCHMARK": place / "benchmark", "RAW": raw, "INDEX": place / "index"}
    return {name: str(path) for name, path in names.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_waits_for_what_is_no_file(command, kind, good, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    suffix = command.partition("ODD")[2].partition(" ")[0].partition("/")[0]
    odd = odd_thing(kind, tmp_path / f"odd{suffix}")
    before = odd.lstat()
    names = {**good, "ODD": str(tmp_path / "odd"), "NEW": str(tmp_path / "new")}
    arguments = [re.sub("|".join(names), lambda found: names[found[0]], word) for word in command.split()]
    if command.startswith(("prepare", "folder")):
        arguments += [*DATA, f"--data.root={tmp_path / 'data'}"]
    capsys.readouterr()
    with deadline():
        assert main(arguments) == 2
    told = capsys.readouterr().err.rpartition("\r")[2]  # after a progress bar
    assert told.startswith("galm: ")
    assert told.count("\n") == 1
    assert os.path.samestat(odd.lstat(), before)


@pytest.fixture(scope="module")
def run(good, tmp_path_factory):
    """The folder of a finished run of BM25, and its options."""
    place = tmp_path_factory.mktemp("run")
    options = [f"--data.path={good['SOURCES']}", f"--data.root={place / 'data'}", *DATA]
    assert main(["folder", "bm25", *options, f"--out={place / 'run'}"]) == 0
    return place / "run", options


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize(
    ("name", "words"), [("metrics.json", "evaluate"), ("log.txt", "evaluate"), ("metrics.json", "resume")]
)
def test_no_run_waits_for_what_lies_in_its_folder(name, words, kind, run, tmp_path, capsys):
    finished, options = run
    folder = shutil.copytree(finished, tmp_path / "run")
    (folder / name).unlink()
    odd_thing(kind, folder / name)
    command = ["evaluate", str(folder)] if words == "evaluate" else ["folder", "bm25", *options]
    with deadline():
        assert main(command if words == "evaluate" else [*command, f"--train.resume={folder}"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("galm: ")
    assert told.count("\n") == 1
    assert name in told


def test_a_name_that_is_no_text_is_as_good_as_others(good, tmp_path, capsys):
    source = Path(os.fsdecode(os.fsencode(tmp_path) + b"/s\xff\x1b[2J"))
    shutil.copytree(good["SOURCES"], source)
    command = ["folder", "bm25", f"--data.path={source}", f"--data.root={source / 'data'}", *DATA]
    assert main([*command, f"--out={tmp_path / 'run'}"]) == 0
    assert main(["evaluate", str(tmp_path / "run")]) == 0
    assert main(["index", str(source), "--vectors=none", f"--out={tmp_path / 'index'}"]) == 0
    assert main(["search", "read line", f"--index={tmp_path / 'index'}", "--model=none"]) == 0
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "folder (s\ufffd\ufffd[2J), test split" in told.out
    for name in ("run.trec", "qrels.trec"):
        assert "s%5Cudcff%1B%5B2J/A" in (tmp_path / "run" / name).read_text("ascii")
    assert main([*command, f"--out={source / 'run'}"]) == 2
    told = capsys.readouterr().err
    assert told == f"galm: --out={tmp_path}/s\ufffd\ufffd[2J/run has a name that is not UTF-8: name another folder\n"
