"""Filters inside a question: which words are some, and which rows they leave."""

import re

import numpy as np
import pytest
from repositories import write
from serving import index_of

from data_prep.errors import UserError
from search.cli import as_typed
from search.engine.engine import Engine
from search.engine.filters import begins_with_filter, path_filter, read_question
from search.engine.question import LONGEST_QUERY
from search.files.languages import chosen_languages
from search.index.index_file import open_index

STORE = """\
LIMIT = 3


class Store:
    def load_item(self):
        return 1


def load_item():
    return 2
"""
FILES = {
    "src/store.py": STORE,
    "src/deep/store.go": "package deep\n\nfunc LoadItem() int {\n\treturn 1\n}\n",
    "tests/test_store.py": "def test_load_item():\n    assert load_item()\n",
    "my folder/Item.java": "class Item { void loadItem() { run(); } }\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("filters")
    return Engine(open_index(index_of(write(root / "tree", FILES), root / "index")), None)


def paths(engine, question, **more):
    return {engine.index.file(row).path for hit in engine.search(question, **more) for row in hit.rows}


@pytest.mark.parametrize(
    "text",
    [
        "std::path join",
        "see http://path:8080/x",
        "type: expected str",
        "test: no such file",
        "TypeError: path:line is wrong",
        "Content-Type:text/plain",
        "type:List<String> cannot be cast",
        "path:12:4 error",
        "mypath:src/ load",
        "{type:string}",
        "Path:src/ load",
        'in quotes "type:class" load',
        "Traceback:\n  path:src/ load",
        "path:",
        "x" * LONGEST_QUERY + " path:src/",
    ],
)
def test_what_only_looks_like_a_filter_is_none(engine, text):
    assert read_question(text, engine.index).text == text
    assert not read_question(text, engine.index).filters


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("path:src/*", {"src/store.py", "src/deep/store.go"}),
        ("path:src/", {"src/store.py", "src/deep/store.go"}),
        ("path:src", {"src/store.py", "src/deep/store.go"}),
        ("path:deep/", {"src/deep/store.go"}),
        ("path:/deep/ path:/src/", {"src/store.py", "src/deep/store.go"}),
        ("path:store.py", {"src/store.py"}),
        ("path:test_*.py", {"tests/test_store.py"}),
        ('path:"my folder/*"', {"my folder/Item.java"}),
        ('path:"my folder/"', {"my folder/Item.java"}),
        ("-path:src/ -path:*.java", {"tests/test_store.py"}),
        ("lang:go,java", {"src/deep/store.go", "my folder/Item.java"}),
        ("language:py", {"src/store.py", "tests/test_store.py"}),
        ("-lang:python -lang:java", {"src/deep/store.go"}),
        ("test:only", {"tests/test_store.py"}),
        ("test:no lang:python", {"src/store.py"}),
        ("ext:go", {"src/deep/store.go"}),
        ("ext:.PY,java -path:tests/", {"src/store.py", "my folder/Item.java"}),
        ("type:class", {"src/store.py", "my folder/Item.java"}),
        ("type:constant", {"src/store.py"}),
        ("type:Constant lang:Python test:NO", {"src/store.py"}),
    ],
)
def test_hits_are_what_the_filters_leave(engine, filters, expected):
    asked = read_question(f"load {filters} item", engine.index)
    assert asked.text.split() == ["load", "item"]
    rows = np.flatnonzero(asked.rows(engine.index)).tolist()
    assert {engine.index.file(row).path for row in rows} == expected
    assert paths(engine, f"{filters} load item limit store") <= expected
    assert paths(engine, f"load item limit store {filters}", by_file=True) <= expected


def test_a_function_is_no_method_except_in_java(engine):
    names = {
        value: {engine.index.names[hit.row] for hit in engine.search(f"type:{value} load item")}
        for value in ("function", "method", "file")
    }
    assert names["function"] == {"load_item", "LoadItem", "test_load_item", "Item.loadItem"}
    assert names["method"] == {"Store.load_item", "Item.loadItem"}
    assert names["file"] <= {"store", "test_store"}


def test_tests_are_ranked_as_other_code_if_they_are_asked_for(engine):
    plain, asked = (
        next(hit for hit in engine.search(text) if engine.index.names[hit.row] == "test_load_item").score
        for text in ("load item", "load item test:yes")
    )
    assert asked > plain


@pytest.mark.parametrize("typed", ["path:nowhere", "-path:nowhere"])
def test_a_path_of_one_word_that_nothing_is_called_is_said_to_be_read_as_text(engine, typed):
    question = f"load item {typed}"
    told = engine.certainty(question, engine.search(question)).line
    assert told.endswith(f"{typed} was read as text, since no folder or file is called so")
    assert "read as text" not in engine.certainty("load item path:src", engine.search("load item path:src")).line


