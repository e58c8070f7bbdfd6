from dataclasses import replace

import pytest

from data_prep.languages.registry import corpus_languages
from evaluation.result_store import ResultStore
from experiments.tables import language_table
from experiments.tables.cells import check_cells
from experiments.tables.language_table import CONTROL, Row, language_cells, language_page
from tests.evaluation.test_results import SIZE, result

PLAIN = result(model="unif", also={})


def of_rank(rank: int, seed: int = 0, parameters: int = 3):
    measures = {**PLAIN.exact, "mrr": 1 / rank}
    return replace(PLAIN, ranks=[rank] * SIZE, exact=measures, seed=seed, parameters=parameters)


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Writes the trees of a pool of Python's queries, and gives results to the page."""
    found = [
        (Row(CONTROL, ""), "python", 1000, of_rank(4, parameters=0)),
        *((Row("unif", "own"), "python", 1000, of_rank(2, seed)) for seed in range(3)),
        *((Row("unif", "all"), "python", 1000, of_rank(1, seed)) for seed in range(3)),
        (Row("galm_plus", "own"), "python", 1000, of_rank(2)),
    ]
    monkeypatch.setattr(language_table, "_results", lambda _folder, **_: iter(found))
    facts = {"language": "python", "pool": 1000, "fingerprint": "0a", "trees": [row % 3 for row in range(SIZE)]}
    ResultStore(tmp_path / "queries").save("trees-python-1000", facts)
    return tmp_path


def test_every_cell_is_another_run_of_known_options():
    cells = language_cells()
    check_cells(cells, {"train.threads": "1"})
    assert (
        len({each.key for each in cells})
        == len({(str(each.plan({})), str(each.weights_of)) for each in cells})
        == len(cells)
    )
    again = [each for each in cells if each.weights_of]
    assert {each.settings["data.language"] for each in again} == {*corpus_languages(), "php", "ruby"}
    assert {(each.dataset, each.settings["data.language"] in ("php", "ruby")) for each in cells} == {
        ("repositories", False), ("seven_languages", True),
    }  # fmt: skip
    trained = [each.weights_of for each in again if "of all languages" in each.label]
    assert {base.settings["data.language"] for base in trained if base} == {"all"}


def test_an_encoder_is_compared_with_galm_plus_and_with_itself_untrained(saved, monkeypatch):
    found = [
        (Row("galm_plus", "own"), "python", 1000, of_rank(1)),
        *((Row("galm_plus", "all", fused=True), "python", 1000, of_rank(4, seed)) for seed in range(3)),
        (Row("minilm as it comes", "", fused=True), "python", 1000, of_rank(2, parameters=0)),
        *((Row("minilm", "all", fused=True), "python", 1000, of_rank(1, seed)) for seed in range(3)),
    ]
    monkeypatch.setattr(language_table, "_results", lambda _folder, **_: iter(found))
    page, of = language_page(saved), f"minilm, of all languages, with {CONTROL}"
    assert f"| {of} - minilm as it comes, with {CONTROL} | +0.500 (+0.500 to +0.500) |" in page
    assert f"| {of} - galm_plus, of all languages, with {CONTROL} | +0.750 (+0.750 to +0.750) |" in page
    assert f"{of} - galm_plus, of the language" not in page


def test_the_page_compares_all_languages_with_one_and_models_with_bm25(saved):
    page = language_page(saved)
    assert f"| queries | {SIZE} |\n| repositories | 3 |" in page
    head = page.split("\n\n")
    assert head[0] == "# Is one model of all languages better than one for each?"
    assert head[1:3] == [
        "**unif: of all languages - of the language**: ahead in 1 of 1 languages.",
        "- Ahead: `python` +0.500 (+0.500 to +0.500).",
    ]
    assert "| unif, of all languages | 1.000 ± 0.000 |" in page
    assert "| unif: of all languages - of the language | +0.500 (+0.500 to +0.500) |" in page
    assert f"| unif, of the language - {CONTROL} | +0.250 (+0.250 to +0.250) |" in page
    assert f"| galm_plus, of the language - {CONTROL} | +0.250 |" in page  # one seed: no interval


def test_without_results_there_is_no_page(tmp_path):
    assert language_page(tmp_path) == ""


def test_missing_trees_are_named(saved):
    (saved / "queries" / "trees-python-1000.json").unlink()
    with pytest.raises(ValueError, match=r"expected trees-python-1000, source trees of queries, in .*queries"):
        language_page(saved)


def test_a_fused_encoder_is_compared_with_the_best_fusion_that_starts_from_random_vectors(saved, monkeypatch):
    ranks = {"galm_plus": 2, "minilm": 1}
    fused = [(Row(name, "all", fused=True), rank, seed) for name, rank in ranks.items() for seed in range(2)]
    monkeypatch.setattr(
        language_table, "_results", lambda _folder, **_: ((row, "python", 1000, of_rank(r, s)) for row, r, s in fused)
    )
    page = language_page(saved)
    both = "minilm, of all languages, with bm25_tuned - galm_plus, of all languages, with bm25_tuned"
    assert f"**{both}**: ahead in 1 of 1 languages.\n\n- Ahead: `python` +0.500 (" in page
    assert "In pools of 1,000." in page


def test_a_model_with_one_seed_gets_no_answer(saved, monkeypatch):
    found = [(Row("galm_plus", of), "python", 1000, of_rank(rank)) for of, rank in (("own", 2), ("all", 1))]
    found += [(Row("unif", of), "python", 1000, of_rank(2, seed)) for of in ("own", "all") for seed in range(3)]
    monkeypatch.setattr(language_table, "_results", lambda _folder, **_: iter(found))
    page = language_page(saved)
    assert "- Level, within 0.01: `python` +0.000 (" in page
    assert "With one seed, `galm_plus: of all languages - of the language` gets no verdict." in page
    monkeypatch.setattr(language_table, "_results", lambda _folder, **_: iter(found[:2]))
    assert "Ahead and behind" not in language_page(saved)
