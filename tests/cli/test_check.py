"""Names are checked without the libraries of training, so that run.sh can do it before it installs them."""

import os
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["jdk", "galm"], ""),
        (["jdk", ""], ""),
        (["table"], ""),
        (["serch"], "galm: unknown data set or command 'serch': did you mean search?"),
        (["jdk", "glam"], "galm: unknown model 'glam': did you mean galm?"),
        (["fine_tune"], "galm: fine_tune is now called gencodesearchnet fine_tune"),
    ],
)
def test_a_name_that_there_is_not_is_one_line(names, told):
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-P", "-m", "cli.main", "--check", *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2 if told else 0, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == bool(told)
