"""Extraction by processes and by Ray: the same bytes as in one process, whatever became of the workers."""

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from data_prep.pipeline import corpus
from data_prep.pipeline.corpus import map_trees
from data_prep.pipeline.extraction import COSTLY, TreeTask
from data_prep.pipeline.shards import TreeName, read_files, read_head
from data_prep.worker_process import TREE
from tests.data_prep.datasets.corpus_trees import LICENCE, clones, head_of
from tests.search.repositories import commit

REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAM = """
import os, signal, sys, threading, time
from pathlib import Path
from data_prep.pipeline.corpus import map_trees
from data_prep.pipeline.shards import TreeName
from data_prep.pipeline.extraction import TreeTask

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


def test_a_file_that_costs_too_much_costs_itself_alone(tmp_path, monkeypatch):
    """Its tree is extracted anew, each file apart."""
    assert corpus._GUARD.limits == TREE
    soon = replace(corpus._GUARD, limits=replace(TREE, seconds=1.0, seconds_per_mib=0.0))
    monkeypatch.setattr(corpus, "_GUARD", soon)
    kept = (REPOSITORY / "evaluation" / "metrics.py").read_text()
    costly = "class A {\n" + "a=>a=>a=>a=>a=>a=>a=>a=>a=>a=>\n" * 1_000
    clone = commit(tmp_path / "tree", {"LICENSE": LICENCE, "a.py": kept, "A.java": costly})
    task = TreeTask(TreeName("o/tree", head_of(clone), ""), ("java", "python"), "clone", str(clone), "p")
    (made,) = map_trees([task], 1, "")
    (tmp_path / "shard").write_bytes(made.data)
    of = read_head(tmp_path / "shard")["languages"]
    assert (of["java"]["files"], of["python"]["files"]) == ({COSTLY: 1}, {"": 1})
    assert [file.path for file in read_files(tmp_path / "shard")] == ["a.py"]
