import json
import shutil

from cli.main import main


def test_a_finished_run_is_tested_on_another_language(runs, tmp_path, caplog):
    """The corpus is Python alone, so that all of its languages have the same pairs."""
    run = shutil.copytree(runs[1], tmp_path / "run")
    assert main(["evaluate", str(run), "--data.language=all", "--evaluate.bootstrap_samples=200"]) == 0
    (other,) = run.glob("metrics-*.json")
    found, before = (json.loads(path.read_text()) for path in (other, run / "metrics.json"))
    assert (found["config"]["data"]["language"], before["config"]["data"]["language"]) == ("all", "python")
    assert "the data have changed" not in caplog.text
    assert json.loads((run / "config.json").read_text())["data"]["language"] == "python"


def test_a_run_is_not_resumed_in_another_language(runs, capsys):
    assert main(["repositories", "scotch_light", f"--train.resume={runs[0]}", "--data.language=all"]) == 2
    assert "language" in capsys.readouterr().err
