"""Provenance of a result: the machine (without host name), the code version and peak memory, without paths."""

import hashlib
import os
import platform
import re
import resource
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from data_prep.installation import INSTALLED

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


def machine() -> Machine:
    """The current machine."""
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        platform=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        torch=metadata.version("torch"),
        gpu=_gpu(),
    )


def code_version(root: Path) -> str:
    """The git commit of ``root``, with "-dirty" if code differs from it; outside git, a hash of the code.

    For an installed wheel, the version of the package.
    """
    if INSTALLED:
        return f"neural-code-search {metadata.version('neural-code-search')}"
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
