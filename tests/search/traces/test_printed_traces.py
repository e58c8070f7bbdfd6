"""Traces behind prefixes, inside of other texts, and of other printers; what looks like a frame and is not read."""

import html
import json
import time

import pytest

from data_prep.posts.post_lines import error_type
from data_prep.traces.trace import frames_like, plain_text, read_trace

PYTHON = """\
Traceback (most recent call last):
  File "/srv/my shop/cart.py", line 25, in checkout
    sums = cart.total(rates)
  File "/srv/my shop/cart.py", line 14, in total
    amount += rates[good.kind]
shop.pay.<locals>.Empty: none left
"""
NODE = """\
TypeError: no id
    at lookup (C:\\Program Files (x86)\\shop\\server.js:10:11)
    at async Basket.load (webpack-internal:///(rsc)/./web/[slug]/basket.ts:5:3) {
  code: 'E_ID'
}
"""
JAVA = """\
java.lang.IllegalStateException: x
\tat org.acme.till.Till.lambda$count$0(SourceFile:20)
\tat java.base/java.util.ArrayList.forEach(ArrayList.java:9) ~[?:?] {re:mixin}
\t... 3 more
Caused by: java.io.IOException: closed
\tat org.acme.till.Till$1.run(Unknown Source:8) [3 skipped]
"""
GO = """\
panic: too few

goroutine 1 [running]:
example.com/shop/till.(*Drawer).Take(0x0, {0x4d, 0x4}, 0x1)
\t/srv/my app/till.go:12 +0x5
example.com/shop/till.Watch.func1.deferwrap2()
\t/srv/my app/till.go:40 +0x1d
"""
TEXTS = {"python": PYTHON, "javascript": NODE, "java": JAVA, "go": GO}
PREFIXES = {
    "nothing": "",
    "compose": "web-1  | ",
    "time": "2026-03-01T10:00:{n:02}.{n}01Z ",
    "syslog": "Mar  1 10:00:{n:02} host shop[123]: ",
    "pod": "[pod/web-6d4cf56db6-x2xkq/app] ",
    "cri": "2026-03-01T10:00:{n:02}.1{n}+01:00 stderr F ",
    "npm": "npm ERR! ",
    "quote": "> ",
    "concurrently": "[1] ",
    "logger": "[{n:02}:00:01] [ERROR] [main] com.acme.Log: ",
    "android": "03-14 09:26:{n:02}.514  4711  4711 E AndroidRuntime: ",
    "margin": "        ",
}
INSIDE = {
    "json": lambda text: json.dumps({"level": "error", "msg": text, "n": {"a": [1]}}),
    "json behind a prefix": lambda text: f"2026-03-01 shop: {json.dumps({'stack': text.split(chr(10))})}",
    "json in json": lambda text: json.dumps({"log": json.dumps({"msg": text}) + "\n"}),
    "a line of json each": lambda text: "".join(json.dumps({"log": f"{x}\n", "n": 1}) + "\n" for x in text.split("\n")),
    "a page": lambda text: f"<h1>500</h1><pre><code>{html.escape(text)}</code></pre>",
    "lines of a page": lambda text: "<br>".join(html.escape(text).replace("    ", "&nbsp; &nbsp; ").split("\n")),
    "a fence": lambda text: f"Please help:\n```pytb\n{text}```\nthanks",
    "colours": lambda text: "".join(f"\x1b[1;31m{line}\x1b[0m\n" for line in text.split("\n")),
    "two services": lambda text: "".join(f"a-1 | {line}\nb-1 | 2026 LOG: done\n" for line in text.split("\n")),
    "other lines": lambda text: f"starting at 10:00\n{text}\n2026-03-01 10:00:02 INFO stopped\n",
    "windows": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_of_lines_whatever_they_are(language, prefix):
    text = TEXTS[language]
    lines = text.splitlines()
    logged = "\n".join(f"{PREFIXES[prefix].format(n=n)}{line}" for n, line in enumerate(lines))
    found, plain = read_trace(logged), read_trace(text)
    assert found == plain
    assert (found.language, found.unread) == (language, 0)
    assert len(found.frames) == (3 if language == "java" else 2)


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("kind", INSIDE)
def test_traces_inside_of_other_texts(language, kind):
    assert read_trace(INSIDE[kind](TEXTS[language])) == read_trace(TEXTS[language])


def test_names_and_places_with_extras():
    python, node, java, go = map(read_trace, TEXTS.values())
    assert (python.errors[0].error, python.errors[0].message) == ("shop.pay.<locals>.Empty", "none left")
    assert [(frame.path, frame.line, frame.name) for frame in node.frames] == [
        ("C:/Program Files (x86)/shop/server.js", 10, "lookup"),
        ("/(rsc)/./web/[slug]/basket.ts", 5, "Basket.load"),
    ]
    assert [(frame.path, frame.line, frame.name) for frame in java.frames] == [
        ("org/acme/till/Till.java", 20, "Till.count"),
        ("java/util/ArrayList.java", 9, "ArrayList.forEach"),
        ("org/acme/till/Till.java", 8, "Till.run"),
    ]
    assert (java.errors[1].error, java.errors[1].relation) == ("java.io.IOException", "caused by")
    assert [(frame.name, frame.package) for frame in go.frames] == [
        ("Drawer.Take", "example.com/shop/till"),
        ("Watch", "example.com/shop/till"),
    ]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "2026 [main] ERROR a.b.C -- failed: a.b.NoKeyException: no key\n\tat a.b.C.d(C.java:4)",
            "a.b.NoKeyException",
            "no key",
        ),
        ("server.js:10 Uncaught (in promise) TypeError: no id\n    at f (a.js:1:2)", "TypeError", "no id"),
        (
            "2026/03/01 http: panic serving 1.2.3.4:5: boom\ngoroutine 5 [running]:\na.b()\n\t/a.go:1 +0x1",
            "panic",
            "boom",
        ),
        ("KeyError: 'a'\n  File \"a.py\", line 3, in f\n    g()\n", "KeyError", "'a'"),
        (
            "  ● a › b\n\n    TypeError: no id\n\n    > 1 | f()\n        | ^\n\n      at f (a.js:1:2)",
            "TypeError",
            "no id",
        ),
        ("AggregateError: all\n    at async Promise.any (index 1)\n    at f (a.js:1:2)", "AggregateError", "all"),
    ],
)
def test_the_error_is_found_and_is_all_that_is_said_of_it(text, error, message):
    found = read_trace(text).errors[0]
    assert (found.error, found.message) == (error, message)


