"""Saves what a command prints for a page of docs: ``python -m tests.docs_results NAME ABOUT COMMAND...``.

It writes experiments/results/docs/NAME.json with the command, its lines, and where and when it ran. ``ABOUT`` says
what was searched, such as "commons-io 2.11.0". The command runs in the current folder, so that it names no other.
With NAME/PART it writes that part of a file that has several commands' lines, such as "comments/guava".
"""

import json
import resource
import shlex
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime

from data_prep.installation import code_version, machine, without_paths
from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "experiments" / "results" / "docs"


def save(name: str, about: str, command: list[str]) -> None:
    began = datetime.now(UTC)
    told = subprocess.run([sys.executable, "-m", "cli.main", *command], capture_output=True, text=True, check=True)
    record = {
        "command": f"bash run.sh {shlex.join(command)}",
        "about": about,
        "date": began.isoformat(timespec="seconds"),
        "code_version": code_version(REPOSITORY),
        "machine": asdict(machine()),
        "processor_seconds": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime),
        "printed": [without_paths(line).rstrip() for line in told.stdout.splitlines()],
    }
    file, _, part = name.partition("/")
    path = FOLDER / f"{file}.json"
    if part:
        record = {**(json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}), part: record}
    FOLDER.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    save(sys.argv[1], sys.argv[2], sys.argv[3:])
