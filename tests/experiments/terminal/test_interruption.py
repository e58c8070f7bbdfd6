"""Ctrl-C at any moment of a command ends it in a line or none, and never with a traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
STRUCK = """
import runpy, signal, sys
class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[0]:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Strike())
times, sys.argv = int(sys.argv[1]), sys.argv[2:]
runpy.run_module("cli.main", run_name="__main__")
"""
"""Runs a command line, and presses Ctrl-C where a module is about to be imported."""


def heeding() -> None:
    """What a shell in the background takes from the processes that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def struck(module: str, *arguments: str, times: int = 1, before=heeding) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", STRUCK, str(times), module, *arguments],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=120, preexec_fn=before, check=False,
    )  # fmt: skip


def test_at_every_early_moment():
    codes = set()
    for step in range(24):
        command = ["bash", str(REPOSITORY / "run.sh"), "prepare"]  # what, it does not say
        environment = {**os.environ, "GALM_PYTHON": sys.executable}
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=heeding
        ) as running:
            time.sleep(step * 0.0125)
            running.send_signal(signal.SIGINT)
            said = running.communicate(timeout=60)[1]
        assert said == "" or said.count("\n") == 1, (step, said)
        assert running.returncode in (-signal.SIGINT, 130, 2)
        codes.add(running.returncode)
    assert codes != {2}


@pytest.mark.skipif(
    subprocess.run(["env", "--block-signal=INT", "--version"], capture_output=True, check=False).returncode != 0,
    reason="this env cannot hold a signal back",
)
def test_before_python_has_started_is_not_lost(tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/bash\nkill -INT $$\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    told = subprocess.run(
        ["bash", str(REPOSITORY / "run.sh"), "help"],
        capture_output=True, text=True, timeout=60, env={**os.environ, "GALM_PYTHON": str(python)}, preexec_fn=heeding,
        check=False,
    )  # fmt: skip
    assert (told.returncode, told.stdout, told.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("module", ["dataclasses", "data_prep.config", "experiments.terminal.options"])
def test_while_the_program_is_imported_it_ends_without_a_word(module):
    told = struck(module, "help")
    assert (told.returncode, told.stdout, told.stderr) == (-signal.SIGINT, "", "")


def test_while_a_command_imports_it_strikes_after_that(tmp_path):
    told = struck("numpy", "folder", "bm25", f"--data.path={tmp_path / 'nothing'}")
    assert (told.returncode, told.stdout) in ((130, ""), (2, ""))  # the latter where the mistake is found first
    lines = told.stderr.count("\n")
    assert lines == 1 or (told.returncode, lines) == (130, 0)  # none where it strikes while the mistake is told


def test_twice_while_a_command_imports_ends_at_once(tmp_path):
    told = struck("numpy", "folder", "bm25", f"--data.path={tmp_path / 'nothing'}", times=2)
    assert (told.returncode, told.stdout, told.stderr) == (-signal.SIGINT, "", "")


def test_where_a_finaliser_would_lose_it_it_strikes_again():
    program = """
import os, signal, sys, time
from experiments.terminal.startup import run_interruptibly
class Final:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
def main(_):
    Final()
    time.sleep(60)
sys.exit(run_interruptibly(main, []))
"""
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=50, preexec_fn=heeding,
        check=False,
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (130, "")


def test_a_process_that_a_shell_started_in_the_background_goes_on():
    told = struck("experiments.recipes.models", "help", before=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert (told.returncode, told.stderr) == (0, "")
    assert "galm" in told.stdout
