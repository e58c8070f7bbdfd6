"""Stack traces, pieces of code and places as questions to an index."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from failing_programs import PYTHON, python_trace
from repositories import write
from serving import index_of

from data_prep.store.arrays import z_scores
from search.engine.engine import Engine
from search.hits import View
from search.index.build import refresh
from search.index.index_file import open_index, read_head
from search.index.vector_encoding import update_vectors
from search.index.vectors import near_rows
from search.snippets.answer import Wanted, answer_place, answer_text, file_of, query_of_row
from search.snippets.code_search import SHORTLIST, CodeSearch, CodeWeights
from search.snippets.show import as_json, as_record, as_text, code_result

OTHER = """\
def read_settings(text):
    try:
        return json.loads(text)
    except ValueError as error:
        raise RuntimeError('cannot load') from error
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """The index of a real package, with vectors."""
    root = Path(importlib.util.find_spec("tqdm").origin).parent
    path = index_of(root, tmp_path_factory.mktemp("tqdm") / "index")
    update_vectors("", path, lambda *_: None)
    index = open_index(path)
    return Engine(index, None, retriever=near_rows(path, read_head(path).content, len(index), "exact"))


def row_of(engine, name, path="std.py"):
    return next(
        row for row, each in enumerate(engine.index.names) if each == name and engine.index.file(row).path == path
    )


def names(engine, hits):
    return [engine.index.names[hit.row] for hit in hits]


def test_a_copy_of_a_function_is_first_and_what_is_around_it_is_no_copy(engine):
    row = row_of(engine, "Bar.__format__")
    source = engine.index.split.text(row).source
    answer = answer_text(engine, source)
    assert (answer.kind, answer.language) == ("code", "python")
    assert answer.hits[0].row == row
    assert answer.hits[0].copy == "exact"
    assert [hit.copy for hit in answer.hits[1:]] == [""] * 9
    assert [hit.rank for hit in answer.hits] == [*range(1, 11)]