def test_members_of_a_group_that_has_no_frame():
    members = "    TypeError: a\n        at f (a.js:1:2),\n    Error: b\n        at g (b.js:3:4)\n"
    text = f"[AggregateError: all] {{\n  [errors]: [\n{members}  ]\n}}"
    errors = read_trace(text).errors
    assert [(each.error, each.relation, len(each.frames)) for each in errors] == [
        ("AggregateError", "", 0),
        ("TypeError", "grouped", 1),
        ("Error", "grouped", 1),
    ]


RICH = """\
╭─ Traceback (most recent call last) ──╮
│ /tmp/e/gen/proj/a/very/long/shop/car │
│ t.py:10 in checkout                  │
│                                      │
│    9 │   try:                        │
│ ❱ 10 │   │   return cart.total(rates │
│                                      │
│ ╭───────── locals ─────────╮         │
│ │ rates = {}               │         │
│ ╰──────────────────────────╯         │
│                                      │
│ /tmp/e/gen/proj/shop/cart.py:5 in    │
│ total                                │
│                                      │
│ ❱  5 │   │   │   amount += rates[goo │
╰──────────────────────────────────────╯
KeyError: 'food'
"""


def test_panels_of_rich_with_wrapped_paths():
    (error,) = read_trace(RICH).errors
    assert (error.error, error.message) == ("KeyError", "'food'")
    assert [(frame.path, frame.line, frame.name, frame.code) for frame in error.frames] == [
        ("/tmp/e/gen/proj/a/very/long/shop/cart.py", 10, "checkout", "return cart.total(rates"),
        ("/tmp/e/gen/proj/shop/cart.py", 5, "total", "amount += rates[goo"),
    ]


def test_what_looks_like_a_frame_and_is_not_read_is_counted():
    other = "no rate at /srv/app/Cart.pm line 12.\n\tShop::total() called at shop.pl line 3\n"
    assert read_trace(f"{NODE}{other}").unread == 2
    assert read_trace(other) is None
    assert frames_like(other) == 2
    assert frames_like("listening at http://localhost:3000\ndef f():\n    return look(at)\n") == 0


def test_the_type_of_error_of_posts():
    assert error_type("\x1b[1;31mKeyError\x1b[0m: 'price'") == error_type("[1;31mKeyError[0m: 'price'") == "KeyError"
    assert error_type('  File "a.py", line 1, in f\n    x = q.get()\nqueue.Empty') == "Empty"
    frames = '  + Exception Group Traceback (most recent call last):\n  |   File "a.py", line 1, in f\n'
    assert error_type(f"{frames}  | ExceptionGroup: a\n") == "ExceptionGroup"
    assert plain_text("web-1  | KeyError: 1\nweb-1  |   at f (a.js:1:2)").splitlines()[0] == "KeyError: 1"


def test_a_log_of_a_megabyte_and_many_frames_take_little_time():
    line = "2026-03-01 10:00:{n:02} INFO app.work at /x/{n} (item {n}) took 3 ms a@b.org\n"
    log = "".join(line.format(n=n) for n in range(7000))
    frames = "".join(f"\tat a.b.C{n}.f(C.java:{n})\n" for n in range(20_000))
    started = time.process_time()
    assert len(read_trace(f"{log}{PYTHON}{log}").frames) == 2
    assert read_trace(f"a.b.CException: x\n{frames}").errors[0].left_out > 18_000
    for bomb in ("[" * 500_000, '{"a":' * 100_000, '"\\n at ' * 50_000, '{"a":"\\n' * 50_000):
        assert read_trace(bomb) is None
    assert time.process_time() - started < 20


def test_a_message_of_ruby_has_the_quotes_of_its_frames():
    found = read_trace(
        "lib/cart.rb:8:in 'block in Cart#total': undefined method 'wieght' for an instance of Row (NoMethodError)\n"
        "\tfrom lib/cart.rb:7:in 'Cart#total'\n"
    )
    (error,) = found.errors
    assert (error.error, error.message) == ("NoMethodError", "undefined method 'wieght' for an instance of Row")
    assert [(frame.line, frame.name) for frame in error.frames] == [(8, "Cart.total"), (7, "Cart.total")]


def test_a_trace_in_a_build_of_docker_ends_where_the_build_does():
    found = read_trace(
        '#14 3.201 Traceback (most recent call last):\n#14 3.201   File "/app/cart.py", line 8, in total\n'
        "#14 3.201     rates[country]\n#14 3.202 KeyError: 'fr'\n#14 ERROR: process \"python app.py\" failed\n"
    )
    (error,) = found.errors
    assert (error.error, error.message, error.frames[0].path) == ("KeyError", "'fr'", "/app/cart.py")
