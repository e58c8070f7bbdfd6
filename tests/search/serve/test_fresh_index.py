"""The index of an agent's server: made at the first question, which does not wait for all of it, and kept fresh."""

import errno
import os
import re
import threading
import time
from contextlib import ExitStack

import pytest

from data_prep.errors import UserError
from search import first_index
from search.index import build, updating
from search.index.index_file import open_index
from search.index.read_part import likely_first
from search.serve import fresh_index, live_index, partial_index
from search.serve.agent_tools import AgentTools
from tests.search import serving
from tests.search.serving import settled


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "shop"
    for n in range(60):
        (root / f"part{n % 3}").mkdir(parents=True, exist_ok=True)
        (root / f"part{n % 3}" / f"module{n}.py").write_text(f"def function_{n}(basket):\n    return basket + {n}\n")
    (root / "tests").mkdir()
    (root / "tests/test_till.py").write_text("def test_till():\n    assert open_till()\n")
    (root / "till.py").write_text('def open_till():\n    """Open the till."""\n    return True\n')
    return root


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(fresh_index, "PATIENCE", 60.0)


@pytest.fixture
def hindered(monkeypatch):
    """Reading stops after some parts until it is told to go on."""
    go_on, real = threading.Event(), build.watched

    def watched(root, found, _, watch):
        for number, part in enumerate(real(root, found, 0, watch)):
            if number == 1:
                assert go_on.wait(60)
            yield part

    monkeypatch.setattr(build, "watched", watched)
    monkeypatch.setattr(fresh_index, "PATIENCE", 0.3)
    monkeypatch.setattr(fresh_index, "_LONGEST", 5.0)
    yield go_on
    go_on.set()


@pytest.fixture
def fresh():
    """Makes indexes, which are closed."""
    with ExitStack() as stack:
        yield lambda *about: stack.enter_context(serving.fresh(*about))


def test_a_question_is_answered_from_what_is_read_so_far(root, hindered, fresh):
    index = fresh(root, "")
    tools = AgentTools(index)
    for _ in range(300):
        found = tools.search("open the till")
        if found["notice"].startswith("16 of"):
            break
        time.sleep(0.1)
    assert found["notice"] == "16 of 62 files are indexed so far; ask again for the rest"
    assert found["results"][0]["path"] == "till.py"
    assert found["certainty"]["text"].endswith(" (of those indexed so far)")
    assert (index.progress.read, index.progress.files) == (16, 62)
    assert index.progress.doing == "16 of 62 files are read"
    assert tools.search("zzqqy")["certainty"]["text"] == ("nothing found: no file has zzqqy (of those indexed so far)")
    hindered.set()
    settled(index)
    found = tools.search("test till")
    assert "notice" not in found
    assert {hit["path"] for hit in found["results"]} >= {"till.py", "tests/test_till.py"}


def test_what_is_asked_for_is_read_first(root, hindered, fresh):
    index = fresh(root)
    assert AgentTools(index).read_unit("tests/test_till.py", 1)["name"] == "test_till"
    hindered.set()
    settled(index)


def test_what_a_later_question_is_about_is_read_meanwhile(root, hindered, fresh):
    (root / "part1/cash_register.py").write_text("def ring_up(basket):\n    return sum(basket)\n")
    (root / "part1/register_gone.py").write_text("def ring_down(basket):\n    return sum(basket)\n")
    index = fresh(root)
    tools = AgentTools(index)
    while not tools.search("open the till").get("notice", "").startswith("16 of"):
        time.sleep(0.1)
    (root / "part1/register_gone.py").unlink()
    found = tools.search("register")
    assert [hit["path"] for hit in found["results"]] == ["part1/cash_register.py"] * len(found["results"])
    assert found["notice"] == "17 of 64 files are indexed so far; ask again for the rest"
    assert tools.read_unit("part2/module17.py", 1)["name"] == "function_17"
    assert {hit["path"] for hit in tools.search("register")["results"]} == {"part1/cash_register.py"}
    found = tools.search("basket", path=str(root / "part0" / "module57.py"))
    assert {hit["path"] for hit in found["results"]} == {"part0/module57.py"}
    assert tools.usages("basket", path="part1/module58.py")["files"][0]["path"] == "part1/module58.py"
    hindered.set()
    assert len(settled(index).current().engine.index.files) == 63


