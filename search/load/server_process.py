"""``bash run.sh serve`` as a process of its own, to be measured."""

import http.client
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from experiments.recipes.config import REPOSITORY

_OPENED: Final = 300.0
"""Seconds within which the server must have opened its index."""


class ServerProcess:
    """``bash run.sh serve`` as a process of its own, on a free port."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.port = self._address()
        self._drained = threading.Thread(target=self._drain, daemon=True)
        self._drained.start()
        self._wait()

    def _address(self) -> int:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            _, found, rest = line.partition("http://127.0.0.1:")
            if found:
                return int(rest.partition(";")[0])
        raise self._ended()

    def _drain(self) -> None:
        """Read what it prints, so that it never waits for that."""
        assert self._process.stdout is not None
        for _ in self._process.stdout:
            pass

    def _wait(self) -> None:
        """Wait until its index is open."""
        end = time.monotonic() + _OPENED
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise self._ended()
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_OPENED)
            try:
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            except (OSError, http.client.HTTPException):  # it ends, which the next look tells
                pass
            finally:
                connection.close()
            time.sleep(0.2)
        raise UserError(f"the server has not opened its index within {_OPENED:.0f} s")

    def _ended(self) -> UserError:
        return UserError(f"the server ended with the exit code {self._process.wait()} before it answered")

    def memory_mb(self) -> float | None:
        """Its largest resident memory so far, in MiB (Linux); elsewhere None."""
        status = Path(f"/proc/{self._process.pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
        return found[0] / 1024 if found else None


@contextmanager
def running(served: Sequence[str]) -> Iterator[ServerProcess]:
    """A server of an index, which is ended at the end."""
    command = [sys.executable, "-m", "cli.main", "serve", "--port=0", "--posts=none", *served]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield ServerProcess(process)
        finally:
            process.terminate()