def test_a_half_of_a_function_finds_it(engine):
    found = asked = 0
    for row in range(len(engine.index)):
        lines = engine.index.split.text(row).source.split("\n")
        if engine.index.file(row).path == "std.py" and 20 <= len(lines) < 40:
            asked += 1
            hits = answer_text(engine, "\n".join(lines[5 : len(lines) // 2 + 5]), Wanted(top=3)).hits
            found += row in [hit.row for hit in hits]
    assert asked > 10
    assert found > 0.8 * asked


def test_scores_are_the_sum_of_the_standardised_parts(engine):
    row = row_of(engine, "tqdm.update")
    code = query_of_row(engine.index, row)
    weights = CodeWeights(vector_weight=0.3, overlap=0.6)
    hits = CodeSearch(engine, weights).like(code, top=len(engine.index))
    assert len(hits) <= SHORTLIST + 100
    parts = [z_scores(np.array([getattr(hit, name) for hit in hits])) for name in ("lexical", "near", "overlap")]
    expected = parts[0] + 0.3 * parts[1] + 0.6 * parts[2]
    assert [hit.score for hit in hits] == pytest.approx(expected.tolist(), abs=1e-4)
    own = next(hit for hit in hits if hit.row == row)
    assert (own.rank, own.copy) == (1, "exact")
    assert own.near == pytest.approx(1.0, abs=2e-3)  # its own vector
    assert own.overlap == pytest.approx(1.0)


def test_what_is_like_a_place_is_not_itself(engine):
    row = row_of(engine, "tqdm.update")
    text = engine.index.split.text(row)
    answer = answer_place(engine, "std.py", text.start_line + 3)
    assert (answer.kind, answer.row) == ("place", row)
    around = {"std", "tqdm", "tqdm.update"}
    assert not {names(engine, [hit])[0] for hit in answer.hits if engine.index.file(hit.row).path == "std.py"} & around
    assert "tqdm.reset" in names(engine, answer.hits)  # it shares its lines


def test_a_file_is_named_by_its_last_folders(engine):
    assert engine.index.files[file_of(engine.index, "contrib/slack.py")].path == "contrib/slack.py"
    assert engine.index.files[file_of(engine.index, "slack.py")].path == "contrib/slack.py"
    for path, told in (("lack.py", "no indexed file"), ("__init__.py", None), ("none/std.py", "no indexed file")):
        if told:
            with pytest.raises(ValueError, match=told):
                file_of(engine.index, path)
        else:
            assert engine.index.files[file_of(engine.index, path)].path == path
    with pytest.raises(ValueError, match="is in no unit of the index, whose last ends at line"):
        answer_place(engine, "std.py", 100_000)


def test_a_trace_shows_its_frames_and_then_code_like_it(tmp_path):
    text = python_trace(tmp_path)
    more = {"other.py": OTHER}
    engine = Engine(open_index(index_of(write(tmp_path, more), tmp_path / "index")), None)
    answer = answer_text(engine, text)
    record = as_record(engine, answer, 0.001)
    assert (record["kind"], record["innermost"], record["frames"], record["frames_in_index"]) == (
        "trace",
        "last",
        15,
        12,
    )
    units = [frame["unit"] for frame in record["errors"][1]["frames"]]
    assert [(unit["path"], unit["name"]) for unit in units] == [
        ("main.py", "main"),
        ("main.py", "main"),
        ("app/store.py", "load_all"),
    ]
    assert names(engine, answer.hits)[0] == "read_settings"
    assert not {hit.row for hit in answer.hits} & {each.row for each in answer.frames}
    shown = as_text(View.of(engine, "", None), answer, 0.001)
    assert "python trace: 12 of 15 frames are in the index; the innermost is the last" in shown
    assert "raised from: RuntimeError: cannot load the settings" in shown
    assert "3 times" in shown
    assert "decoder.py" in shown


def test_a_trace_without_a_frame_in_the_index_still_finds_code(engine, tmp_path):
    answer = answer_text(engine, python_trace(tmp_path))
    assert {each.row for each in answer.frames} == {None}
    assert "none of the 15 frames is in the index" in as_text(View.of(engine, "", None), answer, 0.0)
    assert answer.hits


def test_filters(engine):
    source = engine.index.split.text(row_of(engine, "tqdm.update")).source
    hits = answer_text(engine, source, Wanted(top=5, path="contrib/*")).hits
    assert {engine.index.file(hit.row).path.split("/")[0] for hit in hits} == {"contrib"}
    assert answer_text(engine, source, Wanted(languages=("go",))).hits == []


@pytest.mark.parametrize("text", ["", " \n", "\0\0", "+++ --- ***", "1234 5678"])
def test_texts_without_words_are_refused(engine, text):
    with pytest.raises(ValueError, match="expected code or a stack trace") as told:
        answer_text(engine, text)
    assert "\n" not in str(told.value)


def test_megabytes_lose_their_middle_and_odd_bytes_are_read(engine):
    source = engine.index.split.text(row_of(engine, "tqdm.update")).source
    answer = answer_text(engine, source + "\n# filler" * 300_000)
    assert answer.left_out > 2_000_000
    assert "the middle is left out" in as_text(View.of(engine, "", None), answer, 0.0)
    assert answer_text(engine, b"\xff\xfe def f(): return tqdm.update(1)".decode("utf-8", "replace")).hits


def test_what_a_terminal_would_obey_is_not_shown(tmp_path):
    frame = f'  File "{tmp_path}/\x1b]0;a\x07.py", line 1, in \x1b[2Jf'
    evil = f"Traceback (most recent call last):\n{frame}\nE\x9b\x07rror: \x1b]0;t\x07\n"
    engine = Engine(open_index(index_of(write(tmp_path, PYTHON), tmp_path / "index")), None)
    for text in (evil, "def f\x07(): return load(\x9b1)"):
        answer = answer_text(engine, text)
        assert not {"\x1b", "\x07", "\x9b"} & set(as_text(View.of(engine, "", None), answer, 0.0))
        assert json.loads(as_json(engine, answer, 0.0))["results"] is not None


def test_identical_text_is_one_hit_with_its_copies(tmp_path):
    folder = tmp_path / "code"
    body = "def read_rows(path):\n    with open(path) as lines:\n        return [each.split() for each in lines]\n"
    for name in ("a/deep/rows.py", "b.py", "c/rows.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"X = '{name}'\n\n\n{body}\n\ndef other_{name[0]}(rows):\n    return len(rows)\n")
    refresh(folder, tmp_path / "index", processes=0, tell=lambda *_: None)
    engine = Engine(open_index(tmp_path / "index"), None)
    for answer in (answer_text(engine, body), answer_place(engine, "c/rows.py", 4)):
        own = [hit for hit in answer.hits if engine.index.names[hit.row] == "read_rows"]
        assert len(own) == 1
        assert len({own[0].row, *own[0].copies}) == (3 if answer.kind == "code" else 2)
        assert code_result(engine, own[0])["copies"]


def test_a_frame_that_is_printed_without_its_code_has_the_line_of_the_index(tmp_path):
    source = "package main\n\nfunc heron(n int) int {\n\tvar pond []int\n\treturn pond[n]\n}\n"
    index = open_index(index_of(write(tmp_path / "code", {"main.go": source}), tmp_path / "index"))
    trace = (
        "panic: runtime error: index out of range [5] with length 0\n\ngoroutine 1 [running]:\n"
        "main.heron(...)\n\t/src/main.go:5\nmain.main()\n\t/src/other.go:9 +0x1d\nexit status 2\n"
    )
    engine = Engine(index, None)
    (error,) = as_record(engine, answer_text(engine, trace, Wanted()), 0.0)["errors"]
    assert [frame["code"] for frame in error["frames"]] == ["return pond[n]", ""]
