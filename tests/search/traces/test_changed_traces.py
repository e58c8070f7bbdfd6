"""Traces that are changed as logs, mails and cut pastes change them lose no frame without a word."""

import html
import json
import random
import re
import sys

import pytest
from traced_texts import STATED, read_trace, text_of, told

from data_prep.traces.trace import _frames, _has_sign, _lines_of

LINE_BY_LINE = {
    "syslog": lambda n: f"Mar 14 09:{n % 60:02}:07 till-2 shop[{4711 + n % 3}]: ",
    "stamped": lambda n: f"2026-03-14T09:26:{n % 60:02}.{n * 7919 % 1000:03}Z ",
    "cri": lambda n: f"2026-03-14T09:26:{n % 60:02}.{n * 104729 % 10**9:09}+01:00 stdout F ",
    "compose": lambda _: "api-1  | ",
    "level": lambda n: f"[{n % 60:02}:07:11] [ERROR] [worker-{n % 2}] ",
    "logger": lambda n: f"2026-03-14 09:26:{n % 60:02},{n % 1000:03} ERROR shop.till: ",
    "pod": lambda _: "[pod/till-7c9d8b6f5-x2xkq/till] ",
    "npm": lambda _: "npm error ",
    "quote": lambda _: "> ",
    "nested quote": lambda _: ">> ",
    "indented": lambda _: "      ",
    "tabs": lambda _: "\t\t",
    "colour": lambda n: f"\x1b[{31 + n % 5}m",
    "colour at the ends": lambda n: f"\x1b[1;38;5;{n % 256}m\x1b[0m",
}
WRAPPED = {
    "crlf": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "json": lambda text: json.dumps({"level": "error", "msg": text}),
    "json of words": lambda text: json.dumps({"a": 1, "error": {"stack": text}}, ensure_ascii=False, indent=2),
    "json lines": lambda text: "".join(json.dumps({"log": f"{line}\n"}) + "\n" for line in text.splitlines()),
    "fence": lambda text: f"It fails:\n\n```\n{text}```\n\nThanks: Ann\n",
    "details": lambda text: f"<details>\n\n~~~text\n{text}~~~\n\n</details>\n",
    "html": lambda text: f"<p>It fails:</p><pre><code>{html.escape(text)}</code></pre><p>Why?</p>",
    "coloured lines": lambda text: "".join(f"\x1b[31m{line}\x1b[0m\n" for line in text.splitlines()),
    "around": lambda text: f"$ make run\nstarting: at 09:26\n\n{text}\nmake: *** [run] Error 1\n",
    "no end": lambda text: text.rstrip("\n"),
}
PLAIN = [name for name, own in STATED.items() if "escaped" not in own and own.get("errors") != []]
PAIRS = 150
NEIGHBOURS = (
    ("go-pkg-errors", "py-notes"),
    ("c-valgrind", "py-notes"),
    ("structlog-json", "fluentd-go"),
    ("zap-json", "loguru-json"),
    ("docker-json", "logstash-json"),
    ("safari", "rich-locals"),
    ("github-actions", "html-express"),
    ("pytest-collect", "pytest-native"),
    ("node-tap", "java-executor"),
)
CUTS = 3
"""Cuts of each text at the end of a line, and as many inside of one."""


def prefixed(text, prefix):
    return "".join(f"{prefix(n)}{line}\n" for n, line in enumerate(text.splitlines()))


@pytest.mark.parametrize("form", [*LINE_BY_LINE, *WRAPPED])
def test_no_frame_is_lost_without_a_word_in_another_form(form):
    lost = []
    for name in PLAIN[len(form) % 4 :: 4]:
        text = text_of(name)
        changed = WRAPPED[form](text) if form in WRAPPED else prefixed(text, LINE_BY_LINE[form])
        if told(changed) < told(text):
            lost.append(f"{name}: {told(changed)} of {told(text)}")
    assert lost == []


def ends_of_frames(text, frames, *, ordered):
    """For each frame the character behind the last line that may state it, found from the last one on.

    A frame without a file is where the next one is. If they are not ``ordered``, each is at the last line that fits.
    """
    ends, end = [], len(text)
    for frame in reversed(frames):
        base, place = frame.path.rpartition("/")[2], end
        while place > 0:
            start = text.rfind("\n", 0, place - 1) + 1
            line = text[start:place]
            if base and re.search(rf"{re.escape(base)}\D{{0,12}}{frame.line}\b", line):
                end = start
                break
            place = start
        ends.append(place or end)
        end = end if ordered else len(text)
    return ends


