"""A path among other words of a question lifts its file; one that does not exist is said, with the nearest."""

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.engine.path_reading import PathReader
from search.index.index_file import open_index

BODY = "def {0}_size(limit):\n    return limit\n\n\ndef {0}_close(pool):\n    return pool\n"
FILES = {
    "lib/pool/impl.py": BODY.format("first") + BODY.format("other"),
    "lib/pool/__init__.py": "from .impl import first_size\n",
    "lib/other/impl.py": BODY.format("second"),
    "lib/size/close.py": "def pool_size_close():\n    return 'pool size close checked'\n",
    "lib/size/check.py": "def check_pool_size(pool):\n    '''Checks the size of a pool.'''\n    return pool.size\n",
    "tests/test_impl.py": "def test_size_of_a_pool():\n    assert first_size(3)\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paths")
    return Engine(open_index(index_of(write(folder / "tree", FILES), folder / "index")), None)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("where is pool size checked in lib/other/impl.py", "lib/other/impl.py"),
        ("where is pool size checked in LIB/other/impl.py?", "lib/other/impl.py"),
        ("lib/other/impl.py: where is pool size checked", "lib/other/impl.py"),
        ("where is pool size checked (other/impl.py:5)", "lib/other/impl.py"),
        ("where is pool size checked in `./lib/other/impl.py`.", "lib/other/impl.py"),
        ("where is pool size checked in other/impl", "lib/other/impl.py"),
        ("where is pool size checked in lib.other.impl", "lib/other/impl.py"),
        (r"where is pool size checked in lib\other\impl.py", "lib/other/impl.py"),
        ("where is pool size checked in /srv/app/lib/other/impl.py", "lib/other/impl.py"),
        ("where is pool size checked in ../other/impl.py", "lib/other/impl.py"),
        ("where is pool size checked in test_impl.py", "tests/test_impl.py"),
        ("where is pool size checked in lib/other", "lib/other/impl.py"),
        ("where is pool size checked in tests/", "tests/test_impl.py"),
        ("where is pool size checked", "lib/size/check.py"),
        ("where is pool size checked, https://example.com/r/blob/1a2b/lib/other/impl.py#L2-L5", "lib/other/impl.py"),
        ("where is pool size and/or pool.size checked, see https://example.com/a.py", "lib/size/check.py"),
    ],
)
def test_a_path_among_other_words(engine, question, path):
    hits = engine.search(question)
    assert engine.index.file(hits[0].row).path == path
    assert "nothing is called" not in engine.certainty(question, hits).line


@pytest.mark.parametrize(
    "said",
    [
        *("Next.py/Node.py", "lib/*.py", "lib/**/*.py", "{name}/x.py", "%s/x.py", "$HOME/x.py", "<dir>/x.py"),
        *("example.com/a/b.py", r"\d+\.py", "f(lib/x.py", "read/write", "TCP/IP", "I/O", "and/or", "HTTP/1.1"),
    ],
)
def test_what_is_not_written_as_a_path_is_not_missed(engine, said):
    mentioned = PathReader(engine.index).mentioned(f"where is the size checked for {said} here")
    assert not mentioned.unknown
    assert not mentioned.files


@pytest.mark.parametrize("said", ["open('{}')", 'import("{}")', "{}'s close", "x.py,{}", "`{}`'s close"])
def test_a_path_in_quotes_within_a_word(engine, said):
    paths = PathReader(engine.index)
    (file,) = paths.mentioned("where is " + said.format("lib/other/impl.py")).files
    assert engine.index.files[file].path == "lib/other/impl.py"
    assert paths.mentioned("where is " + said.format("lib/none/no.py")).unknown == ["lib/none/no.py"]


def test_words_beside_a_path_order_its_functions(engine):
    names = [engine.index.names[hit.row] for hit in engine.search("how is it closed in lib/pool/impl.py", top=2)]
    assert {*names} == {"first_close", "other_close"}


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("impl/pool.py", ["lib/pool/impl.py"]),
        ("pool/lib/impl.py", ["lib/pool/impl.py"]),
        ("lib/pools/impl.py", ["lib/other/impl.py", "lib/pool/impl.py"]),
        ("lib/pool/imple.py", ["lib/pool/impl.py", "lib/other/impl.py"]),
        ("lib/size/checks.py", ["lib/size/check.py"]),
        ("nowhere/at_all.py", []),
    ],
)
def test_a_path_that_does_not_exist_is_said(engine, path, near):
    question = f"where is pool size checked in {path}"
    for asked in (question, path):
        sure = engine.certainty(asked, engine.search(asked))
        assert f"nothing is called {path}" in sure.line, asked
        assert [each for each in sure.nearest if "/" in each] == near


def test_the_same_name_in_another_folder_is_nearer_than_that_of_another_language_beside(tmp_path):
    files = {"shop/cart.py": "def total():\n    return 1\n", "src/cart.go": "package a\n\nfunc Total() {}\n"}
    engine = Engine(open_index(index_of(write(tmp_path / "tree", files), tmp_path / "index")), None)
    assert engine.names.paths.near("src/cart.py") == ["shop/cart.py"]
    assert engine.index.file(engine.search("src/cart.py:1")[0].row).path == "shop/cart.py"


def test_any_question_is_read_in_little_time(engine):
    paths = PathReader(engine.index)
    for text in ("a/" * 900, "." * 1900 + " x", "((((" * 400 + " /x", "a.b." * 450 + " y", "\\" * 1900 + " z"):
        assert paths.mentioned(text).rest


def test_a_path_that_a_question_has_many_times_is_looked_for_once(engine, monkeypatch):
    looked, meant = [], PathReader._meant
    monkeypatch.setattr(PathReader, "_meant", lambda self, typed: looked.append(typed) or meant(self, typed))
    engine.search("pool/gone " * 150 + "is not found")
    assert looked.count("pool/gone") <= 2
