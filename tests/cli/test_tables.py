"""The commands about many runs write tracked results with the default options alone."""

from pathlib import Path

import pytest

from cli.main import main
from evaluation.result_store import ResultStore
from evaluation.speed import Measured, compare
from experiments.recipes import results_folder
from experiments.tables import ablation_checks as checks
from experiments.tables import cells, language_table, query_kinds
from experiments.tables.pages import README
from tests.experiments.tables.saved_runs import copied, has

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
    for module in ("ablations", "graph_grid"):
        monkeypatch.setattr(f"experiments.tables.{module}.saved_results", lambda *_: [])
        monkeypatch.setattr(f"experiments.tables.{module}.clusters", lambda _: {})
    monkeypatch.setattr(checks, "save_calibration", lambda folder, _: _touch(folder / checks.CALIBRATION_FILE))
    monkeypatch.setattr(checks, "calibration_section", lambda _: "")

    def files(command: str) -> tuple[list[Path], list[Path]]:
        assert main(command.split()) == 0
        return [*tracked.rglob("*.json")], [*apart.rglob("*.json")]

    return files


def _touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.mark.parametrize("options", ["--data.train_limit=500", "--data.root=/elsewhere --train.threads=1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_with_any_option_nothing_tracked_is_written(written, command, options, capsys):
    tracked, apart = written(f"{command} {options}")
    assert tracked == []
    assert apart
    assert capsys.readouterr().out.count("results are saved in") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_without_options_it_is(written, command, capsys):
    tracked, apart = written(command)
    assert tracked
    assert apart == []
    assert "results are saved in" not in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_results_are_written_where_out_says(written, command, tmp_path, capsys):
    assert written(f"{command} --data.train_limit=500 --out={tmp_path / 'mine'}") == ([], [])
    assert [*(tmp_path / "mine").rglob("*.json")]
    assert "results are saved in" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["control", "snipper_truncation"])
def test_an_ablation_that_has_a_page_of_its_own_has_no_folder_of_choice(name, capsys):
    assert main(["ablate", name, "--out=x"]) == 2
    assert "takes no --out" in capsys.readouterr().err


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


def test_pages_of_results_of_ones_own_are_written_beside_them(tmp_path, capsys):
    """Of whatever options; README and what is tracked stay as they are."""
    keys = ["jdk-unif-seed0", "jdk-bm25_tuned-seed0"]
    if not all(has("main", key) for key in keys):
        pytest.skip("no results are saved in experiments/results/main")
    copied("main", keys, tmp_path)
    store = ResultStore(tmp_path / "main")
    for key in keys:
        content = store.load()[key].content
        content["config"]["data"]["limit"] = 17
        store.save(key, content)
    readme = README.read_bytes()
    assert main(["table", f"--results={tmp_path}"]) == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"main-all.md", "main"}
    assert "| unif | 1 |" in (tmp_path / "main-all.md").read_text(encoding="utf-8")
    assert README.read_bytes() == readme
    assert main(["table", f"--results={tmp_path / 'none'}"]) == 2
    assert "has no saved results: expected one of the folders main" in capsys.readouterr().err
