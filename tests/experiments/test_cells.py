"""Cells: run once, kept, and run anew where their configuration has changed."""

import pytest

from experiments import cells
from experiments.cells import Cell, finished, run_cells
from experiments.run_folder import RunFolder


@pytest.fixture
def place(java_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "_run_path", lambda cell: tmp_path / "runs" / cell.key)
    return {"data.path": str(java_folder), "data.root": str(tmp_path / "data")}


def test_a_cell_is_run_once_and_again_when_its_settings_change(place, tmp_path):
    cell, folder = Cell("folder", "bm25", 0, "bm25, plain", {"model.stem": "false"}), tmp_path / "results"
    assert cell.key == "folder-bm25_plain-seed0"
    (first,) = run_cells([cell], folder, place)
    assert first.config["model"]["stem"] is False
    assert len(first.ranks) == first.queries
    file = folder / f"{cell.key}.json"
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


def test_a_run_that_failed_is_said_in_one_line_and_nothing_is_kept(place, tmp_path, capfd):
    cell, folder = Cell("folder", "bm25", 0, "bm25"), tmp_path / "results"
    with pytest.raises(ValueError, match="folder-bm25-seed0 failed"):
        run_cells([cell], folder, place | {"data.path": str(tmp_path / "nothing")})
    assert list(folder.iterdir()) == []
    assert capfd.readouterr().err.count("\n") == 1


def test_a_run_that_was_stopped_goes_on(place, tmp_path):
    """What a kill leaves of a run, its folder with the configuration, is gone on with instead of begun anew."""
    cell, folder = Cell("folder", "bm25", 0, "bm25"), tmp_path / "results"
    run = RunFolder(tmp_path / "runs" / cell.key)
    run.path.mkdir(parents=True)
    cell.plan(place).save(run.config)
    (result,) = run_cells([cell], folder, place)
    assert "--train.resume" in result.command


def test_weights_are_tested_again_with_another_ranker(place, tmp_path):
    """A cell that needs another's weights runs that one first, and keeps what ``evaluate`` found."""
    small = {"train.epochs": "1", "model.dim": "32", "model.blocks": "2"}
    base = Cell("folder", "galm", 1, "galm", small)
    mixed = Cell("folder", "galm", 1, "galm + bm25", {**small, "evaluate.mix": "bm25"}, weights_of=base)
    (result,) = run_cells([mixed], tmp_path / "results", place)
    assert result.config["evaluate"]["mix"] == "bm25"
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["folder-galm_bm25-seed1.json"]
    assert run_cells([mixed], tmp_path / "results", place) == [result]
