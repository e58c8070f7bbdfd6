"""Source code below a root package: what is rewritten, what stays, and what is refused."""

import pytest

from wheel_layout.rooted import rooted

MODULES = frozenset({"search", "search.cli", "search.files", "search.files.tree", "galm", "galm.model"})


def rewritten(source: str) -> str:
    return rooted(source.encode(), "top", MODULES).decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from galm.model import Galm", "from top.galm.model import Galm"),
        ("from  search import cli, files", "from  top.search import cli, files"),
        ("from \\\n  galm.model import Galm", "from \\\n  top.galm.model import Galm"),
        ("import galm.model as m", "import top.galm.model as m"),
        ("import json, galm.model as m, os", "import json, top.galm.model as m, os"),
        ("if x:\n    from galm import model", "if x:\n    from top.galm import model"),
        ("a = 'é'; from galm import model", "a = 'é'; from top.galm import model"),
        ("x = 'galm.model:Galm'", "x = 'top.galm.model:Galm'"),
        ('x = ["-m", "search.cli"]', 'x = ["-m", "top.search.cli"]'),
        ('x = r"""search.cli"""', 'x = r"""top.search.cli"""'),
        ("f(f'{g(\"galm.model:Galm\")}')", "f(f'{g(\"top.galm.model:Galm\")}')"),
        ('"""Words.\x0c"""\r\nfrom galm import model\r\n', '"""Words.\x0c"""\r\nfrom top.galm import model\r\n'),
        (
            "from galm import model; x = {'a': 'search.cli:f', 'b': 'search.files.tree:g'}",
            "from top.galm import model; x = {'a': 'top.search.cli:f', 'b': 'top.search.files.tree:g'}",
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
        "galm.model.Galm()",
    ],
)
def test_all_else_stays(source):
    assert rewritten(source) == source


def test_what_is_rewritten_already_stays():
    once = rewritten("from galm.model import Galm\nx = 'search.cli:index'")
    assert rewritten(once) == once


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\nimport galm.model", "line 2: import galm.model cannot be put below a root"),
        ("import galm", "line 1: import galm cannot"),
        ("x = ('galm.'\n 'model:Galm')", "line 1: 'galm.model:Galm' is not written in one piece"),
        ("x = 'galm\\x2emodel:Galm'", "not written in one piece"),
    ],
)
def test_what_cannot_be_rewritten_is_refused(source, message):
    with pytest.raises(ValueError, match=message):
        rewritten(source)
