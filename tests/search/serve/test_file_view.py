"""A file as the server shows it: whole if it still is what was indexed, in part if it is large or has changed."""

import os
from dataclasses import replace

import pytest
from repositories import commit, run_git, write
from serving import ask, index_of, running

from search.index.code_index import ChangedFileError, read_indexed
from search.index.index_file import open_index
from search.serve.code_api import LONGEST_LINE, MOST_LINES, MOST_UNITS, around
from search.serve.live_index import LiveIndex

LICENCE = "# SPDX-License-Identifier: MIT\n# Copyright A\n\n"
FILES = {
    "io/lines.py": f"{LICENCE}LIMIT = 3\n\n\nclass Lines:\n    def read(self):\n        # no\n        return LIMIT\n",
    "io/Words.java": "class Words {\r\n  int count() { return 1; }\r\n\r\n  int other() { return 2; }\r\n}\r\n",
}


@pytest.fixture
def root(tmp_path):
    root = commit(tmp_path / "tree", FILES)
    run_git(root, "remote", "add", "origin", "https://github.com/owner/name.git")
    return root


def served(root, tmp_path, folder):
    return running(LiveIndex(index_of(root, tmp_path / "index"), lambda _: None), root=folder)


def test_a_file_is_shown_whole_with_what_it_declares(root, tmp_path):
    with served(root, tmp_path, root) as port:
        told = ask(port, "/api/file", {"path": "io/lines.py", "line": 8}).told
        assert told["text"] + "\n" == FILES["io/lines.py"]
        assert (told["first_line"], told["lines"], told["language"]) == (1, 10, "python")
        assert (told["license"], told["note"], told["unit_count"]) == ("MIT", "", 3)
        assert [(each["name"], each["start_line"], each["end_line"]) for each in told["units"]] == [
            ("LIMIT", 4, 4),
            ("Lines", 7, 10),
            ("Lines.read", 8, 10),
        ]
        assert told["url"].startswith("https://github.com/owner/name/blob/")
        assert told["url"].endswith("/io/lines.py#L8-L10")
        coloured = [(told["text"][start:end], kind) for start, end, kind in told["kinds"]]
        assert ("# no", "comment") in coloured
        assert ("class", "keyword") in coloured
        told = ask(port, "/api/file", {"path": "io/Words.java", "line": 3, "index": told["index"]}).told
        assert told["text"] + "\n" == FILES["io/Words.java"].replace("\r", "")
        assert [each["name"] for each in told["units"]] == ["Words", "Words.count", "Words.other"]


def test_a_file_that_changed_is_shown_as_the_index_has_it(root, tmp_path):
    with served(root, tmp_path, root) as port:
        (root / "io/lines.py").write_text(FILES["io/lines.py"].replace("LIMIT = 3", "LIMIT = 4"))
        told = ask(port, "/api/file", {"path": "io/lines.py", "line": 9}).told
        assert "changed since it was indexed" in told["note"]
        assert (told["first_line"], told["lines"]) == (8, 0)
        assert told["text"] == "def read(self):\n        # no\n        return LIMIT"
        told = ask(port, "/api/file", {"path": "io/lines.py", "line": 5}).told  # the file as a whole
        assert (told["first_line"], told["text"].startswith("LIMIT = 3")) == (0, True)
        (root / "io/Words.java").unlink()
        told = ask(port, "/api/file", {"path": "io/Words.java", "line": 4}).told
        assert ("No such file" in told["note"], told["text"]) == (True, "int other() { return 2; }")
        os.mkfifo(root / "io/Words.java")
        assert "not a regular file" in ask(port, "/api/file", {"path": "io/Words.java", "line": 4}).told["note"]
    with served(root, tmp_path, None) as port:
        assert "--folder=DIR" in ask(port, "/api/file", {"path": "io/lines.py"}).told["note"]


def test_no_index_leads_to_other_files(root, tmp_path):
    (tmp_path / "secret.py").write_text("SECRET = 1\n")
    (tmp_path / "tree" / "link").symlink_to(tmp_path)
    file = open_index(index_of(root, tmp_path / "index")).files[0]
    for path in ("../secret.py", str(tmp_path / "secret.py"), "link/secret.py", "io/../../secret.py", "io\0/x", "io"):
        with pytest.raises(ChangedFileError) as error:
            read_indexed(root, replace(file, path=path))
        assert "SECRET" not in str(error.value)
    with pytest.raises(ChangedFileError, match="changed"):
        read_indexed(root, replace(file, blobs=""))


@pytest.mark.parametrize(
    ("query", "status", "line"),
    [
        ("path=../secret.py", 400, "there is no indexed file '../secret.py'"),
        ("", 400, "there is no indexed file ''"),
        ("path=io/lines.py&line=0", 400, "line takes a whole number from 1"),
        ("path=io/lines.py&line=9999999999", 400, "line takes a whole number from 1"),
        ("path=io/lines.py&row=1", 400, "unknown parameter 'row'; known: path, line, index"),
        ("path=io/lines.py&index=other", 409, "the index was replaced since"),
    ],
)
def test_mistakes_are_one_line(root, tmp_path, query, status, line):
    with served(root, tmp_path, root) as port:
        answer = ask(port, "/api/file", query)
    assert answer.status == status
    assert line in answer.told["error"]


def test_of_a_large_file_a_part_is_shown(tmp_path):
    methods = [f"def f{number}():\n    return {number}\n" for number in range(1500)]
    root = write(tmp_path / "tree", {"large.py": f'"""\n{"".join(methods)}"""\n{"".join(methods[:500])}'})
    with served(root, tmp_path, root) as port:
        for line, first in ((1, 1), (1000, 1), (2900, 1900), (4002, 4002 - MOST_LINES + 1), (1 << 30, 2003)):
            told = ask(port, "/api/file", {"path": "large.py", "line": line}).told
            assert (told["first_line"], told["lines"], told["unit_count"]) == (first, 4002, 500)
            assert told["text"].count("\n") == MOST_LINES - 1
            assert len(told["units"]) == MOST_UNITS
            kinds = {kind for *_, kind in told["kinds"]}
            assert ("keyword" in kinds) == (line > 2000)  # all before it is in one text
        starts = [
            each["start_line"] for each in ask(port, "/api/file", {"path": "large.py", "line": 3501}).told["units"]
        ]
        assert starts[0] < 3501 < starts[-1]


def test_nothing_is_coloured_in_a_file_that_no_parser_has_read():
    assert around("x = 'a'\n", "a.py", 1).kinds
    assert around("x = 'a'\n", "a.py", 1, parsed=False).kinds == []


def test_long_lines_are_cut_and_still_coloured():
    shown = around(f"x = '{'a' * 3000}'\n# c\n", "a.py", 1)
    assert len(shown.text.split("\n")[0]) == LONGEST_LINE
    assert all(0 <= start < end <= len(shown.text) for start, end, _ in shown.kinds)
