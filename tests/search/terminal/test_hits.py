"""What is shown of an answer: its certainty, places that open, the lines that match best, copies, lists."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from repositories import write
from serving import index_of

from experiments.terminal.console import cut
from search.engine.certainty import Certainty
from search.engine.engine import Engine
from search.hits import Places, View, as_files, as_text, as_vimgrep, from_here, unread_line
from search.index.index_file import open_index

POOL = """\
package x

// OpenPool opens the heron pool.
func OpenPool(a int) error {

\tif a > 3 {
\t\treturn fail("limit overflowed", a)
\t}
\treturn nil
}

func other() {}
"""
GATE = """\
class Gate:
    limit = 3

    def close_gate(self, key):
        \"\"\"Close the heron gate.

        It is closed for all.
        \"\"\"
        keys = self.keys

        self.turn(key)
        return keys
"""
FILES = {
    "pool.go": POOL,
    "sub/gate.py": GATE,
    "sub/crlf.ts": "export function openShop(a: string) {\r\n  const x = a;\r\n  log('heron shop')\r\n}\r\n",
    "sub/script.py": "# Prints lines.\nimport sys\n\nfor heron_line in sys.stdin:\n    print(heron_line)\n",
    "long.js": "function minified(a) {\n" + "x=1;" * 60 + "needle(a);" + "y=2;" * 60 + "\n}\n" + "let b = 1;\n" * 30,
    "copy/gate.py": GATE,
    "table.py": "def table_of_all():\n    x = '" + "a " * 3000 + "zebrafish" + " b" * 3000 + "'\n    return x\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write(tmp_path_factory.mktemp("shown") / "tree", FILES)


@pytest.fixture(scope="module")
def engine(root):
    return Engine(open_index(index_of(root, root.parent / "index")), None)


def shown(engine, root, question, *, explain=False, sure=None, **more):
    view = View.of(engine, question, root, explain=explain)
    hits = engine.search(question, **more)
    return as_text(view, question, hits, sure or engine.certainty(question, hits), 0.001).split("\n")


def test_the_first_line_is_the_certainty_and_the_code_is_near(engine, root, monkeypatch):
    monkeypatch.chdir(root / "sub")
    lines = shown(engine, root, "heron pool overflowed", top=1)
    assert lines[0] == engine.certainty("heron pool overflowed", engine.search("heron pool overflowed")).line
    assert lines[1:] == [
        "",
        " 1  OpenPool  ../pool.go:4",
        "    func OpenPool(a int) error",
        "    OpenPool opens the heron pool.",
        "      6 |     if a > 3 {",
        '    > 7 |         return fail("limit overflowed", a)',
        "      9 |     return nil",
    ]


def test_places_open_from_where_one_stands(engine, root, monkeypatch, tmp_path):
    for folder, expected in ((root, "sub/gate.py:4"), (root / "sub", "gate.py:4"), (root / "copy", "../sub/gate.py:4")):
        monkeypatch.chdir(folder)
        told = "\n".join(shown(engine, root, "close gate path:sub/", top=1))
        assert f"  Gate.close_gate  {expected}\n" in told
        assert Path(expected.rpartition(":")[0]).exists()
    monkeypatch.chdir(tmp_path)
    path = Places(engine.index, root).path(0)
    assert Path(path).samefile(root / engine.index.file(0).path)
    assert Places(engine.index, None).path(0) == engine.index.file(0).path
    deep = tmp_path.joinpath(*"abcdefghijklmnopqrstuvwxyz")
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert from_here(root / "pool.go") == str(root / "pool.go")


def test_what_a_reader_does_not_need_is_only_explained(engine, root):
    plain = "\n".join(shown(engine, root, "close gate"))
    assert not re.search(r"licence|BM25|vectors| of \d| ms", plain)
    told = "\n".join(shown(engine, root, "close gate", explain=True))
    assert "by words (BM25 " in told
    assert "licence not known" in told
    assert re.search(r"\d of [\d,]+ functions, types and files of 7 files, 1 ms", told)


def test_copies_are_counted_and_explained_by_their_places(engine, root, monkeypatch):
    monkeypatch.chdir(root)
    plain = shown(engine, root, "close_gate", top=1)
    assert plain[-1] == "    and 1 copy"
    told = "\n".join(shown(engine, root, "close_gate", top=1, explain=True))
    assert re.search(r"    and 1 copy: (sub|copy)/gate\.py:4\n", told)


def test_the_comment_is_not_shown_twice(engine, root):
    lines = shown(engine, root, "close the heron gate turn", top=1)
    assert sum("Close the heron gate." in line for line in lines) == 1
    assert [line for line in lines if line.startswith("    > ")] == ["    > 11 |         self.turn(key)"]


def test_a_file_is_shown_by_its_own_lines_if_it_is_the_one_that_was_indexed(engine, root, tmp_path):
    lines = shown(engine, root, "type:file heron_line", top=1)
    assert lines[2].endswith("sub/script.py:4")
    assert lines[3] == "    the whole file, 5 lines"
    assert "    > 4 | for heron_line in sys.stdin:" in lines
    changed = write(tmp_path / "tree", {**FILES, "sub/script.py": "secret heron_line\n"})
    told = "\n".join(shown(engine, changed, "type:file heron_line", top=1))
    assert "secret" not in told
    assert "for heron_line in sys.stdin:" in told  # what the index itself has
    (changed / "sub/script.py").unlink()
    (changed / "sub/script.py").symlink_to(root / "sub/script.py")
    assert Places(engine.index, changed).text(engine.search("type:file heron_line")[0].row) == ""


def test_line_ends_tabs_and_long_lines(engine, root):
    told = shown(engine, root, "open shop heron", top=1)
    assert "    > 3 |   log('heron shop')" in told
    assert not any("\r" in line or "\ufffd" in line for line in told)
    (line,) = [line for line in shown(engine, root, "needle minified type:function", top=1)[2:] if "needle" in line]
    assert len(line) <= 110
    assert line.startswith("    > 2 | ...")
    assert any("zebrafish" in line for line in shown(engine, root, "zebrafish", top=1)[2:])


@pytest.mark.parametrize("behind", ["", " end", " and so on until the end of all the lines there are"])
def test_a_line_that_is_cut_before_what_is_sought_is_as_wide_as_it_may_be(behind):
    line = "before it is much that says nothing, and then the needle" + behind
    told = cut(line, 40, line.index("needle"))
    assert len(told) == 40
    assert "needle" in told


def test_below_nothing_found_are_at_most_three(engine, root):
    told = shown(engine, root, "heron gate pool shop", sure=Certainty("none", ["heron"]))
    assert told[0] == Certainty("none", ["heron"]).line
    assert told[1] == "nearest by meaning, which need not answer it:"
    assert sum(bool(re.match(r" \d  ", line)) for line in told) == 3


@pytest.mark.parametrize("why", ["nearest by meaning", "no place has its words together; nearest by meaning"])
def test_that_hits_are_the_nearest_by_meaning_is_said_once(engine, root, why):
    told = shown(engine, root, "heron gate pool shop", sure=Certainty("none", ["heron"], why=why))
    assert sum("nearest by meaning" in line for line in told) == 1
    assert sum(bool(re.match(r" \d  ", line)) for line in told) == 3


def test_what_is_not_read_is_said_where_nothing_strong_was_found(engine, root):
    assert unread_line(engine.index) == ""
    with_unread = replace(engine.index)
    object.__setattr__(with_unread, "unread", {".rs": 3, ".vue": 1200, **{f".k{number}": 1 for number in range(9)}})
    other = Engine(with_unread, None)
    line = "not read: 1,212 files: 1,200 .vue, 3 .rs, 1 .k0, 1 .k1, 1 .k2, 1 .k3, 5 of other kinds"
    assert shown(other, root, "heron", sure=Certainty("weak"))[1] == line
    assert line not in shown(other, root, "heron", sure=Certainty("strong"))


def test_lists_are_of_files_and_of_places(engine, root, monkeypatch):
    monkeypatch.chdir(root / "sub")
    view = View.of(engine, "heron", root)
    rows = [hit.row for hit in engine.search("heron gate shop pool -path:copy/")]
    files = as_files(view, rows).split("\n")
    assert len(files) == len({*files})
    assert all(Path(file).is_file() for file in files)
    for line in as_vimgrep(view, rows).split("\n"):
        path, number, column, text = line.split(":", 3)
        own = Path(path).read_bytes().decode().split("\n")[int(number) - 1]
        assert own[: int(column) - 1].strip() == ""
        assert own[int(column) - 1 :].startswith(text[:10])
    gate = next(line for line in as_vimgrep(view, rows).split("\n") if "close_gate" in line)
    assert gate == "gate.py:4:5:def close_gate(self, key)"
