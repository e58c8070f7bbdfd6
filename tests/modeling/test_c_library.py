"""Compiled libraries in the cache: one that is damaged, or that others could write, is never loaded."""

import ctypes
import logging
import shutil
import stat
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from modeling.c_library import CompiledMeanwhile, load_c

SOURCE = "int answer(void) { return 42; }\n"

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GALM_NATIVE", raising=False)
    return tmp_path / "cache" / "galm"


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "answer.c"
    path.write_text(SOURCE)
    return path


def answer(source: Path) -> int | None:
    library = load_c(source, "slowly")
    return library.answer() if library else None


def compiled(cache: Path) -> Path:
    (library,) = left_in(cache)
    return library


def left_in(cache: Path) -> list[Path]:
    return [each for each in cache.iterdir() if each.suffix != ".compiling"]


@pytest.fixture
def runs(monkeypatch) -> list[list[str]]:
    """The calls of the compiler."""
    called, run = [], subprocess.run

    def noted(command, **options):
        called.append(command)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", noted)
    return called


def test_it_is_compiled_once_for_the_user_alone(cache, source, runs):
    assert answer(source) == 42
    assert [stat.S_IMODE(each.stat().st_mode) for each in (cache, compiled(cache))] == [0o700, 0o600]
    made = len(runs)
    assert answer(source) == 42
    assert len(runs) == made


def test_who_does_not_wait_gets_it_once_another_process_has_compiled_it(cache, source, runs, monkeypatch):
    found = CompiledMeanwhile(lambda: load_c(source, wait=False))
    assert found() is None
    end = time.monotonic() + 60
    while not [*cache.glob("*.so")]:
        assert time.monotonic() < end
        time.sleep(0.05)
    monkeypatch.setattr("modeling.c_library.time", SimpleNamespace(monotonic=lambda: end + 1))
    assert found().answer() == 42
    assert runs == []


def test_who_waits_gets_what_another_process_compiles_already(cache, source, runs):
    assert load_c(source, wait=False) is None
    end = time.monotonic() + 60
    while not [*cache.glob("*.compiling")]:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert answer(source) == 42
    assert runs == []


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "longer", "writable", "link", "unreadable"])
def test_a_library_that_is_not_as_compiled_is_compiled_again(cache, source, runs, damage, tmp_path):
    answer(source)
    library, made = compiled(cache), len(runs)
    content = library.read_bytes()
    changed = {"flipped": content[:-9] + bytes([content[-9] ^ 1]) + content[-8:], "cut": content[:200], "empty": b""}
    library.unlink()  # not written in place: this process has it loaded
    library.write_bytes(changed.get(damage, content + b"\0" * (damage == "longer")))
    library.chmod({"writable": 0o622, "unreadable": 0}.get(damage, 0o600))
    if damage == "link":
        library.rename(tmp_path / "elsewhere.so")
        library.symlink_to(tmp_path / "elsewhere.so")
    assert answer(source) == 42
    if damage != "unreadable":  # root reads everything
        assert len(runs) == 2 * made
    assert compiled(cache).read_bytes() == content
    assert not compiled(cache).is_symlink()


def test_what_cannot_be_loaded_is_not_kept(cache, source, tmp_path, monkeypatch, caplog):
    fake = tmp_path / "cc"
    fake.write_text("#!/bin/sh\ntouch made.o made.so\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CC", str(fake))
    assert answer(source) is None
    assert left_in(cache) == []
    assert "slowly" in caplog.text


def test_a_library_in_the_current_folder_is_not_loaded(cache, source, tmp_path, monkeypatch):
    source.write_text(SOURCE.replace("42", "13"))
    monkeypatch.chdir(tmp_path)
    assert answer(source) == 13
    shutil.move(cache, tmp_path / "here" / "galm")
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    loaded, load = [], ctypes.CDLL.__init__
    monkeypatch.setattr(ctypes.CDLL, "__init__", lambda self, path: loaded.append(Path(path)) or load(self, path))
    assert answer(source) == 13
    assert all(each.is_relative_to(tmp_path / "home") for each in loaded)
    assert loaded


def test_a_cache_that_others_may_write_is_one_line(cache, source, caplog):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    with caplog.at_level(logging.WARNING):
        assert answer(source) is None
    assert list(cache.iterdir()) == []
    (line,) = caplog.messages
    assert "other users may write into" in line
    assert "slowly" in line
