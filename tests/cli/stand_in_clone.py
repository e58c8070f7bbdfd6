"""A clone of this repository whose Python is a stand-in that notes what it is asked to install."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
TOOLS = (
    *("bash", "sh", "dirname", "cat", "cksum", "rm", "mkdir", "touch"),
    *("sleep", "cp", "chmod", "tail", "flock", "env", "echo", "mktemp"),
)
PYTHON = r"""#!/bin/bash
# What the set-up asks of an interpreter: its version, a venv, pip, and in the end to run something.
case "$*" in
  *version_info\ \<*) exit "${FAKE_TOO_OLD:-0}" ;;
  "-c import venv, ensurepip") exit "${FAKE_NO_VENV:-0}" ;;
  -c\ *print*) echo python3.11-venv ;;
  -V) echo "Python ${FAKE_VERSION:-3.11.7}" ;;
  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; echo "venv" >>"$FAKE_LOG" ;;
  "-m pip install "*)
    sleep "${FAKE_SLEEP:-0}"
    echo "pip ${*:9}" >>"$FAKE_LOG"
    if [ -n "${FAKE_FAIL:-}" ]; then echo "ERROR: no such release"; exit 1; fi ;;
  *) echo "ran $*"
    case "${FAKE_WAITS:-}$*" in "yes-m mypy"*|"yes-m pytest"*) echo $$ >>"$FAKE_LOG"; exec sleep 60 ;; esac
    case "$*" in "-m ${FAKE_BROKEN:-none}"*) exit 3 ;; esac ;;
esac
"""

EXTRAS = tuple(f"requirements-{name}.txt" for name in ("agents", "hdf5", "parquet", "posts", "sentences", "vectors"))
OF_SEARCH = "requirements-search.txt"
OF_TRAINING = ("requirements-train.txt", "torch.txt")
OF_TESTS = ("requirements-dev.txt", *EXTRAS)
"""What tests need: their tools, and the extras that they test."""
LOCKS = (OF_SEARCH, *OF_TRAINING, *OF_TESTS)


class Clone:
    """A clone with run.sh and requirements, and a PATH with nothing but a stand-in for Python and a few tools."""

    def __init__(self, folder: Path) -> None:
        self.root, self.bin, self.log = folder / "a clone", folder / "bin", folder / "log"
        (self.root / "cli").mkdir(parents=True)
        self.bin.mkdir()
        (self.root / "locks").mkdir()
        for name in ("run.sh", "cli/environment.sh", *(f"locks/{each}" for each in LOCKS)):
            (self.root / name).write_bytes((REPOSITORY / name).read_bytes())
        self.python = self.bin / "python3.11"
        self.python.write_text(PYTHON)
        self.python.chmod(0o755)
        for tool in TOOLS:
            for place in ("/bin", "/usr/bin"):
                if (Path(place) / tool).exists() and not (self.bin / tool).exists():
                    (self.bin / tool).symlink_to(Path(place) / tool)

    def run(self, *arguments: str, before: Sequence[str] = (), **environment: str) -> subprocess.CompletedProcess:
        kept = {"PATH": str(self.bin), "FAKE_LOG": str(self.log), "HOME": os.environ.get("HOME", "/")}
        command = [*before, str(self.bin / "bash"), str(self.root / "run.sh"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, env={**kept, **environment}, timeout=60)

    def asked(self) -> list[str]:
        """What was made and installed since the last time."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line.replace(f"{self.root}/", "") for line in lines]
