"""What nearest rows are, by each way to look them up; what is not installed is skipped."""

import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from data_prep.store.arrays import write_sealed
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.config import resolve
from experiments.run.training import build_model
from search.index.code_index import WHOLE_FILE
from search.retrieval import faiss_index as vector_faiss
from search.retrieval.exact import ExactVectors, VectorIndex, extra
from search.retrieval.faiss_index import Clusters, FaissVectors, are_kept, kept_faiss
from search.retrieval.milvus import MilvusVectors, is_milvus

WAYS = ("exact", "exact by blocks", "faiss", "milvus")


def needs(library):
    if not find_spec(library):
        pytest.skip(f"{library} is not installed: bash run.sh install vectors")


@pytest.fixture
def made(tmp_path):
    """Makes an index of vectors by a way, and closes it."""
    opened = []

    def of(way, vectors):
        if way == "faiss":
            needs("faiss")
            index = FaissVectors(vectors)
        elif way == "milvus":
            needs("pymilvus")
            needs("milvus_lite")
            index = MilvusVectors(vectors, str(tmp_path / "milvus.db"))
        else:
            index = ExactVectors(vectors, held=0 if way == "exact by blocks" else 1 << 20)
        opened.append(index)
        assert isinstance(index, VectorIndex)
        return index

    yield of
    for index in opened:
        index.close()


def halves(count, seed, dim=12):
    """Vectors of length 1 with four numbers of +-1/2 or, each ninth, of zeros: sums are exact, and many tie."""
    random = np.random.default_rng(seed)
    found = np.zeros((count, dim), np.float32)
    for row in range(count):
        if row % 9:
            found[row, random.choice(dim, 4, replace=False)] = random.choice([-0.5, 0.5], 4)
    return found


@pytest.fixture(scope="module")
def real(index):
    """Vectors of methods of the JDK and of comments, by a UNIF that has not been trained."""
    import torch

    torch.manual_seed(0)
    plan = resolve("folder", "unif", {"model.dim": "32"})
    methods = np.flatnonzero(index.kinds != WHOLE_FILE)
    split = index.split.take(methods)
    tokenizer = WordTokenizer.build(split, plan.words)
    model, ids = build_model(plan, tokenizer).eval(), tokenizer.encode(split)
    asked = np.flatnonzero(index.asks[methods])[:40]
    with torch.inference_mode():
        rows = model.encode_code(ids.codes(np.arange(len(split)))).states[:, 0].numpy()
        return rows.astype(np.float16), model.encode_query(ids.queries(asked)).states[:, 0].numpy()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("count", [1, 7, 60, 299])
@pytest.mark.parametrize("way", WAYS)
def test_the_best_rows_are_those_of_the_definition_and_the_lower_of_equal_ones_is_first(made, way, count, dtype):
    vectors, queries = halves(300, 0), halves(20, 1)[1:9]
    scores, rows = made(way, vectors.astype(dtype)).search(queries, count)
    for number, query in enumerate(queries.tolist()):
        plain = [sum(a * b for a, b in zip(query, vector, strict=True)) for vector in vectors.tolist()]
        expected = sorted(range(300), key=lambda row: (-plain[row], row))[:count]
        assert rows[number].tolist() == expected
        assert scores[number].tolist() == [plain[row] for row in expected]


@pytest.mark.parametrize("way", WAYS)
def test_of_real_methods_the_nearest_are_found(made, real, way):
    vectors, queries = real
    assert len(vectors) > 3000
    scores, rows = made(way, vectors).search(queries, 200)
    products = queries.astype(np.float64) @ vectors.T.astype(np.float64)
    np.testing.assert_allclose(scores, -np.sort(-products, axis=1)[:, :200], atol=1e-6)
    np.testing.assert_allclose(scores, np.take_along_axis(products, rows, axis=1), atol=1e-6)
    plain_scores, plain_rows = ExactVectors(vectors).search(queries, 200)
    assert (rows == plain_rows).all()
    assert (scores == plain_scores).all()
    assert 200 <= len(made(way, vectors).candidates(queries[0], 200)) < 1200
    for number in range(len(queries)):
        assert len(set(rows[number].tolist())) == 200
        ties = scores[number, 1:] == scores[number, :-1]
        assert (np.diff(rows[number])[ties] > 0).all()
        assert ties.any()  # overloads that read the same


