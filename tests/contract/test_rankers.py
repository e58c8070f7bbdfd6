"""What every ranker in the registry keeps, trained or not: the evaluator and the search rely on it."""

import numpy as np
import pytest

from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from experiments.recipes.config import resolve
from experiments.recipes.models import MODELS, class_of, is_trained
from experiments.run.training import build_model
from modeling.pool_ranker import PoolRanker
from tests.tiny_models import smaller


@pytest.fixture(scope="module", params=MODELS)
def ranker(request, data_with_statements, tmp_path_factory):
    plan = resolve("folder", request.param, smaller(request.param, tmp_path_factory))
    if not is_trained(request.param):
        return class_of(request.param)(plan.model)
    tokenizer = class_of(request.param).tokenizer(data_with_statements.splits["train"], plan.words, plan.model)
    return PoolRanker(build_model(plan, tokenizer), tokenizer)


@pytest.fixture(scope="module")
def pool(data_with_statements):
    """Few enough that pairs can be read one by one."""
    return data_with_statements.splits["test"].take(np.arange(40))


def matrix(ranker, corpus, queries) -> np.ndarray:
    return np.concatenate([block.copy() for block in ranker.over(queries, corpus).blocks()])


def test_every_query_is_scored_against_the_whole_pool_in_order(ranker, pool):
    scores = matrix(ranker, pool, pool)
    assert scores.shape == (len(pool), len(pool))
    assert np.isfinite(scores).all()
    some = np.array([3, 0, 7])
    np.testing.assert_allclose(matrix(ranker, pool, pool.take(some)), scores[some], rtol=1e-4, atol=1e-5)


def test_the_score_of_a_method_stays_with_it(ranker, pool):
    order = np.random.default_rng(0).permutation(len(pool))
    some = pool.take(np.arange(10))
    np.testing.assert_allclose(
        matrix(ranker, pool.take(order), some), matrix(ranker, pool, some)[:, order], rtol=1e-4, atol=1e-5
    )


def test_candidates_have_the_scores_that_they_have_among_all(ranker, pool):
    scores = ranker.over(pool, pool)
    whole = np.concatenate([block.copy() for block in scores.blocks()])
    draws = np.random.default_rng(1)
    queries, candidates = np.array([5, 0, 5]), draws.integers(0, len(pool), (3, 12))
    found = scores(queries, candidates)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, whole[queries[:, None], candidates], rtol=1e-4, atol=1e-5)


def test_the_evaluator_takes_it(ranker, pool):
    evaluation = evaluate(ranker, pool, EvaluateConfig(pool=30), progress=False)
    assert evaluation.ranks.shape == (30,)
    assert 1 <= evaluation.ranks.min() <= evaluation.ranks.max() <= 30
