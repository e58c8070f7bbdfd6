"""``index --list``: indexes of many repositories, each made apart from the others."""

import os
import subprocess
import sys

import pytest
from repositories import write

from cli.main import main
from data_prep.files.writing import sole_holder
from experiments.recipes.config import REPOSITORY
from search.index.index_file import open_index, read_head
from search.index.vector_encoding import up_to_date
from search.opening import index_place

SOURCE = "def read_{0}(path):\n    return open(path).read()\n"


@pytest.fixture
def company(tmp_path):
    """Three repositories and their list."""
    for name in ("one", "two", "three"):
        write(tmp_path / name, {"src/reading.py": SOURCE.format(name)})
    (tmp_path / "list.tsv").write_text("# all\none\ntwo\nthree\n")
    return tmp_path


def heads(company):
    return [read_head(index_place(company / name)) for name in ("one", "two", "three")]


def test_each_repository_gets_an_index_of_its_own(company, capsys):
    assert main(["index", f"--list={company / 'list.tsv'}", "--processes=1"]) == 0
    told = capsys.readouterr().out
    assert [line for line in told.splitlines() if " of 3: " in line] == ["1 of 3: one", "2 of 3: two", "3 of 3: three"]
    for name in ("one", "two", "three"):
        assert f"read_{name}" in open_index(index_place(company / name)).names
        assert up_to_date(index_place(company / name), "")
    before = heads(company)
    write(company / "two", {"src/more.py": SOURCE.format("more")})
    assert main(["index", f"--list={company / 'list.tsv'}", "--processes=1"]) == 0
    assert capsys.readouterr().out.count("nothing has changed, ") == 4  # two indexes and their vectors
    assert [old == new for old, new in zip(before, heads(company), strict=True)] == [True, False, True]


def test_a_bad_repository_is_named_and_stops_no_other(company, capsys):
    (company / "list.tsv").write_text("none\none\nempty\ntwo\nthree\n")
    (company / "empty").mkdir()
    assert main(["index", f"--list={company / 'list.tsv'}", "--processes=1"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3
    assert errors[0].startswith("none: ")
    assert errors[1].startswith(f"empty: {company / 'empty'} has no source file")
    assert errors[2] == "galm: 2 of 5 repositories could not be indexed: none, empty"
    assert len(heads(company)) == 3


def test_a_kill_leaves_the_others_and_the_old_index(company):
    assert main(["index", f"--list={company / 'list.tsv'}", "--processes=1"]) == 0
    before, old = heads(company), index_place(company / "two").read_bytes()
    for name in ("one", "two", "three"):
        write(company / name, {"src/more.py": SOURCE.format("more")})
    command = [sys.executable, "-m", "cli.main", "index", f"--list={company / 'list.tsv'}", "--processes=1"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"}
    with sole_holder(index_place(company / "two").with_name(".index.lock")):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as program:
            assert program.stdout
            while "waiting for another process" not in program.stdout.readline():
                assert program.poll() is None
            program.kill()
        assert [old == new for old, new in zip(before, heads(company), strict=True)] == [False, True, True]
        assert index_place(company / "two").read_bytes() == old
    assert main(command[3:]) == 0
    assert all("read_more" in open_index(index_place(company / name)).names for name in ("one", "two", "three"))


@pytest.mark.parametrize("more", [["src"], ["--out=/x"]])
def test_a_list_names_all_folders(company, capsys, more):
    assert main(["index", f"--list={company / 'list.tsv'}", *more]) == 2
    assert "leave out DIR, --out" in capsys.readouterr().err
