"""Folders that commands have by default are beside run.sh, whatever the current folder is."""

from dataclasses import fields
from pkgutil import resolve_name

import pytest

from cli.commands import COMMANDS
from cli.main import main
from data_prep.installation import DEFAULT_FOLDERS, default_or_named
from experiments.posts.config import MODELS, all_options
from experiments.recipes.config import REPOSITORY


def test_all_such_defaults_are_known():
    kinds = [each.options for command in COMMANDS.values() for each in (command, *command.parts.values())]
    texts = [field.default for kind in kinds if kind for field in fields(resolve_name(kind))]
    texts += [option.default for name in MODELS for option in all_options(name).values()]
    found = {text for text in texts if isinstance(text, str) and text.partition("/")[0] in ("data", "runs")}
    assert len(found) >= 4
    assert found <= {*DEFAULT_FOLDERS}


def test_another_folder_is_in_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert default_or_named("runs/posts") == REPOSITORY / "runs" / "posts"
    assert default_or_named("runs/mine") == tmp_path / "runs" / "mine"


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (["gencodesearchnet", "bm25"], "data/raw/gencodesearchnet"),
        (["gencodesearchnet", "statistics"], "data/raw/gencodesearchnet"),
        (["gencodesearchnet", "fine_tune", "x", "--out=o"], "data/raw/gencodesearchnet"),
        (["posts", "search", "--snippet=code.py"], "data/posts-index"),
    ],
)
def test_what_is_missing_is_sought_beside_run_sh(line, place, tmp_path, monkeypatch, capsys):
    if (REPOSITORY / place).exists():
        pytest.skip(f"{place} is there")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "code.py").write_text("raise ValueError('no')\n")
    assert main(line) == 2
    assert str(REPOSITORY / place) in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["code.py"]
