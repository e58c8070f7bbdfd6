"""A route leads to what serves it, also if groups, other files or folders say what it begins with."""

import json
import time
from pathlib import Path

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.engine.route_texts import routes_of
from search.index.index_file import open_index

CASES = json.loads(Path(__file__).with_name("route_cases.json").read_text(encoding="utf-8"))
OTHERS = {f"pad/m{n}.py": f"def run_{n}(value):\n    return value + {n}\n" for n in range(9)}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    index = index_of(write(folder / "tree", {**CASES["files"], **OTHERS}), folder / "index")
    engine = Engine(open_index(index), None)
    engine.names.paths.folder = folder / "tree"
    return engine


@pytest.mark.parametrize(("question", "place"), CASES["questions"].items())
def test_a_route_leads_to_what_serves_it(engine, question, place):
    row = engine.search(question)[0].row
    assert f"{engine.index.file(row).path}:{engine.index.names[row]}" == place


@pytest.mark.parametrize(
    "text", ["get('/a/b', x)\n" * 30_000, "(" * 90_000, "r.group('/a', " * 9_000, "a.get('/x'," * 20]
)
def test_any_text_is_read_quickly(text):
    began = time.perf_counter()
    assert len(routes_of(text, ("a", "b", ":")).declared) <= 2_000
    assert time.perf_counter() - began < 3


def test_a_route_of_values_alone_is_compared_however_many_there_are(tmp_path):
    text = "const app = express();\napp.get('/farm{}', many);\napp.get('/farm{}', some);\nfunction many(request) {{\n"
    text += "  return request.params;\n}}\nfunction some(request) {{\n  return request.params;\n}}\n"
    tree = write(tmp_path / "tree", {"server.js": text.format("/:a" * 60, "/:a" * 19), **OTHERS})
    engine = Engine(open_index(index_of(tree, tmp_path / "index")), None)
    engine.names.paths.folder = tree
    assert engine.index.names[engine.search(f"GET /farm{'/1' * 19}")[0].row] == "some"
    assert engine.search(f"GET /farm{'/{x}' * 400}")
