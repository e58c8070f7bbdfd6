"""Libraries obey no file of the current folder, and need none of the system's folder of temporary files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
APART = "from cli.main import keep_libraries_apart; keep_libraries_apart(); "


def run(program: str, folder: Path, **environment: str) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if name not in ("TORCHINDUCTOR_CACHE_DIR", "TMPDIR")}
    return subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={**kept, "PYTHONPATH": str(REPOSITORY), **environment},
        cwd=folder, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_the_matplotlibrc_of_the_current_folder_is_not_read(tmp_path, kind):
    if kind == "pipe":
        os.mkfifo(tmp_path / "matplotlibrc")
    else:
        (tmp_path / "matplotlibrc").write_text("text.usetex: True\nfigure.dpi: 7\n")
    told = run(
        "from training.drawing import Figure, FigureCanvasAgg; import matplotlib; "
        "print(matplotlib.rcParams['text.usetex'], Figure().dpi)",
        tmp_path,
    )
    assert told.stdout == "False 100.0\n", told.stderr


def test_the_users_matplotlibrc_changes_no_picture(tmp_path):
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "matplotlibrc").write_text("text.usetex: True\n")
    program = "import training.drawing, matplotlib; print(matplotlib.rcParams['text.usetex'])"
    assert run(program, tmp_path, MPLCONFIGDIR=str(tmp_path / "matplotlib")).stdout == "False\n"


def test_matplotlib_is_imported_in_one_place():
    found = {
        path.relative_to(REPOSITORY).as_posix()
        for path in REPOSITORY.glob("*/**/*.py")
        if path.parts[len(REPOSITORY.parts)] not in ("tests", ".venv", "build")
        and re.search(r"^\s*(import|from) matplotlib", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert found == {"training/drawing.py"}


@pytest.mark.parametrize("kind", ["file", "link to nothing", "folder of root"])
def test_torch_needs_no_folder_in_the_system_s_temporary_one(tmp_path, kind):
    taken = tmp_path / "torchinductor_somebody"
    if kind == "file":
        taken.touch()
    elif kind == "link to nothing":
        taken.symlink_to("nowhere")
    else:
        taken.mkdir(0)
    before = sorted(tmp_path.iterdir())
    model = "from galm.model import Galm; " if kind == "file" else ""  # the libraries of a model, and an optimiser
    program = f"{APART}{model}from torch import optim, zeros; optim.AdamW([zeros(1)]); print(1)"
    told = run(program, tmp_path, TMPDIR=str(tmp_path), LOGNAME="somebody", USER="somebody")
    assert told.stdout == "1\n", told.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_what_would_be_read_in_the_current_folder_is_taken_out_of_the_environment(tmp_path):
    program = APART + "import os; print(*(name in os.environ for name in ('XDG_CACHE_HOME', 'XDG_CONFIG_HOME')))"
    assert run(program, tmp_path, XDG_CACHE_HOME="here", XDG_CONFIG_HOME="/there").stdout == "False True\n"


def test_an_environment_file_above_a_library_is_not_read(tmp_path):
    pytest.importorskip("dotenv")
    (tmp_path / ".env").write_text("MILVUS_URI=http://elsewhere\n")
    (tmp_path / "library.py").write_text("import dotenv, os; dotenv.load_dotenv(); print('MILVUS_URI' in os.environ)")
    program = f"import sys; sys.path.append({str(tmp_path)!r}); __file__ = 'x'; {APART}import library"
    assert run(program, tmp_path).stdout == "False\n"


def test_children_import_nothing_from_the_current_folder(tmp_path):
    (tmp_path / "tensorboard").mkdir()
    (tmp_path / "tensorboard" / "main.py").write_text("print('the wrong one')")
    (tmp_path / "tensorboard" / "__init__.py").touch()
    program = (
        "import sys; sys.argv = ['galm', 'board', '--version']; from cli.console_script import run; "
        "import os; os.environ.pop('PYTHONSAFEPATH', None); run()"
    )
    told = run(program, tmp_path)
    assert "the wrong one" not in told.stdout
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize(("command", "threads"), [("indexes", "1"), ("--version", "None")])
def test_a_search_has_one_thread_of_numpy_unless_said_otherwise(tmp_path, command, threads):
    program = (
        f"from cli.main import main; main(['{command}']); import os; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    )
    told = run(f"import os; os.environ.pop('OPENBLAS_NUM_THREADS', None); {program}", tmp_path, XDG_CACHE_HOME=".")
    assert told.stdout.splitlines()[-1] == threads, told.stderr
    told = run(program, tmp_path, XDG_CACHE_HOME=".", OPENBLAS_NUM_THREADS="3")
    assert told.stdout.splitlines()[-1] == "3", told.stderr
