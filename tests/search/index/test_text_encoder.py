"""Vectors of an index by pretrained encoders of text: a folder of sentence-transformers, or a run over subwords."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from data_prep.errors import UserError
from data_prep.store.arrays import z_scores
from experiments.recipes.config import resolve
from experiments.recipes.run_folder import RunFolder
from modeling.transformers.bi_encoder import TransformerBiEncoder
from modeling.transformers.subword_pairs import SubwordTokenizer, subwords_of
from search.engine.engine import Engine
from search.engine.question import TEXT_VECTORS, WORD_VECTORS, RankingSettings
from search.engine.signals import fused
from search.index import vector_encoding, vectors
from search.index.build import refresh
from search.index.index_file import open_index, read_head
from search.index.joint_index import Numbering
from search.index.vector_encoding import part_path, refresh_vectors
from search.index.vectors import BATCH, near_rows, open_vectors, row_encoder, vectors_path
from search.making import checked_run
from search.models.packed import reranker_maker
from search.models.torch_models import TextEncoder, text_of
from search.opening import opened
from search.quality.weight_fit import _ScoredOnce
from search.repository_list import JointRetriever
from tests.tiny_models import library, tiny_bert
from training.checkpoint import save_weights


@pytest.fixture(scope="module")
def sentences(tmp_path_factory) -> Path:
    """A model of sentence-transformers, of random weights."""
    made = library("sentence_transformers")
    folder = tmp_path_factory.mktemp("sentences")
    bert = str(tiny_bert(folder / "bert", dropout=0.0))
    made.SentenceTransformer(bert, device="cpu").save(str(folder / "model"))  # adds the mean of token states
    return folder / "model"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run of minilm that has learnt nothing."""
    library("transformers")
    folder = tmp_path_factory.mktemp("runs")
    base = str(tiny_bert(folder / "bert", dropout=0.0))
    plan = resolve("folder", "minilm", {"model.base": base, "model.query_length": "16", "model.code_length": "48"})
    tokenizer = SubwordTokenizer(subwords_of(base), 16, 48)
    place = RunFolder(folder / "run")
    place.path.mkdir()
    plan.save(place.config)
    tokenizer.save(place.vocabulary)
    torch.manual_seed(0)
    save_weights(TransformerBiEncoder(plan.model, tokenizer.vocabulary), place.weights)
    return place.path


@pytest.fixture
def file(tree, tmp_path) -> Path:
    for each in sorted((tree / "java/util/stream").glob("*.java"))[2:]:
        each.unlink()
    refresh(tree, path := tmp_path / "index", processes=0, tell=lambda path, trouble: pytest.fail(f"{path}: {trouble}"))
    return path


def test_vectors_are_those_of_the_library(sentences, file):
    encoder, split = row_encoder(sentences), open_index(file).split
    assert isinstance(encoder, TextEncoder)
    refresh_vectors(encoder, file, pytest.fail)
    stored = open_vectors(vectors_path(file))
    model = library("sentence_transformers").SentenceTransformer(str(sentences), device="cpu")
    texts = [text_of(split, row).strip() for row in range(len(split))]
    np.testing.assert_allclose(stored.vectors, model.encode(texts, normalize_embeddings=True), atol=2e-3)
    asked = model.encode(["read the file"], normalize_embeddings=True)
    np.testing.assert_allclose(encoder.query(("read", "the", "file")), asked, atol=1e-5)


@pytest.mark.parametrize("kind", ["sentences", "run"])
def test_rows_nearest_to_a_question_are_found(kind, file, request):
    encoder = row_encoder(request.getfixturevalue(kind))
    refresh_vectors(encoder, file, pytest.fail)
    head = read_head(file)
    found = near_rows(file, head.content, head.rows, "exact")
    cosines = open_vectors(vectors_path(file)).vectors.astype(np.float32) @ encoder.query(("read", "list"))[0]
    best = found.nearest(("read", "list"))
    assert cosines[best[0]] == pytest.approx(cosines.max(), abs=1e-3)
    assert found.model == encoder.model


