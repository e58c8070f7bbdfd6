"""The names of modules in a wheel: which texts are renamed, and which stay."""

import pytest

from setup import below_root


def rewritten(source: str) -> str:
    return below_root(source.encode()).decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from galm.model import Galm", "from neural_code_search.galm.model import Galm"),
        ("from search import cli, files", "from neural_code_search.search import cli, files"),
        ("import galm.model as m", "import neural_code_search.galm.model as m"),
        ("if x:\n    from galm import model", "if x:\n    from neural_code_search.galm import model"),
        ("x = 'galm.model:Galm'", "x = 'neural_code_search.galm.model:Galm'"),
        ('x = ["-m", "search.cli"]', 'x = ["-m", "neural_code_search.search.cli"]'),
        ('x = r"""search.cli"""', 'x = r"""neural_code_search.search.cli"""'),
        ("f(f'{g(\"galm.model:Galm\")}')", "f(f'{g(\"neural_code_search.galm.model:Galm\")}')"),
        ("# a\x0c\r\nfrom galm import model\r\n", "# a\x0c\r\nfrom neural_code_search.galm import model\r\n"),
        (
            "x = {'a': 'search.cli:f', 'b': 'galm.model:g'}",
            "x = {'a': 'neural_code_search.search.cli:f', 'b': 'neural_code_search.galm.model:g'}",
        ),
    ],
)
def test_names_of_modules_get_the_root(source, expected):
    assert rewritten(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "import numpy\nfrom torch import nn",
        "from . import model",
        "from .galm import model",
        "from galmost.model import Galm",
        "from search_engine import cli",
        "x = 'galm'",  # a model's name, a command's
        "x = 'search'",
        "x = 'galm: it does not work'",
        "x = 'galm.epochs'",  # no module
        "x = 'see galm.model:Galm'",
        "# from galm import model",
        '"""From search.cli to galm.model."""',
        '"""Reads\nfrom search to galm."""',
        "galm.model.Galm()",
    ],
)
def test_all_else_stays(source):
    assert rewritten(source) == source


def test_what_is_rewritten_already_stays():
    once = rewritten("from galm.model import Galm\nx = 'search.cli:index'")
    assert rewritten(once) == once
