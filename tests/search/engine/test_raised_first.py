"""What raises a message stands before the tests that expect it."""

import pytest
from serving import index_of

from search.engine.engine import Engine
from search.index.index_file import open_index

EXPECTED = "Marmot route twice. Handler for `GET {path}` is there already"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("raised")
    (root / "tests").mkdir()
    (root / "router.py").write_text(
        "def merge(path, name):\n    if path in name:\n        return name\n"
        '    raise KeyError(f"Marmot route twice. Handler for `{name} {path}` is there already")\n'
    )
    for number in range(6):
        text = EXPECTED.format(path=f"/pond{number}")
        body = f"    handler = get()\n    with raises(KeyError, match='{text}'):\n        route(handler, handler)\n"
        (root / "tests" / f"test_marmot{number}.py").write_text(f"def test_marmot_route_handler_{number}():\n{body}")
    (root / "tests" / "test_alone.py").write_text(
        "def test_alone():\n    assert message == 'the vole burrow has fallen in'\n\n\ndef burrow():\n    return vole\n"
    )
    return Engine(open_index(index_of(root, root / "index")), None)


@pytest.mark.parametrize("path", ["/pond", "/lake"])
def test_what_raises_a_message_is_before_the_tests_that_expect_it(engine, path):
    names = [engine.index.names[hit.row] for hit in engine.search(EXPECTED.format(path=path))]
    assert names[0] == "merge"
    assert names[1].startswith("test_marmot_route_handler")


def test_a_message_that_only_a_test_has_is_found_there(engine):
    assert engine.index.names[engine.search("the vole burrow has fallen in")[0].row] == "test_alone"


def test_a_question_that_is_no_message_is_not_answered_by_tests_that_have_its_words(tmp_path):
    (tmp_path / "pond.py").write_text(
        'class PondBackend(Backend):\n    """Where results of marmots are."""\n\n    def result(self, marmot):\n'
        "        return self.backend.pond(marmot)\n"
    )
    for number in range(4):
        (tmp_path / f"test_marmot{number}.py").write_text(
            f"def test_marmot_{number}():\n    if backend != 'pond':\n        skip('Requires pond result backend.')\n"
        )
    engine = Engine(open_index(index_of(tmp_path, tmp_path / "index")), None)
    assert engine.index.names[engine.search("pond result backend")[0].row].startswith("PondBackend")
    assert engine.index.names[engine.search("Requires pond result backend.")[0].row].startswith("test_marmot")


def test_whoever_asks_for_tests_gets_them_first(engine):
    asked = f"test {EXPECTED.format(path='/pond3')}"
    assert engine.index.names[engine.search(asked)[0].row].startswith("test_marmot_route_handler")


def test_code_that_has_all_words_is_before_tests_that_are_named_by_them(tmp_path):
    (tmp_path / "main.py").write_text(
        "def build(pattern, options):\n    if options.smart and not any(map(str.isupper, pattern)):\n"
        "        pattern = pattern.lower()\n    return Matcher(pattern, options.case, options.depth, options.hidden)\n"
        + "".join(f"\n\ndef option_{number}(value):\n    return value + {number}\n" for number in range(9))
    )
    (tmp_path / "test_main.py").write_text(
        'def test_smart_case():\n    """Smart case."""\n    smart_case("smart case")\n'
    )
    (tmp_path / "other.py").write_text("def smart():\n    return 1\n")
    engine = Engine(open_index(index_of(tmp_path, tmp_path / "index")), None)

    def paths(query):
        return list(dict.fromkeys(engine.index.file(hit.row).path for hit in engine.search(query)))

    assert [path for path in paths("smart case") if path != "other.py"] == ["main.py", "test_main.py"]
    assert paths("test smart case")[0] == "test_main.py"
    assert paths("smart marmots")[0] == "other.py"
