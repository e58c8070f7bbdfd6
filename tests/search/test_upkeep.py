"""The stored indexes, and their removal."""

import json
import shutil

import pytest
from repositories import write
from serving import indexed

from cli.main import main
from search.opening import index_place

FILES = {"store.py": "def open_the_door():\n    pass\n"}


@pytest.fixture
def three(tmp_path, monkeypatch):
    """A folder that is there, one that is gone, and an index whose folder is not known, of another version."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("there", "gone", "old"):
        indexed(write(tmp_path / name, FILES))
    shutil.rmtree(tmp_path / "gone")
    old = index_place(tmp_path / "old")
    old.write_bytes(b"galm index 3 {}\n")
    old.with_name("index.tree").unlink()
    return tmp_path


def listed(capsys) -> dict[str, dict]:
    capsys.readouterr()
    assert main(["indexes", "--json"]) == 0
    return {each["name"]: each for each in json.loads(capsys.readouterr().out)["indexes"]}


def test_all_are_listed_with_what_they_are(three, capsys):
    found = {name.partition("-")[0]: each for name, each in listed(capsys).items()}
    assert {name: each["state"] for name, each in found.items()} == {"there": "there", "gone": "gone", "old": "unknown"}
    one = found["there"]
    assert (one["folder"], one["rows"], one["files"], one["vectors"]) == (str(three / "there"), 2, 1, "none")
    assert one["bytes"] > 1000
    assert one["age"] < 1000
    assert (one["usable"], found["old"]["usable"], found["old"]["version"]) == (True, False, "galm index 3")
    assert main(["indexes"]) == 0
    told = capsys.readouterr().out
    assert f"{three / 'gone'} (gone): 2 entries of 1 file" in told
    assert "cannot be used: galm index 3" in told
    assert "3 indexes in" in told


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("arguments", [["--remove="], ["--remove", ""], ["--json", "--remove="]])
def test_an_empty_folder_to_remove_is_an_error(capsys, arguments):
    assert main(["indexes", *arguments]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert told.err.startswith("galm: --remove= is empty: expected a folder")
    assert told.err.count("\n") == 1
    assert len(listed(capsys)) == 3


def test_the_index_of_a_folder_that_is_gone_answers_if_it_is_named(three, capsys):
    assert main(["search", "keep", f"--index={index_place(three / 'gone')}", "--model=none"]) in (0, 1)
    assert "no longer exists" in capsys.readouterr().err
    assert main(["search", "keep", str(three / "gone")]) == 2


def test_some_are_removed_with_all_their_files(three, capsys):
    assert main(["indexes", "--remove=gone"]) == 0
    assert not index_place(three / "gone").parent.exists()
    assert main(["indexes", f"--remove={three / 'there'}"]) == 0
    assert not index_place(three / "there").parent.exists()
    (name,) = listed(capsys)
    assert main(["indexes", f"--remove={name}"]) == 0
    assert listed(capsys) == {}
    assert main(["indexes", f"--remove={three / 'there'}"]) == 2
    assert main(["indexes", "--remove=gone"]) == 0


def test_a_link_in_the_cache_is_no_index_and_nothing_behind_it_is_removed(three, capsys):
    victim = write(three / "victim", {"index": "mine", "more": "mine"})
    (index_place(three / "there").parent.parent / "link").symlink_to(victim)
    assert "link" not in listed(capsys)
    assert main(["indexes", "--remove=link"]) == 2
    assert (victim / "more").read_text() == "mine"
