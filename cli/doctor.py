"""What this installation has and can do, and how to get what is missing: ``bash run.sh doctor`` and ``install``.

The packages of a part of the program are read from the requirements files of a checkout, or the metadata of a wheel.
"""

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from shlex import quote
from typing import Final

from data_prep.errors import UserError, reason_and_file
from data_prep.files.access import cache_folder, named_path
from data_prep.installation import DISTRIBUTION, IMPORT_ROOT, INSTALLED, processors, program_version, workspace
from experiments.terminal import console
from modeling.c_library import c_compiler

PARTS: Final = {
    "search": "the search",
    "train": "training",
    "agents": "the server for coding agents",
    "sentences": "a pretrained transformer",
    "vectors": "a search by FAISS or Milvus",
    "posts": "a dump of posts in .7z archives",
    "parquet": "CodeSearchNet in Parquet files",
    "cluster": "a preparation on several machines",
}
"""Part -> what it is for; ``bash run.sh install PART`` adds it."""
_NAME: Final = re.compile(r"[\w.-]+")
_EXTRA: Final = re.compile(r"""extra == ["']([\w-]+)["']""")


def requirements(part: str) -> list[str]:
    """The requirements of a part of :data:`PARTS`, such as ``numpy==2.4.6``.

    Raises:
        UserError: the program is a wheel whose metadata are missing.
    """
    if not INSTALLED:
        lines = (IMPORT_ROOT / f"requirements-{part}.txt").read_text(encoding="utf-8").splitlines()
        return [found for line in lines if (found := line.partition("#")[0].strip())]
    try:
        all_parts = requires(DISTRIBUTION) or []
    except PackageNotFoundError as error:
        raise UserError(f"the metadata of {DISTRIBUTION} are missing: install it again") from error
    wanted = [] if part == "search" else [part]
    return [each.partition(";")[0].strip() for each in all_parts if _EXTRA.findall(each) == wanted]


def versions(part: str) -> dict[str, str | None]:
    """Each package of a part -> its installed version, or None."""
    found: dict[str, str | None] = {}
    for each in requirements(part):
        name = _NAME.match(each)
        assert name is not None
        try:
            found[name[0]] = version(name[0])
        except PackageNotFoundError:
            found[name[0]] = None
    return found


def install(arguments: Sequence[str]) -> None:
    """Add parts to the environment of an installed wheel; in a checkout ``run.sh`` does it.

    Raises:
        UserError: no such part, or pip could not install it.
    """
    unknown = [each for each in arguments if each not in PARTS]
    if unknown or not arguments:
        got = f", but got {unknown[0]}" if unknown else ""
        raise UserError(f"expected what to install, some of {' '.join(PARTS)}{got}")
    wanted = [each for part in arguments for each in requirements(part)]
    if subprocess.run([sys.executable, "-m", "pip", "install", *wanted], check=False).returncode:
        raise UserError("pip could not install it, as it says above")


_WIDTH: Final = 12


def show_version(_: Sequence[str]) -> None:
    """Print the version."""
    console.show(f"galm {program_version()}")


def doctor(arguments: Sequence[str]) -> None:
    """Print a line a part.

    Raises:
        UserError: it was given arguments.
    """
    if arguments:
        raise UserError(f"expected nothing after doctor, but got {arguments[0]}")
    for name, found in _findings():
        console.show(f"{name:<{_WIDTH}}{found}")


def _findings() -> Iterator[tuple[str, str]]:
    yield "galm", f"{program_version()}, {'installed in' if INSTALLED else 'a checkout at'} {IMPORT_ROOT}"
    machine = f"{platform.system()} {platform.machine()}, {processors()} processors"
    yield "python", f"{platform.python_version()} on {machine}"
    for part, purpose in PARTS.items():
        yield part, _packages(part, purpose)
    yield "kernels", _kernels()
    yield "gpu", _gpu()
    yield "model", _model()
    yield "index", _index()
    yield "results", f"{workspace() / 'runs'}, {len([*(workspace() / 'runs').glob('*/metrics.json')])} finished runs"


def _packages(part: str, purpose: str) -> str:
    found = versions(part)
    lacking = [name for name, installed in found.items() if installed is None]
    if lacking:
        what = ", ".join(lacking[:3]) + (f" and {len(lacking) - 3} more" if len(lacking) > 3 else "")
        return f"`bash run.sh install {part}` adds what {purpose} needs: {what}"
    first = ", ".join(f"{name} {installed}" for name, installed in [*found.items()][:3])
    return f"ready for {purpose}: {first}{', ...' if len(found) > 3 else ''}"


def _kernels() -> str:
    if os.environ.get("GALM_NATIVE") == "0":
        return "turned off by GALM_NATIVE=0: numpy and PyTorch are used"
    if made := [*cache_folder().glob("kernels-*.so")]:
        return f"compiled: {len(made)} in {cache_folder()}"
    compiler = c_compiler()
    if compiler is None:
        return "no C compiler (cc, gcc or clang): everything works, training GALM takes twice as long"
    return f"not compiled yet; {compiler} does it once, when they are first needed"


def _gpu() -> str:
    try:
        import torch
    except ImportError:
        return "not looked for: torch is not installed; the search does not use one"
    if not torch.cuda.is_available():
        return f"none that torch {torch.__version__} can use; training runs on the processors"
    return ", ".join(torch.cuda.get_device_name(each) for each in range(torch.cuda.device_count()))


def _model() -> str:
    from search.models.folder import DEFAULT_MODEL, model_hash

    try:
        size = sum(each.stat().st_size for each in DEFAULT_MODEL.rglob("*") if each.is_file()) / 1e6
        return f"the shipped one, {size:.0f} MB, {model_hash(DEFAULT_MODEL)[:8]}"
    except (UserError, OSError) as error:
        return f"the shipped one cannot be used ({reason_and_file(error)}): get the code again"


def _index() -> str:
    from search.index.index_file import open_index
    from search.opening import indexed_above
    from search.upkeep import shown_age

    here = named_path(".")
    if (found := indexed_above(here)) is None:
        return f"none of {here} or of a folder above it: `bash run.sh index {quote(str(here))}` makes one"
    folder, path = found
    try:
        index = open_index(path, mapped=True)
    except (UserError, OSError) as error:
        again = f"`bash run.sh index {quote(str(folder))}` makes it anew"
        return f"of {folder}, cannot be used ({reason_and_file(error)}): {again}"
    age = shown_age(time.time() - path.stat().st_mtime)
    return f"of {folder}: {len(index.files):,} files, {len(index):,} entries, made {age} ago; {path}"
