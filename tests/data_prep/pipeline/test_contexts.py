"""Contexts as fields: parts, lines, exchanges between rows, and what a buffer's text becomes."""

import numpy as np
import pytest

from data_prep.pipeline.contexts import (
    CONTEXT_LINES,
    asked_under,
    contexts_of_neighbours,
    nearest_words,
    part_of,
    without_contexts,
)
from data_prep.pipeline.extraction import plain_code
from data_prep.records import CONTEXT_FIELD, Method, Pair
from data_prep.store.split import Split

PYTHON = """from a import (
    b,
    c,
)
import json
x = 1
class Reader(Base):
    def one(self):
        return 1
"""
GO = 'package p\nimport (\n\t"fmt"\n\t"os"\n)\ntype Store struct {\n\tpath string\n}\nvar x = 1\n'
JAVA = "package a.b;\nimport java.util.List;\nimportant();\npublic final class A<T> extends B {\n  int x;\n"
SCRIPT = "import {\n  one,\n  two\n} from './a';\nconst fs = require('fs');\nexport class A {\n  x = 1;\n"


def pairs(files: list[tuple[str, str]]) -> Split:
    methods = [Method(tree, path, 1, 3, "", "f", "method", "", "", {}) for tree, path in files]
    return Split.of("test", [Pair(method, "q", ("q",)) for method in methods])


@pytest.mark.parametrize(
    ("text", "imports", "head"),
    [
        (PYTHON, "from a import (\n    b,\n    c,\n)\nimport json\n", "class Reader(Base):\n"),
        (GO, 'package p\nimport (\n\t"fmt"\n\t"os"\n)\n', "type Store struct {\n"),
        (JAVA, "package a.b;\nimport java.util.List;\n", "public final class A<T> extends B {\n"),
        (SCRIPT, "import {\n  one,\n  two\n} from './a';\nconst fs = require('fs');\n", "export class A {\n"),
        ("", "", ""),
    ],
    ids=["python", "go", "java", "typescript", "nothing"],
)
def test_imports_and_the_head_of_the_type(text, imports, head):
    assert part_of(text, "all") == text
    assert part_of(text, "imports") == imports
    assert part_of(text, "type") == head


def test_heads_are_what_the_nearest_lines_lack_and_these():
    text = PYTHON + "".join(f"line{number}\n" for number in range(12))
    nearest = "".join(f"line{number}\n" for number in range(2, 12))
    assert part_of(text, "nearest") == nearest
    assert part_of(text, "heads") == part_of(text, "imports") + part_of(text, "type") + nearest


def test_a_bracket_that_is_never_closed_does_not_make_all_lines_imports():
    assert len(part_of("import (\n" + "x\n" * 1000, "imports").splitlines()) == 200


def test_contexts_of_typed_queries_add_their_words_and_lines():
    split = pairs([("a@1", "x.py"), ("a@1", "y.py")])
    found = asked_under(split, ["import json\nq = 1\n", ""], longest=2, lines=True)
    assert found.word_list(CONTEXT_FIELD, 0) == ["json", "q"]
    assert found.word_list(CONTEXT_LINES, 0) == ["import json", "q = 1"]
    assert (found.word_list(CONTEXT_FIELD, 1), found.word_list(CONTEXT_LINES, 1)) == ([], [])
    assert found.word_list("query", 0) == ["q"]
    assert without_contexts(found).words.keys() == split.words.keys()
    assert nearest_words(found, 1).word_list(CONTEXT_FIELD, 0) == ["q"]
    assert nearest_words(found, 0).word_list(CONTEXT_FIELD, 0) == []


def test_a_neighbours_context_is_of_another_file_of_the_same_tree():
    files = [(f"tree{row % 3}@1", f"{row % 7}.py") for row in range(60)] + [("alone@1", "x.py")] * 3
    split = asked_under(pairs(files), [f"row{row}" for row in range(63)], longest=5, lines=True)
    own = {f"row{row}": file for row, file in enumerate(files)}
    found = contexts_of_neighbours(split, 1)
    givers = [found.word_list(CONTEXT_LINES, row) for row in range(63)]
    for row in range(60):
        (giver,) = givers[row]
        assert own[giver][0] == files[row][0]
        assert own[giver][1] != files[row][1]
    assert givers[60:] == [[], [], []]
    assert len({giver for (giver,) in givers[:60]}) > 20
    again, other = contexts_of_neighbours(split, 1), contexts_of_neighbours(split, 2)
    assert np.array_equal(found.words[CONTEXT_FIELD].values, again.words[CONTEXT_FIELD].values)
    assert not np.array_equal(found.words[CONTEXT_FIELD].values, other.words[CONTEXT_FIELD].values)
    with pytest.raises(ValueError, match="there are none"):
        contexts_of_neighbours(pairs(files), 1)


@pytest.mark.parametrize(
    ("language", "text", "plain"),
    [
        ("python", 'import a  # why\n\n"""doc"""\ndef f(:\n    x = "# no"\n', 'import a   \ndef f(:\n    x = "# no"\n'),
        ("java", "/** doc */\nclass A { // one\n  /* two */ int x", "class A {  \n    int x"),
        ("go", 'package p\n// one\nvar s = "// no"\n', 'package p\nvar s = "// no"\n'),
        ("javascript", "const r = /\\/\\//; // one\n", "const r = /\\/\\//;  \n"),
    ],
)
def test_a_buffer_without_its_comments(language, text, plain):
    assert plain_code(text, language) == plain


def test_a_buffer_of_any_bytes_or_size_is_read():
    assert plain_code("x = '\udcff'\n", "python").startswith("x = ")
    large = "x = 1  # a\n" * 300_000
    assert plain_code(large, "python") == large  # no source file is as large: it is not parsed
    with pytest.raises(ValueError, match="there is no language"):
        plain_code("", "cobol")
