"""Lines as wide as the terminal, and colours where they are wanted."""

import pytest

from experiments.terminal.console import cells, cut, line_width, painter


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 10, "short"),
        ("a long line of words", 10, "a long..."),
        ("\tx = 1", 10, "    x = 1"),
        ("取消订单的函数", 14, "取消订单的函数"),
        ("取消订单的函数", 10, "取消订..."),
        ("e\u0301" * 10, 10, "e\u0301" * 10),
        ("a\x1b[2Jb\rc\nd", 40, "a\ufffd[2Jb\ufffdc\ufffdd"),
    ],
)
def test_a_line_is_cut_to_the_cells_that_there_are(text, width, expected):
    assert cut(text, width) == expected
    assert cells(cut(text, width)) <= width


def test_what_has_to_be_seen_is_seen():
    line = "x" * 500 + " needle " + "y" * 500
    found = cut(line, 80, line.index("needle"))
    assert "needle" in found
    assert found.startswith("...")
    assert found.endswith("...")
    assert cells(found) <= 80
    assert "needle" in cut("\t" * 200 + " needle " + "y" * 500, 80, 201)


@pytest.mark.parametrize(
    ("terminal", "environment", "painted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_that_have_them(monkeypatch, terminal, environment, painted):
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    for name, value in ({"TERM": "xterm"} | environment).items():
        monkeypatch.setenv(name, value)
    if "NO_COLOR" not in environment:
        monkeypatch.delenv("NO_COLOR", raising=False)
    assert painter()("1", "a\x1bb") == ("\x1b[1ma\ufffdb\x1b[0m" if painted else "a\ufffdb")


def test_lines_are_as_wide_as_the_terminal(monkeypatch):
    assert line_width() == 110
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for columns, expected in (("80", 80), ("10", 40), ("1000", 160)):
        monkeypatch.setenv("COLUMNS", columns)
        assert line_width() == expected
