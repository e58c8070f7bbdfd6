"""Scores of pairs and rankings of pools, by the model that comes with the package and by a run."""

import numpy as np
import pytest
import torch

from data_prep.store.tokenizing import WordsConfig, WordTokenizer
from experiments.recipes.config import resolve
from experiments.recipes.models import class_of
from experiments.recipes.run_folder import RunFolder
from neural_code_search.scoring import CodeModel, RankedCodes, load_model
from training.checkpoint import save_weights

CODES = [
    "public int indexOf(String s, char c) { for (int i = 0; i < s.length(); i++) if (s.charAt(i) == c) return i; }",
    "/** Gives all. */ static List<String> readLines(Path file) { return Files.readAllLines(file, UTF_8); }",
    "public void close() { if (socket != null) { socket.close(); } }",
    "int max(int left, int right);",
    "Foo(int width) { this.width = width; }",
]
QUESTIONS = ["position of the first matching character", "read all lines of a file", "close the socket"]


@pytest.fixture(scope="module")
def model() -> CodeModel:
    return load_model()


def test_what_answers_is_ranked_first(model):
    pool = model.pool(CODES)
    assert len(pool) == len(CODES)
    for best, question in enumerate(QUESTIONS):
        found = pool.rank(question)
        assert found.indices[0] == best
        assert sorted(found.indices) == list(range(len(CODES)))
        assert np.array_equal(found.scores, np.sort(pool.scores(question))[::-1])


def test_a_pair_has_the_score_that_it_has_in_a_pool(model, monkeypatch):
    monkeypatch.setattr("neural_code_search.scoring.AT_ONCE", 4)  # more batches than one
    queries, codes = [each for each in QUESTIONS for _ in CODES], CODES * len(QUESTIONS)
    scores = model.score_pairs(queries, codes)
    assert scores.dtype == np.float32
    expected = np.concatenate([model.pool(CODES).scores(question) for question in QUESTIONS])
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)


def test_equal_codes_keep_their_order_and_top_cuts(model):
    twice = [CODES[2], CODES[1], CODES[2]]
    assert model.rank("close the socket", twice).indices.tolist() == [0, 2, 1]
    cut = model.rank("close the socket", twice, top=1)
    assert isinstance(cut, RankedCodes)
    assert (cut.indices.tolist(), len(cut.scores)) == ([0], 1)


def test_nothing_gives_nothing(model):
    assert model.score_pairs([], []).shape == (0,)
    assert model.rank("close the socket", []).indices.shape == (0,)


def test_comments_are_not_read_and_a_class_around_a_method_is_passed_over(model):
    bare = "void close() { socket.shutdown(); }"
    others = [f"/** Reads all lines of a file. */ {bare}", f"class Connection {{ {bare} }}"]
    scores = model.score_pairs(["read all lines"] * 3, [bare, *others])
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("queries", "codes", "message"),
    [
        (["close"], CODES, "as many codes as queries, got 1 queries and 5 codes"),
        ("close", CODES, "a list of texts as queries, got one text: 'close'"),
        (["close"], CODES[0], "a list of texts as codes, got one text"),
        (["close", " "], CODES[:2], r"queries\[1\]: expected a question in words"),
        (["close"], ["return x;"], r"codes\[0\]: expected one Java method, got none"),
        (["close"], ["def close(self): pass"], r"codes\[0\]: expected one Java method, got none"),
        (["close"], ["void broken( {"], r"codes\[0\]: expected one Java method, got none"),
        (["a", "b"], [CODES[0], " ".join(CODES[1:3])], r"codes\[1\]: expected one Java method, got 2 methods"),
        (["close"], ["int x() { " + " " * (4 << 20) + "}"], r"codes\[0\]: longer than 4 MiB"),
    ],
)
def test_a_mistake_is_told_in_a_line(model, queries, codes, message):
    with pytest.raises(ValueError, match=message) as error:
        model.score_pairs(queries, codes)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_a_top_that_is_none_is_refused(model):
    with pytest.raises(ValueError, match="expected top to be 1 or more, got 0"):
        model.rank("close", CODES, top=0)


def test_a_finished_run_is_loaded(small_data, tmp_path):
    plan = resolve("folder", "unif", {"model.dim": "16"})
    tokenizer = WordTokenizer.build(small_data.splits["train"], WordsConfig(**plan.section("words")))
    model = class_of("unif")(plan.model, tokenizer.vocabularies)
    folder = RunFolder(tmp_path)
    plan.save(folder.config)
    tokenizer.vocabularies.save(folder.vocabulary)
    save_weights(model, folder.weights)
    loaded = load_model(tmp_path)
    assert isinstance(loaded.model, class_of("unif"))
    assert torch.equal(next(loaded.model.parameters()), next(model.parameters()))
    scores = loaded.score_pairs(["get the next element"], ["Object next() { return queue.element(); }"])
    assert -1 <= scores[0] <= 1


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"expected a model in .*, but there is no config\.json"):
        load_model(tmp_path)
