"""The wheel as a user has it: built, installed into an empty folder, and used from outside of the checkout."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ROOMS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
NAMED = re.compile(rf"(?:{'|'.join(ROOMS)})(?:\.\w+)+(?::\w+)?")
SUM = "class Sum {\n  /** Adds up. */\n  int total(int[] values) { return IntStream.of(values).sum(); }\n}\n"


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The wheel, built in a copy of the checkout that has leftovers of an older build."""
    checkout = tmp_path_factory.mktemp("built") / "checkout"
    ignored = shutil.ignore_patterns(".*", "data", "runs", "tests", "results", "__pycache__", "build", "*.egg-info")
    shutil.copytree(REPOSITORY, checkout, ignore=ignored)
    old = checkout / "build" / "lib" / "neural_code_search" / "removed.py"
    old.parent.mkdir(parents=True)
    old.write_text("")
    pip("wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", checkout / "dist", checkout)
    (wheel,) = (checkout / "dist").iterdir()
    return wheel


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """The folder that it is installed into, alone."""
    target = tmp_path_factory.mktemp("installed") / "packages"
    pip("install", "--no-deps", "--no-index", "--no-compile", f"--target={target}", built)
    return target


@pytest.fixture(scope="module")
def package(installed) -> Path:
    return installed / "neural_code_search"


@pytest.fixture
def outside(installed, tmp_path, monkeypatch) -> Path:
    """A folder of Java to work in, without anything of the checkout in reach."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GALM_NATIVE", "0")  # kernels are not compiled once more
    (tmp_path / "java").mkdir()
    (tmp_path / "java" / "Sum.java").write_text(SUM)
    for number in range(39):  # more than one process reads
        (tmp_path / "java" / f"Other{number}.java").write_text(f"class Other{number} {{ void stop() {{ halt(); }} }}")
    return tmp_path


def run(*command: str | Path) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_installs_one_package(installed):
    found = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert found == {"neural_code_search", "bin"}
    assert [path.name for path in (installed / "bin").iterdir()] == ["galm"]


def test_it_has_every_module_and_all_data_of_the_checkout(package):
    suffixes = {".py", ".c", ".h", ".txt", ".json", ".toml", ".safetensors", ".tsv", ".js", ".css", ".html"}
    expected = {
        path.relative_to(REPOSITORY).as_posix()
        for room in ROOMS
        for path in (REPOSITORY / room).rglob("*")
        if path.suffix in suffixes and "results" not in path.parts
    }
    found = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.suffix in suffixes}
    assert found == {path.removeprefix("neural_code_search/") for path in expected}
    assert (package / "py.typed").is_file()


def test_no_module_names_what_is_not_there(package):
    there = {".".join(path.relative_to(package.parent).with_suffix("").parts) for path in package.rglob("*.py")}
    there |= {name.removesuffix(".__init__") for name in there}
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ROOMS:
                assert node.module in there, path
            elif isinstance(node, ast.Import):
                assert not {name.name.split(".")[0] for name in node.names} & set(ROOMS), path
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMED.fullmatch(node.value):
                assert node.value.partition(":")[0] in there, path


@pytest.mark.usefixtures("outside")
def test_data_are_made_by_the_same_program():
    code = "from {}data_prep.installation import program_sha256; print(program_sha256('{}data_prep.datasets.{}'))"
    for name in ("jdk", "csn", "folders", "source_trees"):
        theirs = run(sys.executable, "-c", code.format("neural_code_search.", "neural_code_search.", name))
        ours = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-c", code.format("", "", name)]
        assert subprocess.run(command, env=ours, capture_output=True, text=True, check=True).stdout == theirs


def test_the_command_helps_indexes_and_searches(outside, installed):
    galm = installed / "bin" / "galm"
    told = run(galm, "help", "galm", "jdk", "index")
    assert "--vectors=" in told
    assert "run.sh" not in told + run(galm, "help")
    assert "80 functions, types and files of 40 files in " in run(galm, "index", "java", "--vectors=none")
    assert "Sum.total" in run(galm, "search", "sum of values", "--index=" + index_of(outside), "--model=none")
    assert sorted(path.name for path in outside.iterdir()) == ["cache", "java"]


def index_of(outside: Path) -> str:
    (path,) = (outside / "cache" / "galm" / "indexes").glob("*/index")
    return str(path)


def test_an_example_runs_outside_of_the_checkout(outside):
    shutil.copy(REPOSITORY / "examples" / "search_folder.py", outside)
    told = run(sys.executable, "search_folder.py", "java", "Sum.total", "sum of some values")
    assert "  1 " in told
    assert told.count("Sum.total  'Sum.java' lines 3-3") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["test"], "galm: the tests are part of a checkout of the repository: clone it, and run its run.sh\n"),
        (["jkd", "galm"], "galm: unknown data set or command 'jkd': did you mean jdk? `galm help` lists all\n"),
        (["jdk"], "galm: expected a data set and a model, such as jdk galm"),
    ],
)
@pytest.mark.usefixtures("outside")
def test_a_mistake_is_one_line(installed, arguments, message):
    done = subprocess.run([installed / "bin" / "galm", *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def editable(tmp_path_factory) -> Path:
    """A folder that a checkout is installed into as editable."""
    target = tmp_path_factory.mktemp("editable") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(target)], check=True, timeout=120)
    (packages,) = target.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    checkout = target.parent / "checkout"
    ignored = shutil.ignore_patterns(".*", "data", "runs", "tests", "results", "__pycache__", "build", "*.egg-info")
    shutil.copytree(REPOSITORY, checkout, ignore=ignored)
    python = ["--python", target / "bin" / "python"]
    pip(*python, "install", "--no-build-isolation", "--no-deps", "--no-index", "--editable", checkout)
    return target


def test_an_editable_installation_has_the_names_of_the_checkout(editable, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    code = "import galm.config, neural_code_search, search.cli as found; print(found.__file__)"
    told = run(editable / "bin" / "python", "-c", code)
    assert told.strip() == str(editable.parent / "checkout" / "search" / "cli.py")
    assert "bash run.sh" in run(editable / "bin" / "galm", "help")