def test_likely_files_come_first(root):
    found = build.found_files(root, [".py"], lambda *_: None, None)
    names = [each.path for each in likely_first(found)]
    assert (names[0], names[-1]) == ("till.py", "tests/test_till.py")
    assert likely_first(found, "what does module 17 return")[0].path == "part2/module17.py"


def test_the_index_is_the_same_in_whatever_order_it_is_read(root, tmp_path, fresh):
    index = fresh(root)
    index.current("till")
    settled(index)
    build.refresh(root, tmp_path / "plain", processes=0, tell=lambda *_: None)
    assert index.path.read_bytes() == (tmp_path / "plain").read_bytes()


def test_what_changed_meanwhile_is_said_until_it_is_read(root, monkeypatch, fresh):
    monkeypatch.setattr(live_index, "LOOKED", 0.0)  # else an answer within this time is of the last look
    index = fresh(root)
    tools = AgentTools(index)
    tools.search("open the till")
    settled(index)
    monkeypatch.setattr(fresh_index, "PATIENCE", 0.2)
    go_on, real = threading.Event(), updating.refresh
    monkeypatch.setattr(updating, "refresh", lambda *a, **b: (go_on.wait(60), real(*a, **b)))
    (root / "till.py").write_text("def open_till_door():\n    return 2\n")
    found = tools.search("open the till")
    assert found["notice"] == "1 changed file is being read: hits in it may be old (till.py)"
    assert (found["results"][0]["name"], found["results"][0]["changed"]) == ("open_till", True)
    assert not any("changed" in hit for hit in found["results"] if hit["path"] != "till.py")
    go_on.set()
    settled(index)
    found = tools.search("open the till")
    assert found["results"][0]["name"] == "open_till_door"
    assert "changed" not in found["results"][0]


def test_the_folder_is_looked_at_again_before_little_is_found(root, monkeypatch, fresh):
    monkeypatch.setattr(live_index, "LOOKED", 60.0)
    index = settled(fresh(root))
    tools = AgentTools(index)
    (root / "late.py").write_text("def weigh_the_crate():\n    return open_till()\n")
    assert tools.search("open till")["certainty"]["level"] == "strong"
    assert "weigh_the_crate" not in index.current().engine.index.names  # a strong answer is given at once
    assert tools.search("weigh the crate")["results"][0]["name"] == "weigh_the_crate"
    (root / "later.py").write_text("def mend_the_lid():\n    return 1\n")
    assert "mend_the_lid" in tools.read_unit("later.py", 1)["source"]
    (root / "last.py").write_text("def seal_the_tin():\n    return 1\n")
    assert tools.usages("seal_the_tin")["definitions"]
    with pytest.raises(UserError, match=r"gone\.py"):
        tools.read_unit("gone.py", 1)


def test_a_file_that_is_gone_is_not_answered_from(root, monkeypatch, fresh):
    monkeypatch.setattr(live_index, "LOOKED", 0.0)
    tools = AgentTools(fresh(root))
    assert tools.search("open the till")["results"][0]["path"] == "till.py"
    (root / "till.py").unlink()
    assert all(hit["path"] != "till.py" for hit in tools.search("open the till")["results"])


def test_a_folder_that_is_away_is_said_to_be_until_it_is_back(root, tmp_path, monkeypatch, fresh):
    monkeypatch.setattr(live_index, "LOOKED", 0.0)
    tools = AgentTools(settled(fresh(root)))
    root.rename(tmp_path / "away")
    found = tools.search("open the till")
    assert found["notice"] == f"answered from the index as it was: {root} no longer exists"
    assert found["results"][0]["changed"]
    (tmp_path / "away" / "late.py").write_text("def weigh_the_crate():\n    return 1\n")
    (tmp_path / "away").rename(root)
    found = tools.search("weigh the crate")
    assert found["results"][0]["name"] == "weigh_the_crate"
    assert "notice" not in found


