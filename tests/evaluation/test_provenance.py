import os
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from data_prep import installation
from data_prep.installation import code_version, machine, processors, without_paths


@pytest.fixture
def project(tmp_path):
    (tmp_path / "galm").mkdir()
    (tmp_path / "galm" / "__init__.py").write_text("")
    (tmp_path / "galm" / "model.py").write_text("x = 1\n")
    return tmp_path


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_commit_and_whether_code_differs_from_it(project):
    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "first")
    clean = code_version(project)
    assert re.fullmatch(r"[0-9a-f]{12}", clean)
    (project / "notes.txt").write_text("not code")
    assert code_version(project) == clean
    (project / "galm" / "new.py").write_text("y = 2\n")
    assert code_version(project) == f"{clean}-dirty"


def test_outside_git_the_code_itself_is_hashed(project, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    version = code_version(project)
    assert re.fullmatch(r"source-[0-9a-f]{12}", version)
    assert code_version(project) == version
    (project / "galm" / "model.py").write_text("x = 2\n")
    assert code_version(project) != version


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_another_projects_commit_is_not_ours(project):
    inner = project / "inside"
    shutil.copytree(project / "galm", inner / "galm")
    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "first")
    assert code_version(inner).startswith("source-")


MEASURED = """
import subprocess, sys
from data_prep.installation import peak_memory_mb
before = peak_memory_mb()
size = int(before) + 100
subprocess.run([sys.executable, "-c", f"x = b'1' * ({size} << 20)"], check=True)
print(before, size, peak_memory_mb())
"""


def test_memory_is_in_mebibytes_and_counts_children():
    # Linux counts what this process held when it started a child as the child's: a small shell stands between.
    command = ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, MEASURED]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, size, after = map(float, printed.split())
    assert 5 < before < 500
    assert size <= after < size + 100


def test_the_machine_is_described_without_its_name():
    found = machine()
    assert 1 <= found.cores <= (os.cpu_count() or 1)
    assert found.python.startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert all((found.cpu, found.platform, found.torch))


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({}, 8),
        ({"cpu.max": "max 100000"}, 8),
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "1000 100000"}, 1),
        ({"cpu.max": "1600000 100000"}, 8),
        ({"cpu.max": "a text"}, 8),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
    ],
)
def test_a_container_has_the_time_of_few_processors(files, count, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(8)}, raising=False)
    monkeypatch.setattr(installation, "_GROUPS", tmp_path)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert processors() == count


def test_the_gpu_is_named_where_torch_is_loaded_and_finds_one(monkeypatch):
    cuda = SimpleNamespace(is_available=lambda: True, get_device_name=lambda: "a GPU")
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert machine().gpu == "a GPU"
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    assert machine().gpu == ""
    monkeypatch.delitem(sys.modules, "torch")
    assert machine().gpu == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("run.sh jdk galm --out=/tmp/a/b", "run.sh jdk galm --out=b"),
        ("/opt/venv/bin/python -m x", "python -m x"),
        ("--data.path='/a/b c'", "--data.path='b c'"),
        ("--evaluate.extra_tests=folder:/x/y,csn:~/z", "--evaluate.extra_tests=folder:y,csn:z"),
        ("--out=../elsewhere/run", "--out=run"),
        ("runs/jdk-galm and https://a.org/b", "runs/jdk-galm and https://a.org/b"),
        ("a / b", "a / b"),
    ],
)
def test_paths_are_cut_to_their_last_name(text, kept):
    assert without_paths(text) == kept
