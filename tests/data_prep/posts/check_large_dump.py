"""Reads a generated dump of gigabytes under a limit of memory; not one of the default tests, it takes minutes and disk.

    .venv/bin/python -m tests.data_prep.posts.check_large_dump FOLDER [GIGABYTES [SHARE_KEPT]]

Posts are questions of about 1.3 KB with code and a traceback, and their answers; ``SHARE_KEPT`` of the questions, 0.1
by default, have the tag. The process that reads may address 1 GiB, of which Python and its libraries take about half;
posts are not loaded, which takes memory for all that are kept.
"""

import multiprocessing
import resource
import sys
import time
from pathlib import Path

from data_prep.posts.sets import PostsConfig
from data_prep.posts.store import read_dumps
from tests.data_prep.posts.dumps import TRACEBACK, answer, code, question, table, write_dump

LIMIT = 1 << 30
PROSE = (
    "<p>"
    + "I tried to open the file that the other program writes, and it fails when it is not there yet. " * 4
    + "</p>"
)


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def rows(first: int, count: int, kept: int) -> list[dict[str, object]]:
    """Questions with odd ids, each followed by its answer; every ``kept``-th has the tag."""
    found: list[dict[str, object]] = []
    for number in range(first, first + 2 * count, 2):
        body = PROSE + code(f"x = open(name{number})") + PROSE + code(TRACEBACK)
        tags = "<python>" if number // 2 % kept == 0 else "<java>"
        found += [question(number, body, accepted=number + 1, tags=tags), answer(number + 1, number, PROSE + PROSE)]
    return found


def generate(folder: Path, size: int, kept: int) -> Path:
    """Write a dump of about ``size`` bytes."""
    path = write_dump(folder, [], [])
    head, _, tail = table("posts", []).partition(b"<posts>")
    with (path / "Posts.xml").open("wb") as file:
        file.write(head + b"<posts>")
        number = 1
        while file.tell() < size:
            part = table("posts", rows(number, 2000, kept))
            file.write(part[part.index(b"<posts>") + 7 : part.rindex(b"</posts>")])
            number += 4000
        file.write(tail)
    return path


def read(path: Path, root: Path) -> None:
    """Read under the limit, and print what it took."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    started = time.perf_counter()
    config = PostsConfig(path=(str(path),), root=str(root))
    try:
        read_dumps(config, command="", say=tell)
    except MemoryError:
        tell("out of memory")
        sys.exit(1)
    seconds = time.perf_counter() - started
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    parsing, reading = (each.ru_utime + each.ru_stime for each in (own, others))
    peak = own.ru_maxrss / 1024
    tell(f"{seconds:.0f} s; {parsing:.0f} s of CPU, and {reading:.0f} in other processes; peak {peak:.0f} MiB")


def main(folder: str, gigabytes: str = "2", share: str = "0.1") -> int:
    """Generate, read in a process of its own, and remove the dump."""
    path = generate(Path(folder), int(float(gigabytes) * 1e9), round(1 / float(share)))
    tell(f"{path}: {(path / 'Posts.xml').stat().st_size / 1e9:.2f} GB")
    reader = multiprocessing.get_context("spawn").Process(target=read, args=(path, Path(folder) / "data"))
    reader.start()
    reader.join()
    (path / "Posts.xml").unlink()
    return reader.exitcode or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
