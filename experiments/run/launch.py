"""One run in several processes: this one, and copies that run the same command; they communicate by gloo or NCCL.

On several machines ``torchrun`` starts the processes; this module then joins them and starts none.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, Final

import torch
import torch.distributed as dist

from data_prep.errors import FAULT, UserError
from data_prep.installation import IMPORT_ROOT
from experiments.terminal import console

_MEMBER: Final = "GALM_MEMBER"
"""Environment variable of a copy: its number, how many there are, and the folder of their store."""
_PATIENCE: Final = timedelta(hours=2)
"""Maximum time that a process waits for another, such as for one that prepares data."""
_ENDING: Final = 10.0
"""Maximum seconds between the end of a process's connections and that of the process."""


@contextmanager
def together(count: int) -> Iterator[None]:
    """Run the block in ``count`` processes, each with its share of the CPU cores.

    Raises:
        UserError: ``torchrun`` started another number of processes.
        ChildProcessError: a process ended before the others.
    """
    member, by_torchrun = os.environ.get(_MEMBER), "TORCHELASTIC_RUN_ID" in os.environ
    if by_torchrun and int(os.environ["WORLD_SIZE"]) != count:
        raise UserError(f"torchrun started {os.environ['WORLD_SIZE']} processes, but the options say {count}")
    if count == 1:
        yield
    elif by_torchrun:
        with _joined("env://", int(os.environ["RANK"]), count):
            yield
    elif member:
        number, _, place = member.split(":", 2)
        with _joined(f"file://{place}/store", int(number), count):
            yield
    else:
        with _copies(count) as place, _joined(f"file://{place}/store", 0, count):
            yield


def backend_of(processes: int, gpus: int) -> str:
    """The backend of so many processes on one machine: NCCL if each has its own GPU, else gloo."""
    return "cpu:gloo,cuda:nccl" if 0 < processes <= gpus else "gloo"


@contextmanager
def _joined(place: str, rank: int, count: int) -> Iterator[None]:
    """Join the other processes at ``place``."""
    if not place.startswith("env"):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")  # local only
        torch.set_num_threads(max(1, torch.get_num_threads() // count))
    if rank:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides, and notifies the others
        console.be_silent()
    on_this = int(os.environ.get("LOCAL_WORLD_SIZE", count))
    backend = backend_of(on_this, torch.cuda.device_count())
    if "nccl" in backend:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
    dist.init_process_group(backend, init_method=place, rank=rank, world_size=count, timeout=_PATIENCE)
    try:
        yield
    except RuntimeError as error:
        if "gloo" not in str(error).lower() and "connection" not in str(error).lower():
            raise
        raise ChildProcessError(f"a process of this run ended before the others ({_first_line(error)})") from error
    finally:
        if sys.exc_info()[0] is None:
            dist.barrier()
        dist.destroy_process_group()


@contextmanager
def _copies(count: int) -> Iterator[str]:
    """Start all processes but this one; they end with it. Yields the folder of their store."""
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="galm-", ignore_cleanup_errors=True))
        errors = [stack.enter_context(Path(place, f"errors-{number}").open("w+b")) for number in range(1, count)]
        copies = [_copy(f"{number}:{count}:{place}", file) for number, file in enumerate(errors, start=1)]
        try:
            yield place
        except ChildProcessError as error:
            raise _reason(error, copies, errors) from error
        finally:
            for copy in copies:
                copy.kill()
                copy.wait()


def _copy(member: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "cli.main", *sys.argv[1:]]
    environment = os.environ | {_MEMBER: member, "PYTHONPATH": str(IMPORT_ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors)


def _reason(error: Exception, copies: Sequence[subprocess.Popen[bytes]], errors: Sequence[IO[bytes]]) -> Exception:
    """Why a copy ended, if known; else that of ``error``, of this process."""
    until = time.monotonic() + _ENDING
    while all(copy.poll() is None for copy in copies) and time.monotonic() < until:
        time.sleep(0.01)
    for number, (copy, file) in enumerate(zip(copies, errors, strict=True), start=1):
        code = copy.poll()
        if code is not None and code < 0:
            return ChildProcessError(
                f"process {number} of this run was ended by signal {-code} (killed, or memory is full)"
            )
        file.seek(0)
        text = file.read().decode(errors="replace").strip()
        if code == FAULT:
            return RuntimeError(f"process {number} of this run failed:\n{text}")
        if code and text:
            return ChildProcessError(f"process {number} of this run failed: {text.splitlines()[-1]}")
    return ChildProcessError(str(error))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
