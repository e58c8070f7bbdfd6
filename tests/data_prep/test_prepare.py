import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.jdk import choose, find_sources, homes
from data_prep.prepare import prepare
from data_prep.records import SPLITS
from data_prep.worker_pool import map_ordered

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> Path:
    """Some real files of the JDK, one of them broken by us."""
    found = choose(find_sources(homes(os.environ)))
    if found is None:
        pytest.skip("no JDK with lib/src.zip is installed here")
    folder = tmp_path_factory.mktemp("sources")
    with zipfile.ZipFile(found.zip) as archive:
        names = [n for n in archive.namelist() if n.startswith("java.base/java/util/") and n.endswith(".java")]
        archive.extractall(folder, names[:30])
    (folder / "Broken.java").write_text("class Broken { /** Goes on and on. */ void go() {\n\n\n }\n int = ;")
    return folder


@pytest.fixture(scope="module")
def few(sources, tmp_path_factory) -> Path:
    """Six of them, and the broken one."""
    folder = tmp_path_factory.mktemp("few")
    for path in (*sorted(sources.rglob("util/*.java"))[:6], sources / "Broken.java"):
        shutil.copy(path, folder)
    return folder


def run(config: DataConfig):
    said: list[str] = []
    return prepare("folder", config, command="prepare folder", say=said.append), said


@pytest.fixture(scope="module")
def config(sources, tmp_path_factory) -> DataConfig:
    root = tmp_path_factory.mktemp("root")
    return DataConfig(path=str(sources), root=str(root), processes=1, valid_share=0.2, test_share=0.2)


@pytest.fixture(scope="module")
def first(config):
    return run(config)


def test_the_manifest_accounts_for_every_method(first):
    data, said = first
    counts = data.manifest["counts"]
    lost = sum(counts["dropped"].values()) + sum(counts["duplicates"].values())
    assert counts["documented_methods"] == lost + counts["pairs"]
    assert counts["pairs"] == sum(len(data.splits[name]) for name in SPLITS)
    assert counts["files"] == 31
    assert counts["broken_files"] == 1
    assert data.manifest["broken_files"] == [{"path": "Broken.java", "reason": "does not parse at line 5"}]
    assert data.manifest["command"] == "prepare folder"
    assert said[0] == "preparing folder: not prepared yet"
    assert all("\n" not in line for line in said)


def test_no_file_is_on_two_sides(first):
    splits = first[0].splits.values()
    paths = [{split.text(row).path for row in range(len(split))} for split in splits]
    assert sum(map(len, paths)) == len(set().union(*paths))


@pytest.mark.usefixtures("first")
def test_it_is_used_again_while_nothing_changed(config):
    data, said = run(replace(config, processes=2, limit=20))
    assert said == []
    assert sum(len(split) for split in data.splits.values()) == 20


def test_any_number_of_processes_gives_the_same_bytes(config, first, tmp_path):
    data, _ = run(replace(config, root=str(tmp_path), processes=3))
    assert data.manifest["files"] == first[0].manifest["files"]
    assert data.manifest["fingerprint"] == first[0].manifest["fingerprint"]


def test_changes_and_damage_are_told_in_one_line_and_mended(config, few, tmp_path):
    config = replace(config, path=str(few), root=str(tmp_path))
    data, _ = run(config)
    folder = data.folder
    _, said = run(replace(config, min_query_words=4))
    assert said[0] == "preparing folder: settings changed: min_query_words 3 -> 4"
    (folder / "lexicon.json").write_text("[]")
    mended, said = run(replace(config, min_query_words=4))
    assert "lexicon.json" in said[0]
    assert len(mended.splits["train"]) > 0
    extra = few / "Extra.java"
    extra.write_text("class Extra { }")
    try:
        assert "raw data changed" in run(replace(config, min_query_words=4))[1][0]
    finally:
        extra.unlink()
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_too_little_java_is_told(tmp_path):
    (tmp_path / "java").mkdir()
    (tmp_path / "java" / "A.java").write_text("class A { }")
    with pytest.raises(ValueError, match="too few"):
        run(DataConfig(path=str(tmp_path / "java"), root=str(tmp_path / "root"), processes=1))
    with pytest.raises(ValueError, match="there are jdk, folder, project, csn"):
        prepare("jkd", DataConfig(), command="", say=print)


