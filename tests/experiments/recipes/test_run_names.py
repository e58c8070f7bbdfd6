"""What tells runs apart is in the names of their folders and the labels of their rows."""

import pytest

from experiments.recipes.config import resolve
from experiments.recipes.results_folder import changed_name, differing, folder_name, in_words
from experiments.recipes.run_folder import new_run_folder


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ({}, ""),
        ({"data.root": "/x", "train.threads": "1", "data.path": "/y"}, ""),
        ({"model.dim": "64", "train.seed": "2"}, "dim=64,seed=2"),
        ({"data.limit": "500", "data.train_limit": "100"}, "limit=500,train_limit=100"),
        ({"evaluate.fuse_with": "bm25"}, "fuse_with=bm25"),
    ],
)
def test_a_runs_name_has_what_is_not_its_recipes(typed, name):
    assert changed_name(resolve("jdk", "unif", typed)) == name


def test_a_new_folder_is_named_by_it(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.recipes.run_folder.REPOSITORY", tmp_path)
    with new_run_folder(resolve("jdk", "unif", {"model.dim": "64"})) as folder:
        assert folder.path.parent == tmp_path / "runs"
        assert folder.path.name.startswith("jdk-unif-dim=64-20")


def test_fields_of_two_sections_are_told_apart():
    one, other = {"model.dim": 1, "loss.dim": 2, "x": "same"}, {"model.dim": 3, "loss.dim": 4, "x": "same"}
    assert differing([one, other]) == ["model.dim", "loss.dim"]
    assert in_words(one, ["model.dim", "loss.dim"]) == ["model.dim=1", "loss.dim=2"]
    assert in_words({"a.b": "", "a.c": True, "a.d": [1, 2]}, ["a.b", "a.c", "a.d"]) == ["b=none", "c=true", "d=1,2"]


def test_long_names_are_cut_and_stay_apart():
    names = {folder_name([f"fields={'name,tokens,' * 9}{number}"]) for number in range(3)}
    assert len(names) == 3
    assert all(len(name) <= 60 for name in names)