@pytest.mark.parametrize("maker", ["sentences", "run", None])
def test_what_made_the_vectors_says_their_weight(maker, file, request):
    encoder = row_encoder(maker and request.getfixturevalue(maker))
    refresh_vectors(encoder, file, pytest.fail)
    index, near = opened(file, "")
    weight = WORD_VECTORS if maker is None else TEXT_VECTORS
    numbering, model = Numbering([len(index)]), reranker_maker("")(index)
    for each in (near, JointRetriever([near], numbering), _ScoredOnce(near, len(index))):
        plain, typed = (Engine(index, model, RankingSettings(vector_weight=own), each) for own in (None, weight))
        other = Engine(index, model, RankingSettings(vector_weight=0.7), each)
        asked = "read list of files"
        scores = [[(hit.row, hit.score) for hit in engine.search(asked)] for engine in (plain, typed, other)]
        assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize("missing", ["torch", "sentence_transformers"])
def test_where_a_library_is_missing_answers_are_without_the_vectors(missing, sentences, file, monkeypatch):
    refresh_vectors(row_encoder(sentences), file, pytest.fail)
    vectors._loaded.cache_clear()
    monkeypatch.delitem(sys.modules, "search.models.torch_models")
    monkeypatch.setitem(sys.modules, missing, None)
    told = []
    assert opened(file, "", tell=told.append)[1] is None
    assert len(told) == 1
    assert f"needs {missing}" in told[0] or f"need {missing}" in told[0]
    assert "bash run.sh install" in told[0]
    assert told[0].endswith("; answered without them")
    assert "\n" not in told[0]


def test_the_scores_beside_the_vectors_weigh_the_less():
    lexical, neural, near = np.float32([[3, 1, 2, 0], [0, 1, 5, 2], [1, 7, 0, 3]])
    both = fused(lexical, neural, None, 0.7, 0.0)
    of_near = z_scores(near.astype(np.float64))
    for weight, rest in ((0.0, 1), (WORD_VECTORS, 1), (0.4, 0.7), (1.0, 0.1)):
        np.testing.assert_allclose(fused(lexical, neural, near, 0.7, weight), rest * both + weight * of_near)


def test_a_vector_does_not_depend_on_its_batch(run, file):
    encoder, split = row_encoder(run), open_index(file).split
    ids, rows = encoder.ids(split), np.arange(min(BATCH, len(split)))
    together = encoder.vectors(ids, rows).astype(np.float32)
    for row in (0, len(rows) // 2):
        np.testing.assert_allclose(encoder.vectors(ids, rows[row : row + 1])[0], together[row], atol=2e-3)


def test_what_was_encoded_before_an_interruption_is_not_encoded_again(run, file, monkeypatch):
    encoder = row_encoder(run)
    monkeypatch.setattr(vector_encoding, "BATCH", 16)
    plain, calls = encoder.vectors, []

    def interrupted(ids, rows):
        calls.append(rows)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(ids, rows)

    monkeypatch.setattr(encoder, "vectors", interrupted)
    with pytest.raises(KeyboardInterrupt):
        refresh_vectors(encoder, file, pytest.fail)
    path = vectors_path(file)
    assert not path.exists()
    assert open_vectors(part_path(path)).head.rows >= 32
    done = refresh_vectors(encoder, file, pytest.fail)
    assert not part_path(path).exists()
    whole = open_vectors(path).vectors
    path.unlink()
    anew = refresh_vectors(encoder, file, pytest.fail)
    assert anew.read == done.read + 32
    np.testing.assert_array_equal(open_vectors(path).vectors, whole)


def test_a_folder_without_a_bi_encoder_is_refused(tmp_path, sentences):
    assert checked_run(str(sentences)) == str(sentences)
    with pytest.raises(UserError, match="expected a model in"):
        checked_run(str(tmp_path))