def test_two_servers_of_a_folder_answer_from_what_either_has_read(root, monkeypatch, fresh):
    monkeypatch.setattr(live_index, "LOOKED", 0.0)
    both = [AgentTools(settled(fresh(root))) for _ in range(2)]
    for number in range(3):
        (root / "till.py").rename(root / f"till{number}.py")
        (root / f"till{number}.py").rename(root / "till.py")
        (root / "late.py").write_text(f"def weigh_the_crate_{number}():\n    return 1\n")
        for tools in both:
            found = tools.search(f"weigh_the_crate_{number}")
            assert found["results"][0]["name"] == f"weigh_the_crate_{number}"
            assert "notice" not in found


def test_an_index_that_cannot_be_stored_is_kept_while_the_server_runs(root, monkeypatch, fresh, capsys):
    index = fresh(root)
    kept = index.path
    monkeypatch.setattr(first_index, "is_writable", lambda _: False)
    monkeypatch.setattr(live_index, "LOOKED", 0.0)
    tools = AgentTools(index)
    for _ in range(2):
        assert "is kept until this server ends" in tools.search("open the till")["notice"]
    assert capsys.readouterr().err.count("no index can be kept in") == 1
    assert (kept.exists(), index.path.exists()) == (False, True)
    (root / "late.py").write_text("def weigh_the_crate():\n    return 1\n")
    assert tools.search("weigh the crate")["results"][0]["name"] == "weigh_the_crate"
    assert index.path.parent.stat().st_mode & 0o77 == 0
    index.close()
    assert not index.path.parent.exists()


def test_an_index_that_exists_in_a_read_only_folder_is_used(root, monkeypatch, fresh):
    index = fresh(root)
    index.current()
    settled(index)
    monkeypatch.setattr(first_index, "is_writable", lambda _: False)
    again, read = fresh(root), []
    monkeypatch.setattr(build, "watched", lambda *_: read.append(1) or iter(()))
    assert AgentTools(again).search("open the till")["results"]
    assert not read
    again.close()


def test_a_full_disk_leaves_an_answer(root, monkeypatch, fresh):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(build, "save_index", full)
    found = AgentTools(fresh(root)).search("open the till")
    assert found["results"][0]["path"] == "till.py"
    assert found["notice"] == "the index could not be stored (No space left on device)"


def test_a_folder_without_sources_and_a_fault_are_told(root, tmp_path, monkeypatch, fresh):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="has no source file"):
        fresh(tmp_path / "empty").current()
    monkeypatch.setattr(first_index, "refresh", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fresh(root).current()


@pytest.mark.parametrize("gone", [False, True])
def test_a_folder_that_had_nothing_is_looked_at_again_soon(tmp_path, gone, fresh):
    (tmp_path / "new").mkdir()
    index = fresh(tmp_path / "new")
    if gone:
        (tmp_path / "new").rmdir()
    with pytest.raises(UserError, match="does not exist" if gone else "has no source file"):
        index.current()
    (tmp_path / "new").mkdir(exist_ok=True)
    (tmp_path / "new" / "till.py").write_text("def open_till():\n    return 1\n")
    assert AgentTools(index).search("open_till")["results"][0]["path"] == "till.py"
    settled(index)


def test_while_another_process_makes_the_index_the_likely_files_are_read_alone(root, monkeypatch, fresh):
    monkeypatch.setattr(fresh_index, "PATIENCE", 0.2)
    monkeypatch.setattr(partial_index, "_ALONE", 8)
    index = fresh(root)
    with build.sole_maker(index.path, lambda _: None):
        found = AgentTools(index).search("open the till")
        assert found["results"][0]["path"] == "till.py"
        assert re.search("files are indexed so far|is still being completed", found["notice"])
        assert AgentTools(index).read_unit("part2/module17.py", 1)["name"] == "function_17"
    settled(index)
    assert len(open_index(index.path).files) == 62
    assert "notice" not in AgentTools(index).search("open the till")


def test_many_ask_at_once_and_it_is_read_once(root, monkeypatch, fresh):
    rounds, real = [], first_index.refresh
    monkeypatch.setattr(first_index, "refresh", lambda *a, **b: rounds.append(1) or real(*a, **b))
    index = fresh(root)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(index.current("till"))) for _ in range(8)]
    began = time.monotonic()
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert len(answers) == 8
    assert len(rounds) == 1
    assert time.monotonic() - began < 20
    settled(index)
