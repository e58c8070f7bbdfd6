"""What is coloured in code of the five languages, and where the words of identifiers are."""

import re

import pytest

from data_prep.languages.registry import language_of
from search.serve.hit_records import highlighted, word_spans
from tests.conftest import REPOSITORY

CODE = {
    "a.java": (
        '@Override\n@Foo.bar(a = "b")\npublic List<String> readAll(Path p) { // c\n'
        ' char x = \'x\'; int n = 0x1F; s = """\n t"""; Größe größeRead = null; }'
    ),
    "a.py": (
        '@a.b(1)\n    async def f(self, x=None) -> Str:\n        """Doc of read."""\n'
        "        # it's read\n        return f\"a{x!r}b\\n\" + r'x' if not read // 3 else [1.5j]"
    ),
    "a.jsx": (
        'send(read) { const a = `x${read + "q"}y`; return /a"b\\/[/]/g.test(this.#p) } // c\n<Foo a="b">text</Foo>'
    ),
    "a.ts": (
        '@dec() class A<T extends string> { private x?: number = 0n; get y(): Promise<void> { return "z" as any } }'
    ),
    "a.go": "func (e *Engine) Run(a ...string) error { /* c */ return `raw` + \"q\\n\" + 'r' + nil + 0x1F }",
}
COLOURED = {
    "a.java": {
        "annotation": ["@Override", "@Foo.bar"],
        "string": ['"b"', "'x'", '"""\n t"""'],
        "keyword": ["public", "char", "int", "null"],
        "number": ["0x1F"],
        "comment": ["// c"],
        "type": ["List", "String", "Path", "Größe"],
    },
    "a.py": {
        "annotation": ["@a.b"],
        "string": ['"""Doc of read."""', 'f"a', 'b\\n"', "r'x'"],
        "keyword": ["async", "def", "None", "return", "if", "not", "else"],
        "number": ["1", "3", "1.5j"],
        "comment": ["# it's read"],
        "type": ["Str"],
    },
    "a.jsx": {
        "string": ["`x", '"q"', "y`", '/a"b\\/[/]/g', '"b"'],
        "keyword": ["const", "return", "this"],
        "comment": ["// c"],
        "type": ["Foo", "Foo"],
    },
    "a.ts": {
        "annotation": ["@dec"],
        "string": ['"z"'],
        "keyword": [
            "class", "extends", "string", "private", "number", "get", "void", "return", "as", "any",
        ],
        "number": ["0n"],
        "type": ["A", "T", "Promise"],
    },
    "a.go": {
        "string": ["`raw`", '"q\\n"', "'r'"],
        "keyword": ["func", "return", "nil"],
        "number": ["0x1F"],
        "comment": ["/* c */"],
        "type": ["Engine", "string", "error"],
    },
}  # fmt: skip


@pytest.mark.parametrize("path", CODE)
def test_each_language_has_its_colours(path):
    found: dict[str, list[str]] = {}
    for start, end, kind in highlighted(CODE[path], path):
        found.setdefault(kind, []).append(CODE[path][start:end])
    assert found == COLOURED[path]


@pytest.mark.parametrize("path", CODE)
def test_a_part_has_the_same_colours_as_in_the_whole(path):
    source = f"\U0001f600\n\n{CODE[path]}"
    whole = colours(source, highlighted(source, path))
    for start in range(0, len(source), 7):
        part = colours(source, highlighted(source, path, start, start + 20))
        assert part[start : start + 20] == whole[start : start + 20]


def colours(source, spans):
    found = [""] * len(source)
    for start, end, kind in spans:
        found[start:end] = [kind] * (end - start)
    return found


def test_words_are_found_in_identifiers_alone():
    for path, expected in (("a.java", ["read", "All", "größe", "Read"]), ("a.py", ["read"]), ("a.jsx", ["read"] * 2)):
        spans = word_spans(CODE[path], path, {"read", "all", "of", "größe"})
        found = [CODE[path][start:end] for start, end, _ in spans if CODE[path][start:end] != "Größe"]
        assert found == expected
        assert all(CODE[path][start:end].lower() == word for start, end, word in spans)
    assert [span[2] for span in word_spans("İread", "a.py", {"read"})] in (["read"], [])


@pytest.mark.parametrize("source", ["", "\ud800 read", "x" * 5000 + "\\" * 5000 + '"""', "{" * 20_000, "'" * 3, "\r\0"])
@pytest.mark.parametrize("path", [*CODE, "a.txt", "a"])
def test_whatever_it_gets_its_spans_are_in_order(path, source):
    place = 0
    for start, end, kind in highlighted(source, path):
        assert place <= start < end <= len(source)
        assert kind
        place = end
    assert path in CODE or not place
    word_spans(source, path, {"read"})


GOLDEN = sorted(
    path for path in (REPOSITORY / "tests" / "search" / "files" / "golden").iterdir() if path.suffix != ".txt"
)
NAMES_TOO = {"kotlin": "it open by get reified", "csharp": "nameof value", "php": "static int", "r": "in"}
"""Keywords that are also names; and those of a shell are the names of commands."""


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_keywords_and_comments_of_every_language_are_coloured(path):
    source, language = path.read_text(), language_of(path.name)
    colours = {place: kind for start, end, kind in highlighted(source, path.name) for place in range(start, end)}
    mark = re.escape(language.line_comment)
    comments = [found.start() + 1 for found in re.finditer(rf"(?m)(?<=\n)[ \t]*{mark} \w", source)]
    assert comments
    assert {colours.get(place + len(re.match(r"\s*", source[place:])[0])) for place in comments} == {"comment"}
    found = {
        match[0]
        for match in re.finditer(r"(?<![\w$@.'])[a-z_]+[?!]?(?!\w)", source)
        if match[0] in language.keywords and match.start() not in colours
    }
    assert found <= set(NAMES_TOO.get(path.stem, "").split()) or path.stem == "bash"


@pytest.mark.parametrize(
    ("path", "source", "kind"),
    [
        ("a.py", 'class App(Base):\n    """The app and its "parts"\n\n    as a class for all', "string"),
        ("a.py", "X = 1  # it's\nclass App:\n    '''The app\n    is for all", "string"),
        ("a.kt", 'val told = """It is a\n    class for all', "string"),
        ("a.java", "class App {\n  /** The app's parts\n   * as a class for all", "comment"),
        ("a.go", "type App struct { // it's\n\tname string /* the \"app\n\tand a type for all", "comment"),
    ],
)
def test_a_text_or_comment_that_a_source_is_cut_in_is_coloured_to_its_end(path, source, kind):
    start, end, last = highlighted(source, path)[-1]
    assert last == kind
    assert source[start:end].endswith("for all")
    assert re.match(r"\"\"\"|\'\'\'|/\*|(?s:.*)as a class|(?s:.*)is for all", source[start:end])
