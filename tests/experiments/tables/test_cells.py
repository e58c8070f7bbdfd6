"""Cells: run once, kept, and run anew where their configuration has changed."""

import fcntl
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cli.main import main
from evaluation.result_store import ROWS, ResultStore
from experiments.recipes.results_folder import RESULTS
from experiments.recipes.run_folder import RunFolder
from experiments.tables import cells
from experiments.tables.cells import Cell, finished, run_cells
from experiments.tables.main_table import CELLS

IN_A_PROCESS = cells._command


@pytest.fixture(scope="module")
def data(java_folder, tmp_path_factory):
    """Where data come from, and where they are prepared once for all runs."""
    return {"data.path": str(java_folder), "data.root": str(tmp_path_factory.mktemp("data"))}


def in_this_process(cell, words, options):
    """In the place of a process of its own, which imports torch again."""
    assert main([*words, *(f"--{name}={text}" for name, text in options.items())]) == 0, cell.key


@pytest.fixture
def place(data, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "_run_path", lambda cell: tmp_path / "runs" / cell.key)
    monkeypatch.setattr(cells, "_command", in_this_process)
    return data


def test_a_cell_is_run_once_and_again_when_its_settings_change(place, tmp_path):
    cell, folder = Cell("folder", "bm25", 0, "bm25, plain", {"model.stem": "false"}), tmp_path / "results"
    assert cell.key == "folder-bm25_plain-seed0"
    (first,) = run_cells([cell], folder, place)
    assert first.config["model"]["stem"] is False
    assert len(first.ranks) == first.queries
    file = folder / ROWS
    before = file.stat().st_mtime_ns
    assert run_cells([cell], folder, place) == [first]
    assert file.stat().st_mtime_ns == before
    assert finished(cell, folder, place) == first

    other = Cell("folder", "bm25", 0, "bm25, plain", {"model.stem": "false", "model.b": "0"})
    assert finished(other, folder, place) is None
    (second,) = run_cells([other], folder, place)
    assert second.config["model"]["b"] == 0
    assert [path.name for path in (tmp_path / "runs").iterdir()].count(f"{cell.key}.old1") == 1


def test_where_data_lies_is_no_other_configuration(place, tmp_path):
    cell, folder = Cell("folder", "bm25", 0, "bm25"), tmp_path / "results"
    run_cells([cell], folder, place)
    assert finished(cell, folder, {"data.path": "/elsewhere", "train.threads": "1"})
    assert not finished(cell, folder, {"data.limit": "3"})


def test_a_cell_of_files_with_another_content_is_run_again(place, java_folder, tmp_path):
    cell, folder = Cell("folder", "bm25", 0, "bm25"), tmp_path / "results"
    (first,) = run_cells([cell], folder, place)
    moved = {**place, "data.path": str(shutil.copytree(java_folder, tmp_path / "elsewhere" / java_folder.name))}
    assert run_cells([cell], folder, moved) == [first]
    next((tmp_path / "elsewhere").rglob("*.java")).unlink()
    (second,) = run_cells([cell], folder, moved)
    assert second.data.inputs != first.data.inputs
    assert run_cells([cell], folder, moved) == [second]


@pytest.fixture(scope="module")
def result_file(data, tmp_path_factory):
    """The saved result of a cell of BM25 on the folder."""
    root = tmp_path_factory.mktemp("cells")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_run_path", lambda cell: root / "runs" / cell.key)
        run_cells([Cell("folder", "bm25", 0, "bm25")], root / "results", data)
    (run,) = ResultStore(root / "results").load().values()
    file = root / "folder-bm25-seed0.json"
    file.write_text(json.dumps(run.content))
    return file


@pytest.fixture
def kept(result_file, tmp_path):
    """A cell, the folder of its saved result, and a way to write other options into that."""

    def write(section: str, *without: str, **others: object) -> None:
        content = json.loads(file.read_text())
        for name in without:
            del content["config"][section][name]
        content["config"][section] |= others
        file.write_text(json.dumps(content))

    file = Path(shutil.copy(result_file, tmp_path))
    return Cell("folder", "bm25", 0, "bm25"), tmp_path, write


@pytest.mark.parametrize(
    ("section", "option", "other"),
    [
        ("data", "extra_train_sets", "jdk"),
        ("evaluate", "split", "valid"),
        ("model", "b", "0.3"),
        ("train", "epochs", "77"),
    ],
)
def test_an_option_that_there_was_none_of_counts_as_its_default(kept, section, option, other):
    cell, folder, write = kept
    write(section, option)
    assert finished(cell, folder, {})
    assert finished(cell, folder, {f"{section}.{option}": other}) is None


def test_only_what_is_missing_counts_as_the_default(kept):
    cell, folder, write = kept
    write("data", extra="jdk")
    assert finished(cell, folder, {}) is None
    assert finished(cell, folder, {"data.extra_train_sets": "jdk"})
    write("data", "extra_train_sets", there_was_once=1)
    assert finished(cell, folder, {}) is None


def test_a_recipe_that_sets_a_new_option_is_another_configuration(kept, monkeypatch):
    cell, folder, write = kept
    write("model", "b")
    plan = Cell.plan

    def with_recipe(self, typed):
        found = plan(self, typed)
        return replace(found, model=replace(found.model, b=0.1))

    monkeypatch.setattr(Cell, "plan", with_recipe)
    assert finished(cell, folder, {}) is None


