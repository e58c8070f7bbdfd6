"""Identical text is one hit, and a file with one function is none beside it."""

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.index.index_file import open_index

COPY = """\
LIMIT = 1


def wrap_long_lines(text):
    return [text[:80], text[80:]]


class Page:
    pass
"""
OTHER = "def wrap_long_words(text):\n    return text.split()\n\n\ndef never():\n    return 0\n"
ONLY = "# How words are counted.\n\n\ndef count_words(text):\n    return len(text.split())\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("copies")
    files = {f"part_{number}/text.py": COPY for number in range(4)} | {"other.py": OTHER, "only.py": ONLY}
    return Engine(open_index(index_of(write(root / "tree", files), root / "index")), None)


def names(engine, hits):
    return [engine.index.names[hit.row] for hit in hits]


def test_copies_stand_behind_one_hit_and_do_not_count(engine):
    hits = engine.search("wrap long lines -type:file", top=2)
    assert names(engine, hits) == ["wrap_long_lines", "wrap_long_words"]
    assert [hit.rank for hit in hits] == [1, 2]
    assert [len(hit.copies) for hit in hits] == [3, 0]
    assert {engine.index.file(row).path for row in hits[0].rows} == {f"part_{number}/text.py" for number in range(4)}
    assert len({engine.index.split.text(row).source for row in hits[0].rows}) == 1


def test_by_file_only_whole_files_are_copies(engine):
    hits = engine.search("wrap long lines", by_file=True)
    assert len(hits[0].copies) == 3
    assert len({engine.index.file(row).path for hit in hits for row in hit.rows}) == sum(len(hit.rows) for hit in hits)


def test_of_equal_ones_that_in_few_folders_is_the_hit(tmp_path):
    files = {f"{folder}/paging.py": OTHER for folder in ("a/b/c", "abc", "d")}
    engine = Engine(open_index(index_of(write(tmp_path / "tree", files), tmp_path / "index")), None)
    (first, *_) = engine.search("wrap_long_words")
    assert [engine.index.file(row).path for row in first.rows] == ["d/paging.py", "a/b/c/paging.py", "abc/paging.py"]


def test_of_the_names_of_one_declaration_the_best_is_a_hit_and_the_others_are_no_copies(tmp_path):
    files = dict.fromkeys(("a.py", "b.py"), "WIDTH, HEIGHT = 640, 480\nDEPTH = WIDTH\n")
    engine = Engine(open_index(index_of(write(tmp_path / "tree", files), tmp_path / "index")), None)
    hits = engine.search("HEIGHT")
    assert names(engine, hits).count("WIDTH") == 0
    assert names(engine, hits)[0] == "HEIGHT"
    assert [engine.index.file(row).path for row in hits[0].rows] == ["a.py", "b.py"]


def test_equal_names_with_other_text_are_no_copies(tmp_path):
    files = {"a.py": "def read_it():\n    return 1\n", "b.py": "def read_it():\n    return 2\n"}
    engine = Engine(open_index(index_of(write(tmp_path / "tree", files), tmp_path / "index")), None)
    assert [hit.copies for hit in engine.search("read_it")] == [[], []]


def test_a_file_is_no_hit_beside_its_only_function(engine):
    hits = engine.search("how are words counted: only count words")
    assert names(engine, hits).count("count_words") == 1
    assert "only" not in names(engine, hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert names(engine, engine.search("type:file count words"))[0] == "only"  # where it alone is asked for


def test_of_copies_that_outside_of_folders_of_built_files_is_the_hit(tmp_path):
    files = dict.fromkeys(("obj/a.py", "src/a.py", "out/a.py"), ONLY)
    engine = Engine(open_index(index_of(write(tmp_path / "tree", files), tmp_path / "index")), None)
    assert engine.index.file(engine.search("count words", top=1)[0].row).path == "src/a.py"
