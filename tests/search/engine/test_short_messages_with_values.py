"""A number in a message of two other words outweighs them nowhere; one that is beside them in code counts."""

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.index.index_file import open_index
from search.models.packed import reranker_maker

FILES = {
    "a.lua": 'function land(n)\n  error("merganser " .. n .. " merged")\nend\n',
    "b.R": 'leave <- function(n) stop("rail ", n, " derailed")\n',
    "c.cs": 'class C { void Sink(int n) { log.LogError("Dipper {Id} dipped {Count}", n, n); } }\n',
    "d.py": "".join(f"def sha_{n}(data):\n    return digest(data, 'sha', {n})\n\n\n" for n in (256, 512)),
    **{f"lib/m{n}.py": f"def run_{n}(v):\n    return v + {n}\n" for n in range(9)},
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values")
    index = open_index(index_of(write(folder / "tree", FILES), folder / "index"))
    return Engine(index, reranker_maker("", for_many=False)(index))


@pytest.mark.parametrize("number", [1, 3, 7, 12])
@pytest.mark.parametrize(
    ("question", "name"),
    [("merganser {} merged", "land"), ("rail {} derailed", "leave"), ("Dipper {} dipped 5", "C.Sink")],
)
def test_what_prints_the_message_is_first(engine, question, name, number):
    hits = engine.search(question.format(number))
    assert engine.index.names[hits[0].row] == name


@pytest.mark.parametrize("number", ["256", "512"])
def test_a_number_that_stands_beside_the_words_counts(engine, number):
    assert engine.index.names[engine.search(f"sha {number} digest")[0].row] == f"sha_{number}"
