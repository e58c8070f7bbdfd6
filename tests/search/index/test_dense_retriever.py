"""Vectors beside an index: how they are made, brought up to date, refused, and what they add to a search."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from serving import indexed

from cli.main import main
from data_prep.store.arrays import write_sealed
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.config import REPOSITORY, resolve
from experiments.recipes.models import class_of
from experiments.recipes.run_folder import RunFolder
from search.engine.engine import Engine
from search.engine.question import WORD_VECTORS, RankingSettings
from search.engine.signals import Retriever
from search.index import vector_encoding
from search.index.build import refresh
from search.index.index_file import open_index, read_head
from search.index.vector_encoding import maker_of, refresh_vectors, save_vectors, up_to_date
from search.index.vectors import (
    BATCH,
    FORMAT,
    KEY,
    DenseRetriever,
    StoredVectors,
    VectorHead,
    near_rows,
    open_vectors,
    row_encoder,
    vectors_of,
    vectors_path,
)
from search.models.torch_models import ModelReranker
from search.opening import index_place
from search.quality.measure import measure_quality
from search.quality.questions import Questions
from search.retrieval.approximate import FaissVectors, clusters_path
from search.retrieval.exact import ExactVectors
from search.serve.live_index import LiveIndex
from training.checkpoint import save_weights

SMALL = {"model.dim": "32"}


def a_run(folder, split, model="unif", seed=0):
    """A run of a model that has not learnt anything."""
    torch.manual_seed(seed)
    plan = resolve("folder", model, SMALL)
    encoder, place = WordTokenizer.build(split, plan.words), RunFolder(folder)
    place.path.mkdir()
    plan.save(place.config)
    encoder.vocabularies.save(place.vocabulary)
    save_weights(class_of(model)(plan.model, encoder.vocabularies), place.weights)
    return folder


@pytest.fixture(scope="module")
def run(index, tmp_path_factory) -> Path:
    return a_run(tmp_path_factory.mktemp("runs") / "unif", index.split)


@pytest.fixture(scope="module")
def encoder(run):
    return row_encoder(run)


@pytest.fixture
def file(tree, tmp_path) -> Path:
    """The index of some files, without vectors."""
    make_index(tree, path := tmp_path / "index")
    return path


@pytest.fixture
def small_file(tree, tmp_path) -> Path:
    """The same of one file, where it does not matter what is in it."""
    for each in sorted((tree / "java/util/stream").glob("*.java"))[1:]:
        each.unlink()
    make_index(tree, path := tmp_path / "index")
    return path


def make_index(tree, path):
    refresh(tree, path, processes=0, tell=lambda path, trouble: pytest.fail(f"{path}: {trouble}"))


def vectorise(encoder, file):
    told = []
    return refresh_vectors(encoder, file, lambda *each: told.append(each)), told


def test_a_vector_is_what_the_model_makes_of_its_row(encoder, file):
    done, told = vectorise(encoder, file)
    found, stored = open_index(file), open_vectors(vectors_path(file))
    assert (done.rows, done.written, told) == (len(found), True, [])
    assert stored.vectors.shape == (len(found), 32)
    head = VectorHead(read_head(file).content, encoder.run, encoder.model, 32, len(found))
    assert stored.head == head
    ids = encoder.ids(found.split)
    with torch.inference_mode():  # each alone and unpadded
        alone = [encoder._ranker.encode_code(ids.codes([row])).states[0, 0].numpy() for row in range(len(found))]
    np.testing.assert_allclose(stored.vectors, alone, atol=2**-11)
    lengths = np.linalg.norm(stored.vectors.astype(np.float64), axis=1)
    read = ids.fields["tokens"].lengths > 0
    np.testing.assert_allclose(lengths, read, atol=1e-3)
    assert read.any()
    words = found.split.word_list("query", int(np.flatnonzero(found.asks)[0]))
    asked = encoder.query(words)
    np.testing.assert_allclose(np.linalg.norm(asked), 1, atol=1e-6)


@pytest.mark.parametrize(("model", "most"), [("unif", 0.0), ("deepcs", 2**-11)])
def test_a_vector_does_not_depend_on_the_rows_beside_it(index, tmp_path, monkeypatch, model, most):
    """UNIF's to the bit; of DeepCS, whose LSTMs read as many rows at a step as are that long, to float16's last bit."""
    encoder = row_encoder(a_run(tmp_path / "run", index.split, model))
    ids, random, real, shapes = encoder.ids(index.split), np.random.default_rng(0), encoder._ranker.encode_code, set()

    def told(codes):
        shapes.add(tuple(size for field in ("name", "tokens", "api") for size in codes[field].ids.shape))
        return real(codes)

    monkeypatch.setattr(encoder._ranker, "encode_code", told)
    rows = random.choice(len(index), BATCH, replace=False)
    together, order = encoder.vectors(ids, rows), random.permutation(BATCH)
    shuffled = np.empty_like(together)
    shuffled[order] = encoder.vectors(ids, rows[order])
    few = np.concatenate([encoder.vectors(ids, rows[start : start + 3]) for start in range(0, 30, 3)])
    assert shapes == {(BATCH, 6, BATCH, 40, BATCH, 30)}
    np.testing.assert_allclose(shuffled.astype(np.float64), together, rtol=0, atol=most)
    np.testing.assert_allclose(few.astype(np.float64), together[:30], rtol=0, atol=most)


def test_only_rows_whose_words_changed_are_read_and_the_result_is_that_of_new_vectors(encoder, file, tree, tmp_path):
    first, _ = vectorise(encoder, file)
    again, _ = vectorise(encoder, file)
    assert (again.rows, again.read, again.written) == (first.rows, 0, False)
    place = tree / "java/util/stream"
    files = sorted(place.glob("*.java"))
    files[3].unlink()
    files[5].write_text("// another line\n" + files[5].read_text())  # moves rows, changes no word
    (place / "AAdded.java").write_text(
        "class AAdded { void drainMarsh() { pump(heath); } void drainMarsh(int a) { pump(heath); } void fill() { } }"
    )
    make_index(tree, file)
    done, told = vectorise(encoder, file)
    assert (done.written, told) == (True, [])
    assert 1 <= done.read <= 4  # the type and its methods, of which two read the same
    shutil.copy(file, new := tmp_path / "new")
    vectorise(encoder, new)
    assert vectors_path(new).read_bytes() == vectors_path(file).read_bytes()
    found, stored = open_index(file), open_vectors(vectors_path(file))
    twins = [row for row, name in enumerate(found.names) if name == "AAdded.drainMarsh"]
    assert len(twins) == 2
    assert (stored.vectors[twins[0]] == stored.vectors[twins[1]]).all()


def test_another_model_makes_all_of_them_again(index, encoder, file, tmp_path):
    first, _ = vectorise(encoder, file)
    before = open_vectors(vectors_path(file)).vectors
    other = row_encoder(a_run(tmp_path / "other", index.split, seed=1))
    assert other.model != encoder.model
    done, _ = vectorise(other, file)
    assert done.read == first.read
    assert (open_vectors(vectors_path(file)).vectors != before).any()


def test_an_empty_index_has_no_vectors(encoder, tmp_path):
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "A.java").write_text("\n")
    make_index(tmp_path / "bare", path := tmp_path / "index")
    assert vectorise(encoder, path)[0].written
    found = near_rows(path, read_head(path).content, 0, "")
    assert found.nearest(("a", "thing")).tolist() == []


def damaged(whole: bytes, damage: str) -> bytes:
    middle = len(whole) // 2
    changed = {
        "cut": whole[:-100],
        "cut to the first line": whole[: whole.index(b"\n") + 1],
        "longer": whole + b"\0",
        "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "version": whole.replace(b"galm vectors 1", b"galm vectors 0", 1),
        "head": whole.replace(b'"rows"', b'"raws"', 1),
        "said": whole.replace(b'"dim": 32', b'"dim": 16', 1),
        "another run": whole.replace(b'/unif"', b'/unix"', 1),
        "no object": whole.replace(b"{", b"[", 1),
        "nothing": b"",
    }[damage]
    assert changed != whole
    return changed


CUT = ("cut", "cut to the first line", "longer", "nothing")
CHANGED = ("flipped", "version", "head", "said", "another run", "no object")


@pytest.mark.parametrize("damage", [*CUT, *CHANGED])
def test_damaged_vectors_are_refused_and_made_anew(encoder, small_file, damage):
    vectorise(encoder, small_file)
    path, head = vectors_path(small_file), read_head(small_file)
    whole = path.read_bytes()
    path.write_bytes(damaged(whole, damage))
    with pytest.raises(ValueError, match=r"make them again by `bash run.sh index DIR`") as error:
        vectors_of(small_file, head.content, head.rows)
    assert "\n" not in str(error.value)
    done, told = vectorise(encoder, small_file)
    assert done.read > 0
    assert [why.startswith("rebuilt: the vectors cannot be used") for _, why in told] == [True]
    assert path.read_bytes() == whole


def test_vectors_of_another_index_or_model_are_refused(index, small_file, tree, tmp_path):
    head = read_head(small_file)
    with pytest.raises(ValueError, match="the vectors cannot be used"):
        near_rows(small_file, head.content, head.rows, "")
    run = a_run(tmp_path / "run", index.split)
    vectorise(row_encoder(run), small_file)
    assert isinstance(near_rows(small_file, head.content, head.rows, "exact"), Retriever)
    with pytest.raises(ValueError, match="instead of"):
        vectors_of(small_file, head.content, head.rows + 1)
    (tree / "A.java").write_text("class A { void added() { } }")
    make_index(tree, small_file)
    now = read_head(small_file)
    with pytest.raises(ValueError, match=r"another state of the index: update them by `bash run"):
        near_rows(small_file, now.content, now.rows, "")
    vectorise(row_encoder(run), small_file)
    shutil.copy(a_run(tmp_path / "other", index.split, seed=1) / "weights.safetensors", run)
    with pytest.raises(ValueError, match="no longer the model that made the vectors"):
        near_rows(small_file, now.content, now.rows, "")
    shutil.rmtree(run)
    with pytest.raises(ValueError, match="cannot be loaded"):
        near_rows(small_file, now.content, now.rows, "")


def test_only_a_bi_encoder_makes_vectors(index, tmp_path):
    run = a_run(tmp_path / "run", index.split, "tabcs")
    with pytest.raises(ValueError, match="is of tabcs, which makes no vector of a method: --vectors takes a run of"):
        row_encoder(run)
    with pytest.raises(ValueError, match="expected a model in"):
        row_encoder(tmp_path)


def test_a_model_that_gives_nan_is_refused(encoder, small_file, monkeypatch):
    monkeypatch.setattr(encoder._ranker, "code_vectors", lambda _: torch.full((BATCH, 32), torch.nan))
    with pytest.raises(ValueError, match="not finite: train it again"):
        vectorise(encoder, small_file)
    assert not vectors_path(small_file).exists()


def test_a_full_disk_leaves_the_old_vectors(encoder, small_file, tree, monkeypatch):
    vectorise(encoder, small_file)
    before = vectors_path(small_file).read_bytes()
    (tree / "A.java").write_text("class A { void added() { } }")
    make_index(tree, small_file)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        vectorise(encoder, small_file)
    assert vectors_path(small_file).read_bytes() == before
    assert [each.name for each in small_file.parent.iterdir() if each.name.startswith(".index")] == []


def test_an_index_that_is_replaced_meanwhile_gets_no_vectors(encoder, small_file, tree, monkeypatch):
    real = vector_encoding._Filling.encode

    def slow(*arguments):
        (tree / "A.java").write_text("class A { void added() { } }")
        make_index(tree, small_file)
        return real(*arguments)

    monkeypatch.setattr(vector_encoding._Filling, "encode", slow)
    with pytest.raises(ValueError, match="was replaced while its vectors were made: run this command again"):
        vectorise(encoder, small_file)
    assert not vectors_path(small_file).exists()


_CHANGING = """
import sys, pathlib
import numpy as np
from search.index.vectors import StoredVectors, VectorHead
from search.index.vector_encoding import save_vectors
number = 0
while True:
    number += 1
    rows = 2000 + number % 7
    vectors, keys = np.full((rows, 64), number % 50, np.float16), np.full((rows, 16), number % 50, np.uint8)
    save_vectors(StoredVectors(VectorHead("a", "b", "c", 64, rows), vectors, keys), pathlib.Path(sys.argv[1]))
    print(number, flush=True)
