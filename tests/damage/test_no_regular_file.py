"""A pipe, a device or a folder in the place of a file: one line at once, and never a wait."""

import os

import pytest
from damages import bounded

from cli.main import main
from evaluation.evaluator import SavedCounts
from evaluation.results import load_result
from search.index.index_file import open_index, read_head, read_whole_head
from search.index.vectors import open_vectors, read_vector_head
from training.checkpoint import load_checkpoint, saved_weights

READERS = {
    "index": open_index,
    "head of an index": read_head,
    "sum of an index": read_whole_head,
    "vectors": open_vectors,
    "head of vectors": read_vector_head,
    "checkpoint": load_checkpoint,
    "weights": saved_weights,
    "result": load_result,
}
PLACES = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "folder": lambda path: path.mkdir(),
}


@pytest.fixture(params=PLACES.values(), ids=PLACES.keys())
def place(request, tmp_path):
    request.param(tmp_path / "file")
    return tmp_path / "file"


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
def test_it_is_refused_at_once(place, read):
    with bounded("reading"), pytest.raises((ValueError, OSError)) as error:
        read(place)
    assert "\n" not in str(error.value)


def test_counts_that_are_no_file_are_none(place):
    place.rename(place.with_name("file.0-of-1"))
    with bounded("reading"):
        assert SavedCounts(place, "a").load() is None


def test_a_search_tells_it_in_one_line(place, capsys):
    with bounded("searching"):
        assert main(["search", "a question", f"--index={place}", "--model=none"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
