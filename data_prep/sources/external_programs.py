"""Running external programs: English messages, no input, and no exception if one is missing or hangs."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_SECONDS: Final = 900  # timeout of a call


def run_program(command: Sequence[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``command`` in ``folder``; if it cannot be run, the exit code is 1 and stderr is the reason."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))