"""


def test_kill_at_any_moment_leaves_whole_vectors(tmp_path):
    path, random = tmp_path / "index.vectors", np.random.default_rng(0)
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", _CHANGING, path], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(float(random.uniform(0, 0.2)))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        stored = open_vectors(path)
        assert (stored.vectors == stored.keys[0, 0]).all()


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_what_is_saved_is_what_is_opened(tmp_path, rows):
    random = np.random.default_rng(0)
    vectors = random.normal(size=(rows, 3)).astype(np.float16)
    keys = random.integers(0, 256, (rows, KEY)).astype(np.uint8)
    save_vectors(StoredVectors(VectorHead("a", "b ü", "c", 3, rows), vectors, keys), tmp_path / "v")
    stored = open_vectors(tmp_path / "v")
    assert stored.head == VectorHead("a", "b ü", "c", 3, rows)
    assert (stored.vectors == vectors).all()
    assert (stored.keys == keys).all()


@pytest.fixture(scope="module")
def near(index, encoder):
    """What finds 30 rows of the index for a query."""
    ids = encoder.ids(index.split)
    rows = np.arange(len(index))
    parts = [encoder.vectors(ids, rows[start : start + BATCH]) for start in range(0, len(rows), BATCH)]
    return DenseRetriever(encoder, ExactVectors(np.concatenate(parts)), 30)


@pytest.fixture(scope="module")
def reranker(index):
    torch.manual_seed(0)
    plan = resolve("folder", "galm_plus", {"model.dim": "32", "model.num_blocks": "4"})
    encoder = WordTokenizer.build(index.split, plan.words)
    return ModelReranker(class_of("galm_plus")(plan.model, encoder.vocabularies), encoder, index.split)


RANKING = RankingSettings(shortlist=40, read_all_below=0)
QUESTION = "causes the current thread to wait"


def test_the_model_reads_what_bm25_finds_and_what_is_near(index, reranker, near, encoder):
    words = QUESTION.split()
    without, with_near = Engine(index, reranker, RANKING), Engine(index, reranker, RANKING, near)
    found = near.nearest(words)
    assert len(set(found.tolist())) == len(found) == 30
    best = np.argsort(-(near._vectors.vectors.astype(np.float64) @ encoder.query(words)[0]), kind="stable")
    assert len(set(best[:30].tolist()) & set(found.tolist())) >= 29
    union = set(without.shortlist(words, QUESTION).tolist()) | set(found.tolist())
    assert len(union) > 40
    assert with_near.shortlist(words, QUESTION).tolist() == sorted(union)
    hits = with_near.search(QUESTION, top=1000)
    assert {hit.row for hit in hits} == union
    assert all(hit.neural is not None for hit in hits)
    only_near = next(hit for hit in hits if hit.row not in without.shortlist(words, QUESTION))
    assert with_near.rank(words, only_near.row, QUESTION) == only_near.rank
    paths = [hit.row for hit in with_near.search(QUESTION, path="*/stream/*", top=1000)]
    assert set(paths) >= {row for row in found.tolist() if "/stream/" in index.file(row).path}
    assert {index.file(row).path.split("/")[-2] for row in paths} == {"stream"}


def test_without_vectors_nothing_changes_and_without_a_reader_they_are_not_asked(index, reranker, near):
    class Fails:
        reads_text = False

        def nearest(self, _):
            pytest.fail("was asked")

        def scores(self, _, __):
            pytest.fail("was asked")

    assert Engine(index, None, RANKING, Fails()).search(QUESTION) == Engine(index, None, RANKING).search(QUESTION)
    nothing = DenseRetriever(near._encoder, ExactVectors(np.zeros((len(index), 32), np.float16)))
    assert nothing.nearest(QUESTION.split()).tolist() == []  # nothing is near that has a score of 0
    found = Engine(index, reranker, RANKING, nothing).search(QUESTION)
    assert [replace(hit, near=None) for hit in found] == Engine(index, reranker, RANKING).search(QUESTION)
    assert {hit.near for hit in found} == {0.0}


def test_the_score_of_the_vectors_is_added_on_one_scale(index, reranker, near, encoder):
    words, whole = QUESTION.split(), replace(RANKING, read_all_below=len(index), file=0.0, beside=0.0)
    scores = [
        {
            hit.row: hit
            for hit in Engine(index, reranker, replace(whole, vector_weight=share), near).search(QUESTION, top=10**6)
        }
        for share in (0.0, WORD_VECTORS)
    ]
    rows = [row for row in sorted(scores[0]) if not index.is_whole_file(row)]  # whose score is that of the file alone
    assert len(rows) > 0.9 * len(index)
    cosines = near._vectors.vectors.astype(np.float64) @ encoder.query(words)[0]
    np.testing.assert_allclose([scores[0][row].near for row in rows], cosines[rows], atol=1e-5)
    expected = WORD_VECTORS * (cosines - cosines.mean()) / cosines.std()
    gained = [scores[1][row].score - scores[0][row].score for row in rows]
    np.testing.assert_allclose(gained, expected[rows], atol=1e-3)


def test_answers_in_the_shortlist_are_counted(index, reranker, near):
    rows = np.flatnonzero(index.asks)[:12]
    words = [index.split.word_list("query", row) for row in rows.tolist()]
    questions = Questions(rows, words, [" ".join(each) for each in words], "comment")
    ranking = replace(RANKING, shortlist=3)
    counts = []
    for retriever in (None, near):
        engine = Engine(index, reranker, ranking, retriever)
        looked = [{hit.row for hit in engine.search(" ".join(each), top=1000)} for each in words]
        counts.append(sum(row in each for row, each in zip(rows.tolist(), looked, strict=True)))
        _, found = measure_quality(index, {"reranker": reranker}, ranking, questions, retriever)
        assert found.listed == counts[-1] / len(rows)
    assert 0 < counts[0] <= counts[1]


def test_a_server_uses_the_vectors_beside_its_index_if_they_fit(index, reranker, encoder, file):
    def opened():
        return (
            LiveIndex(file, lambda found: ModelReranker(reranker.model, reranker.tokenizer, found.split))
            .opened()
            .engine
        )

    assert opened().retriever is None
    vectorise(encoder, file)
    words = index.split.word_list("query", int(np.flatnonzero(index.asks)[0]))
    assert len(opened().retriever.nearest(words)) > 0
    vectors_path(file).write_bytes(b"damaged")
    engine = opened()
    assert engine.retriever is None
    assert engine.search(" ".join(words))


@pytest.fixture
def searched(tree, run, monkeypatch, capsys):
    """A folder with an index and vectors, and the working folder inside it."""
    assert main(["index", str(tree), f"--vectors={run}"]) == 0
    monkeypatch.chdir(tree)
    told = capsys.readouterr().out
    assert "vectors beside it: read" in told
    assert open_vectors(vectors_path(index_place(tree))).head.run == str(run)
    return tree


def test_the_commands_make_use_and_refuse_vectors(searched, run, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        DenseRetriever,
        "scores",
        lambda _, words, rows, _context=(): (asked.append(words), np.zeros(len(rows), np.float32))[1],
    )
    for how, times in (("--nearest=none", 0), ("--nearest=exact", 1), ("--nearest=", 2), ("--model=none", 2)):
        assert main(["search", "close the pipeline", how]) == 0
        assert len(asked) == times
    assert main(["index", str(searched), f"--vectors={run}"]) == 0
    assert capsys.readouterr().out.count("nothing has changed") == 2
    assert main(["search", "close the pipeline", "--nearest=near"]) == 2
    assert "--nearest takes exact, faiss, none, a file NAME.db or a URI" in capsys.readouterr().err
    (searched / "A.java").write_text("class A { void added() { } }")
    make_index(searched, index_place(searched))  # as if the vectors had not been reached yet
    assert main(["search", "close the pipeline"]) == 0
    told = capsys.readouterr()
    assert "of another state of the index" in told.err
    assert told.err.count("\n") == 1
    assert "answered without them" in told.err
    assert "AbstractPipeline" in told.out
    assert main(["search", "close the pipeline", "--nearest=exact"]) == 2
    assert len(asked) == 2


def test_vectors_come_by_themselves_stay_of_their_model_and_go(tree, run, capsys, monkeypatch):
    path = index_place(tree)

    def made_by(*typed):
        assert main(["index", str(tree), *typed]) == 0
        assert read_head(path).rows > 0
        there = vectors_path(path)
        return (
            (open_vectors(there).head.run, up_to_date(path, open_vectors(there).head.run)) if there.exists() else None
        )

    assert made_by() == ("", True)
    assert made_by(f"--vectors={run}") == (str(run), True)
    (tree / "A.java").write_text("class A { void added() { } }")
    assert made_by() == (str(run), True)
    monkeypatch.setattr("search.index.vectors.row_encoder", lambda _: pytest.fail("was loaded though nothing changed"))
    assert made_by() == (str(run), True)
    monkeypatch.undo()
    capsys.readouterr()
    moved = run.rename(run.with_name("moved"))
    try:
        (tree / "A.java").write_text("class A { void changed() { } }")
        assert main(["index", str(tree)]) == 0
        error = capsys.readouterr().err
        assert "or name another run by --vectors=, or none" in error
        assert error.count("\n") == 1
    finally:
        moved.rename(run)
    assert made_by("--vectors=none") is None
    assert made_by() == ("", True)


def test_a_server_takes_vectors_that_come_after_their_index(reranker, encoder, file):
    live = LiveIndex(
        file, lambda found: ModelReranker(reranker.model, reranker.tokenizer, found.split), seconds_between_looks=0.0
    )
    before = live.opened()
    assert before.engine.retriever is None
    vectorise(encoder, file)
    after = live.opened()
    assert after.engine.retriever is not None
    assert after.engine.index is before.engine.index
    assert live.opened() is after


@pytest.mark.parametrize("model", ["tabcs", "nothing"])
def test_a_run_that_makes_no_vectors_is_told_before_anything_is_read(index, tree, tmp_path, capsys, model):
    run = tmp_path / "run" if model == "nothing" else a_run(tmp_path / "run", index.split, model)
    assert main(["index", str(tree), f"--vectors={run}"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert not index_place(tree).exists()


def flipped(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("place", [-1, -2000, 40])
def test_damaged_vectors_are_found_and_made_anew_by_the_model_that_made_them(tree, run, capsys, place):
    path = indexed(tree, str(run))
    there = vectors_path(path)
    whole = there.read_bytes()
    flipped(there, place)
    assert not up_to_date(path, str(run))
    capsys.readouterr()
    assert main(["index", str(tree)]) == 0
    told = capsys.readouterr()
    assert "rebuilt" in told.err
    assert told.err.count("\n") == 1
    assert "nothing has changed" in told.out.splitlines()[0]
    assert "vectors beside it: read " in told.out
    assert there.read_bytes() == whole


def test_a_damaged_name_of_a_run_does_not_stand_in_the_way(tree, run, capsys):
    path = indexed(tree, str(run))
    flipped(vectors_path(path), vectors_path(path).read_bytes().index(str(run).encode()) + 3)
    assert maker_of(path) is None
    assert main(["index", str(tree)]) == 0
    assert up_to_date(path, "")
    assert "rebuilt" in capsys.readouterr().err


MADE_UP = [
    *({"rows": 10**15}, {"rows": -1}, {"rows": True}, {"rows": "9"}, {"dim": 0}, {"dim": -32}, {"dim": 10**15}),
    *({"dim": 31}, {"dim": 10**12, "rows": 0}, {"run": 3}, {"index": None}, {"model": ["a"]}, {"other": 1}),
]


@pytest.mark.parametrize("about", MADE_UP, ids=str)
def test_vectors_that_tell_of_others_are_refused_in_one_line(encoder, small_file, about):
    vectorise(encoder, small_file)
    stored = open_vectors(vectors_path(small_file))
    write_sealed(vectors_path(small_file), FORMAT, asdict(stored.head) | about, [stored.vectors, stored.keys])
    with pytest.raises(ValueError, match=r"the vectors cannot be used: .* remove .*index\.vectors, and make") as error:
        open_vectors(vectors_path(small_file))
    assert "\n" not in str(error.value)
    done, told = vectorise(encoder, small_file)
    assert (done.read > 0, len(told)) == (True, 1)


def test_vectors_of_the_same_model_by_name_but_of_another_width_are_refused(encoder, small_file):
    vectorise(encoder, small_file)
    stored = open_vectors(vectors_path(small_file))
    narrow = replace(stored, head=replace(stored.head, dim=16), vectors=stored.vectors[:, :16].copy())
    save_vectors(narrow, vectors_path(small_file))
    with pytest.raises(ValueError, match="is no longer the model that made the vectors"):
        near_rows(small_file, stored.head.index, stored.head.rows, "")


def test_damaged_clusters_are_made_anew(tree, run, monkeypatch):
    if not find_spec("faiss"):
        pytest.skip("faiss is not installed: bash run.sh install vectors")
    for module in ("approximate", "exact"):
        monkeypatch.setattr(f"search.retrieval.{module}.WORTH_IT", 10)
    monkeypatch.setattr(FaissVectors, "_built", lambda index, _, build=FaissVectors._built: build(index, 1))
    path = indexed(tree, str(run))
    clusters = clusters_path(vectors_path(path))
    assert {each.stat().st_mode & 0o777 for each in (path, vectors_path(path), clusters)} == {0o600}
    whole = clusters.read_bytes()
    assert up_to_date(path, str(run))
    for damage in (flipped, lambda file, _: file.unlink(), lambda file, _: file.write_bytes(whole[:-4])):
        damage(clusters, -9)
        assert not up_to_date(path, str(run))
        assert main(["index", str(tree)]) == 0
        assert clusters.read_bytes() == whole