@pytest.mark.parametrize("dim", [1, 15, 16, 40])
def test_scores_are_those_of_numpy_of_whatever_half_precision_holds(monkeypatch, dim):
    random = np.random.default_rng(dim)
    vectors = (random.normal(size=(50, dim)) * 2.0 ** random.integers(-24, -4, (50, dim))).astype(np.float16)
    vectors[3:5] = [[-0.0], [6e-8]]
    query, rows = random.normal(size=dim).astype(np.float32), np.array([3, 4, 49, 0, 3])
    index = ExactVectors(vectors)
    found = index.scores(query, rows)
    np.testing.assert_allclose(found, vectors[rows].astype(np.float64) @ query, rtol=1e-5, atol=1e-7)
    with pytest.raises(IndexError):
        index.scores(query, np.array([50]))
    monkeypatch.setattr("search.retrieval.exact.search_loops", lambda: None)
    np.testing.assert_allclose(found, index.scores(query, rows), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("way", WAYS)
def test_all_rows_are_found_where_more_are_asked_for(made, way):
    index = made(way, halves(30, 0))
    scores, rows = index.search(halves(5, 3)[1:3], 1000)
    assert scores.shape == rows.shape == (2, 30)
    assert sorted(rows[0].tolist()) == list(range(30))
    assert index.search(np.empty((0, 12), np.float32), 5)[1].shape == (0, 5)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_found_where_there_are_no_rows(made, way):
    scores, rows = made(way, np.empty((0, 12), np.float16)).search(halves(3, 0), 10)
    assert scores.shape == rows.shape == (3, 0)


@pytest.mark.parametrize("way", WAYS)
def test_queries_that_do_not_fit_are_refused(made, way):
    index = made(way, halves(30, 0))
    with pytest.raises(ValueError, match="expected queries of dimension 12, as the rows have, got 11"):
        index.search(np.zeros((1, 11), np.float32), 3)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="expected finite queries"):
            index.search(np.full((1, 12), bad, np.float32), 3)
    with pytest.raises(ValueError, match="count of 1 or more, got 0"):
        index.search(halves(1, 0), 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 3.0])
@pytest.mark.parametrize("way", WAYS)
def test_rows_that_are_not_finite_or_too_long_are_refused(made, way, bad):
    vectors = halves(30, 0)
    vectors[17, 3] = bad
    with pytest.raises(ValueError, match="expected vectors of length 1 or 0, row 17 has"):
        made(way, vectors)


def test_a_mapped_file_is_read_a_block_at_a_time(tmp_path, monkeypatch):
    vectors = halves(1000, 0).astype(np.float16)
    vectors.tofile(tmp_path / "vectors")
    mapped = np.memmap(tmp_path / "vectors", np.float16, mode="r", shape=vectors.shape)
    monkeypatch.setattr("search.retrieval.exact._BLOCK", 64)
    scores, rows = ExactVectors(np.asarray(mapped), held=0).search(halves(4, 5)[1:], 50)
    whole = ExactVectors(vectors).search(halves(4, 5)[1:], 50)  # all but the first by rounded vectors
    assert (rows == whole[1]).all()
    assert (scores == whole[0]).all()


MAKERS = [("faiss", FaissVectors), ("pymilvus", lambda vectors: MilvusVectors(vectors, "a.db"))]


@pytest.mark.parametrize(("library", "make"), MAKERS)
def test_without_the_extra_it_is_one_line(monkeypatch, library, make):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ValueError, match=rf"needs {library}: bash run.sh install vectors") as error:
        make(halves(3, 0))
    assert "\n" not in str(error.value)
    assert extra("json", "").dumps


def test_clusters_find_most_of_the_nearest(real):
    needs("faiss")
    vectors, queries = real
    index = FaissVectors(vectors, clusters_from=1)
    assert index.clusters == 256
    scores, _ = index.search(queries, 200)
    best, _ = ExactVectors(vectors).search(queries, 200)
    recall = (scores >= best[:, -1:]).mean()  # any of those that tie with the last will do
    assert 0.6 < recall < 1
    assert index.search(queries[:2], 10**6)[1].shape == (2, len(vectors))  # more than the clusters hold


def test_clusters_are_kept_and_made_again_where_they_do_not_fit(tmp_path, monkeypatch, real):
    needs("faiss")
    vectors, queries = real
    path, build = tmp_path / "clusters", FaissVectors._built
    monkeypatch.setattr(vector_faiss, "WORTH_IT", 1000)
    built = []
    monkeypatch.setattr(FaissVectors, "_built", lambda index, _: (built.append(1), build(index, 1))[1])
    first = kept_faiss(vectors, "a", path).search(queries, 50)
    whole = path.read_bytes()
    again = kept_faiss(vectors, "a", path).search(queries, 50)
    assert len(built) == 1
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()
    flipped = whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:]
    for damaged in (whole[:-5], flipped, b"", whole.replace(b"s 2 ", b"s 0 ", 1)):
        path.write_bytes(damaged)
        assert (kept_faiss(vectors, "a", path).search(queries, 50)[1] == first[1]).all()
        assert path.read_bytes() == whole
    assert len(built) == 5
    kept_faiss(vectors, "b", path)
    assert len(built) == 6
    made = Clusters.of(build(FaissVectors(vectors), 1), len(vectors))
    centres, ranges, places = made.centres, made.ranges, made.places
    for made_up in (
        [centres, ranges, np.where(places == 3, 10**6, places).astype(np.int32)],
        [centres, ranges, np.where(places == 3, -1, places).astype(np.int32)],
        [np.full_like(centres, np.inf), ranges, places],
        [centres[:0], ranges, places],
        [centres, ranges, places[1:]],
    ):
        write_sealed(path, vector_faiss.FORMAT, vector_faiss._about("b"), made_up)
        assert not are_kept(*vectors.shape, "b", path)
        assert (kept_faiss(vectors, "b", path).search(queries, 50)[1] == first[1]).all()
        assert are_kept(*vectors.shape, "b", path)
    kept_faiss(vectors[:900], "c", path)
    assert b'"b"' in path.read_bytes()[:200]  # so few rows need no clusters


