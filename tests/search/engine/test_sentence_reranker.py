import sys
import types

import numpy as np
import pytest

from search.engine.engine import Engine
from search.engine.question import RankingSettings
from search.models.reranker import sentence_model
from search.models.torch_models import SentenceReranker


class Counts:
    """Stands for a SentenceTransformer: a text's vector counts its letters."""

    def __init__(self, _, **settings):
        assert settings == {"device": "cpu", "local_files_only": True}
        self.read = []

    def encode(self, texts, **settings):
        assert settings["normalize_embeddings"]
        self.read += texts
        counts = np.array(
            [[text.lower().count(chr(97 + letter)) for letter in range(26)] for text in texts], np.float32
        )
        return counts.reshape(len(texts), 26) / np.maximum(np.linalg.norm(counts, axis=-1, keepdims=True), 1e-9)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    return tmp_path


def test_scores_are_cosines_and_each_row_is_read_once(index, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", types.SimpleNamespace(SentenceTransformer=Counts))
    reranker = SentenceReranker(folder, index.split)
    rows = np.array([3, 7, 20])
    first = reranker.scores(["wait", "for", "it"], rows)
    texts = reranker._model.read[:3]
    assert texts[0].endswith(index.split.text(3).source)
    assert texts[0].startswith(" ".join(index.split.word_list("name", 3)))
    query, found = Counts(folder, device="cpu", local_files_only=True), []
    for text in texts:
        left, right = query.encode(["wait for it", text], normalize_embeddings=True)
        found.append(left @ right)
    np.testing.assert_allclose(first, found, atol=1e-6)
    again = reranker.scores(["wait", "for", "it"], rows[::-1].copy())
    assert again.tolist() == first[::-1].tolist()
    assert len(reranker._model.read) == 3 + 2  # the rows once, the query twice
    hits = Engine(index, reranker, RankingSettings(weight=1.0)).search("wait for it", top=3)
    assert all(hit.stage == "model" and hit.neural is not None for hit in hits)


def test_without_the_library_it_is_one_line(index, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ValueError, match=r"bash run.sh install sentences"):
        SentenceReranker(folder, index.split)


def test_a_model_is_known_by_its_folder(folder, tmp_path_factory):
    assert sentence_model(str(folder)) == folder
    assert sentence_model(str(tmp_path_factory.mktemp("other"))) is None
    assert sentence_model("") is None
    assert sentence_model("json") is None
