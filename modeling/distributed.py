"""The processes of one run and what they exchange; with a single process, every exchange is the identity.

The processes are this one and copies that run the same command, or those that ``torchrun`` started, on several machines
too. They are peers over gloo or NCCL: each handles its share of the queries, and all of them gather the results.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from data_prep.errors import FAULT, UserError
from data_prep.installation import IMPORT_ROOT
from modeling.base import Encoded, widened

Side = TypeVar("Side", bound=Encoded)
Item = TypeVar("Item")


def count() -> int:
    """Number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Rank of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def is_first() -> bool:
    """Whether this is the process that prints and writes files."""
    return rank() == 0


def share(size: int) -> slice:
    """This process's slice of ``size`` items; the slices of all processes, in order, cover all items."""
    return slice(size * rank() // count(), size * (rank() + 1) // count())


def gathered(item: Item) -> list[Item]:
    """The item of every process, in order."""
    if count() == 1:
        return [item]
    items: list[Any] = [None] * count()
    dist.all_gather_object(items, item)
    return items


def broadcast(item: Item) -> Item:
    """The first process's item, on all processes; the other items are discarded."""
    if count() == 1:
        return item
    items = [item]
    dist.broadcast_object_list(items, src=0)
    return items[0]


def same_weights(model: nn.Module) -> None:
    """Copy the first process's weights to every process."""
    if count() > 1:
        for weight in model.state_dict().values():
            dist.broadcast(weight, src=0)


def sum_gradients(model: nn.Module) -> None:
    """Replace the gradients by their sum over all processes."""
    if count() > 1:
        for weight in model.parameters():
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
            dist.all_reduce(weight.grad)


def all_rows(own: Float[Tensor, "rows columns"]) -> Float[Tensor, "allrows columns"]:
    """The rows of all processes. Every process computes the same from them, so gradients go to its own rows only."""
    if count() == 1:
        return own
    return _gather(own, gathered(len(own)), summed=False)


def all_encoded(own: Side) -> Side:
    """The encodings of all processes as one batch; the gradients of all processes return to the one that encoded."""
    if count() == 1:
        return own
    whole = {each.name: _joined(getattr(own, each.name)) for each in fields(own)}
    return replace(own, **whole)


def _joined(own: Tensor) -> Tensor:
    """This process's rows and the others', all padded to the widest."""
    shapes = gathered(tuple(own.shape))
    sizes = [max(axis) for axis in zip(*(shape[1:] for shape in shapes), strict=True)]
    return _gather(widened(own, sizes), [shape[0] for shape in shapes], summed=True)


def _gather(own: Tensor, rows: Sequence[int], *, summed: bool) -> Tensor:
    found: Tensor = _Gather.apply(own, rows, summed)  # type: ignore[no-untyped-call]
    return found


class _Gather(torch.autograd.Function):
    """Rows of all processes; the gradient is that of this process's rows, local or summed over all processes."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, rows: Sequence[int], summed: bool) -> Tensor:
        ctx.start, ctx.rows, ctx.summed = sum(rows[: rank()]), len(own), summed
        most, kind = max(rows), own.dtype
        sent = own.contiguous().to(torch.uint8) if kind == torch.bool else own.contiguous()
        sent = torch.cat([sent, sent.new_zeros(most - len(sent), *sent.shape[1:])])
        parts = [torch.empty_like(sent) for _ in rows]
        dist.all_gather(parts, sent)
        return torch.cat([part[:size] for part, size in zip(parts, rows, strict=True)]).to(kind)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        if ctx.summed:
            gradient = gradient.contiguous().clone()
            dist.all_reduce(gradient)
        return gradient[ctx.start : ctx.start + ctx.rows], None, None


_MEMBER: Final = "GALM_MEMBER"
"""Environment variable of a copy: its number, how many there are, and the folder of their store."""
_PATIENCE: Final = timedelta(hours=2)
"""Maximum time that a process waits for another, such as for one that prepares data."""
_ENDING: Final = 10.0
"""Maximum seconds between the end of a process's connections and that of the process."""


@contextmanager
def together(size: int, be_silent: Callable[[], None]) -> Iterator[None]:
    """Run the block in ``size`` processes, each with its share of the CPU cores.

    Args:
        size: number of processes.
        be_silent: called in all but the first one, which prints for all.

    Raises:
        UserError: ``torchrun`` started another number of processes.
        ChildProcessError: a process ended before the others.
    """
    member, by_torchrun = os.environ.get(_MEMBER), "TORCHELASTIC_RUN_ID" in os.environ
    if by_torchrun and int(os.environ["WORLD_SIZE"]) != size:
        raise UserError(f"torchrun started {os.environ['WORLD_SIZE']} processes, but the options say {size}")
    if size == 1:
        yield
    elif by_torchrun:
        with _connected("env://", int(os.environ["RANK"]), size, be_silent):
            yield
    elif member:
        number, _, place = member.split(":", 2)
        with _connected(f"file://{place}/store", int(number), size, be_silent):
            yield
    else:
        with _copies(size) as place, _connected(f"file://{place}/store", 0, size, be_silent):
            yield


def backend_of(processes: int, gpus: int) -> str:
    """The backend of so many processes on one machine: NCCL if each has its own GPU, else gloo."""
    return "cpu:gloo,cuda:nccl" if 0 < processes <= gpus else "gloo"


@contextmanager
def _connected(place: str, rank: int, size: int, be_silent: Callable[[], None]) -> Iterator[None]:
    """Join the other processes at ``place``."""
    if not place.startswith("env"):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")  # local only
        torch.set_num_threads(max(1, torch.get_num_threads() // size))
    if rank:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides, and notifies the others
        be_silent()
    on_this = int(os.environ.get("LOCAL_WORLD_SIZE", size))
    backend = backend_of(on_this, torch.cuda.device_count())
    if "nccl" in backend:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
    dist.init_process_group(backend, init_method=place, rank=rank, world_size=size, timeout=_PATIENCE)
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
def _copies(size: int) -> Iterator[str]:
    """Start all processes but this one; they end with it. Yields the folder of their store."""
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="galm-", ignore_cleanup_errors=True))
        errors = [stack.enter_context(Path(place, f"errors-{number}").open("w+b")) for number in range(1, size)]
        copies = [_copy(f"{number}:{size}:{place}", file) for number, file in enumerate(errors, start=1)]
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
