"""Extraction by Ray: the same bytes as in one process, also after a worker was killed."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data_prep.datasets.corpus_trees import clones

REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAM = """
import os, signal, sys, threading, time
from pathlib import Path
from data_prep.corpus.cluster import map_trees
from data_prep.corpus.records import TreeName
from data_prep.corpus.worker import TreeTask

tasks = [TreeTask(TreeName(*line.split()[:2], ""), ("python",), "clone", line.split()[2], "p") for line in sys.stdin]

def kill():
    while True:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cmdline").read_bytes().startswith(b"ray::make_shard"):
                    os.kill(int(process.name), signal.SIGKILL)
                    return
            except OSError:
                pass
        time.sleep(0.005)

threading.Thread(target=kill, daemon=True).start()
by_ray = [made.data for made in map_trees(tasks * 4, 2, "ray")]
alone = [made.data for made in map_trees(tasks, 1, "")]
print(by_ray == alone * 4, all(alone), len(alone))
"""


@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="needs requirements-cluster.txt")
def test_ray_gives_the_same_bytes_after_the_death_of_a_worker(tmp_path):
    lines = []
    for name, revision, clone in clones(tmp_path):
        place = clone / "repo" if (clone / "repo").is_dir() else clone
        lines.append(f"{name} {revision} {place}")
    found = ":".join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": found, "RAY_AUTH_MODE": "disabled"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join(lines),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split()[-3:] == ["True", "True", "9"]
