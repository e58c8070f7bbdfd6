"""A name that only the text of a file has, wherever it is in that, is not said to be missing."""

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.index.index_file import open_index

MANY = "".join(f"int part_{number}(int);\n" for number in range(100))
FILES = {
    "lib/far.h": f"{MANY}extern int hidden_counter_value;\nDECLARE_THING(magic_wand_handle)\n",
    "lib/near.h": "int first_one(int);\nextern const char *balloon_colour;\n",
    "app/start.js": "\n".join(f"step{number}();" for number in range(80)) + "\nrun(process.env.SECRET_HARBOUR);\n",
    "app/kinds.rs": "pub enum Mood { Sunny, Stormy(u8) }\npub struct Kite { tail: u8 }\n"
    "impl Kite { pub fn fly(&self) { flap(); } }\n",
    "app/mail.php": "<?php\nclass Post { const STAMP = 2; function send() { lick(); } }\n$wrap_up = fn($x) => $x;\n",
    "app/main.py": "import sys\n" + "sys.path.append('x')\n" * 70 + "settings.configure(turbo_widgets=True)\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    engine = Engine(open_index(index_of(write(folder / "tree", FILES), folder / "index")), None)
    engine.names.paths.folder = folder / "tree"
    return engine


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("hidden_counter_value", "lib/far.h"),
        ("magic_wand_handle", "lib/far.h"),
        ("balloon_colour", "lib/near.h"),
        ("SECRET_HARBOUR", "app/start.js"),
        ("process.env.SECRET_HARBOUR", "app/start.js"),
        ("turbo_widgets", "app/main.py"),
        ("settings.configure", "app/main.py"),
        ("Mood::Stormy", "app/kinds.rs"),
        ("Mood.Sunny", "app/kinds.rs"),
        ("Post::STAMP", "app/mail.php"),
        ("$wrap_up", "app/mail.php"),
        ("wrap_up", "app/mail.php"),
    ],
)
def test_the_text_has_it(engine, name, path):
    hits = engine.search(name)
    assert engine.index.file(hits[0].row).path == path
    said = engine.certainty(name, hits)
    assert (said.level, said.name) == ("strong", "")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("hiden_counter_value", "hidden_counter_value"),
        ("magic_wand_handel", "magic_wand_handle"),
        ("baloon_colour", "balloon_colour"),
        ("turbo_wigdets", "turbo_widgets"),
    ],
)
def test_it_is_near_to_one_that_is_misspelt(engine, name, near):
    said = engine.certainty(name, engine.search(name))
    assert (said.level, said.name, [*said.nearest][:1]) == ("weak", name, [near])


@pytest.mark.parametrize(
    "name",
    [
        "hidden_counter",
        "magic_wand",
        "counter_hidden_value",
        "SECRET_HARBOURS_OF",
        "Mood::Rainy",
        "Kite.flap",
        "Post::lick",
    ],
)
def test_a_part_of_it_is_not_there(engine, name):
    said = engine.certainty(name, engine.search(name))
    assert said.name == name
    assert said.level != "strong"
    assert name not in said.nearest


OPERATORS = {
    "matrix.hpp": (
        "class Matrix {\n public:\n  double operator()(int row) const { return at(row); }\n"
        "  Matrix operator+(const Matrix& other) { return add(other); }\n  bool operator!() { return false; }\n};\n"
    ),
    "row.hpp": "class Row {\n public:\n  double operator()(int column) const { return at(column); }\n};\n"
    "std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.text(); }\n",
}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("operator()", {"Matrix.operator()", "Row.operator()"}),
        ("operator ()", {"Matrix.operator()", "Row.operator()"}),
        ("Row::operator()", {"Row.operator()"}),
        ("Matrix.operator+", {"Matrix.operator+"}),
        ("operator<<", {"operator<<"}),
        ("operator!", {"Matrix.operator!"}),
    ],
)
def test_an_operator_is_found_by_its_sign(tmp_path, question, names):
    engine = Engine(open_index(index_of(write(tmp_path / "tree", OPERATORS), tmp_path / "index")), None)
    hits = engine.search(question)
    assert {engine.index.names[hit.row] for hit in hits[: len(names)]} == names
    assert engine.certainty(question, hits).level == "strong"


def test_an_operator_that_is_not_there(tmp_path):
    engine = Engine(open_index(index_of(write(tmp_path / "tree", OPERATORS), tmp_path / "index")), None)
    assert engine.certainty("operator%", engine.search("operator%")).level != "strong"
