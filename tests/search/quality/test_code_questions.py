"""Code as the question: halves, namesakes and traces of a real package, and how their ranks are counted."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from failing_programs import GO, JAVA, JAVASCRIPT
from repositories import write
from serving import index_of

from cli.main import main
from data_prep.languages.registry import language as language_named
from data_prep.traces.trace import read_trace
from search.engine.engine import Engine
from search.engine.preview import body
from search.index.frame_locator import FrameLocator
from search.index.index_file import open_index
from search.quality.measure import measure_pieces, of_halves, of_namesakes, rank_by, rank_of
from search.quality.questions import FEWEST
from search.quality.trace_forms import FORMS, Call, printed
from search.quality.trace_questions import TraceQuestion, frames_found, measure_traces, of_traces
from search.snippets.code_search import CodeHit

ROOT = Path(importlib.util.find_spec("tqdm").origin).parent


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """The index of a real package, without vectors."""
    return Engine(open_index(index_of(ROOT, tmp_path_factory.mktemp("tqdm") / "index")), None)


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.py", 'def f(a: int = {1: 2}[1],\n      b=3) -> "x":\n    """Doc."""\n    return a\n', '    """Doc."""'),
        ("a.py", "@wraps(f)\ndef f(): return 1", "return 1"),
        ("A.java", "@Override\npublic int f(List<A> a) throws E {\n    return 1;\n}", "    return 1;\n}"),
        ("a.go", "func (s *S) F(a int) error {\n\treturn nil\n}", "\treturn nil\n}"),
        ("a.ts", "const f = (a: {b: number}) => {\n  return a\n}", "  return a\n}"),
    ],
)
def test_a_body_begins_behind_its_head(path, source, expected):
    assert body(source, path).startswith(expected)


def test_a_half_is_of_its_function_and_has_no_documentation(engine):
    index = engine.index
    found = of_halves(index, 0, 0)
    assert len(found) > 50
    for question in found:
        for row in question.rows:
            assert question.text in "\n".join(line for line in index.split.text(row).source.split("\n") if line.strip())
            assert f"def {index.names[row].rpartition('.')[2]}(" not in question.text
            assert not index.file(row).test
    drawn = of_halves(index, 30, 1)
    assert len(drawn) == 30
    assert {each.text for each in drawn} < {each.text for each in found}


def test_namesakes_are_in_other_files_and_the_asked_function_is_left_out(tmp_path):
    sides = "".join(
        f"class Class{n}:\n    def area{n}(self, size):\n        total = 0\n        for part in self.parts(size):\n"
        "            total += part.width * part.height\n        return total\n\n\n"
        for n in range(FEWEST)
    )
    root = write(tmp_path / "tree", {"one.py": sides, "two.py": sides.replace("width", "depth")})
    index = open_index(index_of(root, tmp_path / "index"))
    found = of_namesakes(index, 0, 0)
    assert len(found) == 2 * FEWEST
    for each in found:
        (answer,) = each.rows
        asked = {row for row in each.without if index.names[row] == index.names[answer]}
        assert len(asked) == 1
        assert index.file(answer).path != index.file(*asked).path
        assert answer not in each.without
    with pytest.raises(ValueError, match=f"expected {FEWEST} or more .* found 0"):
        of_namesakes(open_index(index_of(write(tmp_path / "a", {"one.py": sides}), tmp_path / "other")), 0, 0)


def test_ranks_count_ties_against_the_answer():
    hits = [
        CodeHit(n, row, score, 0.0, None, 0.0, "") for n, (row, score) in enumerate([(4, 3.0), (2, 1.0), (3, 1.0)], 1)
    ]
    lexical = np.array([0.5, 2.0, 9.0, 9.0, 9.0])
    assert [rank_of(hits, lexical, {row}) for row in (4, 2, 3, 1, 0)] == [1, 3, 3, 4, 5]
    assert rank_of(hits, lexical, {2, 3}) == 2
    assert [rank_by(lexical, {row}) for row in range(5)] == [5, 4, 3, 3, 3]
    assert rank_by(lexical, {2, 3}) == 2


def test_copies_first_find_the_half_and_without_them_words_do(engine):
    found = {each.name: each.measures for each in measure_pieces(engine, of_halves(engine.index, 25, 0))}
    assert next(iter(found)) == "bm25"
    assert found["all"]["top1"] > 0.9
    assert found["without copies first"]["mrr"] >= found["without overlap, copies"]["mrr"] > 0.8
    assert found["without overlap, copies"]["mrr"] == pytest.approx(
        found["bm25"]["mrr"], abs=0.05
    )  # there are no vectors


@pytest.fixture(scope="module")
def traces(engine):
    return of_traces(engine.index, ROOT, 25, 0)


def test_the_frames_of_a_trace_are_calls_and_their_lines_move(engine, traces):
    index = engine.index
    locator = FrameLocator(index)
    assert len(traces) == 25
    for each in traces:
        plain, moved = read_trace(each.text), read_trace(each.moved)
        assert [frame.path for frame in plain.frames] == [frame.path for frame in moved.frames]
        assert [frame.code for frame in plain.frames] == [frame.code for frame in moved.frames]
        assert each.rows[-1] is None  # the library's, the innermost of Python's
        assert each.rows[-2] == each.innermost
        frames = plain.frames[:-1]
        for frame, row in zip(frames, each.rows, strict=False):
            path = frame.path.removeprefix("/srv/app/")
            number = next(place for place, file in enumerate(index.files) if file.path == path)
            assert locator.row_at(number, frame.line) == row
            assert (ROOT / path).read_text().split("\n")[frame.line - 1].strip() == frame.code
        for frame, callee in zip(frames, each.rows[1:-1], strict=False):
            assert f"{index.names[callee].rpartition('.')[2]}(" in frame.code.replace(" (", "(")
    assert [each.text for each in of_traces(index, ROOT, 25, 0)] == [each.text for each in traces]


def test_frames_are_found_though_lines_have_moved(engine, traces):
    measured, frames = measure_traces(engine, traces)
    assert [*frames] == ["lines as in the index", "lines moved"]
    plain, moved = frames.values()
    assert plain.right.mean() == 1.0
    assert moved.right.mean() > 0.9
    assert (plain.outside, moved.outside) == (0.0, 0.0)
    base, whole, _ = measured
    assert whole.measures["mrr"] > base.measures["mrr"]


@pytest.mark.parametrize(
    ("language", "files", "path", "name", "package"),
    [
        (
            "java",
            {"src/com/acme/Machine.java": JAVA["Machine.java"]},
            "Machine.java",
            "Machine.Resource.close",
            "com.acme",
        ),
        ("java", {"src/com/acme/Machine.java": JAVA["Machine.java"]}, "Machine.java", "Machine.Machine", "com.acme"),
        ("javascript", JAVASCRIPT, "runner.mjs", "Runner.constructor", ""),
        ("javascript", JAVASCRIPT, "runner.mjs", "Runner.step", ""),
        ("go", GO, None, None, ""),
    ],
)
def test_traces_of_each_language_are_read_as_they_are_printed(tmp_path, language, files, path, name, package):
    index = open_index(index_of(write(tmp_path / "tree", files), tmp_path / "index"))
    rows = [
        row for row, each in enumerate(index.names)
        if name in (None, each) and index.file(row).path.endswith(path or ".go") and (name or each[:1].isupper())
    ]  # fmt: skip
    assert rows
    for row in rows:
        text = index.split.text(row)
        call = Call(row, text.path, text.start_line, index.names[row], "", package)
        trace = read_trace(printed([call]))
        placed = FrameLocator(index).located(trace.frames)
        assert (trace.language, [each.row for each in placed]) == (language, [None, row])


@pytest.mark.parametrize("language", FORMS)
def test_each_form_of_a_trace_is_read_frame_by_frame(language):
    suffix = language_named(language).suffixes[0]
    calls = [
        Call(1, f"src/a/one{suffix}", 12, "Cart.total", "x = y()", "shop"),
        Call(2, f"src/two{suffix}", 34, "Shop.buy", "total()", "shop"),
        Call(3, f"three{suffix}", 5, "run", "buy()", "shop"),
    ]
    trace = read_trace(printed(calls))
    frames = [*trace.frames][::-1] if trace.innermost_last else [*trace.frames]
    assert [(frame.path.rpartition("/")[2].partition(".")[0], frame.line) for frame in frames[1:4]] == [
        ("one", 12), ("two", 34), ("three", 5)
    ]  # fmt: skip
    assert [frame.name.rpartition(".")[2] for frame in frames[1:3]] == ["total", "buy"]
    assert trace.unread == 0


def test_shares_of_frames():
    asked = [TraceQuestion("", "", [1, 2, None], 1), TraceQuestion("", "", [3, None], 3)]
    found = frames_found(asked, [[1, 5, 9], [3]])
    assert found.right.tolist() == [0.5, 1.0]
    assert (found.elsewhere, found.outside, found.frames) == (pytest.approx(1 / 3), 0.5, 3)


def test_the_command_prints_the_table(tmp_path, capsys):
    steps = "".join(f"def step{n}(old):\n    new = step{n + 1}(old)\n    return new\n\n\n" for n in range(FEWEST + 5))
    root = write(tmp_path / "tree", {"steps.py": steps})
    plain = ["quality", str(root), "--queries=20", "--vectors=none"]
    assert main([*plain, "--ask=trace"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("20 stack traces whose innermost function answers, each ranked among ")
    assert [line.split("  ")[0] for line in lines[2:5]] == ["bm25", "lines as in the index", "lines moved"]
    assert "are placed in their function" in lines[6]
    assert main([*plain, "--ask=snippet", "--against=unif"]) == 2
    assert "--against has no part where code is the query" in capsys.readouterr().err
