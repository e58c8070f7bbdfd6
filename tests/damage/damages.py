"""Ways to damage bytes and to make up content, drawn by a generator of random numbers."""

import json
import resource
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

Random = np.random.Generator

JUNK = (
    *(None, True, False, 0, 1, -1, 7, 2**31, 2**40, 2**63, -(2**63), 2**70, 10**400, 0.5, -0.0, 1e308, float("nan")),
    *(float("inf"), "", "a", "../../a", "\ud800", "a" * 5000, [], [[]], [0], ["a", 1], {}, {"a": {}}, {"path": 3}),
)
"""Values that stand where others are expected."""
DEEP = b"[" * 100_000
MOST_MEMORY = 2 << 30
"""Bytes of address space that reading a small file may take."""
MOST_SECONDS = 30
"""Until reading a small file counts as hanging."""


def drawn(choices: Sequence[Any], random: Random) -> Any:
    """One of ``choices``."""
    return choices[random.integers(0, len(choices))]


def damaged(content: bytes, random: Random) -> bytes:
    """``content`` as a disk, a network or an editor might leave it."""
    at = int(random.integers(0, len(content) + 1))
    kind = random.integers(0, 6)
    some = random.bytes(int(random.integers(1, 40)))
    if kind == 0:
        at = min(at, len(content) - 1)
        return content[:at] + bytes([content[at] ^ (1 << int(random.integers(0, 8)))]) + content[at + 1 :]
    if kind == 1:
        return content[:at]
    if kind == 2:
        return content[:at] + some + content[at:]
    if kind == 3:
        until = min(len(content), at + int(random.integers(1, 4096)))
        return content[:at] + bytes(until - at) + content[until:]
    if kind == 4:
        return content + some
    block = len(content) // 3
    return content[block : 2 * block] + content[:block] + content[2 * block :]


def made_up(value: Any, random: Random) -> Any:
    """JSON with one thing in it replaced, lost, or in the place of another; ``value`` stays as it is."""
    value = json.loads(json.dumps(value))
    places = [*_places(value)]
    if not places:
        return drawn(JUNK, random)
    holder, key = drawn(places, random)
    kind = random.integers(0, 4)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        other, name = drawn(places, random)
        holder[key], other[name] = other[name], holder[key]
    elif kind == 2 and type(holder[key]) in (int, float):
        holder[key] = holder[key] + int(random.choice([-1, 1, 1000, 10**12]))
    else:
        holder[key] = drawn(JUNK, random)
    return value


def _places(value: Any, most: int = 40) -> Iterator[tuple[Any, Any]]:
    """Containers in ``value`` and keys in them; of a long list some."""
    keys = list(value) if isinstance(value, dict) else range(min(most, len(value))) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
    for key in keys:
        yield from _places(value[key], 5)


def made_up_array(array: np.ndarray, random: Random) -> np.ndarray:
    """An array with a number, its type or its shape replaced."""
    kind = random.integers(0, 7)
    if kind == 0:
        return array.astype(drawn((np.int8, np.int32, np.int64, np.float32, np.float64, np.bool_), random))
    if kind == 1:
        return array[: len(array) // 2] if array.ndim else array.reshape(1)
    if kind == 2:
        return array.reshape(1, *array.shape)
    if kind == 3:
        return np.empty((0, *array.shape[1:], 10**9), array.dtype)
    if kind == 4 and array.ndim:
        return np.concatenate([array, array[:1]])
    other = array.copy()
    if other.size:
        with np.errstate(over="ignore"):
            junk = np.array(random.choice([-1, 1, 2**20, 2**31 - 1, 2**62, 0]), np.int64).astype(other.dtype)
        places = random.integers(0, other.size, 1 if kind == 5 else 1 + other.size // 2)
        other.reshape(-1)[places] = np.nan if other.dtype.kind == "f" and kind == 6 else junk
    return other


@contextmanager
def bounded(what: str) -> Iterator[None]:
    """Fail where the block takes long, or asks for much memory."""

    def late(*_):
        raise AssertionError(f"{what} took more than {MOST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    signal.alarm(MOST_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
