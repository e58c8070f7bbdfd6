"""What an installation has and lacks: the commands doctor, install and --version."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli import doctor
from cli.doctor import PARTS, program_version, requirements, versions
from cli.main import main

REPOSITORY = Path(__file__).resolve().parents[2]
OF_A_WHEEL = ["numpy==2", "torch==3; extra == 'train'", 'mcp==4 ; extra == "agents"']


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GALM_NATIVE", "0")  # kernels are not compiled once more
    monkeypatch.delenv("GALM_TRACEBACK", raising=False)
    (tmp_path / "code").mkdir()
    monkeypatch.chdir(tmp_path / "code")
    return tmp_path / "code"


@pytest.fixture
def asked(monkeypatch) -> list[list[str]]:
    """What pip is asked for in a wheel; it fails at torch."""
    commands: list[list[str]] = []

    def run(command: list[str], check: bool) -> SimpleNamespace:
        assert not check
        commands.append(command)
        return SimpleNamespace(returncode=int("torch==3" in command))

    monkeypatch.setattr(doctor, "INSTALLED", True)
    monkeypatch.setattr(doctor, "requires", lambda _: OF_A_WHEEL)
    monkeypatch.setattr(doctor.subprocess, "run", run)
    return commands


def lines_of(told: str) -> dict[str, str]:
    return {line[:12].strip(): line[12:] for line in told.splitlines()}


def test_the_doctor_of_a_process_of_its_own(place):
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "doctor"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONSAFEPATH": "1"},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    told = lines_of(done.stdout)
    assert [*told] == ["galm", "python", *PARTS, "kernels", "gpu", "model", "index", "results"]
    assert told["galm"] == f"{program_version()}, a checkout at {REPOSITORY}"
    assert told["search"].startswith("ready for the search: numpy ")
    assert told["model"].startswith("the shipped one, ")
    assert told["index"] == f"none of {place} or of a folder above it: `bash run.sh index {place}` makes one"


def test_the_doctor_names_what_is_missing_and_what_is_there(place, monkeypatch, capsys):
    (place / "Sum.java").write_text("class Sum { int total(int[] values) { return IntStream.of(values).sum(); } }")
    assert main(["index", str(place), "--vectors=none"]) == 0
    monkeypatch.setattr(
        "cli.doctor.versions", lambda part: versions(part) | ({"mcp": None} if part == "agents" else {})
    )
    capsys.readouterr()
    assert main(["doctor"]) == 0
    told = lines_of(capsys.readouterr().out)
    assert told["agents"] == "`bash run.sh install agents` adds what the server for coding agents needs: mcp"
    assert told["kernels"].startswith("turned off by GALM_NATIVE=0")
    assert told["index"].startswith(f"of {place}: 1 files, 2 entries, made 0 minutes ago; ")


def test_a_damaged_index_is_said_in_its_line(place, capsys):
    (place / "Sum.java").write_text("class Sum { int total() { return 1; } }")
    assert main(["index", str(place), "--vectors=none"]) == 0
    (path,) = (place.parent / "cache" / "galm" / "indexes").glob("*/index")
    path.write_bytes(path.read_bytes()[:100])
    capsys.readouterr()
    assert main(["doctor"]) == 0
    assert lines_of(capsys.readouterr().out)["index"].endswith(f"`bash run.sh index {place}` makes it anew")


def test_a_word_after_doctor_is_refused(capsys):
    assert main(["doctor", "x"]) == 2
    assert capsys.readouterr().err == "galm: expected nothing after doctor, but got x\n"


def test_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"galm {program_version()}\n" == "galm 0.1.0\n"


def test_a_wheel_adds_its_extras_by_pip(asked):
    assert requirements("search") == ["numpy==2"]
    assert main(["install", "agents", "search"]) == 0
    assert asked == [[sys.executable, "-m", "pip", "install", "mcp==4", "numpy==2"]]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["x"], f"expected what to install, some of {' '.join(PARTS)}, but got x"),
        ([], f"expected what to install, some of {' '.join(PARTS)}"),
        (["train"], "pip could not install it, as it says above"),
    ],
)
def test_what_a_wheel_cannot_add_is_one_line(names, message, asked, capsys):
    assert main(["install", *names]) == 2
    assert capsys.readouterr().err == f"galm: {message}\n"
    assert len(asked) == (names == ["train"])


def test_a_missing_library_of_training_names_the_command_that_adds_it(monkeypatch, capsys):
    def train(_: object) -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("cli.runs.train", train)
    assert main(["jdk", "galm"]) == 2
    assert capsys.readouterr().err == (
        "galm: this needs torch, a library of training: `bash run.sh install train` adds it\n"
    )
