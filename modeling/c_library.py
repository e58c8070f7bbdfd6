"""C sources compiled once for this CPU, kept in the cache, and loaded as libraries. Light to import: no torch.

The name of a library in the cache ends with a checksum of its content. One that is damaged, or that another user may
have written, is compiled again.
"""

import ctypes
import fcntl
import functools
import hashlib
import logging
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from data_prep.errors import UserError
from data_prep.files.access import absolute_path, cache_folder, is_own_file, make_own_folder, read_regular
from data_prep.files.writing import write_atomically
from data_prep.installation import IMPORT_ROOT

FLAGS: Final = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-fno-math-errno", "-Wno-psabi", "-Wno-unknown-pragmas")
_LARGEST: Final = 64 << 20
"""Most bytes of a library that are read."""

_log = logging.getLogger(__name__)


def load_c(
    source: Path,
    without: str = "",
    made_for: str = "",
    options: Sequence[str] = (),
    *,
    wait: bool = True,
    calls: str = "",
) -> ctypes.CDLL | None:
    """Load a C source, compiled unless that was done before.

    Args:
        source: one file.
        without: what happens without it, for the log; "" logs nothing.
        made_for: what it is compiled for, besides this CPU and compiler.
        options: of the compiler, but not of the linker.
        wait: whether to wait for the compiler; otherwise another process compiles it meanwhile, and None is returned.
        calls: a Python module whose libraries it calls, imported before it is loaded by that process; "" for none.

    Returns:
        None without a C compiler, or if GALM_NATIVE=0 is set.
    """
    compiler = c_compiler()
    if compiler is None:
        if without and os.environ.get("GALM_NATIVE") != "0":
            _log.warning("there is no C compiler (cc): %s", without)
        return None
    key = hashlib.sha256(source.read_bytes() + repr((compiler, FLAGS, made_for)).encode() + _processor())
    try:
        place = cache_folder() / f"{source.stem}-{key.hexdigest()[:16]}"
        kept = _kept(place)
        if kept is None and not wait:
            _compile_meanwhile(source, calls, made_for, options)
            return None
        return ctypes.CDLL(str(kept)) if kept else _compiled_once(source, compiler, options, place)
    except (OSError, UserError, subprocess.CalledProcessError) as error:
        if without:
            _log.warning("compiled C cannot be used (%s): %s", error, without)
        return None


class CompiledMeanwhile:
    """A library that may still be compiled by another process: it is looked for again, at most each second."""

    def __init__(self, load: Callable[[], ctypes.CDLL | None]) -> None:
        """``load``: as :func:`load_c` without waiting."""
        self._load, self._library, self._looked = load, cast(ctypes.CDLL | None, None), -math.inf

    def __call__(self) -> ctypes.CDLL | None:
        """The library; None if it is not there."""
        if self._library is None and time.monotonic() >= self._looked + 1:
            self._looked = time.monotonic()
            self._library = self._load()
        return self._library


def c_compiler() -> str | None:
    """The C compiler; None without one, or if GALM_NATIVE=0 is set."""
    if os.environ.get("GALM_NATIVE") == "0":
        return None
    names = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    return next(filter(None, (shutil.which(name, path=absolute_path()) for name in names)), None)


@functools.cache
def _compile_meanwhile(source: Path, calls: str, made_for: str, options: Sequence[str]) -> None:
    """Compile a source in a process that outlives this one; once for each source, whatever comes of it."""
    program = f"import sys; sys.path.insert(0, sys.argv[1]); from {__name__} import _compile; _compile(*sys.argv[2:])"
    command = [sys.executable, "-P", "-c", program, str(IMPORT_ROOT), str(source), calls, made_for, *options]
    streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=streams)


def _compile(source: str, calls: str, made_for: str, *options: str) -> None:
    """What the other process does."""
    os.setsid()
    os.nice(10)
    os.chdir("/")
    if calls:
        import_module(calls)
    load_c(Path(source), "", made_for, options)


def _compiled_once(source: Path, compiler: str, options: Sequence[str], place: Path) -> ctypes.CDLL:
    """The library made of ``source``, or by another process that is at it already, for which this one waits."""
    make_own_folder(place.parent)
    with place.with_name(f"{source.stem}.compiling").open("ab") as lock:
        with suppress(OSError):  # a file system without locks: both compile it
            fcntl.flock(lock, fcntl.LOCK_EX)
        kept = _kept(place)
        return ctypes.CDLL(str(kept)) if kept else _compiled(source, compiler, options, place)


def _kept(place: Path) -> Path | None:
    """The library in the cache; None if there is none, or it is damaged."""
    return next(filter(_is_intact, place.parent.glob(f"{place.name}-*.so")), None)


def _is_intact(library: Path) -> bool:
    """Whether a library in the cache is as it was compiled; another one is removed."""
    with suppress(OSError):
        content, status = read_regular(library, _LARGEST)
        if is_own_file(status) and library.stem.endswith(f"-{_checksum(content)}"):
            return True
    library.unlink(missing_ok=True)
    return False


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _compiled(source: Path, compiler: str, options: Sequence[str], place: Path) -> ctypes.CDLL:
    """The library made of ``source``, stored only if it can be loaded, under a name that begins as ``place``."""
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        for step in ([*options, "-c", str(source), "-o", "made.o"], ["-shared", "made.o", "-o", "made.so"]):
            subprocess.run([compiler, *FLAGS, *step], cwd=folder, check=True, capture_output=True)
        made = Path(folder, "made.so")
        library = ctypes.CDLL(str(made))
        content = made.read_bytes()
        write_atomically(place.with_name(f"{place.name}-{_checksum(content)}.so"), content, private=True)
    return library


def _processor() -> bytes:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor().encode()
    return "".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})).encode()
