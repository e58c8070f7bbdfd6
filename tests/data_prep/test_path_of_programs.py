"""Programs are found in absolute folders of PATH only."""

import os

import pytest

from cli import console_script
from data_prep.files.access import absolute_path
from modeling import c_library


@pytest.mark.parametrize(("path", "kept"), [("/a:/b c", "/a:/b c"), (".:/a::b:~/c:", "/a"), ("", ""), ("bin", "")])
def test_relative_and_empty_entries_are_left_out(monkeypatch, path, kept):
    monkeypatch.setenv("PATH", path)
    assert absolute_path() == kept


def test_a_compiler_of_the_current_folder_is_not_run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f".:{tmp_path / 'none'}")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("GALM_NATIVE", raising=False)
    (tmp_path / "cc").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "cc").chmod(0o755)
    (tmp_path / "none.c").write_text("int one(void) { return 1; }\n")
    assert c_library.load_c(tmp_path / "none.c", "nothing") is None
    assert not [*tmp_path.rglob("ran")]
    assert not (tmp_path / "cache").exists()


def test_the_command_of_a_wheel_leaves_them_out(monkeypatch):
    monkeypatch.setattr(console_script, "end_silently", lambda: None)
    monkeypatch.setattr(console_script, "run_interruptibly", lambda *_: 0)
    monkeypatch.setenv("PATH", f".:{os.defpath}")
    assert console_script.run() == 0
    assert "." not in os.environ["PATH"].split(os.pathsep)
