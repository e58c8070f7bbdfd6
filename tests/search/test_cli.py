"""The commands as a user types them."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from queue import SimpleQueue

import pytest
from repositories import run_git, write
from serving import index_of, indexed

from cli.main import main
from data_prep.files.writing import sole_holder
from experiments.recipes.config import REPOSITORY
from search.engine.engine import Engine
from search.engine.show import as_json
from search.files.languages import language_names
from search.hits import View, as_text
from search.index.code_index import Origin
from search.index.index_file import open_index
from search.models.folder import DEFAULT_MODEL
from search.opening import index_place


@pytest.fixture
def folder(tree, monkeypatch):
    """A folder with an index, and the working folder inside it."""
    indexed(tree, "")
    monkeypatch.chdir(tree / "java")
    return tree


def run_sh(*arguments, cwd):
    return subprocess.run(
        ["bash", str(REPOSITORY / "run.sh"), *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "GALM_PYTHON": sys.executable},
        timeout=120,
    )


def test_a_question_is_answered_after_an_index_is_made(tree):
    made = run_sh("index", ".", cwd=tree)
    assert made.returncode == 0, made.stderr
    assert "12 files" in made.stdout
    assert "nothing has changed" in run_sh("index", ".", cwd=tree).stdout
    told = run_sh("search", "returns the base iterator", "--explain", "--top=2", cwd=tree / "java")
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("by model") == 2
    assert "->" in told.stdout
    assert "\x1b" not in told.stdout  # no colours where there is no terminal
    assert "GPL-2.0-only WITH Classpath-exception-2.0" in told.stdout


def test_an_index_that_another_process_makes_is_waited_for(tree, monkeypatch):
    place, said = index_place(tree), SimpleQueue()
    monkeypatch.setattr("search.making.say", said.put)
    with sole_holder(place.with_name(".index.lock")):
        waiting = threading.Thread(target=main, args=[["index", str(tree)]])
        waiting.start()
        assert said.get(timeout=120) == f"waiting for another process that makes {place}"
        assert not place.exists()
    waiting.join(120)
    assert "12 files" in said.get(timeout=120)
    assert [path.name for path in place.parent.iterdir() if path.suffix not in (".vectors", ".tree")] == ["index"]


def test_json_has_the_documented_fields(folder, capsys):
    capsys.readouterr()
    assert main(["search", "close the pipeline", "--json", "--top=3", "--explain"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["rank"] for each in answer["results"]] == [1, 2, 3]
    for each in answer["results"]:
        assert {"rank", "path", "start_line", "end_line", "name", "score", "license", "url"} <= set(each)
        lines = (folder / each["path"]).read_text().split("\n")
        assert each["source"].split("\n")[0] in lines[each["start_line"] - 1]
        assert [word["word"] for word in each["alignment"]] == ["close", "the", "pipeline"]


@pytest.mark.usefixtures("folder")
def test_bm25_alone_needs_no_model(capsys):
    capsys.readouterr()
    assert main(["search", "close the pipeline", "--model=none", "--json", "--by=file", "--path=java/util/*"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {each["model"] for each in answer["results"]} == {None}
    assert len({each["path"] for each in answer["results"]}) == len(answer["results"]) > 1


def test_what_a_terminal_would_obey_is_not_printed(tree, monkeypatch, capsys):
    (tree / "Evil.java").write_text(
        'class Evil {\n  /** Opens the \x1b]0;title\x07 window\u202e. */\n  void openWindow() { say("\x1b[2J"); }\n}\n'
    )
    main(["index", str(tree)])
    monkeypatch.chdir(tree)
    capsys.readouterr()
    assert main(["search", "open window", "--top=1"]) == 0
    told = capsys.readouterr().out
    assert "Evil.openWindow" in told
    assert not {"\x1b", "\x07", "\u202e"} & set(told)


TITLE = "\x1b]0;title\x07"


@pytest.mark.parametrize("git", [False, True])
def test_names_of_files_are_told_without_what_a_terminal_would_obey(tmp_path, capsys, git):
    root = tmp_path / f"tree {TITLE}"
    write(root, {f"A{TITLE}.java": "class A { void openWindow() {} }\n", "B\n 2  Forged.java": "\0"})
    os.close(os.open(os.fsencode(root) + b"/no\xff\xfe.java", os.O_CREAT))
    if git:
        run_git(root, "init", "-q")
    assert main(["index", str(root)]) == 0
    assert main(["search", "open window", f"--index={index_place(root)}"]) == 0
    told = capsys.readouterr()
    assert "A\ufffd]0;title\ufffd.java:1" in told.out
    assert "no\\xff" in told.err if git else "\ufffd" in told.err
    assert all(line.startswith(("B\ufffd 2  Forged.java: ", "no")) for line in told.err.splitlines())
    assert not {"\x1b", "\x07", "\r"} & set(told.out + told.err)


@pytest.fixture
def forged(tmp_path):
    """The answers, in both forms, of an index that somebody made: what it says of licence and origin is hostile."""
    index = open_index(
        index_of(write(tmp_path / "tree", {"A.java": "class A { void open() {} }\n"}), tmp_path / "index")
    )

    def of(origin="javascript:alert(1)//a/b", licence="MIT"):
        files = [replace(file, licence=licence, committed=True) for file in index.files]
        engine = Engine(replace(index, files=files, origin=Origin(origin, "0" * 40, "")), None)
        hits = engine.search("open", top=1)
        view = View.of(engine, "open", None, explain=True)
        shown = as_text(view, "open", hits, engine.certainty("open", hits), 0.0)
        return [as_json(engine, "open", hits, 0.0, explain=True), shown]

    return of


@pytest.mark.parametrize(
    ("origin", "is_link"),
    [
        ("https://github.com/owner/name", True),
        ("https://git.example.org:8443/group/sub/name", True),
        ("javascript:alert(1)//a/b", False),
        ("javascript:alert(1)", False),
        ("data:text/html,<script>", False),
        ("http://github.com/owner/name", False),
        ("HTTPS://github.com/owner/name\nhttps://b", False),
        ("https://github.com/owner/name\n", False),
        ("https://github.com/owner/name\x1b[2J", False),
        ('https://github.com/"onclick="alert(1)', False),
        ("https://github.com@evil.example/owner/name", False),
        ("https:evil.example", False),
        ("", False),
    ],
)
def test_a_link_is_one_of_the_web_or_none(forged, origin, is_link):
    answer, told = forged(origin)
    url = json.loads(answer)["results"][0]["url"]
    assert url == (f"{origin}/blob/{'0' * 40}/A.java#L1-L1" if is_link else "")
    assert (origin in told) == (is_link or not origin)
    assert ("://" in told) == is_link


def test_a_path_that_has_no_form_has_no_link(index):
    file, origin = replace(index.files[0], committed=True), Origin("https://github.com/owner/name", "0" * 40, "")
    assert (
        replace(index, files=[file], origin=origin).url(0).startswith(f"{origin.url}/blob/{origin.commit}/java.base/")
    )
    assert replace(index, files=[replace(file, path="\ud800")], origin=origin).url(0) == ""


@pytest.mark.parametrize(
    ("licence", "shown"),
    [
        (f"MIT{TITLE}", "MIT\ufffd]0;title\ufffd"),
        ("MIT\n 2  Forged.name  B.java:1-2", "MIT\ufffd 2  Forged.name  B.java:1-2"),
        ("M\ud800T", "M\ufffdT"),
        ("MIT OR " * 30_000, "MIT OR " * 28 + "MIT…"),
    ],
    ids=["title", "line", "half a pair", "long"],
)
def test_a_licence_is_a_short_line(forged, licence, shown):
    answer, told = forged(licence=licence)
    assert answer.isascii()
    assert json.loads(answer)["results"][0]["license"] == shown
    assert shown in told
    assert licence not in told


def test_a_terminal_gets_our_colours_and_no_others(tmp_path, monkeypatch, capsys):
    source = "class Evil {\n  /** Opens the \x1b[31mred\x1b[0m window. */\n  void openWindow() { say(1); }\n}\n"
    path = index_of(write(tmp_path / "tree", {"\x1b[36mEvil.java": source}), tmp_path / "index")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["search", "open window", "--explain", "--top=1", f"--index={path}"]) == 0
    told = capsys.readouterr().out
    place = f"{tmp_path}/tree/\ufffd[36mEvil.java:3"
    assert f"\x1b[1mEvil.openWindow\x1b[0m  \x1b[36m{place}\x1b[0m" in told
    assert "Opens the \ufffd[31mred\ufffd[0m window" in told
    assert set(re.findall(r"\x1b[^m]*m?", told)) <= {f"\x1b[{code}m" for code in (0, 1, 2, 32, 36)}


def test_json_is_ascii_without_anything_that_a_terminal_obeys(tmp_path, capsys):
    source = "class Evil {\n  /** Opens the \x7f\x9b2J\x1b[2J window. */\n  void openWindow() { say(1); }\n}\n"
    path = index_of(write(tmp_path / "tree", {"Evil.java": source}), tmp_path / "index")
    assert main(["search", "open window", "--json", "--top=1", f"--index={path}"]) == 0
    told = capsys.readouterr().out
    assert re.fullmatch(r"[\n\x20-\x7e]*", told)
    assert "\x7f\x9b2J\x1b[2J" in json.loads(told)["results"][0]["documentation"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["index"], "expected a folder"),
        (["index", "/nowhere at all"], "/nowhere at all"),
        (["search"], "expected one question"),
        (["search", "two", "--snippet=x.py"], "expected one question"),
        (["search", ""], "expected a question in words or a name"),
        (["search", "x" * 100_000], "at most 2,000 characters"),
        (["search", "a thing", "--tpo=3"], "did you mean --top?"),
        (["search", "a thing", "--top=0"], "--top takes a whole number from 1 to 100,000, not 0"),
        (["search", "a thing", "--top=many"], "--top takes a whole number, not 'many'"),
        (["search", "a thing", "--by=line"], "--by takes method or file"),
        (["search", "a thing"], "has no source file (*.py, "),
        (["search", "a thing", "nowhere"], "there is no folder nowhere"),
        (["search", "a thing", "--index=/nowhere"], "there is no index at /nowhere"),
        (["quality"], "expected a folder"),
        (["quality", "."], "has no source file (*.py, *.js"),
    ],
)
def test_mistakes_are_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert len(error) < 300


def test_a_model_that_is_none_is_one_line(folder, capsys):
    assert main(["search", "a thing", f"--model={folder}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_two_models_of_one_name_stay_apart(tree, tmp_path, capsys):
    names = [tmp_path / place / "model" for place in ("one", "other")]
    for name in names:
        name.parent.mkdir()
        name.symlink_to(DEFAULT_MODEL)
    compared = [f"--model={names[0]}", f"--against={names[1]}"]
    assert main(["quality", str(tree), "--queries=20", *compared]) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()[-4:-1]]
    assert rows == ["bm25", *map(str, names)]


def test_no_connection_is_made(folder, monkeypatch, capsys):
    def refused(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    assert main(["index", str(folder)]) == 0
    assert main(["search", "close the pipeline", "--explain"]) == 0
    assert "AbstractPipeline" in capsys.readouterr().out


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """The same function in two languages, indexed; no test changes them."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "store.py").write_text("class Store:\n    def read_netrc_file(self):\n        return parse(self)\n")
    (folder / "store.go").write_text("package store\n\nfunc ReadNetrcFile() int {\n\treturn parse()\n}\n")
    indexed(folder, "")
    return folder


