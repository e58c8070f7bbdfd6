import gzip
import json
import math
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import Stemmer
from bm25s.stopwords import STOPWORDS_EN

from baselines.bm25 import Bm25, Bm25Config, text_words
from modeling.ranker import Ranker
from tests.evaluation.real_data import SHARED
from tests.raw_pairs import read

CODES = (
    " d <- read.csv('myFile2') summary(d)",
    "m <- lm(y ~ x, data = d)",
    "plot(fit_model) plot(fit_model)",
    "",
    "!!!",
    "HTTPServer(readFile(path))",
)
TEXTS = ("read the csv file ", "fit a model, and plot the model", "", "zzz", "Größe der Datei")


def pairs(name: str, text: str = "query") -> tuple[list[str], list[str]]:
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"needs {name} beside the repository, in ../shared/data")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row[text] for row in rows], [row["code"] for row in rows]


def blocks(count: int, distractors: int = 99) -> np.ndarray:
    """Each pair's own code, then others, drawn as the task package draws them."""
    draws = random.Random(42)
    return np.array(
        [[row, *draws.sample([other for other in range(count) if other != row], distractors)] for row in range(count)]
    )


PLAIN = Bm25Config(reads="text", stem=False, repeated=True)
TREATED = Bm25Config(reads="text", k1=2.0, b=1.0, common_words=False)
FORMS = pytest.mark.parametrize("config", [PLAIN, TREATED, replace(TREATED, distinct=True)])


def plain(config: Bm25Config, texts, codes) -> np.ndarray:
    """The formula, code by code and word by word."""
    stem, k1, b = Stemmer.Stemmer("english").stemWord if config.stem else str, config.k1, config.b
    read = [list(map(stem, text_words(code))) for code in codes]
    counted = [Counter(set(words) if config.distinct else words) for words in read]
    average = sum(code.total() for code in counted) / len(codes)
    scores = np.zeros((len(texts), len(codes)))
    for row, text in enumerate(texts):
        words = [stem(word) for word in text_words(text) if config.common_words or word not in STOPWORDS_EN]
        for word in words if config.repeated else set(words):
            holders = sum(word in code for code in counted)
            idf = math.log(1 + (len(codes) - holders + 0.5) / (holders + 0.5))
            for column, code in enumerate(counted):
                f = code[word]
                scores[row, column] += idf * f / (f + k1 * (1 - b + b * code.total() / average)) if f else 0
    return scores


def mrr(scores: np.ndarray) -> float:
    return float((1 / (scores >= scores[:, :1]).sum(axis=1)).mean())


def test_words_are_split_like_identifiers_in_any_language():
    assert text_words("read.csv(myFile2); HTTP_server") == ["read", "csv", "my", "file", "2", "http", "server"]
    assert text_words("Größe straße_naïve") == ["größe", "straße", "naïve"]
    assert text_words(" ~!@ ") == []


@FORMS
def test_scores_are_those_of_the_plain_formula(config):
    everything = np.tile(np.arange(len(CODES)), (len(TEXTS), 1))
    found = Bm25(config).over(*read(TEXTS, CODES))(np.arange(len(TEXTS)), everything)
    np.testing.assert_allclose(found, plain(config, TEXTS, CODES), rtol=1e-5, atol=1e-7)
    assert found[0, 0] > 0
    assert not found[2:4].any()


@FORMS
def test_scores_are_those_of_the_plain_formula_on_r_code(config):
    texts, codes = pairs("statcodesearch/test_70.jsonl.gz")
    texts, codes = texts[:40], codes[:150]
    everything = np.tile(np.arange(150), (40, 1))
    found = Bm25(config).over(*read(texts, codes))(np.arange(40), everything)
    np.testing.assert_allclose(found, plain(config, texts, codes), rtol=1e-4, atol=1e-6)


def test_candidates_are_scored_where_they_stand():
    scores = Bm25(PLAIN).over(*read(TEXTS, CODES))
    whole = scores(np.arange(len(TEXTS)), np.tile(np.arange(len(CODES)), (len(TEXTS), 1)))
    queries, candidates = np.array([1, 0, 1]), np.array([[5, 2, 2, 4], [3, 0, 1, 5], [0, 1, 2, 3]])
    expected = whole[queries[:, None], candidates]
    assert np.array_equal(scores(queries, candidates), expected)
    assert scores(queries[:0], candidates[:0]).shape == (0, 4)


def test_the_known_number_of_the_released_cosqa_subset():
    texts, codes = pairs("cosqa/gencsn_mrr_test.jsonl.gz")
    candidates = blocks(len(texts))
    found = Bm25(PLAIN).over(*read(texts, codes))(np.arange(len(texts)), candidates)
    assert mrr(found) == pytest.approx(0.7190, abs=0.005)


@pytest.mark.parametrize(("config", "expected"), [(PLAIN, 0.6447), (TREATED, 0.729)])
def test_the_known_numbers_of_statcodesearch(config, expected):
    texts, codes = pairs("statcodesearch/test_70.jsonl.gz")
    found = Bm25(config).over(*read(texts, codes))(np.arange(len(texts)), blocks(len(texts)))
    assert mrr(found) == pytest.approx(expected, abs=0.001)


def test_it_is_a_text_scorer_and_needs_no_torch():
    assert isinstance(Bm25(PLAIN), Ranker)
    assert Bm25(PLAIN).natural_threshold is None
    code = "import sys, baselines.bm25; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
