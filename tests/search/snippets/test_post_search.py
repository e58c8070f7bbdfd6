"""Index and search of posts from the command line."""

import io
import json
import shutil
import sys

import numpy as np
import pytest

from baselines.snipper_texts import LightConfig, QueryText
from data_prep.posts.sets import PostsConfig
from data_prep.posts.store import prepare_posts
from evaluation.speed import SpeedOptions
from search.quality import ann_speed as speed
from search.retrieval.approximate import FaissVectors
from search.snippets import command
from search.snippets.code_text import LONGEST_TEXT
from search.snippets.post_index import PostIndex, best_rows, keyword_of, read_snippet, write_index
from tests.data_prep.posts.dumps import TRACEBACK, small_dump

IPYTHON = "TypeError       Traceback (most recent call last)\nb"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("index")
    command.index_posts([str(small_dump(folder)), f"--root={folder / 'data'}", f"--out={folder / 'index'}"])
    return folder / "index"


def searched(index, monkeypatch, capsys, text, *options):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    capsys.readouterr()
    told: list[str] = []
    monkeypatch.setattr(command, "show", told.append)
    command.search_posts([f"--index={index}", *options])
    return told[0]


def test_a_traceback_finds_its_post(index, monkeypatch, capsys):
    told = searched(index, monkeypatch, capsys, TRACEBACK.replace("name", "name3"), "--top=2")
    assert " 1  Title 3  [FileNotFoundError]" in told
    assert "Check that name3 exists." in told
    assert "https://a.example/questions/3#103" in told
    assert "CC BY-SA 3.0" in told
    assert "of 4 posts for FileNotFoundError" in told
    found = json.loads(searched(index, monkeypatch, capsys, TRACEBACK.replace("name", "name3"), "--json"))
    assert found["error"] == "FileNotFoundError"
    assert found["results"][0]["title"] == "Title 3"


def test_what_was_indexed_as_json(monkeypatch, tmp_path):
    told: list[str] = []
    monkeypatch.setattr(command, "show", told.append)
    command.index_posts(
        [str(small_dump(tmp_path)), f"--root={tmp_path / 'data'}", f"--out={tmp_path / 'index'}", "--json"]
    )
    found = json.loads(told.pop())
    assert (tmp_path / "index").stat().st_mode & 0o777 == 0o700  # the user's alone
    size = PostIndex(tmp_path / "index").size
    assert (found["index"], found["answered"], found["model"]) == (str(tmp_path / "index"), size, None)
    assert found["questions"] >= size


def test_a_snippet_of_a_file(index, monkeypatch, capsys, tmp_path):
    (tmp_path / "a.py").write_text("x2 = open(name2)\n")
    assert " 1  Title 2" in searched(index, monkeypatch, capsys, "", f"--snippet={tmp_path / 'a.py'}")
    assert "nothing found" in searched(index, monkeypatch, capsys, "zzzz")