@pytest.fixture
def languages(two, monkeypatch):
    """They are the current folder."""
    monkeypatch.chdir(two)


BOTH = {"store.py", "store.go"}


@pytest.mark.usefixtures("languages")
@pytest.mark.parametrize(
    ("typed", "expected"), [("", BOTH), ("python", {"store.py"}), ("go", {"store.go"}), ("go,python", BOTH)]
)
def test_hits_are_of_the_languages_asked_for(capsys, typed, expected):
    capsys.readouterr()
    assert main(["search", "read a netrc file", "--json", f"--language={typed}"]) == 0
    hits = json.loads(capsys.readouterr().out)["results"]
    assert {hit["path"] for hit in hits} == expected
    assert {hit["name"] for hit in hits} & {"Store.read_netrc_file", "ReadNetrcFile"}


@pytest.mark.usefixtures("languages")
@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("cobol", f"expected languages among {', '.join(language_names())}, gettext, gradle, json"),
        ("java", "--language=java matches none of the index's 2 files, which are of go, python"),
    ],
)
def test_languages_that_cannot_be_answered_are_refused_in_one_line(capsys, typed, told):
    assert main(["search", "read a netrc file", f"--language={typed}"]) != 0
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("languages")
def test_a_name_is_found_behind_its_package(capsys):
    capsys.readouterr()
    assert main(["search", "netrclib.Store.read_netrc_file", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["name"] == "Store.read_netrc_file"


def test_index_tells_what_it_has_as_json(tmp_path, capsys):
    root = write(
        tmp_path / "tree",
        {"a.py": b"LIMIT = 1\ndef run(): return 1\nclass A: pass\n", "b.py": b"\0", "c.toml": b"a=1\n"},
    )
    told = []
    for _ in range(2):
        assert main(["index", str(root), "--json", "--documents=true", "--vectors=none"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    first, second = told
    assert first["rows"] == 5
    assert first["languages"] == {
        "python": {"files": 2, "rows": {"method": 1, "type": 1, "constant": 1, "file": 1}},
        "toml": {"files": 1, "rows": {"file": 1}},
    }
    assert first["left_out"] == [{"path": "b.py", "reason": "binary: a NUL byte in its first 8 KiB"}]
    assert (first["files"], first["files_read"], first["changed"], first["documents"]) == (3, 3, True, True)
    assert (second["files_read"], second["changed"]) == (0, False)
    assert second["left_out"] == first["left_out"]
    assert second["seconds"] >= 0
    assert first["index"] == str(index_place(root))
