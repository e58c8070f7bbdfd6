import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.main import main
from data_prep.languages.java.declarations import find_methods, parse_java
from data_prep.worker_process import FILE
from experiments.recipes.config import REPOSITORY
from search.engine.engine import Engine
from search.index import build
from search.index.build import refresh
from search.index.index_file import FORMAT, UnusableIndexError, open_index, read_head
from search.making import contents


def made(root, path, processes=0):
    told = []
    done = refresh(root, path, processes=processes, tell=lambda *each: told.append(each))
    return done, told


def test_every_method_of_every_file_is_there_with_its_lines(java_folder, index):
    assert len(index.files) == len(list(java_folder.rglob("*.java"))) > 100
    for number in range(0, len(index.files), 10):
        data = (java_folder / index.files[number].path).read_bytes()
        rows = range(*index.file_edges[number : number + 2])
        texts = [index.split.text(row) for row in rows]
        methods = {(method.start_line, method.name) for method in find_methods(parse_java(data), documented_only=False)}
        assert methods <= {(text.start_line, text.method_name) for text in texts}
        assert {text.path for text in texts} <= {index.files[number].path}
        lines = data.decode().split("\n")
        for row, text in zip(rows, texts, strict=True):
            assert text.source in "\n".join(lines[text.start_line - 1 : text.end_line])
            assert index.names[row].endswith(text.method_name)
            assert index.file(row).path == text.path
    assert 0.1 < index.asks.mean() < 0.6


