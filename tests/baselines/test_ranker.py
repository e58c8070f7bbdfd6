import math
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import Stemmer
from bm25s.stopwords import STOPWORDS_EN

from baselines.bm25 import Bm25, Bm25Config
from data_prep.languages.identifiers import split_identifier
from data_prep.records import UNKNOWN
from data_prep.store.arrays import Ragged
from data_prep.store.split import Split
from evaluation import metrics
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from experiments.recipes.config import resolve
from modeling.ranker import Ranker
from tests.evaluation.real_data import jdk_split, published_split


def all_scores(config: Bm25Config, corpus: Split, queries: Split | None = None) -> np.ndarray:
    return np.concatenate([*Bm25(config).over(corpus if queries is None else queries, corpus).blocks()])


def plain_bm25(config: Bm25Config, split: Split) -> np.ndarray:
    """The formula, method by method and word by word."""
    stem = Stemmer.Stemmer("english").stemWord if config.stem else str
    methods = []
    for row in range(len(split)):
        tokens = list(map(stem, split.word_list("tokens", row)))
        api = [stem(part) for word in split.word_list("api", row) for part in split_identifier(word)]
        if config.distinct:
            tokens, api = sorted(set(tokens)), sorted(set(api))
        methods.append(Counter([*map(stem, split.word_list("name", row))] * config.name_weight + tokens + api))
    average = sum(method.total() for method in methods) / len(methods)
    holders = Counter(word for method in methods for word in method)
    scores = np.zeros((len(split), len(split)))
    for query in range(len(split)):
        asked = split.word_list("query", query)
        for word in {stem(word) for word in asked if config.common_words or word not in STOPWORDS_EN}:
            count = holders[word]
            if config.method == "atire":
                idf = (config.k1 + 1) * math.log(len(methods) / count) if count else 0
            else:
                idf = math.log(1 + (len(methods) - count + 0.5) / (count + 0.5))
            for code, method in enumerate(methods):
                length = config.k1 * (1 - config.b + config.b * method.total() / average)
                scores[query, code] += idf * method[word] / (method[word] + length)
    return scores


@pytest.mark.parametrize(
    "config",
    [
        Bm25Config(stem=False),
        Bm25Config(stem=True),
        Bm25Config(k1=0.9, b=0.4, name_weight=3),
        Bm25Config(method="atire"),
        Bm25Config(common_words=False),
        Bm25Config(distinct=True, stem=False),
        resolve("jdk", "bm25_tuned", {}).model,
    ],
)
def test_scores_are_those_of_the_plain_formula(config):
    assert all_scores(config, jdk_split()) == pytest.approx(plain_bm25(config, jdk_split()), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("stem", [False, True])
def test_scores_are_those_of_the_plain_formula_on_published_pairs(stem):
    part = published_split("jcg_tabcs").take(np.arange(0, 10_000, 125))
    config = Bm25Config(stem=stem)
    assert all_scores(config, part) == pytest.approx(plain_bm25(config, part), rel=1e-4, abs=1e-6)


# exact measures without stemming: Top@1, 5, 10, MRR; published convention: Top@2, 6, 11, MRR@10
YARDSTICK = {
    "csn_tabcs": ((0.406, 0.555, 0.607, 0.477), (0.479, 0.569, 0.614, 0.471)),
    "jcg_tabcs": ((0.330, 0.488, 0.547, 0.405), (0.403, 0.503, 0.555, 0.398)),
}


@pytest.mark.parametrize("name", YARDSTICK)
def test_the_known_numbers_of_the_published_test_sets(name):
    found = evaluate(Bm25(Bm25Config(stem=False)), published_split(name), EvaluateConfig(run_depth=1), progress=False)
    for measures, known in zip((metrics.exact, metrics.published_convention), YARDSTICK[name], strict=True):
        one = measures(found.ranks)
        assert tuple(one[name] for name in ("top1", "top5", "top10", "mrr")) == pytest.approx(known, abs=0.001)


def test_stemming_brings_word_forms_together():
    plain, stemmed = (all_scores(Bm25Config(stem=stem), jdk_split()) for stem in (False, True))
    assert plain[1, 1] == 0  # "elements" against the token "element"
    assert stemmed[1, 1] > 0


def test_repeated_and_unknown_query_words_change_nothing():
    split = jdk_split()
    query, unknown = split.words["query"], len(split.lexicon)
    twice = Ragged.of([[*query[row].tolist(), unknown, *query[row].tolist()] for row in range(len(split))])
    queries = Split("test", [*split.lexicon, "qqqq"], {**split.words, "query": twice}, split.texts)
    assert np.array_equal(all_scores(Bm25Config(), split, queries), all_scores(Bm25Config(), split))


def test_words_that_a_release_has_lost_are_no_shared_words():
    split = jdk_split()
    lost = len(split.lexicon)
    words = {}
    for field, lists in split.words.items():
        words[field] = Ragged.of([[*lists[row].tolist(), lost, lost] for row in range(len(split))])
    with_lost = Split("test", [*split.lexicon, UNKNOWN], words, split.texts)
    assert np.array_equal(all_scores(Bm25Config(), with_lost), all_scores(Bm25Config(), split))


def test_queries_of_another_lexicon_meet_by_their_letters():
    split = jdk_split()
    order = np.random.default_rng(0).permutation(len(split.lexicon))
    lexicon = [split.lexicon[number] for number in np.argsort(order)]
    words = {field: Ragged(order[lists.values].astype(np.int32), lists.offsets) for field, lists in split.words.items()}
    shuffled = Split(split.name, lexicon, words, split.texts)
    assert shuffled.word_list("query", 3) == split.word_list("query", 3)
    assert np.array_equal(all_scores(Bm25Config(), split, shuffled), all_scores(Bm25Config(), split))


def test_methods_and_queries_without_words_score_zero():
    split = jdk_split(4)
    for kept in ((), ("query",), ("name",)):
        empty = Ragged.of([[]] * 4)
        words = {field: lists if field in kept else empty for field, lists in split.words.items()}
        assert not all_scores(Bm25Config(), Split("test", split.lexicon, words, split.texts)).any()


def test_blocks_are_bounded_and_make_the_whole(monkeypatch):
    whole = all_scores(Bm25Config(), jdk_split(40))
    monkeypatch.setattr("baselines.bm25._BLOCK_BYTES", 4 * 40 * 7)
    blocks = [*Bm25(Bm25Config()).over(jdk_split(40), jdk_split(40)).blocks()]
    assert [block.shape for block in blocks] == [(7, 40)] * 5 + [(5, 40)]
    assert np.array_equal(np.concatenate(blocks), whole)


def test_it_is_a_ranker_and_needs_no_torch():
    assert isinstance(Bm25(Bm25Config()), Ranker)
    code = "import sys, baselines.bm25; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k1": -1.0}, "--model.k1"),
        ({"b": 1.5}, "--model.b takes a number from 0 to 1"),
        ({"name_weight": -1}, "--model.name"),
    ],
)
def test_bad_settings_name_the_flag(settings, message):
    with pytest.raises(ValueError, match=message):
        Bm25Config(**settings)


def test_an_empty_corpus_is_refused():
    with pytest.raises(ValueError, match="at least one method"):
        Bm25(Bm25Config()).over(jdk_split(), jdk_split(0))
