"""An arity behind a name tells functions of Elixir apart."""

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.engine.written_names import takes_as_many
from search.index.index_file import open_index

FILES = {
    "lib/shop.ex": (
        "defmodule Shop.Cart do\n  def handle(x) do\n    run(x)\n  end\n\n"
        "  def handle(x, y) do\n    run(x, y)\n  end\n\n"
        "  def handle(x, y, z \\\\ nil) when is_list(x), do: run(x, y, z)\n\n"
        "  defp total([]), do: 0\n  defp total([h | t]), do: h + total(t)\n"
        "  defp total([h | t], %{a: b, c: d}), do: total(t, b + d + h)\n\n"
        "  def each(list) do\n    Enum.map(list, &Shop.Cart.handle/2)\n  end\n\n"
        "  def only(a, b, c), do: {a, b, c}\nend\n"
    ),
    "lib/other.ex": (
        "defmodule Other do\n  def handle(a, b, c, d), do: {a, b, c, d}\n  def only(a), do: a\n"
        "  def start_link do\n    :ok\n  end\n  def start_link(opts), do: opts\nend\n"
    ),
    "lib/plain.py": "def handle(x, y):\n    return x\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arities")
    return Engine(open_index(index_of(write(folder / "tree", FILES), folder / "index")), None)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        *(("handle/1", "shop.ex:2"), ("handle/2", "shop.ex:6"), ("handle/3", "shop.ex:10"), ("handle/4", "other.ex:2")),
        *(("Shop.Cart.handle/2", "shop.ex:6"), ("&Shop.Cart.handle/2", "shop.ex:6"), ("Cart.handle/1", "shop.ex:2")),
        *(("&handle/2", "shop.ex:6"), ("Shop.Cart:handle/2", "shop.ex:6"), ("fun Other.start_link/0", "other.ex:4")),
        *(("Elixir.Shop.Cart.handle/2", "shop.ex:6"), ("Other.start_link/1", "other.ex:7"), ("total/1", "shop.ex:12")),
        *(
            ("total/2", "shop.ex:14"),
            ("only/3", "shop.ex:20"),
            ("only/1", "other.ex:3"),
            ("start_link/0", "other.ex:4"),
        ),
        ("Shop.Cart.handle(x, y)", "shop.ex:6"),
    ],
)
def test_an_arity_leads_to_its_function(engine, question, place):
    hits = engine.search(question)
    text = engine.index.text(hits[0].row)
    assert f"{text.path}:{text.start_line}" == f"lib/{place}"
    assert engine.certainty(question, hits).level == "strong"


def test_what_has_all_parameters_comes_before_what_has_defaults(engine):
    readings = engine.names.read("handle/2").rows
    best = max(readings, key=lambda row: readings[row])
    assert len(readings) == 2
    assert engine.index.text(best).start_line == 6
    assert sorted(readings.values())[0] < readings[best]


def test_an_arity_that_nothing_has_leads_to_those_called_so(engine):
    assert {engine.index.names[hit.row] for hit in engine.search("only/2")[:2]} == {"Shop.Cart.only", "Other.only"}


@pytest.mark.parametrize(
    ("source", "arities"),
    [
        ("def f do", [0]),
        ("def f(), do: 1", [0]),
        ("def f(a, b \\\\ 2, c \\\\ [1, 2]), do: 1", [1, 2, 3]),
        ("@doc false\ndef f({a, b}, %{c: [d, e]}), do: 1", [2]),
        ("@callback f(key :: atom, value :: {a, b}) :: term", [2]),
    ],
)
def test_the_arities_of_a_function(source, arities):
    assert [count for count in range(5) if takes_as_many(source, count)] == arities
