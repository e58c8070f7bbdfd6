"""The program: where it runs from, its version, and the machine that it runs on, as results name them, without paths.

It runs from a checkout, with top-level packages, or from a wheel, with all in one package. A hash of the code that
prepares a data set tells when prepared data are stale: if and only if any of that code changed.
"""

import ast
import hashlib
import math
import os
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from data_prep.files.access import named_path

OUTER: Final = __name__.rpartition("data_prep.")[0]
"""Name of the enclosing package, with a trailing dot; empty in a checkout."""
INSTALLED: Final = OUTER != ""
IMPORT_ROOT: Final = Path(__file__).resolve().parents[__name__.count(".")]
"""The folder on the import path: the checkout, or the folder of installed packages."""
DISTRIBUTION: Final = "neural-code-search"
"""The name by which it is installed."""

_GROUPS: Final = Path("/sys/fs/cgroup")
_QUOTAS: Final = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))
"""Files with the microseconds of processor time in a period, and those of the period: new control groups, and old."""


def program_version() -> str:
    """The version of the program, also in a checkout that is not installed."""
    if not INSTALLED:
        import tomllib

        return str(tomllib.loads((IMPORT_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"


DEFAULT_FOLDERS: Final = (
    "data",
    "data/posts-index",
    "data/raw/gencodesearchnet",
    "runs/gencodesearchnet",
    "runs/posts",
    "runs/posts_sample",
)
"""Folders that options have by default, where nothing makes them absolute sooner."""


def workspace() -> Path:
    """The folder that contains ``data``, ``runs`` and results: the checkout or, for a wheel, the current folder."""
    if not INSTALLED:
        return IMPORT_ROOT
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was deleted, which every command reports first
        return Path()


def default_or_named(text: str) -> Path:
    """The folder at a path that an option has; one of :data:`DEFAULT_FOLDERS` is in :func:`workspace`.

    Raises:
        UserError: as :func:`data_prep.files.access.named_path`.
    """
    return workspace() / text if text in DEFAULT_FOLDERS else named_path(text)


_PACKAGE: Final = f"{OUTER}data_prep"
_NAMED: Final = re.compile(rf"{re.escape(_PACKAGE)}(?:\.\w+)+(?=:\w+$)")
"""The module of a "package.module:name" string."""
_PARSERS: Final = ("javalang", "tree-sitter", "tree-sitter-java")
_STORE: Final = "data_prep.store.prepared_data"
"""The module that writes pairs, for all data sets."""
_WITHOUT_PART: Final = frozenset(
    ("data_prep.errors", "data_prep.config", "data_prep.installation", "data_prep.sources.download")
)
"""Modules that do not affect the prepared data, or whose effect is reflected in the settings and inputs."""


def program_sha256(module: str) -> str:
    """The sha256 over the source of ``module``, its imports from this package, the store, and the parsers' versions.

    It is the same in a checkout and in a wheel built from it, where messages have another name of the program.

    Args:
        module: the dotted name of the module of the data set's class.
    """
    from importlib.metadata import version

    digest = hashlib.sha256(" ".join(version(parser) for parser in _PARSERS).encode())
    for name in modules_behind((module, _STORE)):
        source = name.encode() + b"\n" + _file_of(name).read_bytes().replace(b"bash run.sh", b"galm")
        digest.update(source.replace(OUTER.encode(), b"") if OUTER else source)
    return digest.hexdigest()


def modules_behind(modules: Iterable[str]) -> list[str]:
    """``modules`` and their transitive imports from this package, except ``_WITHOUT_PART``, sorted."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found and module not in _WITHOUT_PART:
            found.add(module)
            waiting += filter(_is_module, _named_in(_file_of(module).read_bytes()))
    return sorted(found)


@lru_cache(maxsize=256)
def _named_in(source: bytes) -> tuple[str, ...]:
    """The names that a ``source`` imports, or has in a string; those of this package's modules among them."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found += [each.name for each in names]
            case ast.ImportFrom(module=str(module), names=names, level=0) if _is_inside(module):
                found += [module, *(f"{module}.{each.name}" for each in names)]
            case ast.Constant(value=str(text)) if named := _NAMED.match(text):
                found.append(named[0])
    return tuple(found)


def _is_inside(name: str) -> bool:
    return f"{name}.".startswith(f"{_PACKAGE}.")


def _is_module(name: str) -> bool:
    return _is_inside(name) and _file_of(name).is_file()


def _file_of(module: str) -> Path:
    return IMPORT_ROOT.joinpath(*module.split(".")).with_suffix(".py")


_CODE: Final = ("*.py", "*.sh", "requirements*.txt", "locks/*.txt", "pyproject.toml")
_PATH: Final = re.compile(r"(?<![^\s='\":,])(?:~|\.{1,2})?/(?!/)[^\s'\",]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The hardware and software that affect the speed of a run."""

    cpu: str
    cores: int  # available to this process
    platform: str
    python: str
    torch: str
    gpu: str = ""  # that torch finds, where it is loaded


def processors() -> int:
    """Number of CPUs available to this process: those that it may run on, or the time of fewer that a container has."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for files in _QUOTAS:
        with suppress(OSError, ValueError):  # there is none, or it is "max"
            quota, period = map(int, " ".join((_GROUPS / name).read_text(encoding="ascii") for name in files).split())
            return min(allowed, max(1, math.ceil(quota / period))) if quota > 0 and period > 0 else allowed
    return allowed


def machine() -> Machine:
    """The current machine."""
    from importlib.metadata import version  # slow to import

    return Machine(
        cpu=_cpu(),
        cores=processors(),
        platform=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        torch=version("torch"),
        gpu=_gpu(),
    )


def code_version(root: Path) -> str:
    """The git commit of ``root``, with "-dirty" if code differs from it; outside git, a hash of the code.

    For an installed wheel, the version of the package.
    """
    if INSTALLED:
        return f"{DISTRIBUTION} {program_version()}"
    try:
        if Path(_git(root, "rev-parse", "--show-toplevel")) != root.resolve():
            return _source_hash(root)
        commit = _git(root, "rev-parse", "--short=12", "HEAD")
        return f"{commit}-dirty" if _git(root, "status", "--porcelain", "--", *_CODE) else commit
    except (OSError, subprocess.SubprocessError):
        return _source_hash(root)


def peak_memory_mb() -> float:
    """Peak resident memory so far, in MiB, of this process or of its largest finished child process."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB elsewhere
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak * unit / 2**20


def without_paths(text: str) -> str:
    """``text`` with each path outside the working folder reduced to its last component, for publication."""
    return _PATH.sub(lambda found: Path(found[0]).name or found[0], text)


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout.strip()


def _source_hash(root: Path) -> str:
    digest = hashlib.sha256()
    for folder in sorted(child for child in root.iterdir() if (child / "__init__.py").is_file()):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"source-{digest.hexdigest()[:12]}"


def _gpu() -> str:
    torch = sys.modules.get("torch")  # no run without it has computed on a GPU
    return torch.cuda.get_device_name() if torch and torch.cuda.is_available() else ""


def _cpu() -> str:
    if sys.platform == "darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip() or platform.machine()
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8", errors="replace") if info.is_file() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1] if found else platform.machine()
