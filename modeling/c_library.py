"""C sources compiled once for this CPU, kept in the cache, and loaded as libraries. Light to import: no torch."""

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from data_prep.installation import absolute_path

FLAGS: Final = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-Wno-psabi", "-Wno-unknown-pragmas")

_log = logging.getLogger(__name__)


def load_c(source: Path, without: str, made_for: str = "", options: Sequence[str] = ()) -> ctypes.CDLL | None:
    """Compile a C source, unless that was done before, and load it.

    Args:
        source: one file.
        without: what happens without it, for the log.
        made_for: what it is compiled for, besides this CPU and compiler.
        options: of the compiler, but not of the linker.

    Returns:
        None without a C compiler, or if GALM_NATIVE=0 is set.
    """
    if os.environ.get("GALM_NATIVE") == "0":
        return None
    names = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    compiler = next(filter(None, (shutil.which(name, path=absolute_path()) for name in names)), None)
    if compiler is None:
        _log.warning("there is no C compiler (cc): %s", without)
        return None
    try:
        return ctypes.CDLL(str(_compiled(source, compiler, made_for, options)))
    except (OSError, subprocess.CalledProcessError) as error:
        _log.warning("compiled C cannot be used (%s): %s", error, without)
        return None


def _compiled(source: Path, compiler: str, made_for: str, options: Sequence[str]) -> Path:
    key = hashlib.sha256(source.read_bytes() + repr((compiler, FLAGS, made_for)).encode() + _processor())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "galm"
    library = cache / f"{source.stem}-{key.hexdigest()[:16]}.so"
    if not library.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            for step in ([*options, "-c", str(source), "-o", "made.o"], ["-shared", "made.o", "-o", "made.so"]):
                subprocess.run([compiler, *FLAGS, *step], cwd=folder, check=True, capture_output=True)
            Path(folder, "made.so").replace(library)
    return library


def _processor() -> bytes:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor().encode()
    return "".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})).encode()
