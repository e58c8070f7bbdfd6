"""Saved results: means of repositories stand for their queries, intervals over repositories and seeds, the page."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from data_prep.pipeline.contexts import PARTS
from evaluation.comparison import judged
from evaluation.significance import Runs, compare_runs
from experiments.context.measure import (
    BM25,
    BM25_OTHERS,
    BM25_OWN,
    BM25_TUNED,
    FUSED,
    FUSED_TUNED,
    LENGTHS,
    NEIGHBOURS,
    NONE,
    OTHERS,
    OWN,
    part_name,
    shortened,
)
from experiments.context.page import page
from experiments.context.results import (
    OVERLAPS,
    ContextResult,
    difference,
    load_results,
    mean_interval,
    reached,
    save_result,
)
from experiments.tables.comparison_tables import SAID, with_interval

QUERIES = 60
REPOSITORIES = np.random.default_rng(0).integers(4, size=QUERIES)
SYSTEMS = (OWN, OTHERS, NEIGHBOURS, NONE, BM25, BM25_OWN, BM25_OTHERS, FUSED)


def ranks(seed: int, system: str, *, worse: int) -> np.ndarray:
    random = np.random.default_rng([0 if system.startswith("BM25") else seed, len(system)])
    return random.integers(1, 10 + worse, size=QUERIES)


def result(model: str, seed: int, *, language: str = "python", worse: int = 0, systems=SYSTEMS) -> ContextResult:
    names = [f"tree{number}" for number in range(4)]
    classes = np.arange(QUERIES) % len(OVERLAPS)
    of = {name: ranks(seed, name, worse=worse) for name in systems}
    return ContextResult(
        model=model, dataset="repositories", language=language, trained_on=language, data_split="repo", split="test",
        train_seed=seed, train_pairs=100, command="", pool=50, padded=40, pool_seed=0, fusion_weight=0.5,
        tuned_fusion_weight=0.5, wanted_pool=50,
        repositories=dict(zip(names, np.bincount(REPOSITORIES).tolist(), strict=True)),
        overlaps=np.bincount(classes).tolist(),
        systems={name: reached(own, REPOSITORIES, classes, own) for name, own in of.items()},
    )  # fmt: skip


def test_means_of_repositories_give_the_interval_of_all_queries():
    firsts, seconds = ([result("m", seed, worse=worse) for seed in range(3)] for worse in (0, 5))
    found = difference([firsts], OWN, [seconds], OWN)
    values = [1 / np.stack([ranks(seed, OWN, worse=worse) for seed in range(3)]) for worse in (0, 5)]
    expected = compare_runs(*map(Runs, values), clusters=REPOSITORIES)
    assert (found.mean, found.low, found.high) == pytest.approx((expected.mean, expected.low, expected.high), abs=1e-6)
    assert firsts[0].mrr(OWN) == pytest.approx(values[0][0].mean(), abs=1e-6)


def test_one_seed_has_no_interval_and_bm25_needs_none():
    assert np.isnan(difference([[result("m", 0)]], OWN, [[result("n", 0)]], OWN).low)
    found = difference([[result("m", 0)]], BM25_OWN, [[result("m", 0)]], BM25)
    assert found.low < found.mean < found.high


def test_languages_count_the_same_in_their_mean():
    sides = [[[result("m", seed, worse=worse + more) for seed in range(2)] for more in (0, 30)] for worse in (0, 5)]
    found = difference(sides[0], OWN, sides[1], OWN)
    each = [difference([first], OWN, [second], OWN) for first, second in zip(*sides, strict=True)]
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
        difference([[result("m", 0)]], OWN, [[other]], OWN)


def test_both_splits_stand_beside_each_other():
    made = [
        replace(result(model, seed, worse=worse), data_split=split)
        for model, worse in (("m", 0), ("m_no_context", 9))
        for seed in (0, 1)
        for split in ("repo", "random")
    ]
    text = page(made)
    assert "## repositories, split by chance: m, pools of 50" in text
    table = text.partition("## Split by repository beside split by chance")[2].partition("\n## ")[0]
    row = next(line for line in table.splitlines() if line.startswith("| python |"))
    means = [f"{np.mean([each.mrr(OWN) for each in made if each.model == name and each.data_split == 'repo']):.4f}"
             for name in ("m_no_context", "m")]  # fmt: skip
    cells = [cell.strip() for cell in row.split("|")[2:-1]]
    assert cells[:2] == cells[3:5] == means  # the same ranks in both
    assert cells[2] == cells[5]
    assert "beside split by chance" not in page([each for each in made if each.data_split == "repo"])


def test_what_is_not_measured_yet_is_left_open():
    """Results of before the tuned BM25 stand beside those with it."""
    new, old = (*SYSTEMS, BM25_TUNED, FUSED_TUNED), SYSTEMS
    made = [result(model, 0, language=language, systems=of) for model in ("m", "m_no_context")
            for language, of in (("go", old), ("python", new))]  # fmt: skip
    lines = [
        line for line in page(made).splitlines() if line.startswith(("| MRR | queries", "| go | 60", "| python | 60"))
    ]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    place = rows[0].index("BM25, tuned")
    assert rows[1][place] == ""
    assert rows[2][place] == f"{made[1].mrr(BM25_TUNED):.4f}"
    assert "tuned BM25 - tuned BM25" not in page(made)
    assert "tuned BM25 - tuned BM25" in page(made[1::2])


def test_the_page_begins_with_the_gain_alone_and_fused():
    made = [result(model, seed, worse=worse, language=language, systems=(*SYSTEMS, BM25_TUNED, FUSED_TUNED))
            for model, worse in (("m", 0), ("m_no_context", 9)) for seed in (0, 1)
            for language in ("go", "python")]  # fmt: skip
    sides = [[[each for each in made if (each.model, each.language) == (model, language)]
              for language in ("go", "python")] for model in ("m", "m_no_context")]  # fmt: skip
    expected = [difference(sides[0], of, sides[1], of) for of in (OWN, FUSED_TUNED)]
    cells = [f"{each.mean:+.4f} ({each.low:+.4f} to {each.high:+.4f})" for each in expected]
    lines = page(made).splitlines()
    assert lines[0].endswith("?")
    said = [f"{SAID[lead.side]} {{}}: {with_interval(lead.difference)}" for lead in judged(expected)]
    alone, fused = said[0].format("the same model without"), said[1].format("that")
    assert lines[2].startswith(f"With the text above, `m` {alone} of MRR. Both fused with tuned BM25, it {fused}. ")
    assert "2 languages on repositories that training has not seen, in pools of 50;" in lines[2]
    assert lines[6] == f"| repositories, split by repository: m, pools of 50 | 2 | {cells[0]} | {cells[1]} |"
    assert cells[1] in next(line for line in lines if line.startswith("| mean of languages | +"))
    assert "both fused" not in page([result(model, 0) for model in ("m", "m_no_context")])


def test_contexts_of_others_are_compared_with_none_and_parts_with_contexts_left_out():
    systems = (*SYSTEMS, BM25_TUNED, *(part_name(part) for part in PARTS[1:]))
    pair = [[result(model, seed, systems=systems) for seed in (0, 1)] for model in ("m", "m_no_context")]
    text = page([*pair[0], *pair[1]])
    heads, _, row = text.partition("| difference of MRR | with")[2].splitlines()[:3]
    cells = dict(zip(heads.split(" | "), row.split(" | ")[1:], strict=False))
    found = difference([pair[0]], OTHERS, [pair[1]], OWN)
    assert cells["other contexts - without"] == f"{found.mean:+.4f} ({found.low:+.4f} to {found.high:+.4f})"
    part = difference([pair[0]], part_name(PARTS[1]), [pair[0]], NONE)
    table = text.partition("| MRR by part of the context, minus that of contexts left out |")[2]
    assert f" | {part.mean:+.4f} ({part.low:+.4f} to {part.high:+.4f}) | " in table.splitlines()[2]


def test_trees_in_turn_have_their_gains_and_the_mean_of_these():
    systems = (*SYSTEMS, BM25_TUNED, FUSED_TUNED)
    made = [result(model, seed, worse=worse, systems=systems) for seed in range(3)
            for model, worse in (("m", 0), ("m_no_context", 9))]  # fmt: skip
    made = [
        replace(each, data_split=f"pypi/{'abc'[each.train_seed]}", repositories={"tree": QUERIES}, systems={
            name: replace(of, mrr=[each.mrr(name)]) for name, of in each.systems.items()
        })
        for each in made
    ]  # fmt: skip
    gains = [[one.mrr(of) - other.mrr(of) for one, other in zip(made[::2], made[1::2], strict=True)]
             for of in (OWN, FUSED_TUNED)]  # fmt: skip
    lines = page(made).splitlines()
    assert f"| pypi/b | {gains[0][1]:+.4f} | {gains[1][1]:+.4f} |" in lines
    cells = [f"{mean:+.4f} ({low:+.4f} to {high:+.4f})" for mean, low, high in map(mean_interval, gains)]
    assert f"| mean of trees | {cells[0]} | {cells[1]} |" in lines


def test_the_number_of_words_is_chosen_on_validation_pairs_alone():
    names = (*SYSTEMS, *map(shortened, LENGTHS))
    tested = [result(model, 0, language=language, systems=names) for model in ("m", "m_no_context")
              for language in ("go", "python")]  # fmt: skip
    valid = [replace(each, split="valid", train_seed=3) for each in tested]
    assert {each.file_name for each in tested}.isdisjoint(each.file_name for each in valid)
    text = page([*tested, *valid])
    assert page(tested) == text.replace(text[text.index("## Number of") : text.index("## Published")], "")
    means = {name: np.mean([each.mrr(name) for each in valid[:2]]) for name in (NONE, *map(shortened, LENGTHS), OWN)}
    best = max(means, key=means.__getitem__)
    assert f"Best in the mean: {'all' if best == OWN else best.removeprefix('model, ')}." in text


def test_a_run_of_all_languages_has_results_of_its_own():
    one, all_together = (replace(result("m", 0), trained_on=language) for language in ("python", "all"))
    assert one.file_name == "repositories-python-repo-m-seed0-of50.json"
    assert all_together.file_name == "repositories-python-all-repo-m-seed0-of50.json"
    mixed = replace(all_together, language="all", wanted_pool=5000)
    assert mixed.file_name == "repositories-all-repo-m-seed0-of5000.json"
    pairs = [replace(each, model=model) for each in (one, all_together, mixed) for model in ("m", "m_no_context")]
    text = page([replace(each, wanted_pool=5000) for each in pairs])
    assert "## repositories, split by repository: m, pools of 5,000" in text
    section = text.partition("## repositories, split by repository: m, learned from all languages, pools of 5,000")[2]
    assert "| all | 60 | 4 | 50 | 40 |" in section
    assert "Trained on 100 pairs of all languages together" in section
