"""The packages that a part of the program needs, by the requirements files of a checkout or the metadata of a wheel."""

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

from data_prep.errors import UserError
from data_prep.installation import DISTRIBUTION, IMPORT_ROOT, INSTALLED

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