def test_the_same_tree_gives_the_same_bytes_however_many_processes_read_it(tree, tmp_path):
    contents = []
    for processes in (0, 2):
        done, _ = made(tree, tmp_path / f"index{processes}", processes)
        assert (done.files, done.read, done.written) == (12, 12, True)
        contents.append((tmp_path / f"index{processes}").read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("call", ["scandir", "lstat"])
def test_a_folder_that_may_not_be_read_leaves_its_index_as_it_was(tree, tmp_path, monkeypatch, capsys, call):
    path = tmp_path / "index"
    made(tree, path)
    before, found = path.read_bytes(), getattr(os, call)

    def refused(place=".", **options):
        if str(place) in (str(tree), f"{tree}/."):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
        return found(place, **options)

    monkeypatch.setattr(os, call, refused)
    assert main(["index", str(tree), f"--out={path}", "--vectors=none"]) == 2
    said = capsys.readouterr().err
    assert said == f"galm: {tree} cannot be read (Permission denied): chmod u+rx {tree} lets you\n"
    assert path.read_bytes() == before


def test_nothing_is_read_where_nothing_has_changed(tree, tmp_path, monkeypatch):
    first, _ = made(tree, tmp_path / "index")
    monkeypatch.setattr(build, "open_index", lambda _: pytest.fail("the index was read"))
    monkeypatch.setattr(build, "_read", lambda *_: pytest.fail("files were read"))
    again, _ = made(tree, tmp_path / "index")
    assert (again.rows, again.files, again.read, again.written) == (first.rows, 12, 0, False)


def test_only_what_changed_is_read_and_the_result_is_that_of_a_new_index(tree, tmp_path, monkeypatch):
    path, place = tmp_path / "index", tree / "java/util/stream"
    made(tree, path)
    files = sorted(place.glob("*.java"))
    files[3].unlink()
    files[5].write_text(files[5].read_text().replace("Stream", "Brook"))
    (place / "AAdded.java").write_text("class AAdded { /** Drains the marsh. */ void drainMarsh() { pump(); } }")
    read, real = [], build._read
    monkeypatch.setattr(
        build, "_read", lambda root, found, processes: (read.extend(found), real(root, found, processes))[1]
    )
    done, _ = made(tree, path)
    assert [Path(each.path).name for each in read] == ["AAdded.java", files[5].name]
    assert (done.files, done.read, done.gone) == (12, 2, 2)
    made(tree, tmp_path / "new")
    assert path.read_bytes() == (tmp_path / "new").read_bytes()
    index = open_index(path)
    assert "AAdded.drainMarsh" in index.names
    found = np.flatnonzero(index.lexical.scores(["marsh"]))
    assert [index.names[row] for row in found] == ["AAdded", "AAdded.drainMarsh"]


def test_files_that_cannot_be_read_are_told_and_stop_nothing(tree, tmp_path):
    place = tree / "java/util/stream"
    (place / "Binary.java").write_bytes(b"\x7fELF\2\1\0\0" * 9)
    (place / "Long.java").write_bytes(b" " * (5 << 20))
    (place / "Latin.java").write_bytes("class Latin { void größe() { } }".encode("latin-1"))
    (place / "Broken.java").write_text("class Broken { void whole() { } void half( {")
    (place / "Loop.java").symlink_to(place / "Loop.java")
    (place / "loop").symlink_to(place)
    done, told = made(tree, tmp_path / "index")
    assert {Path(path).name for path, _ in told} >= {"Binary.java", "Long.java"}
    assert done.files == 16
    index = open_index(tmp_path / "index")
    assert {"Broken.whole", "Broken.half", "Latin.größe"} <= set(index.names)
    assert [Path(file.path).name for file in index.files if file.trouble] == ["Binary.java", "Broken.java", "Long.java"]
    again, _ = made(tree, tmp_path / "index")
    assert not again.written


def test_an_index_grows_with_its_files_however_they_are_nested(tree, tmp_path):
    made(tree, tmp_path / "index")
    before = (tmp_path / "index").stat().st_size
    nested = "class A{" * 4000 + "}" * 4000
    (tree / "Nested.java").write_text(nested)
    _, told = made(tree, tmp_path / "index")
    assert (tmp_path / "index").stat().st_size < before + 1.5 * len(nested)
    ((path, trouble),) = told
    assert path == "Nested.java"
    assert trouble.startswith("3,983 declarations are left out")
    assert open_index(tmp_path / "index").files[0].trouble == trouble
    assert made(tree, tmp_path / "index")[0].written is False


def test_a_folder_without_sources_is_refused_and_an_index_stays_as_it_was(tree, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty has no source file \(\*\.py, "):
        made(tmp_path / "empty", tmp_path / "index")
    assert not (tmp_path / "index").exists()
    made(tree, tmp_path / "index")
    before = (tmp_path / "index").read_bytes()
    with pytest.raises(ValueError, match="has no source file"):
        made(tmp_path / "empty", tmp_path / "index")
    assert (tmp_path / "index").read_bytes() == before


def test_a_folder_without_methods_has_an_empty_index(tmp_path):
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "package-info.java").write_text("\n")
    done, _ = made(tmp_path / "bare", tmp_path / "index")
    assert (done.rows, done.files) == (0, 1)
    assert len(open_index(tmp_path / "index")) == 0


@pytest.fixture(scope="module")
def few(java_folder, tmp_path_factory):
    """Two files, and their index."""
    root = tmp_path_factory.mktemp("few")
    for name in ("Stream.java", "Collectors.java"):
        shutil.copy(java_folder / "java.base/java/util/stream" / name, root)
    made(root, path := tmp_path_factory.mktemp("few index") / "index")
    return root, path


@pytest.mark.parametrize("damage", ["cut", "flipped", "zeroed", "swapped", "version", "head", "rows", "nothing"])
def test_a_damaged_index_is_refused_and_made_anew(few, tmp_path, damage):
    root, path = few[0], tmp_path / "index"
    whole = shutil.copy(few[1], path).read_bytes()
    rows = read_head(path).rows
    flipped = bytearray(whole)
    flipped[-len(whole) // 3] ^= 1
    block = len(whole) // 3 // 4096 * 4096
    assert block > 8192
    damaged = {
        "cut": whole[:-100],
        "flipped": bytes(flipped),
        "zeroed": whole[:block] + bytes(4096) + whole[block + 4096 :],
        "swapped": whole[:4096]
        + whole[block : block + 4096]
        + whole[8192:block]
        + whole[4096:8192]
        + whole[block + 4096 :],
        "rows": whole.replace(b'"rows": %d' % rows, b'"rows": %d' % (rows + 1), 1),
        "version": whole.replace(FORMAT.encode(), b"galm index 01", 1),
        "head": whole.replace(b'"rows"', b'"raws"', 1),
        "nothing": b"",
    }
    path.write_bytes(damaged[damage])
    with pytest.raises(UnusableIndexError, match="make it again by") as error:
        open_index(path)
    assert "\n" not in str(error.value)
    assert len(damaged[damage]) in (len(whole), len(whole) - 100, 0)
    done, told = made(root, path)
    assert (done.written, done.read, len(told)) == (True, 2, 1)
    assert "rebuilt" in told[0][1]
    assert path.read_bytes() == whole


def test_an_index_of_before_there_was_a_quicker_sum_is_whole_by_its_sha256(tree, tmp_path):
    path = tmp_path / "index"
    made(tree, path)
    line, _, content = path.read_bytes().partition(b"\n")
    head = json.loads(line.removeprefix(FORMAT.encode()))
    del head["sum"]
    path.write_bytes(f"{FORMAT} {json.dumps(head)}\n".encode() + content)
    assert len(open_index(path)) == head["rows"]
    assert not made(tree, path)[0].written
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    done, told = made(tree, path)
    assert (done.written, len(told)) == (True, 1)
    assert "damaged" in told[0][1]


def test_an_index_is_written_over_no_device_pipe_or_folder(tree, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        with pytest.raises(ValueError, match="which is no regular file: name another one by --out="):
            made(tree, path)
    assert not Path("/dev/null").is_file()


def test_a_full_disk_leaves_the_old_index(tree, tmp_path, monkeypatch):
    path = tmp_path / "index"
    made(tree, path)
    before = path.read_bytes()
    (tree / "A.java").write_text("class A { void added() { } }")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        made(tree, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".index")] == []


_CHANGING = """
import sys, pathlib
from search.index.build import refresh
root, path = map(pathlib.Path, sys.argv[1:])
number = 0
while True:
    number += 1
    (root / "Changing.java").write_text("class Changing { void method%d() { } }" % number)
    refresh(root, path, processes=0, tell=lambda *each: None)
    print(number, flush=True)
"""


def test_kill_at_any_moment_leaves_a_whole_index(tree, tmp_path):
    path = tmp_path / "index"
    made(tree, path)
    random = np.random.default_rng(0)
    for _ in range(8):
        child = subprocess.Popen(
            [sys.executable, "-c", _CHANGING, tree, path], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(float(random.uniform(0, 0.3)))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        index = open_index(path)
        assert len(index.files) == 13
        assert any(name.startswith("Changing.method") for name in index.names)
        assert read_head(path).rows == len(index)
    made(tree, path)
    made(tree, tmp_path / "new")
    assert path.read_bytes() == (tmp_path / "new").read_bytes()


def test_documents_are_indexed_if_asked_for_until_they_are_not(tmp_path):
    root, index = tmp_path / "tree", tmp_path / "index"
    (root / "docs").mkdir(parents=True)
    (root / "a.py").write_text("def run(): return 1\n")
    (root / "docs" / "deploy.md").write_text("# Deployment\n\nThe class runs behind a proxy.\n")
    (root / "huge.json").write_text("[\n" + "1,\n" * 50_000 + "1]\n")

    def paths(documents=None):
        done = refresh(root, index, processes=0, tell=lambda *_: None, documents=documents)
        return [each.path for each in open_index(index).files], done.written

    assert paths() == (["a.py"], True)
    assert paths(True) == (["a.py", "docs/deploy.md", "huge.json"], True)
    assert paths() == (["a.py", "docs/deploy.md", "huge.json"], False)
    found = open_index(index)
    assert found.files[-1].trouble == "a document longer than 128 KiB"
    best = Engine(found, None).search("deployment behind a proxy")[0]
    assert (found.names[best.row], found.is_whole_file(best.row)) == ("deploy", True)
    assert not Engine(found, None).search("deployment", languages={"python"})
    assert contents(found)["markdown"] == {"files": 1, "rows": {"file": 1}}
    assert paths(False) == (["a.py"], True)
    assert paths() == (["a.py"], False)


HOSTILE = {
    "Arrows.java": "a=>",
    "arrows.py": "<-",
    "arrows.js": "->",
    "marks.ts": "!,",
    "cases.go": "case a:",
}
"""Of each language a text whose parsing takes the square of its length: of 24 KiB tens of seconds."""


def test_a_file_that_no_parser_can_afford_is_found_as_a_whole_and_stops_nothing(tmp_path, monkeypatch):
    assert build._GUARD.limits == FILE
    soon = replace(build._GUARD, limits=replace(FILE, seconds=0.5, seconds_per_mib=0.0))
    monkeypatch.setattr(build, "_GUARD", soon)
    (tmp_path / "code").mkdir()
    for name, part in HOSTILE.items():
        line = part.strip() * (150 // len(part))
        (tmp_path / "code" / name).write_text("// wombat\n" + f"{line}\n" * 160)
    (tmp_path / "code" / "Good.java").write_text("class Good { void drainMarsh() { pump(); } }")
    done, told = made(tmp_path / "code", tmp_path / "index", processes=2)
    assert done.files == 6
    assert {path for path, _ in told} == {*HOSTILE}
    reason = "takes more than 2 s of processor time or too much memory to parse: found as a whole file, its functions "
    assert {what for _, what in told} == {f"{reason}are not read"}
    index = open_index(tmp_path / "index")
    assert "Good.drainMarsh" in index.names
    assert [file.path for file in index.files if not file.parsed] == sorted(HOSTILE)
    assert [file.units for file in index.files if not file.parsed] == [1] * 5
    assert index.whole.having("wombat").size == 5
    assert made(tmp_path / "code", tmp_path / "index", processes=2)[0].written is False
