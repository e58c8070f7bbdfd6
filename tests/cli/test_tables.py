"""The commands about many runs write tracked results with the default options alone."""

from pathlib import Path

import pytest

from cli.main import main
from evaluation.speed import Measured, compare
from experiments.recipes import results_folder
from experiments.tables import ablation_checks as checks
from experiments.tables import cells, language_table, query_kinds

COMMANDS = ["benchmark jdk", "benchmark languages", "ablate blocks", "ablate graph", "ablate calibration", "tune galm"]


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Runs a command without training, and returns the files that it wrote below either folder."""
    tracked, apart = tmp_path / "results", tmp_path / "runs"
    monkeypatch.setattr(results_folder, "RESULTS", tracked)
    monkeypatch.setattr(results_folder, "APART", apart)

    def run(cells_, folder, _typed):
        for cell in cells_:
            _touch(folder / f"{cell.key}.json")
        return []

    def facts(cells_, folder, typed):
        for name in query_kinds._wanted(cells_, folder, typed):
            _touch(folder / "queries" / f"{name}.json")

    def trees(folder, _typed):
        _touch(folder / "trees.json")

    monkeypatch.setattr(cells, "run_cells", run)
    monkeypatch.setattr(query_kinds, "write_query_facts", facts)
    monkeypatch.setattr(language_table, "write_query_trees", trees)
    monkeypatch.setattr(cells, "saved_results", lambda *_: [])
    monkeypatch.setattr("experiments.tables.pages.saved_results", lambda *_: [])
    monkeypatch.setattr("experiments.tables.pages.clusters", lambda _: {})
    monkeypatch.setattr(checks, "save_calibration", lambda folder, _: _touch(folder / checks.CALIBRATION_FILE))
    monkeypatch.setattr(checks, "calibration_section", lambda _: "")

    def files(command: str) -> tuple[list[Path], list[Path]]:
        assert main(command.split()) == 0
        return [*tracked.rglob("*.json")], [*apart.rglob("*.json")]

    return files


def _touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.mark.parametrize("command", COMMANDS)
def test_with_options_nothing_tracked_is_written(written, command, capsys):
    tracked, apart = written(f"{command} --data.train_limit=500")
    assert tracked == []
    assert apart
    assert capsys.readouterr().out.count("results are saved in") == 1


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("places", ["", " --data.root=/elsewhere --train.threads=1"])
def test_without_them_or_with_places_alone_it_is(written, command, places, capsys):
    tracked, apart = written(f"{command}{places}")
    assert tracked
    assert apart == []
    assert "results are saved in" not in capsys.readouterr().out


@pytest.mark.parametrize(("options", "is_tracked"), [("", True), (" --rounds=2", False), (" folder", False)])
def test_only_measurements_with_the_default_options_are_tracked(tmp_path, monkeypatch, options, is_tracked):
    tracked, apart = tmp_path / "results", tmp_path / "runs"
    monkeypatch.setattr(results_folder, "RESULTS", tracked)
    monkeypatch.setattr(results_folder, "APART", apart)
    forms = {"one": lambda: {"": 2.0}, "two": lambda: {"": 1.0}}
    found = Measured(about="nothing", unit="a step", rows=compare("steps", forms, 2))
    monkeypatch.setattr("experiments.speed.scoring.measure_scoring", lambda _: found)
    assert main(f"speed scoring{options}".split()) == 0
    assert ([*tracked.rglob("speed.jsonl")] != [], [*apart.rglob("speed.jsonl")] != []) == (is_tracked, not is_tracked)
