"""``bash run.sh speed ann``: the vectors that it grows, and engines in processes of their own."""

import numpy as np
import pytest
from serving import index_of

from cli.main import main
from evaluation.speed import GivenUpError, SpeedOptions, in_own_process
from experiments.recipes import results_folder
from experiments.speed.report import saved_records
from search.index.vector_encoding import update_vectors
from search.opening import index_place
from search.quality import ann_speed
from search.quality.ann_speed import ENGINES, grown, search_vectors


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


def test_an_engine_is_measured_in_a_process_of_its_own(real, tmp_path):
    grown(real, 100, tmp_path / "vectors.npy")
    np.save(tmp_path / "asked.npy", real[:10].astype(np.float32))
    (tmp_path / "own").mkdir()
    seconds, facts = in_own_process(search_vectors, "exact", tmp_path, tmp_path / "own")
    assert 0 < seconds["a question, median"] <= seconds["a question, 95 %"]
    assert seconds["ready"] > 0
    assert (facts["recall@15"], facts["MB on disk"]) == (1.0, 0.0)
    assert facts["MiB at most"] > 30  # of Python with numpy alone


def test_what_is_given_up_is_said_and_the_others_go_on(tmp_path, monkeypatch):
    calls = []

    def apart(_, engine, *__, limit):
        calls.append(engine)
        if engine == "faiss":
            raise GivenUpError(f"not within {limit} s")
        return {"ready": 2.0 if engine == "milvus" else 1.0}, {"MiB": 3.0}

    monkeypatch.setattr(ann_speed, "in_own_process", apart)
    given_up = {}
    rows, facts = ann_speed._over(50, tmp_path, SpeedOptions(limit=3), given_up)
    assert facts == {"exact, 50": {"MiB": 3.0}, "faiss, 50": {"given up": "not within 3 s"}, "milvus, 50": {"MiB": 3.0}}
    assert [(row.name, row.first, row.second, row.ratio.median) for row in rows] == [
        ("50, ready", "exact", "milvus", 2.0)
    ]
    assert ann_speed._over(60, tmp_path, SpeedOptions(), given_up)[1]["faiss, 60"] == {
        "given up": "not tried, since given up at 50"
    }
    assert calls == [*ENGINES, "exact", "milvus"]


def test_the_command_measures_the_vectors_of_an_index(tree, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ann_speed, "ENGINES", {"exact": ENGINES["exact"]})
    monkeypatch.setattr(ann_speed, "in_own_process", lambda measure, *about, **_: measure(*about))
    index_of(tree, index_place(tree))
    update_vectors("", index_place(tree), lambda *_: None)
    monkeypatch.setattr(results_folder, "APART", tmp_path / "apart")
    assert main(["speed", "ann", f"--index={index_place(tree)}", "--sizes=50,30"]) == 0  # not the default sizes
    assert f"results are saved in {tmp_path / 'apart'}" in capsys.readouterr().out
    (record,) = saved_records(tmp_path / "apart")
    assert [*record.measured.facts] == ["exact, 30", "exact, 50"]
    assert main(["speed", "ann", "--sizes=3"]) == 2
    assert main(["speed", "ann", f"--index={tmp_path / 'none'}", f"--out={tmp_path / 'out'}"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "galm: --sizes takes numbers from 20 to 100,000,000, comma-separated, not 3"
    assert str(tmp_path / "none") in told[1]
    assert len(told) == 2
