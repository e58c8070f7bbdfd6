"""Saved results: folded into two files without loss, whatever is killed, and readable at every moment."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from evaluation import result_store
from evaluation.result_store import LISTS, ROWS, ResultStore
from experiments.recipes.results_folder import load_results

ROOT = Path(__file__).resolve().parents[2]


def content(number: int, **more) -> dict:
    """A result as a run saves it."""
    lists = {"ranks": [number + 1, 2, 3], "history": [{"epoch": 1, "mrr": 0.5}], "config": {"words": {"stem": True}}}
    also = {"also": {"csn/a": {"queries": 2, "ranks": [number, 9]}}, "subsets": [{"ranking": {"ranks": [7]}}, {"n": 1}]}
    return {"dataset": "jdk", "seed": number, "exact": {"mrr": 0.25}, "queries": 3, **lists, **also, **more}


@pytest.fixture
def store(tmp_path):
    store = ResultStore(tmp_path / "page")
    for number in range(3):
        store.save(f"run-seed{number}", content(number))
    return store


def files(store: ResultStore) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir())


def test_what_is_folded_is_read_as_before(store):
    before = {name: run.content for name, run in store.load().items()}
    assert before["run-seed1"] == {"label": "run-seed1", **content(1)}
    store.fold()
    assert files(store) == [LISTS, ROWS]
    assert {name: run.content for name, run in store.load().items()} == before
    run = store.get("run-seed2")
    assert run is not None
    assert {place: ranks.tolist() for place, ranks in run.ranks.items()} == {
        "ranks": [3, 2, 3],
        "also/csn/a/ranks": [2, 9],
        "subsets/0/ranking/ranks": [7],
    }
    assert store.get("run-seed9") is None
    rows = [json.loads(line) for line in (store.folder / ROWS).read_text().splitlines()]
    assert [row["run"] for row in rows] == ["run-seed0", "run-seed1", "run-seed2"]
    assert rows[0]["config"] == {"words": {"stem": True}}
    assert not {"ranks", "history"} & rows[0].keys()


def test_the_same_results_are_the_same_bytes_in_whatever_order_they_came(store, tmp_path):
    other = ResultStore(tmp_path / "other")
    for number in (2, 0, 1):
        other.save(f"run-seed{number}", content(number))
        other.fold()
        other.fold()
    store.fold()
    for name in (ROWS, LISTS):
        assert (store.folder / name).read_bytes() == (other.folder / name).read_bytes()


def test_a_result_that_is_saved_again_replaces_the_folded_one(store):
    store.fold()
    store.save("run-seed1", content(1, seed=5))
    for _ in range(2):
        assert [run.row["seed"] for run in store.load().values()] == [0, 5, 2]
        assert store.get("run-seed1").row["seed"] == 5
        store.fold()
    assert files(store) == [LISTS, ROWS]


def test_files_of_earlier_versions_in_folders_are_results_too(store):
    inner = store.folder / "ablations" / "a variant"
    inner.mkdir(parents=True)
    (inner / "run-seed0.json").write_text(json.dumps(content(8)))
    assert next(iter(store.load())) == "ablations/a variant/run-seed0"
    store.fold()
    assert not any(inner.iterdir())
    assert store.get("ablations/a variant/run-seed0").row["seed"] == 8


@pytest.mark.parametrize("after", [LISTS, ROWS])
def test_a_fold_that_is_killed_loses_nothing(store, monkeypatch, after):
    store.fold()
    for number in (1, 3):
        store.save(f"run-seed{number}", content(number, killed=True))
    before = {name: run.content for name, run in store.load().items()}
    write = result_store.write_atomically

    def killed(path, written):
        write(path, written)
        if path.name == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(result_store, "write_atomically", killed)
    with pytest.raises(KeyboardInterrupt):
        store.fold()
    monkeypatch.undo()
    assert {name: run.content for name, run in store.load().items()} == before
    store.fold()
    assert {name: run.content for name, run in store.load().items()} == before
    assert files(store) == [LISTS, ROWS]


_FILL = """
import sys
from pathlib import Path
from evaluation.result_store import ResultStore
store, first = ResultStore(Path(sys.argv[1])), int(sys.argv[2])
for number in range(first, first + 25):
    store.save(f"run{number}", {"seed": number, "ranks": [number] * 200})
    print(number, flush=True)
    store.fold()
    assert store.get(f"run{number}").content["ranks"] == [number] * 200
"""


def test_processes_fill_one_page_and_kills_lose_nothing_that_was_saved(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _FILL, str(tmp_path), str(first)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for first in (0, 100, 200)
    ]
    assert running[2].stdout is not None
    running[2].stdout.readline()
    time.sleep(0.05)
    running[2].send_signal(signal.SIGKILL)
    told = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running[:2]] == [0, 0], told
    saved = {200, *(int(line) for out, _ in told for line in out.split())}
    store = ResultStore(tmp_path)
    store.fold()
    found = store.load()
    assert {f"run{number}" for number in saved} <= found.keys()
    assert all(set(run.content["ranks"]) == {run.row["seed"]} for run in found.values())
    assert [path.name for path in tmp_path.glob("*.json")] == []


def test_ranks_of_another_version_are_refused(store):
    store.fold()
    lists = (store.folder / LISTS).read_bytes()
    store.save("run-seed1", content(1, ranks=[4, 4, 4]))
    store.fold()
    (store.folder / LISTS).write_bytes(lists)
    with pytest.raises(ValueError, match=r"run-seed1 and its ranks in ranks\.jsonl\.gz are of two versions") as error:
        store.load()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        (ROWS, lambda data: data[:-20], r"results\.jsonl: line 3 is no result"),
        (ROWS, lambda _: b"[]\n", r"results\.jsonl: line 1 is no result"),
        (LISTS, lambda data: data[:-20], r"ranks\.jsonl\.gz cannot be read"),
        (LISTS, lambda _: gzip.compress(b"x"), r"ranks\.jsonl\.gz cannot be read"),
        ("new.json", lambda _: b"{", r"new\.json"),
        ("new.json", lambda _: b"3", r"new\.json: expected an object"),
    ],
)
def test_damage_is_named_in_one_line(store, name, damage, message):
    store.fold()
    path = store.folder / name
    path.write_bytes(damage(path.read_bytes() if path.exists() else b""))
    with pytest.raises(ValueError, match=message) as error:
        store.load()
    assert "\n" not in str(error.value)


def test_results_are_given_by_page(store, tmp_path):
    store.fold()
    runs = load_results("page", tmp_path)
    assert [(run.name, run.row["seed"], run.ranks["ranks"].dtype) for run in runs] == [
        (f"run-seed{number}", number, np.int64) for number in range(3)
    ]
    with pytest.raises(ValueError, match=r"pages has no saved results in .*: expected one of page$"):
        load_results("pages", tmp_path)