def test_nothing_to_search_for_and_no_index(index, monkeypatch, capsys, tmp_path):
    with pytest.raises(ValueError, match="expected code or an error"):
        searched(index, monkeypatch, capsys, " \n")
    with pytest.raises(ValueError, match="posts index DUMP"):
        searched(tmp_path, monkeypatch, capsys, "x")
    with pytest.raises(ValueError, match="has no vectors for --nearest=foo"):
        searched(index, monkeypatch, capsys, "x", "--nearest=foo")
    with pytest.raises(ValueError, match="not from the command line"):
        command.search_posts(["x"])
    with pytest.raises(ValueError, match="expected a dump"):
        command.index_posts([])
    (tmp_path / "own.txt").write_text("mine")
    with pytest.raises(ValueError, match="has other content"):
        command.index_posts(["dump", f"--out={tmp_path}"])
    assert (tmp_path / "own.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["indices", "starts"])
@pytest.mark.parametrize("left", [0, 6, -8])
def test_a_damaged_index_is_refused(index, tmp_path, name, left):
    shutil.copytree(index, tmp_path / "copy")
    damaged = tmp_path / "copy" / f"{name}.npy"
    damaged.write_bytes(damaged.read_bytes()[:left])
    with pytest.raises(ValueError, match="cannot be read"):
        PostIndex(tmp_path / "copy")
    with pytest.raises(ValueError, match="none of"):
        write_index(tmp_path / "none", [], None, 0.5, {})


@pytest.mark.parametrize(
    ("output", "code", "error"),
    [
        (f"log\n{TRACEBACK}", "log", TRACEBACK),
        ("x = 1\n", "x = 1", ""),
        ("ValueError: bad", "", "ValueError: bad"),
        (f"a\n{IPYTHON}", "a", IPYTHON),
    ],
)  # fmt: skip
def test_output_is_divided_at_the_first_line_of_an_error(output, code, error):
    found = read_snippet(output)
    assert (found.code, found.error) == (code, error)


def test_megabytes_lose_their_middle():
    found = read_snippet("a" * 10_000_000 + "\nKeyError: 'x'")
    assert len(found.code) == LONGEST_TEXT + 1
    assert keyword_of(found) == "KeyError"
    assert read_snippet("\n" * 1_000_000 + "x").code == "x"  # in no time


def test_output_as_json_is_json_alone_also_for_megabytes(index, monkeypatch, tmp_path):
    (tmp_path / "log.txt").write_text("open(name3)\n" * 50_000)
    output: list[str] = []
    errors: list[str] = []
    for name, to in (("show", output), ("say", output), ("complain", errors)):
        monkeypatch.setattr(command, name, to.append)
    command.search_posts([f"--index={index}", f"--snippet={tmp_path / 'log.txt'}", "--json"])
    assert json.loads("".join(output))["results"]
    assert "the middle is left out" in errors[0]


def test_the_speed_is_measured_over_as_many_posts_as_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(speed, "LightConfig", lambda: LightConfig(dim=16, buckets=16))
    dump, root = str(small_dump(tmp_path)), str(tmp_path / "data")
    found = speed.measure_posts(SpeedOptions(path=dump, root=root, posts=9, questions=20, rounds=1))
    assert found.about.startswith("9 posts (")
    assert "vectors of 16" in found.about
    pairs = [(row.name, row.first, row.second) for row in found.rows[:3:2]]
    assert pairs == [
        ("median", "BM25 alone", "vectors alone, exact"),
        ("median", "BM25 alone", "both fused, with the posts read, exact"),
    ]
    with pytest.raises(ValueError, match="expected a dump"):
        speed.measure_posts(SpeedOptions())


def test_the_clusters_of_many_posts_are_stored_beside_their_vectors(monkeypatch, tmp_path):
    pytest.importorskip("faiss")
    for module in ("approximate", "exact"):
        monkeypatch.setattr(f"search.retrieval.{module}.WORTH_IT", 3)
    monkeypatch.setattr(speed, "LightConfig", lambda: LightConfig(dim=16, buckets=16))
    monkeypatch.setattr(FaissVectors, "_built", lambda index, _, build=FaissVectors._built: build(index, 1))
    posts = prepare_posts(PostsConfig((str(small_dump(tmp_path)),), root=str(tmp_path / "data")), command="", say=print)
    model = speed.untrained([post for post in posts.posts if post.best_answer], tmp_path / "model")
    write_index(tmp_path / "index", posts.posts * 5, model, 0.5, {})
    stored = tmp_path / "index" / "vectors.npy.faiss"
    before = stored.read_bytes()
    queries = [QueryText.of(post) for post in posts.posts if post.best_answer]
    near, exact = PostIndex(tmp_path / "index"), PostIndex(tmp_path / "index", "exact")
    assert near.by_vectors(queries[0], 2)[1].size == 2
    assert [near.search(each, 1)[0].title for each in queries] == [exact.search(each, 1)[0].title for each in queries]
    assert stored.read_bytes() == before


def test_the_best_rows_are_those_of_a_full_sort():
    chance = np.random.default_rng(0)
    for size, count in ((3, 5), (400, 30), (20_000, 500)):
        for scores in (chance.random(size), chance.integers(0, 3, size), np.zeros(size)):
            found = best_rows(scores.astype(np.float32), count)
            positive = np.sort(scores[scores > 0])[::-1][:count]
            assert np.array_equal(np.sort(scores[found])[::-1], positive)
            assert np.array_equal(found, np.unique(found))
