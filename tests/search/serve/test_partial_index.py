"""The index of what is read so far: the first one is small, however much was read, since a question waits for it."""

import time

from repositories import write

from search.files.languages import indexed_suffixes
from search.files.tree import checkout_of, found_files
from search.index.build import watched
from search.serve.partial_index import PartialIndex


def test_the_first_index_has_some_files_and_the_next_all(tmp_path):
    root = write(tmp_path / "tree", {f"module{n}.py": f"def function_{n}():\n    return {n}\n" for n in range(900)})
    checkout = checkout_of(root, lambda *_: None)
    found = found_files(root, indexed_suffixes(documents=False), lambda *_: None, checkout)
    partial = PartialIndex()
    partial.begin([*found, *found])
    for _ in watched(root, found, 1, partial):
        pass
    index, files = partial.index()
    assert 400 <= files < 500
    assert len(index.files) == files
    end = time.monotonic() + 60
    while (now := partial.index())[1] < 900 and time.monotonic() < end:
        time.sleep(0.05)
    assert len(now[0].files) == now[1] == 900
