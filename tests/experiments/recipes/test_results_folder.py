"""Results of the default options alone are saved under version control."""

import pytest

from experiments.recipes import results_folder
from experiments.recipes.config import resolve
from experiments.recipes.results_folder import APART, RESULTS, same_results


@pytest.fixture
def told(monkeypatch) -> list[str]:
    """The lines for the user."""
    lines: list[str] = []
    monkeypatch.setattr(results_folder, "say", lines.append)
    return lines


def of(**typed: str) -> dict[str, dict[str, object]]:
    plan = resolve("jdk", "galm", {name.replace("__", "."): text for name, text in typed.items()})
    return {section: dict(plan.section(section)) for section in ("data", "train", "evaluate")}


@pytest.mark.parametrize("typed", [{}, {"data__path": "/elsewhere"}, {"train__threads": "1"}, {"evaluate__pool": "0"}])
def test_defaults_paths_and_numbers_of_threads_go_to_the_tracked_results(typed, told):
    assert results_folder.results_folder(of(**typed), of()) == RESULTS
    assert told == []


@pytest.mark.parametrize("typed", [{"data__train_limit": "500"}, {"train__epochs": "1"}, {"evaluate__pool": "7"}])
def test_other_options_go_elsewhere_in_one_line(typed, told):
    assert results_folder.results_folder(of(**typed), of()) == APART
    (line,) = told
    assert str(APART) in line
    assert RESULTS not in APART.parents


def test_a_named_folder_is_taken(tmp_path, told):
    assert results_folder.results_folder(of(train__epochs="1"), of(), str(tmp_path)) == tmp_path
    assert told == []


@pytest.mark.parametrize(("other", "same"), [("auto", True), ("bfloat16", True), ("float32", False)])
def test_a_precision_of_auto_is_the_one_that_it_became(other, same):
    ran = {"train": {"precision": "bfloat16", "epochs": 1}}
    assert same_results(ran, {"train": {"precision": other, "epochs": 1}}) is same
    assert not same_results(ran, {"train": {"precision": other, "epochs": 2}})
