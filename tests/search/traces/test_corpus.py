"""Traces as people paste them state what a person reads in them."""

import pytest
from traced_texts import HERE, STATED, expected, innermost, read, read_trace, stated, text_of

CASES = [
    pytest.param(name, marks=[pytest.mark.xfail(reason=own["wrong"], strict=True)] if "wrong" in own else [])
    for name, own in STATED.items()
]


@pytest.mark.parametrize("name", CASES)
def test_the_corpus_is_read(name):
    rows = read(text_of(name))
    assert rows == expected(name, rows)
    if not rows:
        return
    trace = read_trace(text_of(name))
    assert trace.unread == 0
    language = stated(name)["language"]
    assert trace.language in (language, language.replace("typescript", "javascript"))
    path, _, line = stated(name)["innermost"].rpartition(":")
    if path:
        frame = innermost(trace)
        assert (frame.path.endswith(path), frame.line) == (True, int(line))


def test_the_table_has_each_text():
    assert {file.stem for file in (HERE / "corpus").glob("*.txt")} == set(STATED)
