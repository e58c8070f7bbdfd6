"""What ``bash run.sh speed ann`` measures: the vectors that it grows, and engines in processes of their own."""

import numpy as np
import pytest
from serving import index_of

from cli.main import main
from evaluation.provenance import machine
from experiments.recipes import results_folder
from search import ann_speed
from search.ann_speed import ENGINES, AnnSpeed, Growth, grown, markdown
from search.index.places import index_place
from search.index.update import update_vectors


@pytest.fixture
def real():
    vectors = np.random.default_rng(0).standard_normal((40, 16)).astype(np.float32)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


def test_vectors_are_the_real_ones_and_then_others_near_them(real, tmp_path):
    found = np.array(grown(real, 100, tmp_path / "vectors.npy"))
    np.testing.assert_array_equal(found[:40], real)
    np.testing.assert_allclose(np.linalg.norm(found.astype(np.float32), axis=1), 1, atol=2e-3)
    cosines = (found[40:80].astype(np.float32) * real).sum(1)
    assert ((cosines > 0.95) & (cosines < 0.9999)).all()
    assert (found[40:60] != found[80:]).any(axis=1).all()  # the noise is another one each time
    np.testing.assert_array_equal(found, grown(real, 100, tmp_path / "again.npy"))
    np.testing.assert_array_equal(grown(real, 10, tmp_path / "few.npy"), real[:10])


@pytest.fixture
def places(real, tmp_path):
    """The files of an engine's process."""
    grown(real, 100, tmp_path / "vectors.npy")
    np.save(tmp_path / "asked.npy", real[:10].astype(np.float32))
    (tmp_path / "own").mkdir()
    return *(tmp_path / f"{name}.npy" for name in ("vectors", "asked", "best")), tmp_path / "own"


def test_an_engine_is_measured_in_a_process_of_its_own(places):
    found = ann_speed._apart("exact", 100, 60, *places)
    assert (found.engine, found.rows, found.trouble, found.recall, found.disk_mb) == ("exact", 100, "", 1.0, 0.0)
    assert found.build_seconds > 0
    assert 0 < found.median_ms <= found.p95_ms
    assert found.peak_mb > 30  # of Python with numpy alone


def test_what_is_given_up_is_said_and_the_others_go_on(real, tmp_path, monkeypatch):
    calls = []

    def apart(engine, rows, limit, *_):
        calls.append((engine, rows))
        return Growth(engine, rows, f"not within {limit} s" if (engine, rows) == ("faiss", 50) else "")

    monkeypatch.setattr(ann_speed, "_apart", apart)
    monkeypatch.setattr(ann_speed, "_row", lambda each: each.trouble)
    first = ann_speed._grown(real, real[:9], 50, tmp_path, 3, {})
    assert [each.trouble for each in first] == ["", "not within 3 s", ""]
    second = ann_speed._grown(real, real[:9], 60, tmp_path, 3, {"faiss": first[1]})
    assert [each.trouble for each in second] == ["", "not tried, since given up at 50", ""]
    assert calls == [(engine, 50) for engine in ENGINES] + [("exact", 60), ("milvus", 60)]


def test_a_process_that_takes_too_long_or_ends_is_given_up(places, tmp_path):
    late = ann_speed._apart("exact", 100, 0, *places)
    assert late == Growth("exact", 100, "not within 0 s")
    ended = ann_speed._apart("exact", 100, 60, tmp_path / "none.npy", *places[1:])
    assert ended == Growth("exact", 100, "its process ended with the exit code 1, perhaps for memory")


def test_the_page_has_a_row_for_each():
    growth = [Growth("exact", 10, "", 0.1, 5.0, 80.0, 0.0, 1.25, 2.5, 1.0), Growth("milvus", 10, "not within 240 s")]
    told = markdown(AnnSpeed("here", 40, 16, 10, 15, 240, growth, "abc", "2026-11-24", machine()))
    assert "| exact | 10 | 0.1 s | 5 MiB | 80 MiB | 0 MB | 1.2 ms | 2.5 ms | 1.000 |" in told
    assert "| milvus | 10 | not within 240 s | | | | | | |" in told


def test_the_command_measures_the_vectors_of_an_index(tree, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ann_speed, "ENGINES", {"exact": ENGINES["exact"]})
    index_of(tree, index_place(tree))
    update_vectors("", index_place(tree), lambda *_: None)
    options = [f"--index={index_place(tree)}", "--sizes=50,30", f"--out={tmp_path / 'out'}"]
    assert main(["speed", "ann", *options]) == 0
    page = (tmp_path / "out" / "ann-speed.md").read_text()
    assert page in capsys.readouterr().out
    assert [line.split(" | ")[1] for line in page.splitlines() if line.startswith("| exact")] == ["30", "50"]
    monkeypatch.setattr(results_folder, "APART", tmp_path / "apart")
    assert main(["speed", "ann", *options[:-1]]) == 0  # not the default sizes
    assert (tmp_path / "apart" / "ann-speed.json").exists()
    assert f"results are saved in {tmp_path / 'apart'}" in capsys.readouterr().out
    assert main(["speed", "ann", "--sizes=3"]) == 2
    assert main(["speed", "ann", "here"]) == 2
    assert main(["speed", "ann", f"--index={tmp_path / 'none'}"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "galm: --sizes takes numbers from 20 to 100,000,000, comma-separated, not 3"
    assert told[1] == "galm: bash run.sh speed ann takes options only, not here"
    assert str(tmp_path / "none") in told[2]
    assert len(told) == 3
