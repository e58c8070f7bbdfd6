"""The locks: of the present requirements, whole, with hashes, consistent, and without the place they came from."""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests import locks
from tests.locks import (
    ALL,
    OF_A_BUILD,
    OPTIONS,
    ROOT,
    SEARCH,
    TORCH,
    TRAINING,
    inputs_sha256,
    packages,
    requirement_files,
    requirements_in,
)

FILES = requirement_files(ROOT)
PINNED = re.compile(r"([\w.-]+)==([^\s;]+)")
HASHED = re.compile(r"[\w.-]+==[^\s;]+( ; [^\\]+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+")


def text_of(name: str, root: Path = ROOT) -> str:
    return (root / "locks" / name).read_text(encoding="utf-8")


def pinned(text: str) -> dict[str, str]:
    """Package -> version, by the names that packages have in locks."""
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in PINNED.findall(text)}


@pytest.mark.parametrize("name", [*FILES, TORCH])
def test_no_lock_is_stale(name):
    assert inputs_sha256(ROOT) in text_of(name), "requirements*.txt changed: run .venv/bin/python -m tests.locks"


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_locked_at_its_version(name):
    locked = pinned(text_of(name)) | pinned(text_of(SEARCH)) | pinned(text_of(TORCH))
    asked = pinned("\n".join(requirements_in(ROOT / name)))
    assert len(asked) == len(requirements_in(ROOT / name)), "a requirement has no version"
    assert {package: locked.get(package) for package in asked} == asked


@pytest.mark.parametrize("name", FILES)
def test_every_package_has_hashes_and_nothing_else_is_in_a_lock(name):
    header, options, rest = text_of(name).partition(OPTIONS)
    assert options
    assert all(line.startswith("#") for line in header.splitlines())
    found = packages(rest)
    assert "".join(found.values()) == rest
    assert all(re.fullmatch(f"({HASHED.pattern})+", block) for block in found.values())
    assert not any(map(OF_A_BUILD.fullmatch, found))


def test_what_comes_with_torch_has_versions_alone():
    found = packages(text_of(TORCH))
    assert found["torch"] == f"torch=={pinned(text_of(TORCH))['torch']}\n"
    assert all(map(OF_A_BUILD.fullmatch, found))


@pytest.mark.parametrize("name", [*FILES, TORCH])
def test_no_lock_names_where_packages_came_from(name):
    assert not re.search(r"https?:|//|index-url|find-links|trusted-host| @ ", text_of(name))


def test_all_locks_fit_into_one_environment():
    found = defaultdict(set)
    for name in (*FILES, TORCH):
        for package, version in PINNED.findall(text_of(name)):
            found[package].add(version)
    assert {package: versions for package, versions in found.items() if len(versions) > 1} == {}


def test_a_comment_makes_no_lock_stale_and_a_requirement_does(tmp_path):
    (tmp_path / SEARCH).write_text("a==1  # one\n")
    first = inputs_sha256(tmp_path)
    (tmp_path / SEARCH).write_text("# more\na==1  # another\n")
    assert inputs_sha256(tmp_path) == first
    (tmp_path / "requirements-x.txt").write_text("b==1\n")
    assert inputs_sha256(tmp_path) != first


class Uv:
    """A stand-in for uv, with what it answers for each file, and the arguments and pins that it was given."""

    def __init__(self) -> None:
        self.preferred: list[str] = []
        self.pinned: list[str] = []
        self.answers: dict[str, str] = {}

    def run(self, command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        names = [each for each in command if each.startswith("requirements")]
        blocks = "".join(self.answers[name] for name in names)
        for output in (Path(each[14:]) for each in command if each.startswith("--output-file=")):
            self.preferred.append(output.read_text())
            output.write_text(blocks)
            blocks = ""  # with --quiet, uv then prints nothing
        self.pinned += [Path(each[13:]).read_text() for each in command if each.startswith("--constraint=")]
        return subprocess.CompletedProcess(command, 0, blocks, "")


def test_what_the_search_needs_and_torch_stand_apart(tmp_path, monkeypatch):
    uv, hashes = Uv(), f" \\\n    --hash=sha256:{'0' * 64}\n"
    monkeypatch.setattr(subprocess, "run", uv.run)
    marked = f"b==2 ; python_version < '3.12'{hashes}b==3 ; python_version >= '3.12'{hashes}"
    uv.answers[SEARCH] = f"a==1{hashes}"
    uv.answers[TRAINING] = f"a==1{hashes}c==1{hashes}nvidia-x==5 ; sys_platform == 'linux'{hashes}torch==4{hashes}"
    uv.answers["requirements-x.txt"] = f"a==1{hashes}{marked}c==1{hashes}torch==4{hashes}"
    for name in (*uv.answers, ALL):
        (tmp_path / name).write_text("any\n")
    locks.write_locks(tmp_path)
    assert not (tmp_path / "locks" / ALL).exists()
    assert text_of(SEARCH, tmp_path).endswith(f"{OPTIONS}a==1{hashes}")
    assert text_of(TRAINING, tmp_path).endswith(f"{OPTIONS}c==1{hashes}")
    assert text_of("requirements-x.txt", tmp_path).endswith(f"{OPTIONS}{marked}c==1{hashes}")  # of use without training
    assert text_of(TORCH, tmp_path).endswith("\nnvidia-x==5 ; sys_platform == 'linux'\ntorch==4\n")
    assert all("c==1\n" in pinned for pinned in uv.pinned)  # all are resolved as they were together
    locks.write_locks(tmp_path)
    assert "a==1\n" in uv.preferred[1]  # present versions are kept
    assert "b==2 ; python_version < '3.12'\n" in uv.preferred[1]


def test_the_file_of_everything_names_the_two_that_have_locks():
    assert requirements_in(ROOT / ALL) == [f"-r {SEARCH}", f"-r {TRAINING}"]


def test_what_uv_refuses_ends_in_one_line(tmp_path):
    (tmp_path / SEARCH).write_text("not a requirement at all\n")
    script = f"from pathlib import Path; from tests import locks; locks.main(Path({str(tmp_path)!r}))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert told.returncode == 2
    assert "Traceback" not in told.stderr
    assert "locks/ is as it was" in told.stderr.splitlines()[-1]