def test_results_come_in_order_and_a_bounded_number_ahead():
    taken: list[int] = []

    def items():
        for number in range(40):
            taken.append(number)
            yield float(number)

    results = map_ordered("math:sqrt", items(), 2)
    assert next(results) == 0
    assert len(taken) <= 5
    assert list(results) == [number**0.5 for number in range(1, 40)]


def test_a_killed_process_is_one_clear_error():
    with pytest.raises(ChildProcessError, match="by signal 9") as error:
        list(map_ordered("signal:raise_signal", [signal.SIGKILL] * 8, 2))
    assert "\n" not in str(error.value)


def test_a_failure_in_a_process_is_told():
    with pytest.raises(RuntimeError, match="math domain error"):
        list(map_ordered("math:sqrt", [1.0, -1.0], 2))


def test_ctrl_c_leaves_no_process_and_no_half(sources, tmp_path):
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background shell ignores it
        "from data_prep.prepare import prepare; from data_prep.config import DataConfig\n"
        f"config = DataConfig(path={str(sources)!r}, root={str(tmp_path)!r}, processes=2)\n"
        "prepare('folder', config, command='', say=lambda line: None)"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=REPOSITORY, stderr=subprocess.PIPE) as running:
        workers: list[str] = []
        while len(workers) < 2 and running.poll() is None:
            listed = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(running.pid)], capture_output=True, text=True, check=False
            )
            workers = listed.stdout.split()
        running.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in running.communicate(timeout=20)[1]
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found by Linux's /proc")
def test_ctrl_c_at_any_moment_leaves_no_process_and_no_half(few, tmp_path):
    program = Path(__file__).with_name("interrupted_prepare.py")
    command = [sys.executable, str(program), str(few), str(tmp_path), "16"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    whole, *struck = map(json.loads, told.stdout.splitlines())
    assert (whole["status"], whole["whole"], len(struck)) == (0, [True], 16)
    for each in struck:
        assert each["left"] == []
        assert all(each["whole"]), each
        assert len(each["names"]) <= 1
        if each["said"] or not each["whole"]:
            ended = each["status"], each["said"].splitlines()[-1]
            in_class = "__set_name__" in ended[1]  # while a class is made, Python 3.11 raises a RuntimeError instead
            assert in_class or ended == (-signal.SIGINT, "KeyboardInterrupt"), each
        else:
            assert each["status"] in (0, -signal.SIGINT)  # the latter at the very end, where Python listens no more
    assert sum(each["said"] != "" for each in struck) > 4


def test_two_at_once_prepare_once(few, tmp_path):
    program = (
        "from data_prep.prepare import prepare; from data_prep.config import DataConfig\n"
        f"config = DataConfig(path={str(few)!r}, root={str(tmp_path)!r}, processes=1)\n"
        "print(len(prepare('folder', config, command='', say=print).splits['train']))"
    )
    command = [sys.executable, "-c", program]
    two = [subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [each.communicate(timeout=120)[0].splitlines() for each in two]
    assert [each.returncode for each in two] == [0, 0]
    assert told[0][-1] == told[1][-1]
    assert sum(line.startswith("preparing folder") for line in (*told[0], *told[1])) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_processes_load_no_torch():
    loads = "import sys; import data_prep.pipeline.java_extraction"
    program = f"{loads}; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, check=False).returncode == 0


def test_the_manifest_is_json_with_the_raw_data_named(first):
    manifest = json.loads((first[0].folder / "manifest.json").read_text())
    assert manifest["sources"]["inputs"][0]["name"].startswith("sources")
    assert len(manifest["sources"]["inputs"][0]["sha256"]) == 64
