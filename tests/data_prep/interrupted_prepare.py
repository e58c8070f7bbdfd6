"""A program: prepares a folder of Java again and again, each time in a process that gets Ctrl-C at a random moment.

Its arguments are the folder, an empty root and how many times. It prints a line of JSON for each: how the process ended
and what it said, the processes that it left, and what lies in the root. Every second time an older data set lies there.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from data_prep.config import DataConfig
from data_prep.prepare import prepare
from data_prep.store.prepared_data import open_prepared
from data_prep.store.split import DamagedStore
from experiments.terminal.startup import end_silently


def main(sources: str, root: str, times: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it
    config = DataConfig(path=sources, root=root, processes=2, valid_share=0.2, test_share=0.2)
    numbers, seconds = random.Random(7), 0.0
    for number in range(-1, times):  # the first is not struck
        begun = time.monotonic()
        found = struck(replace(config, min_query_words=4 - number % 2), numbers.uniform(0, seconds) if seconds else 600)
        seconds = seconds or time.monotonic() - begun
        names = sorted(path.name for path in Path(root).iterdir() if path.suffix != ".lock")  # which the next one takes
        line = json.dumps({**found, "names": names, "whole": [is_whole(Path(root, name)) for name in names]})
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()  # else a process that is forked later writes it too
        if not number % 2:
            for name in names:
                shutil.rmtree(Path(root, name))


def struck(config: DataConfig, moment: float) -> dict[str, object]:
    """What came of a process that was struck ``moment`` seconds after it began, if it had not ended."""
    ready, begun = os.pipe()
    with tempfile.TemporaryFile() as said:
        pid = os.fork()
        if not pid:
            os.setsid()
            os.dup2(said.fileno(), 2)
            os.write(begun, b".")
            prepare("folder", config, command="", say=lambda _: None)
            end_silently()  # as the program does, so that Python's own end is not interrupted in words
            sys.exit()
        os.read(ready, 1)
        until = time.monotonic() + moment
        while time.monotonic() < until and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(0.002)
        os.kill(pid, signal.SIGINT)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        left = at_work(pid)
        said.seek(0)
        return {"status": status, "said": said.read().decode(), "left": left}


def at_work(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, its = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(its) == session and state != "Z":
            found.append(int(folder.name))
    return found


def is_whole(folder: Path) -> bool:
    """Whether a prepared data set lies in ``folder``."""
    try:
        open_prepared(folder)
    except DamagedStore:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
