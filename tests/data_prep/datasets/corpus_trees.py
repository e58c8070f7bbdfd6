"""Git repositories and package archives of real Python, this project's own, to make a corpus from."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.search.repositories import commit, run_git

REPOSITORY = Path(__file__).resolve().parents[3]
ROOMS = (
    "evaluation",
    "training",
    "modeling",
    "baselines",
    "galm",
    "search/retrieval",
    "experiments/recipes",
    "experiments/terminal",
    "experiments/tables",
)
LICENCE = (REPOSITORY / "LICENSE").read_text()


def sources(room: str) -> dict[str, str | bytes]:
    """The modules of a room with the project's licence."""
    files = {path.relative_to(REPOSITORY).as_posix(): path.read_bytes() for path in (REPOSITORY / room).rglob("*.py")}
    return {**files, "LICENSE": LICENCE}


def clones(folder: Path) -> list[tuple[str, str, Path]]:
    """A repository for each room, plain or bare by turns: name, commit, clone."""
    found = []
    for number, room in enumerate(ROOMS):
        name = room.replace("/", "-")
        plain = commit(folder / "o" / name, sources(room))
        where = plain
        if number % 2:
            where = folder / f"o+{name}"
            run_git(folder, "clone", "-q", "--bare", str(plain), str(where / "repo"))
            plain.rename(folder / f"unused-{name}")
        found.append((f"o/{name}", head_of(where / "repo" if number % 2 else where), where))
    return found


def head_of(clone: Path) -> str:
    return run_git(clone, "rev-parse", "HEAD").strip()


def write_list(path: Path, found: list[tuple[str, str, Path]], languages: str = "python") -> Path:
    path.write_text("# a list\n" + "".join(f"{name}\t{commit}\tMIT\t{languages}\n" for name, commit, _ in found))
    return path


def tarball(path: Path, files: Mapping[str, str | bytes], top: str = "package/") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            data = text if isinstance(text, bytes) else text.encode()
            member = tarfile.TarInfo(top + name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def wheel(path: Path, room: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in sources(room).items():
            archive.writestr(f"{room}-1.0.dist-info/licenses/LICENSE" if name == "LICENSE" else name, data)
    return path
