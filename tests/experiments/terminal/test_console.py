"""What is printed is printable, whatever names and texts it tells of."""

import io
import logging
import re
import sys
import warnings

import pytest

from cli.main import main
from data_prep.errors import one_line, printable
from experiments.terminal.console import complain, logged_to, open_terminal, say, show

HOSTILE = {
    "title": "\x1b]0;owned\x07",
    "screen": "\x1b[2J\x1b[1;1H",
    "hidden": "\x1b[8m",
    "eight bits": "\x9b31m\x90q\x9c",
    "line": "a\ngalm: all is well",
    "return": "name\rgalm: all is well",
    "erased": "name\b\b\b\x7f\x0b\x0c",
    "line of Unicode": "a\u2028b\u2029c\x85d",
    "turned": "\u202egnp.exe\u2066\u061c",
    "unseen": "a\u200b\ufeff\u2060\U000e0041\xadb",
    "half a pair": "a\ud800b\udcffc",
}
OBEYED = re.compile(
    r"[^\n\t\x20-\x7e\xa1-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ud7ff\ue000-\U0001ffff]|\xad|\u061c|\ufeff"
)


@pytest.fixture(autouse=True)
def terminal():
    open_terminal()


@pytest.fixture(params=HOSTILE)
def text(request):
    return HOSTILE[request.param]


def test_ordinary_text_stays_as_it_is():
    text = "Größe 大小 \U0001f600 – “a”\t<b> \\x1b[0m\n ​".replace("\u200b", "é")
    assert printable(text) == text
    assert one_line(text) == text.replace("\n", "\ufffd")


def test_a_text_is_as_long_as_before(text):
    assert len(one_line(text)) == len(printable(text)) == len(text)
    assert not OBEYED.search(printable(text))


def test_a_line_that_is_said_is_one(text, capsys):
    say(f"in {text}: done")
    complain(f"in {text}: nothing")
    logging.getLogger("data_prep.sources.archives").warning("left out %s: %s", text, "a link")
    told = capsys.readouterr()
    assert [told.out.count("\n"), told.err.count("\n")] == [2, 1]
    assert not OBEYED.search(told.out + told.err)
    assert told.out.startswith("in ")
    assert told.out.splitlines()[1].startswith("warning: left out ")


def test_lines_that_are_shown_stay_lines(text, capsys):
    show(f"a\nb\t{text}\nc")
    told = capsys.readouterr().out
    assert told.startswith("a\nb\t")
    assert told.count("\n") == 3 + text.count("\n")
    assert not OBEYED.search(told)


def test_of_painted_text_only_our_colours_stay(text, capsys):
    show(f"\x1b[1mname\x1b[0m \x1b[36m{text}\x1b[0m", painted=True)
    told = capsys.readouterr().out
    assert told.startswith("\x1b[1mname\x1b[0m \x1b[36m")
    assert told.endswith("\x1b[0m\n")
    assert not OBEYED.search(re.sub(r"\x1b\[(?:0|1|36)m", "", told))


def test_the_log_of_a_run_has_it_printable(text, tmp_path, capsys):
    with logged_to(tmp_path / "log.txt"):
        say(f"in {text}: done")
        show(f"a\n{text}")
    (first, *rest) = (tmp_path / "log.txt").read_text("utf-8").split("\n")
    assert re.fullmatch(r"[\d :,-]+ INFO in .*: done", first)
    assert len(rest) == 3 + text.count("\n")
    assert not OBEYED.search("".join(rest))
    capsys.readouterr()


def test_an_error_keeps_its_traceback_in_the_log(tmp_path, capsys):
    with logged_to(tmp_path / "log.txt"):
        try:
            raise RuntimeError(HOSTILE["screen"])
        except RuntimeError:
            logging.getLogger("experiments").exception("failed")
    told = (tmp_path / "log.txt").read_text("utf-8")
    assert "\nTraceback" in told
    assert "\x1b" not in told + capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["ascii", "iso-8859-1", "utf-8"])
def test_a_terminal_that_lacks_letters_gets_escapes(encoding, text, monkeypatch):
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding=encoding) for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    say(f"größe 大 {text}")
    complain(f"größe 大 {text}")
    for stream in streams.values():
        stream.flush()
        told = stream.buffer.getvalue().decode(encoding)
        assert told.startswith("größe" if encoding != "ascii" else r"gr\xf6\xdfe")
        assert "大" in told if encoding == "utf-8" else r"\u5927" in told
        assert told.count("\n") == 1


@pytest.mark.parametrize("command", ["index {}", "{} galm", "prepare folder --data.path={}", "search x --index={}"])
def test_a_mistake_is_told_on_one_line(command, text, capsys):
    arguments = [word.format(f"/nowhere{text}") for word in command.split()]
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith("galm: ")
    assert told.count("\n") == 1
    assert not OBEYED.search(told)


def test_a_warning_is_printed_once(capsys, tmp_path):
    log = logging.getLogger("evaluation.evaluator")
    with logged_to(tmp_path / "log.txt"), warnings.catch_warnings():
        warnings.simplefilter("always")
        open_terminal()
        for _ in range(3):
            log.warning("%d pairs", 7)
            log.info("twice")
            warnings.warn("deprecated\nhere", UserWarning, stacklevel=1)
    told = capsys.readouterr()
    assert told.out.splitlines().count("warning: 7 pairs") == 1
    assert told.out.splitlines().count("twice") == 3
    assert told.err.count("\n") == 1
    assert told.err.startswith("warning: deprecated")
    assert (tmp_path / "log.txt").read_text().count("7 pairs") == 1