@pytest.fixture
def file(tmp_path) -> str:
    needs("pymilvus")
    needs("milvus_lite")
    return str(tmp_path / "milvus.db")


def test_milvus_keeps_vectors_and_tells_others_apart(file, monkeypatch, caplog):
    vectors, queries = halves(300, 0), halves(5, 1)[1:]
    first = MilvusVectors(vectors, file)
    assert Path(file).stat().st_mode & 0o777 == 0o700
    found = first.search(queries, 20)[1]
    other = MilvusVectors(halves(300, 7), file)
    assert first.collection != other.collection
    assert (first.search(queries, 20)[1] == found).all()
    first.close()
    assert (other.search(queries, 20)[1] != found).any()  # still open
    other.close()
    monkeypatch.setattr(MilvusVectors, "_fill", lambda _: pytest.fail("sent again"))
    again = MilvusVectors(vectors, file)
    assert (again.search(queries, 20)[1] == found).all()
    again.close()
    assert [each.getMessage() for each in caplog.records if each.levelname != "DEBUG"] == []


@pytest.mark.parametrize("left", ["no rows", "no index"])
def test_an_unfinished_collection_is_made_again(file, monkeypatch, left):
    vectors, queries, fill = halves(300, 0), halves(5, 1)[1:], MilvusVectors._fill

    def stopped(index):
        fill(index)
        if left == "no rows":
            index._client.delete(index.collection, ids=[3, 4])
        else:
            index._client.release_collection(index.collection)
            index._client.drop_index(index.collection, "vector")

    monkeypatch.setattr(MilvusVectors, "_fill", stopped)
    MilvusVectors(vectors, file).close()
    monkeypatch.setattr(MilvusVectors, "_fill", fill)
    index = MilvusVectors(vectors, file)
    assert (index.search(queries, 300)[1] == ExactVectors(vectors).search(queries, 300)[1]).all()
    index.close()


def test_milvus_may_choose_the_kind_of_index(file, real):
    vectors, queries = real
    index = MilvusVectors(vectors, file, approximate_from=1)
    best, _ = ExactVectors(vectors).search(queries, 200)
    assert (index.search(queries, 200)[0] >= best[:, -1:]).mean() > 0.9
    index.close()


def test_a_file_is_served_on_this_machine_only_and_until_it_is_closed(file):
    from milvus_lite.server_manager import server_manager_instance as servers

    index = MilvusVectors(halves(30, 0), file)
    port = servers._servers[file][2]
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/self/net", table).read_text().split("\n")[1:-1]:
            address, _, state = line.split()[1:4]
            if state == "0A" and int(address.rpartition(":")[2], 16) == port:
                listening.append(address.rpartition(":")[0])
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert listening
    assert set(listening) <= loopback
    socket.create_connection(("127.0.0.1", port), timeout=5).close()
    index.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)


@pytest.mark.parametrize("uri", ["http://me:secret@127.0.0.1:9", "{folder}/none/milvus.db", "{folder}/text.db"])
def test_a_milvus_that_cannot_be_used_is_one_line(tmp_path, uri, monkeypatch, caplog):
    needs("pymilvus")
    needs("milvus_lite")
    monkeypatch.setattr("search.retrieval.milvus._SECONDS", 1.0)
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(ValueError, match=r"cannot be used|there is no folder") as error:
        MilvusVectors(halves(3, 0), uri.format(folder=tmp_path))
    assert "secret" not in str(error.value)
    assert not any("Traceback" in caplog.handler.format(each) for each in caplog.records if "milvus_lite" in each.name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("where", ["http://host:19530", "HTTPS://host", "tcp://host:1", "here/a.db"])
def test_what_names_a_milvus(where):
    assert is_milvus(where)


@pytest.mark.parametrize("where", ["faiss", "exact", "", "none", "ftp://host"])
def test_what_names_none(where):
    assert not is_milvus(where)