@pytest.mark.parametrize("name", PLAIN)
def test_no_frame_above_a_cut_is_lost_without_a_word(name):
    text, chance = text_of(name), random.Random(name)
    trace = read_trace(text)
    ends = ends_of_frames(text, trace.frames if trace else [], ordered="unordered" not in STATED[name])
    lines = [place for place, sign in enumerate(text, 1) if sign == "\n"]
    cuts = chance.sample(lines, min(CUTS, len(lines))) + chance.sample(range(1, len(text)), CUTS)
    least = {cut: sum(end <= cut for end in ends) for cut in cuts}
    assert {cut: text[:cut].splitlines()[-3:] for cut, count in least.items() if told(text[:cut]) < count} == {}


@pytest.mark.parametrize("name", STATED)
def test_any_part_is_read_without_a_traceback(name):
    text, chance = text_of(name), random.Random(name)
    for _ in range(2):
        start, end = sorted(chance.sample(range(len(text) + 1), 2))
        told(text[start:end])
        told("".join(chance.sample(text.splitlines(keepends=True), len(text.splitlines()))))


def test_no_trace_hides_another():
    chance, lost = random.Random(3), []
    for _ in range(PAIRS):
        first, second = chance.sample([*STATED], 2)
        both = told(f"{text_of(first)}\n\n\n{text_of(second)}")
        if both < told(text_of(first)) + told(text_of(second)):
            lost.append(f"{first}, {second}: {both} of {told(text_of(first))} + {told(text_of(second))}")
    assert lost == []


@pytest.mark.parametrize("pair", NEIGHBOURS, ids=" ".join)
def test_no_trace_hides_one_of_another_language_or_form(pair):
    for first, second in (pair, pair[::-1]):
        both = told(f"{text_of(first)}\n\n\n{text_of(second)}")
        assert both >= told(text_of(first)) + told(text_of(second))


def test_each_line_that_looks_like_a_frame_has_one_of_the_signs():
    lines = {line for name in STATED for lines in _lines_of(text_of(name)) for line in lines}
    assert [line for line in lines if _frames().search(line) and not _has_sign(line)] == []


LOGS = {
    "python": lambda n: (
        f"2026-03-14 09:26:{n % 60:02},{n % 1000:03} INFO shop.till: order {n} paid at till {n % 9}: ok\n"
    ),
    "access": lambda n: (
        f'10.0.0.{n % 255} - - [14/Mar/2026:09:26:03] "GET /cart.js?id={n} HTTP/1.1" 200 {n} "-" "curl/8"\n'
    ),
    "json": lambda n: f'{{"level":30,"time":{n},"msg":"order {n} at (web/basket.js:{n}:5)","file":"a.py"}}\n',
    "frames": lambda n: f"till at web/basket.js:{n}:5 and in src/shop/cart.py:{n}: in total\n",
    "words": lambda n: f"Caused by the reader in line {n}: Error at the end of File, see main.go:{n} for more\n",
}
BYTES = {"json": 200_000, "frames": 200_000}
"""Where each line looks like a frame; 1 MB in the others."""
MOST_CALLS = 1000
"""Calls of functions for each line of a log: a few times what is needed, far below what a square takes."""


@pytest.mark.parametrize("kind", LOGS)
def test_a_large_log_takes_a_bounded_number_of_steps_for_each_line(kind):
    line, calls = LOGS[kind], 0

    def count(*_):
        nonlocal calls
        calls += 1

    lines = [line(n) for n in range(BYTES.get(kind, 1_000_000) // len(line(5000)))]
    lines.insert(len(lines) // 2, text_of("py-chained"))
    text = "".join(lines)
    sys.setprofile(count)
    try:
        trace = read_trace(text)
    finally:
        sys.setprofile(None)
    assert calls < MOST_CALLS * len(lines)
    if kind != "frames":
        assert "shop.cart.PriceError" in [error.error for error in trace.errors]
