"""What every ranker in the registry keeps, trained or not: the evaluator and the search rely on it."""

import numpy as np
import pytest

from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from experiments.run.stages import build_model
from modeling.pool_ranker import PoolRanker
from recipes.config import resolve
from recipes.models import MODELS, class_of, is_trained
from tests.tiny_models import smaller


@pytest.fixture(scope="module", params=MODELS)
def ranker(request, data_with_statements, tmp_path_factory):
    plan = resolve("folder", request.param, smaller(request.param, tmp_path_factory))
    if not is_trained(request.param):
        return class_of(request.param)(plan.model)
    encoder = class_of(request.param).tokenizer(data_with_statements.splits["train"], plan.words, plan.model)
    return PoolRanker(build_model(plan, encoder), encoder)


def matrix(ranker, corpus, queries) -> np.ndarray:
    ranker.index(corpus)
    return np.concatenate([block.copy() for block in ranker.scores(queries)])


def test_every_query_is_scored_against_the_whole_pool_in_order(ranker, data_with_statements):
    test = data_with_statements.splits["test"]
    scores = matrix(ranker, test, test)
    assert scores.shape == (len(test), len(test))
    assert np.isfinite(scores).all()
    some = np.array([3, 0, 7])
    np.testing.assert_allclose(matrix(ranker, test, test.take(some)), scores[some], rtol=1e-4, atol=1e-5)


def test_the_score_of_a_method_stays_with_it(ranker, data_with_statements):
    test = data_with_statements.splits["test"]
    order = np.random.default_rng(0).permutation(len(test))
    some = test.take(np.arange(10))
    np.testing.assert_allclose(
        matrix(ranker, test.take(order), some), matrix(ranker, test, some)[:, order], rtol=1e-4, atol=1e-5
    )


def test_indexing_again_forgets_the_pool_before(ranker, data_with_statements):
    test, few = data_with_statements.splits["test"], data_with_statements.splits["test"].take(np.arange(5))
    alone = matrix(ranker, few, few)
    ranker.index(test)
    np.testing.assert_array_equal(matrix(ranker, few, few), alone)


def test_the_evaluator_takes_it(ranker, data_with_statements):
    evaluation = evaluate(ranker, data_with_statements.splits["test"], EvaluateConfig(pool=50), progress=False)
    assert evaluation.ranks.shape == (50,)
    assert 1 <= evaluation.ranks.min() <= evaluation.ranks.max() <= 50
