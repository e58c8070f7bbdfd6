"""A route, an option or a word that stands in code letter by letter comes before code that has parts of it."""

import pytest

import neural_code_search as ncs
from tests.search.repositories import write

FILES = {
    "Dusk.cs": 'public class DuskGate\n{\n    [HttpGet("/api/v3/quince")]\n'
    "    public IActionResult Shown() => Ok();\n\n    public void Left() { }\n}\n",
    "dusk.kt": 'class Dusk {\n    @GetMapping("/api/v1/damson")\n    fun shown(): List<String> = emptyList()\n\n'
    "    fun left() {}\n}\n",
    "dusk.ex": 'defmodule Dusk do\n  def path, do: "/api/v6/mulberry"\n\n  def left(n), do: n\nend\n',
    "dusk.py": '@app.route("/api/v2/tamarillo")\ndef served():\n    return []\n',
    "dusk.rb": 'class Dusk\n  # route\n  def left(n)\n    n\n  end\n\n  ROUTE = "/api/v9/loquat"\nend\n',
    "dusk.rs": "// the otter takes this lock twice\nfn take(n: u32) -> u32 {\n    n\n}\n\n"
    "fn other(n: u32) -> u32 {\n    n + 1\n}\n",
    "loom.ex": 'defmodule Loom do\n  def weave(n), do: raise("shuttle #{n} dropped #{inspect(n)} threads")\nend\n',
    "b.js": "export function ash() {}\n"
    "export const told = (n) => `wick ${n.length > 3 ? 'long' : 'short'} burns for ${n} hours\nuntil dawn`;\n",
    **{
        f"more/n{n}.py": f'def enter_{n}(n):\n    """Enters gate {n} after 7 hours."""\n    return n > {n}\n\n\n'
        f'def listed_{n}(n):\n    """Lists the api routes of version {n}."""\n    return "/api/v{n}/items"\n'
        for n in range(12)
    },
}
ASKED = {
    "/api/v3/quince": "DuskGate.Shown",
    "GET /api/v1/damson": "Dusk.shown",
    "/api/v1/damson": "Dusk.shown",
    "/api/v6/mulberry": "Dusk.path",
    "/api/v2/tamarillo": "served",
    "/api/v9/loquat": "Dusk",
    "otter": "take",
    "shuttle 7 dropped 11 threads": "Loom.weave",
    "wick long burns for 7 hours": "told",
}


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return ncs.index_folder(write(tmp_path_factory.mktemp("numbered"), FILES))


@pytest.mark.parametrize("question", ASKED)
def test_what_stands_in_code_letter_by_letter_comes_first(numbered, question):
    assert numbered.search(question, top=1)[0].name == ASKED[question]
