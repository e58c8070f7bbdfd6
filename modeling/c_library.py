"""C sources compiled once for this CPU, kept in the cache, and loaded as libraries. Light to import: no torch.

The name of a library in the cache ends with a checksum of its content. One that is damaged, or that another user may
have written, is compiled again.
"""

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.named_paths import cache_folder, is_own_file, make_own_folder
from data_prep.files.reading import read_regular
from data_prep.installation import absolute_path

FLAGS: Final = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-Wno-psabi", "-Wno-unknown-pragmas")
_LARGEST: Final = 64 << 20
"""Most bytes of a library that are read."""

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
    key = hashlib.sha256(source.read_bytes() + repr((compiler, FLAGS, made_for)).encode() + _processor())
    try:
        place = cache_folder() / f"{source.stem}-{key.hexdigest()[:16]}"
        kept = next(filter(_is_intact, place.parent.glob(f"{place.name}-*.so")), None)
        return ctypes.CDLL(str(kept)) if kept else _compiled(source, compiler, options, place)
    except (OSError, UserError, subprocess.CalledProcessError) as error:
        _log.warning("compiled C cannot be used (%s): %s", error, without)
        return None


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
    make_own_folder(place.parent)
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
