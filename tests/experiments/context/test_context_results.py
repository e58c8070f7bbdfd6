"""Saved results: means of repositories stand for their queries, intervals over repositories and seeds, the page."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.run_comparison import Runs, compare_runs
from experiments.context.differences import difference, macro_difference, mean_interval
from experiments.context.results import OVERLAPS, ContextResult, load_results, reached, save_result
from experiments.context.summary import page
from experiments.context.systems import BM25, BM25_OTHERS, BM25_OWN, FUSED, NEIGHBOURS, NONE, OTHERS, OWN

QUERIES = 60
REPOSITORIES = np.random.default_rng(0).integers(4, size=QUERIES)
SYSTEMS = (OWN, OTHERS, NEIGHBOURS, NONE, BM25, BM25_OWN, BM25_OTHERS, FUSED)


def ranks(seed: int, system: str, *, worse: int) -> np.ndarray:
    random = np.random.default_rng([0 if system.startswith("BM25") else seed, len(system)])
    return random.integers(1, 10 + worse, size=QUERIES)


def result(model: str, seed: int, *, language: str = "python", worse: int = 0, systems=SYSTEMS) -> ContextResult:
    names = [f"tree{number}" for number in range(4)]
    classes = np.arange(QUERIES) % len(OVERLAPS)
    return ContextResult(
        model=model, dataset="repositories", language=language, trained_on="all", data_split="repo", split="test",
        train_seed=seed, train_pairs=100, command="", pool=50, padded=40, pool_seed=0, fusion_weight=0.5,
        repositories=dict(zip(names, np.bincount(REPOSITORIES).tolist(), strict=True)),
        overlaps=np.bincount(classes).tolist(),
        systems={name: reached(ranks(seed, name, worse=worse), REPOSITORIES, classes) for name in systems},
    )  # fmt: skip


def test_means_of_repositories_give_the_interval_of_all_queries():
    firsts, seconds = ([result("m", seed, worse=worse) for seed in range(3)] for worse in (0, 5))
    found = difference(firsts, OWN, seconds, OWN)
    values = [1 / np.stack([ranks(seed, OWN, worse=worse) for seed in range(3)]) for worse in (0, 5)]
    expected = compare_runs(*map(Runs, values), clusters=REPOSITORIES)
    assert (found.mean, found.low, found.high) == pytest.approx((expected.mean, expected.low, expected.high), abs=1e-6)
    assert firsts[0].mrr(OWN) == pytest.approx(values[0][0].mean(), abs=1e-6)


def test_one_seed_has_no_interval_and_bm25_needs_none():
    assert np.isnan(difference([result("m", 0)], OWN, [result("n", 0)], OWN).low)
    found = difference([result("m", 0)], BM25_OWN, [result("m", 0)], BM25)
    assert found.low < found.mean < found.high


def test_languages_count_the_same_in_their_mean():
    sides = [[[result("m", seed, worse=worse + more) for seed in range(2)] for more in (0, 30)] for worse in (0, 5)]
    found = macro_difference(sides[0], OWN, sides[1], OWN)
    each = [difference(first, OWN, second, OWN) for first, second in zip(*sides, strict=True)]
    assert found.mean == pytest.approx(np.mean([one.mean for one in each]))
    assert found.low < found.mean < found.high


def test_the_mean_over_trees_has_students_interval():
    mean, low, high = mean_interval([0.1, 0.2, 0.3])
    assert (mean, high - mean, mean - low) == pytest.approx((0.2, 4.302653 * 0.1 / 3**0.5, 4.302653 * 0.1 / 3**0.5))
    assert np.isnan(mean_interval([0.1])[1])


def test_results_come_back_and_their_page_has_pairs_of_models_only(tmp_path: Path):
    made = [result(model, seed, language=language) for model in ("m", "m_no_context", "alone") for seed in (0, 1)
            for language in ("go", "python")]  # fmt: skip
    for each in made:
        save_result(each, tmp_path)
    found = load_results(tmp_path)
    assert sorted(map(repr, found)) == sorted(map(repr, made))
    text = page(found)
    assert "## repositories, split by repository: m, pools of 50" in text
    assert "alone" not in text
    assert "mean of languages" in text
    assert "| CodeBERT + context | 0.9535 | 0.9069 | 0.9726 | 0.9716 | 0.9511 | 0.9739 |" in text
    (tmp_path / made[0].file_name).write_text("{}")
    with pytest.raises(ValueError, match="model"):
        load_results(tmp_path)


def test_other_pairs_are_not_compared():
    other = result("m", 0)
    object.__setattr__(other, "repositories", {"tree": QUERIES})
    with pytest.raises(ValueError, match="same pairs"):
        difference([result("m", 0)], OWN, [other], OWN)
