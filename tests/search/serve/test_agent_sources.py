"""Agents get all of a unit, or are told that it is not all; the first hits get most of the room, and none is left."""

import pytest

from search.serve.agent_answers import cut, shares, size_of, with_hits, with_source
from search.serve.agent_tools import AgentTools
from tests.search.serving import fresh, settled

METHODS = "".join(f"\n    def step_{n}(self):\n        return {n}\n\n    level_{n} = {n}\n" for n in range(200))
PANTRY = f'# Copyright the cooks, MIT license\n\n\nclass Pantry:\n    """Keeps jars of marmalade."""\n{METHODS}'


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("kitchen")


@pytest.fixture(scope="module")
def tools(root):
    (root / "pantry.py").write_text(PANTRY)
    (root / "wide.py").write_text(f'def wide_table():\n    """A wide table."""\n    return {[*range(9999)]}\n')
    with fresh(root) as made:
        yield AgentTools(settled(made))


def test_all_of_a_type_and_of_a_file_is_read(tools):
    lines = PANTRY.splitlines()
    of_type = tools.read_unit("pantry.py", 4, budget=50_000)
    assert (of_type["name"], of_type["start_line"], of_type["end_line"]) == ("Pantry", 4, len(lines))
    assert of_type["whole"]
    assert of_type["source"].splitlines() == lines[3:]
    of_file = tools.read_unit("pantry.py", 1, budget=50_000)
    assert of_file["whole"]
    assert of_file["source"].splitlines() == lines


def test_the_line_that_is_asked_for_is_shown_where_not_all_fits(tools):
    line = PANTRY.splitlines().index("    level_150 = 150") + 1
    read = tools.read_unit("pantry.py", line, budget=300)
    assert (read["name"], read["whole"]) == ("Pantry", False)
    shown = read["source"].splitlines()
    assert shown[line - read["source_line"]] == "    level_150 = 150"
    assert size_of(read) <= 1200
    assert "source_line" not in tools.read_unit("pantry.py", 5, budget=300)


def test_a_hit_that_the_index_has_only_the_first_lines_of_is_not_said_to_be_whole(tools):
    hit = tools.search("Pantry", top=1, budget=50_000)["results"][0]
    assert (hit["name"], hit["whole"]) == ("Pantry", False)
    assert len(hit["source"].splitlines()) < hit["end_line"] - hit["start_line"]


def test_of_a_file_that_has_changed_only_what_the_index_has_is_shown(root, monkeypatch):
    (root / "other").mkdir()
    (root / "other" / "pantry.py").write_text(PANTRY)
    with fresh(root / "other") as made:
        tools = AgentTools(settled(made))
        now = made.current()
        monkeypatch.setattr(made, "current", lambda *_: now)
        (root / "other" / "pantry.py").write_text(f"# another line\n{PANTRY}")
        read = tools.read_unit("pantry.py", 4, budget=50_000)
        assert (read["changed"], read["whole"]) == (True, False)
        assert read["source"].startswith("class Pantry")


def test_a_long_line_is_cut_in_it_rather_than_left_out(tools):
    read = tools.read_unit("wide.py", 1, budget=1000)
    assert not read["whole"]
    assert 3000 < size_of(read) <= 4000
    assert cut("short\n" + "x" * 100, 60) == "short\n" + "x" * 51
    assert cut("a line of code\n" * 4 + "x" * 100, 70) == "a line of code\n" * 4


@pytest.mark.parametrize(
    ("needs", "room", "expected"),
    [
        ([10, 10, 10], 100, [10, 10, 10]),
        ([], 100, []),
        ([600, 600], 500, [300, 200]),
        ([50, 600, 30], 500, [50, 420, 30]),
    ],
)
def test_what_one_does_not_need_is_for_the_others_the_first_ones_most(needs, room, expected):
    assert shares(needs, room) == expected


def test_no_room_is_left_while_a_hit_is_cut():
    line = "x" * 40 + "\n"
    sizes = (3, 200, 2, 200, 1, 200, 200)
    hits = [{"rank": n, "path": f"{n}.py", "start_line": 1, "source": line * size} for n, size in enumerate(sizes, 1)]
    for most in (2000, 4000, 16_000):
        found = with_hits({}, hits, most)
        assert most - 400 < size_of(found) <= most
        lengths = [len(hit.get("source", "")) for hit in found["results"] if hit["rank"] in (2, 4, 6, 7)]
        assert lengths == sorted(lengths, reverse=True)
        assert found["results"][0]["whole"]


def test_letters_that_take_several_bytes_count_as_such():
    assert size_of("合計") == 8
    read = with_source({"path": "a.py", "start_line": 1}, "変数 = 値\n" * 2000, 4000)
    assert 3900 < size_of(read) <= 4000
    assert len(str(read).encode()) < 4100