def test_an_answer_to_a_question_is_that_to_its_words(engine):
    filtered, plain = engine.search("load item path:src/"), engine.search("load item", path="src/*")
    assert [(hit.row, hit.score) for hit in filtered] == [(hit.row, hit.score) for hit in plain]
    assert engine.certainty("load item path:src/", filtered) == engine.certainty("load item", plain)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type:klass load", "type: takes one of class, function, method, constant, file, test, not 'klass'"),
        ("lang:pyton load", "got 'pyton' (did you mean python?)"),
        ("lang:javscript load", "got 'javscript' (did you mean javascript?)"),
        ("type:functon load", "not 'functon' (did you mean function?)"),
        ("lang:cobol load", "lang:cobol: expected languages among "),
        ("lang:f# load", "lang:f#: expected languages among "),
        ("test:maybe load", "test: takes one of no, only, yes, not 'maybe'"),
        ("-test:no load", "-test:no is to be written test:no or test:only"),
        ("path:nowhere/ load", "path:nowhere/ matches nothing in the index's 4 files, such as my folder/Item.java"),
        ("ext:rs load", "ext:rs matches nothing in the index's 4 files, which end in .go, .java, .py"),
        ("lang:go ext:py load", "lang:go ext:py matches nothing in the index's 4 files"),
        ("path:src/ -lang:go", "'path:src/ -lang:go' only says where to search: add a question"),
        ("path:" + "a/" * 300 + " load", "path has at most 500 characters"),
    ],
)
def test_a_wrong_filter_is_one_line(engine, text, message):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        engine.search(text)
    assert "\n" not in str(error.value)


def test_a_question_may_begin_with_a_minus():
    assert begins_with_filter("-path:tests/ load")
    assert begins_with_filter("path:tests/")
    assert not begins_with_filter("--path=tests/")
    assert not begins_with_filter("-x")
    typed = ["--dry-run flag", "-v prints more", "--path=a b/*", "--top", "3", "--", "--dry-run"]
    assert [*as_typed(typed)] == [" --dry-run flag", " -v prints more", "--path=a b/*", "--top", "3", " --dry-run"]


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/", "src/a.py", True),
        ("src/", "lib/src/a.py", True),
        ("/src/", "lib/src/a.py", False),
        ("./src", "src/a.py", True),
        ("src/", "srcs/a.py", False),
        ("src/", "a/src", False),
        ("src", "a/src", True),
        ("pool/impl.py", "lib/pool/impl.py", True),
        ("ool/impl.py", "lib/pool/impl.py", False),
        ("*_test.go", "a/b_test.go", True),
        ("a/*", "x/a/b", False),
        ("*/a/*", "x/a/b", True),
        ("s*/", "src/a.py", True),
    ],
)
def test_a_path_is_a_pattern_or_a_part(pattern, path, expected):
    assert path_filter(pattern)(path) is expected


@pytest.mark.parametrize("pattern", [".", "./", "/", "./src/*", "/src/*.py", "./src/*/"])
def test_a_pattern_may_begin_at_the_top(pattern):
    assert path_filter(pattern)("src/deep/store.py")


def test_a_header_is_of_the_language_of_its_content_and_of_its_name(tmp_path):
    headers = {"one.h": "int load_item(void);\n", "two.h": "class Store { int load_item() { return 1; } };\n"}
    engine = Engine(open_index(index_of(write(tmp_path / "tree", headers), tmp_path / "index")), None)
    assert engine.languages == {"c": 1, "cpp": 1}
    assert paths(engine, "lang:c load item") == paths(engine, "load item", languages=("c",)) == {"one.h", "two.h"}
    assert paths(engine, "lang:cpp load item") == paths(engine, "load item", languages=("cpp",)) == {"two.h"}
    assert paths(engine, "-lang:cpp load item") == paths(engine, "-lang:C++ load item") == {"one.h"}
    assert paths(engine, "lang:c++ load item") == paths(engine, 'lang:"C#, C++" load item') == {"two.h"}
    assert paths(engine, "load item", languages=chosen_languages("C++,cs")) == {"two.h"}


def test_a_test_inside_of_other_code_is_a_test(tmp_path):
    files = {"src/list.rb": 'def load\n  1\nend\n\nit "load an item" do\n  load\nend\n'}
    found = Engine(open_index(index_of(write(tmp_path / "tree", files), tmp_path / "index")), None)
    names = {
        typed: {
            found.index.names[row]
            for row in np.flatnonzero(read_question(f"load {typed}", found.index).rows(found.index))
        }
        for typed in ("test:no", "test:only", "type:test", "test:yes")
    }
    tests = {"load an item"}
    assert names == {
        "test:no": {"load", "list"}, "test:only": tests, "type:test": tests, "test:yes": {"load", "list", *tests}
    }  # fmt: skip
