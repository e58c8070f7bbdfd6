"""The lines that show a hit at a glance, and what they are indented by."""

import numpy as np
import pytest

from search.engine.line_scores import rarities, word_places
from search.engine.preview import indentation
from search.engine.show import preview
from search.retrieval.word_index import Bm25Index

METHOD = '''def send(self, request, *, stream=False):
        """Send a request."""
        headers = [
            "accept",
        ]
        for header in headers:
            request.add(header)

        response = self._transport.handle(request)
        if response.is_redirect:
            follow(response)
        return response
'''


def shown(source, rarity=None, *, path="a.py", name="Client.send", start=10, most=6):
    return preview(source, start, rarity or {}, path=path, name=name, most=most)


def test_the_line_with_most_of_the_rare_words_is_the_best():
    found = shown(METHOD, {"transport": 4.0, "handl": 2.0, "request": 0.5})
    assert found.best_line == 18
    assert (found.start_line, found.end_line) == (16, 21)
    assert found.lines[0] == "        request.add(header)"
    assert found.lines[2:4] == ["    response = self._transport.handle(request)", "    if response.is_redirect:"]


def test_a_parameter_says_less_than_what_is_done_with_it():
    source = "def send(\n    request,\n    follow_redirects,\n):\n    if follow_redirects:\n        return\n"
    assert shown(source, {"follow": 1.0, "redirect": 1.0}).best_line == 14
    assert shown(source, {"send": 1.0, "redirect": 1.0}).best_line == 10


@pytest.mark.parametrize("mark", ["//", "#", " *"])
def test_a_line_about_the_licence_is_not_the_best_unless_it_is_alone(mark):
    head = f"{mark} license that can be found in the LICENSE file of its lines\n"
    assert shown(f"{head}\nread(file)\n", {"file": 1.0, "line": 1.0}, start=1).best_line == 3
    assert shown(f"\n{head}\n", {"file": 1.0}, start=1).best_line == 2


def test_without_a_word_of_the_question_the_first_lines_are_shown():
    for rarity in ({}, {"zebra": 3.0}):
        found = shown(METHOD, rarity)
        assert (found.start_line, found.best_line, found.end_line) == (10, 10, 15)
        assert found.lines[0].startswith("def send(")
        assert found.lines[1] == '    """Send a request."""'
        assert found.lines[4] == "    ]"


def test_places_are_those_of_the_lines_in_the_source():
    found = shown(METHOD, {"transport": 4.0})
    for line, place in zip(found.lines, found.places, strict=True):
        assert METHOD[place : place + len(line)] == line


def test_there_are_few_lines_and_no_blank_ones_at_the_ends():
    source = "def f():\n\n\n    a()\n\n    key()\n\n\n\n    b()\n"
    found = shown(source, {"key": 1.0}, name="f")
    assert (found.start_line, found.lines) == (13, ["    a()", "", "    key()"])
    assert len(shown("\n".join(["x = 1"] * 50), most=3).lines) == 3
    assert shown("", {"key": 1.0}).lines == [""]


def test_a_long_line_is_cut_and_a_carriage_return_left_out():
    found = shown("def f():\r\n    key = " + "1" * 5000 + "\r\n    return key\r\n", {"key": 1.0}, name="f")
    assert [len(line) for line in found.lines] == [8, 240, 14]
    assert found.lines[1].endswith("1…")


@pytest.mark.parametrize(
    ("path", "name", "source", "lost"),
    [
        ("a.py", "f", "def f():\n    return 1\n", 0),
        ("a.py", "f", "def f():\n    x = [\n        1,\n    ]\n", 0),
        ("a.py", "f", "def f():\n    return {\n        1: 2,\n    }\n", 0),
        ("a.py", "f", "async def f(\n    a,\n    b,\n) -> int:\n    return g(\n        a\n    )\n", 0),
        ("a.py", "f", "def f(a,\n      b):\n    return a\n", 0),
        ("a.py", "f", "def f():\n        return 1\n", 4),  # inside of an if
        ("a.py", "C.f", "def f(self):\n        return [\n            1\n        ]\n", 4),
        ("a.py", "C.f", "def f(self,\n              b):\n        return b\n", 4),
        ("a.py", "C.f", "def f(\n        self,\n    ):\n        return 1\n", 4),
        ("a.py", "C.f", "def f(self):\n    return 1\n", 2),  # two spaces a step
        ("a.py", "C.D.f", "def f(self):\n            return 1\n", 8),
        ("a.py", "C.f", "def f(self):\n\t\treturn 1\n", 1),
        ("a.py", "C.f", "@property\n    def f(self):\n        return 1\n", 4),
        ("a.py", "C.f", "@cached(\n        a=1\n    )\n    def f(self):\n        return 1\n", 4),
        ("a.py", "C.f", "def f(self):  # {\n        x = '''\nzero\n'''\n        return x\n", 4),
        ("a.py", "C", "class C:\n    x = 1\n\n    def f(self): ...\n", 0),
        ("a.py", "C.X", "X = {\n        1: 2,\n    }\n", 4),
        ("a.py", "f", "def f(): return 1", 0),
        ("A.java", "A.f", "void f() {\n        g();\n    }", 4),
        ("A.java", "A.f", "void f(int a,\n            int b);", 4),
        ("a.go", "f", "func f() {\n\tg()\n}", 0),
        ("a.ts", "A.f", "f(): void {\n    const s = `\nzero`;\n  }", 2),
        ("a.ts", "f", "const f = () => ({\n  a: 1,\n});", 0),
        ("a.ts", "f", "const f = a\n  .b();", 0),
        ("A.java", "A.f", "@Override\n    void f()\n    {\n        g();\n    }", 4),
        ("A.java", "A.f", "void f()\n    {\n        g();\n    }", 4),
        (
            "A.java",
            "A",
            "class A {\n    void f() {\n    }\n    void g() {\n        if (a) {\n        }",
            0,
        ),  # it is cut
        ("A.java", "A.B", "@C\n    class B {\n        void f() {\n        }", 4),
        ("a.md", "a.md", "# Title\n\n    code\n", 0),
        ("a.py", "f", "", 0),
    ],
)
def test_what_the_first_line_has_lost(path, name, source, lost):
    assert indentation(source, path, name) == lost


class TestRarities:
    @pytest.fixture
    def lexical(self):
        terms = sorted({"pars", "header", "cooki"})
        rows = np.array([2, 0, 1, 0, 1, 2, 3], dtype=np.int32)
        return Bm25Index(terms, np.array([0, 1, 3, 7]), rows, np.ones(7, np.float32), 4)

    def test_a_rarer_word_says_more(self, lexical):
        found = rarities(["parsing", "the", "cookies", "zebra"], lexical)
        assert list(found) == ["pars", "cooki", "zebra"]
        assert found["zebra"] >= found["cooki"] > found["pars"] > 0
        assert rarities([], lexical) == {}

    def test_words_of_sentences_count_only_alone(self, lexical):
        assert list(rarities(["where", "from", "is", "header"], lexical)) == ["header"]
        assert list(rarities(["from"], lexical)) == ["from"]


def test_words_are_found_inside_of_identifiers():
    text = "self.parseHeaders(cookie_jar)  # headers' order"
    found = [text[start:end] for start, end in word_places(text, {"header": 1.0, "jar": 1.0})]
    assert found == ["parseHeaders", "cookie_jar", "headers"]
