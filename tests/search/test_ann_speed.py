"""What ``bash run.sh speed ann`` measures: the vectors that it grows, and engines in processes of their own."""

import numpy as np
import pytest

from evaluation.provenance import machine
from search import ann_speed
from search.ann_speed import AnnSpeed, Growth, grown, markdown


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
    own = tmp_path / "exact"
    own.mkdir()
    found = ann_speed._apart("exact", *(tmp_path / f"{name}.npy" for name in ("vectors", "asked", "best")), own)
    assert (found.engine, found.rows, found.recall, found.disk_mb) == ("exact", 100, 1.0, 0.0)
    assert found.build_seconds > 0
    assert 0 < found.median_ms <= found.p95_ms


def test_what_is_given_up_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(ann_speed, "_LIMIT", 0)
    assert ann_speed._apart("exact", tmp_path / "none.npy", tmp_path / "none.npy", tmp_path, tmp_path) is None
    growth = [Growth("exact", 10, 0.1, 5.0, 0.0, 1.25, 2.5, 1.0), Growth("milvus", 10)]
    told = markdown(AnnSpeed("here", 40, 16, 10, 15, 240, growth, "abc", "2026-11-24", machine()))
    assert "| exact | 10 | 0.1 s | 5 MiB | 0 MB | 1.2 ms | 2.5 ms | 1.000 |" in told
    assert "| milvus | 10 | not within 240 s |" in told