def test_a_whole_section_may_be_new(kept):
    cell, folder, _ = kept
    file = folder / f"{cell.key}.json"
    content = json.loads(file.read_text())
    content["config"] = {section: content["config"][section] for section in ("data", "model")}
    file.write_text(json.dumps(content))
    assert finished(cell, folder, {})


def test_a_path_within_an_option_is_compared_by_its_last_name(kept):
    """Of paths, results keep no more."""
    cell, folder, write = kept
    write("data", extra="open_java:pairs")
    assert finished(cell, folder, {"data.extra_train_sets": "open_java:/here/pairs"})
    assert finished(cell, folder, {"data.extra_train_sets": "open_java:/elsewhere/pairs"})
    assert finished(cell, folder, {"data.extra_train_sets": "open_java:/here/others"}) is None
    assert finished(cell, folder, {"data.extra_train_sets": "folder:/here/pairs"}) is None


def test_the_kept_results_of_the_main_table_are_finished():
    """Options that came later count with their defaults."""
    saved = ResultStore(RESULTS / "main").load()
    cells = [cell for each in CELLS.values() for cell in each if cell.key in saved]
    if not cells:
        pytest.skip("no results are saved in experiments/results/main")
    assert [cell.key for cell in cells if finished(cell, RESULTS / "main", {}) is None] == []
    assert len(cells) >= 8


def test_a_run_that_failed_is_said_in_one_line_and_nothing_is_kept(place, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(cells, "_command", IN_A_PROCESS)
    cell, folder = Cell("folder", "bm25", 0, "bm25"), tmp_path / "results"
    with pytest.raises(ValueError, match="folder-bm25-seed0 failed"):
        run_cells([cell], folder, place | {"data.path": str(tmp_path / "nothing")})
    assert ResultStore(folder).load() == {}
    assert capfd.readouterr().err.count("\n") == 1


def test_a_run_that_was_stopped_goes_on(place, tmp_path):
    """What a kill leaves of a run, its folder with the configuration, is gone on with instead of begun anew.

    So it is where options have come up since.
    """
    cell, folder = Cell("folder", "bm25", 0, "bm25"), tmp_path / "results"
    run = RunFolder(tmp_path / "runs" / cell.key)
    run.path.mkdir(parents=True)
    cell.plan(place).save(run.config)
    content = json.loads(run.config.read_text())
    del content["data"]["extra_train_sets"], content["evaluate"]["fuse_with"]
    run.config.write_text(json.dumps(content))
    (result,) = run_cells([cell], folder, place)
    assert str(tmp_path) not in result.command
    assert [path.name for path in run.path.parent.iterdir() if path.is_dir()] == [cell.key]  # none was set aside


def test_a_cell_that_another_process_is_at_is_left_to_it(place, tmp_path, caplog):
    caplog.set_level("INFO")
    mine, other = Cell("folder", "bm25", 0, "mine"), Cell("folder", "bm25", 0, "other")
    lock = tmp_path / "runs" / f"{other.key}.lock"
    lock.parent.mkdir()
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert len(run_cells([other, mine], tmp_path / "results", place)) == 1
    assert [*ResultStore(tmp_path / "results").load()] == [mine.key]
    assert "cell 1 of 2: folder-other-seed0 is left to another process" in caplog.text
    assert len(run_cells([other, mine], tmp_path / "results", place)) == 2


def test_weights_are_tested_again_by_one_process_at_a_time(place, tmp_path, monkeypatch):
    """Two tests at once would share the folder of the run, and each find the other's result."""
    base = Cell("folder", "galm", 1, "galm")
    run = RunFolder(tmp_path / "runs" / base.key)
    run.path.mkdir(parents=True)

    def watched(*_):
        with cells._claimed(base, wait=False) as free:
            assert not free
        (run.path / "metrics-now.json").touch()

    monkeypatch.setattr(cells, "_run", lambda *_: run.metrics)
    monkeypatch.setattr(cells, "_command", watched)
    mixed = Cell("folder", "galm", 1, "galm + bm25", weights_of=base)
    assert cells._tested_again(mixed, base, place).name == "metrics-now.json"
    with cells._claimed(base, wait=False) as free:
        assert free


def test_weights_are_tested_again_with_another_ranker(place, tmp_path):
    """A cell that needs another's weights runs that one first, and keeps what ``evaluate`` found."""
    extra = {"data.extra_train_sets": f"folder:{place['data.path']}", "data.limit": "300"}
    small = {"train.epochs": "1", "model.dim": "32", **extra}
    base = Cell("folder", "unif", 1, "unif", small)
    mixed = Cell("folder", "unif", 1, "unif + bm25", {**small, "evaluate.fuse_with": "bm25"}, weights_of=base)
    (result,) = run_cells([mixed], tmp_path / "results", place)
    assert result.config["evaluate"]["fuse_with"] == "bm25"
    assert [(run.name, run.row["label"]) for run in ResultStore(tmp_path / "results").load().values()] == [
        ("folder-unif_bm25-seed1", "unif + bm25")
    ]
    assert run_cells([mixed], tmp_path / "results", place) == [result]
