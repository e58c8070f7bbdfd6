from collections import Counter
from dataclasses import replace

import pytest

from evaluation.result_store import ResultStore
from evaluation.significance import RunDifference
from experiments.context.results import save_result as save_context
from experiments.recipes.config import resolve
from experiments.tables.ablations import ABLATIONS
from experiments.tables.cells import saved_results
from experiments.tables.comparison_tables import markdown_table, tables, with_interval
from experiments.tables.main_table import (
    CELLS,
    README_ROWS,
    README_TESTS,
    REFERENCES,
    best_trials_section,
    of_trials,
    shown,
)
from experiments.tables.pages import README, RESULTS, Saved, pages, write_tables
from experiments.tables.readme_table import ASKED, BASE, END, START, overview_leads, overview_picture, with_tables
from experiments.tables.tuning import (
    BEST,
    CHOSEN,
    EARLIER,
    ENCODER_SETTINGS,
    SETTINGS,
    TRIALS,
    TUNED,
    best_of_trials,
    earlier_cells,
    encoder_cells,
    trial_cells,
    tuning_page,
)
from tests.evaluation.test_results import result
from tests.experiments.context.test_context_results import result as context_result
from tests.experiments.posts.test_post_results import write_results as write_posts
from tests.experiments.tables.saved_runs import copied, has

SAVED = Saved(RESULTS)
NO_CHOICE = ("galm_plus", "model.init")


def test_the_readme_is_in_step_with_the_kept_results():
    text = README.read_text(encoding="utf-8")
    assert with_tables(text, SAVED.readme, SAVED.answers) == text, "run: bash run.sh table"


def test_the_pages_are_in_step_with_the_kept_results():
    for name, text in pages(SAVED):
        assert (RESULTS / name).read_text(encoding="utf-8") == text, "run: bash run.sh table"


def test_an_ablation_has_a_page_once_a_variant_has_a_result(tmp_path):
    ablation = ABLATIONS["edges"]
    kept = [cell for cell in ablation.cells if has("ablations", cell.key)]
    base, variants = ([cell for cell in kept if (cell.label == ablation.base) == of_base] for of_base in (True, False))
    if not base or not variants:
        pytest.skip("no results of the ablation of edges are kept in experiments/results/ablations")
    copied("ablations", [base[0].key], tmp_path)
    assert "ablations/edges.md" not in dict(pages(Saved(tmp_path)))
    copied("ablations", [variants[0].key], tmp_path)
    assert f"| {variants[0].label} |" in dict(pages(Saved(tmp_path)))["ablations/edges.md"]


def test_a_cell_of_a_table_stays_one():
    table = markdown_table(("model", "MRR"), [("a | b <img src=x> &amp;\n| c | \x1b[2J", "0.5")])
    assert table.split("\n") == [
        "| model | MRR |",
        "| --- | ---: |",
        "| a \\| b &lt;img src=x> &amp;amp;\ufffd\\| c \\| \ufffd[2J | 0.5 |",
    ]


def test_only_the_section_between_the_markers_changes(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{START}\nold\n{END}\nafter\n", encoding="utf-8")
    write_tables(readme, tmp_path)
    assert readme.read_text(encoding="utf-8") == f"before\n{START}\nNo results are saved yet.\n{END}\nafter\n"


@pytest.mark.parametrize("text", ["", START, END, f"{END}{START}"])
def test_missing_markers_are_named(text):
    with pytest.raises(ValueError, match="results:start"):
        with_tables(text, {}, {})


def test_an_installed_program_has_no_tables_to_write(monkeypatch):
    monkeypatch.setattr("experiments.tables.pages.INSTALLED", True)
    with pytest.raises(ValueError, match="tables are written into a checkout of the repository"):
        write_tables()


def test_a_damaged_result_is_named(tmp_path):
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / f"{CELLS['jdk'][0].key}.json").write_text("{}")
    with pytest.raises(ValueError, match=r"bm25_tuned-seed0\.json"):
        list(pages(Saved(tmp_path)))


def block():
    return with_tables(f"{START}{END}", SAVED.readme, SAVED.answers)


def test_the_readme_has_few_rows_and_its_picture_their_paired_differences():
    labels = {shown(cell.label) for cells in CELLS.values() for cell in cells}
    assert len(README_ROWS) <= 8
    assert set(README_ROWS) <= labels
    lines = [line.split(" | ") for line in block().splitlines() if line.startswith("| ")]
    assert [line[0].removeprefix("| ") for line in lines[2:]] == list(README_ROWS.values())
    panels = overview_leads(SAVED.readme, SAVED.clusters)
    assert [*panels] == [*README_TESTS.values()]
    for title, rows in panels.items():
        entries = SAVED.readme[title]
        assert rows.keys() == entries.keys() - {BASE}
        base = entries[BASE].mrr
        assert {name: lead.difference.mean for name, lead in rows.items()} == pytest.approx(
            {name: entries[name].mrr - base for name in rows}
        )
    assert overview_picture(panels).startswith(b"\x89PNG")
    assert overview_leads({}, {}) == {}


def test_the_readme_answers_by_the_saved_differences():
    told = " ".join(block().split())
    for question, pair in ASKED.items():
        assert f"**{question}**" in told
        for title in README_TESTS.values():
            assert with_interval(SAVED.answers[title].leads[pair].difference) in told
    assert any(pair[1] == "galm, L = 0" for pair in ASKED.values())


def test_the_readme_has_the_best_of_trials_of_its_word_models():
    for name in ("galm", "galm_plus", "tabcs"):
        assert name not in README_ROWS
        assert of_trials(name) in README_ROWS


def test_each_test_set_has_one_table_of_all_models():
    page = (RESULTS / "main-all.md").read_text(encoding="utf-8")
    heads = [line.partition("** (")[0] for line in page.splitlines() if line.startswith("**") and " split: " in line]
    assert len(heads) == len(set(heads)) >= 4


@pytest.mark.parametrize("references", [("galm", "bm25"), ("galm",), ()])
def test_no_column_of_differences_is_empty(references):
    one = [("unif", result(model="unif", also={}))]
    for ranked in (one, [*one, ("bm25", result(model="bm25", also={}))], [("galm", one[0][1])]):
        text = tables(ranked, references, {}, whole=True)
        header, _, *rows = (line.split("|") for line in text.splitlines() if line.startswith("|"))
        for place in (place for place, title in enumerate(header) if "MRR - " in title):
            assert any(row[place].strip() for row in rows)
        assert ("MRR - " in text) == ("bm25" in references and len(ranked) > 1)
        assert ("Holm" in text) == ("MRR - " in text)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0004, 0.0362, "(+0.0004 to +0.036)"),
        (-0.0362, -0.00003, "(-0.036 to -0.00003)"),
        (-0.001, 0.0, "(-0.001 to +0.000)"),
        (0.0005, 0.001, "(+0.001 to +0.001)"),
    ],
)
def test_an_end_of_an_interval_shows_its_side_of_zero(low, high, text):
    found = RunDifference((low + high) / 2, low, high, p_value=0.04, standard_error=0.1, degrees_of_freedom=9.0)
    assert with_interval(found).endswith(text)


def test_labels_of_saved_results_are_said_in_the_fields_words():
    assert shown("galm_plus + bm25_tuned, fusion weight tuned on A") == "galm_plus + BM25, fusion weight tuned on A"
    assert shown("bm25_tuned") == "bm25_tuned"
    labels = {cell.label for cells in CELLS.values() for cell in cells}
    assert len({shown(label) for label in labels}) == len(labels)


def test_a_result_of_another_configuration_is_not_shown(tmp_path):
    cells = [cell for part in CELLS.values() for cell in part]
    kept = [cell for cell in cells if has("main", cell.key)]
    if not kept:
        pytest.skip("no results are saved in experiments/results/main")
    for cell in kept[:1] + [cell for cell in kept if cell.label != cell.model][:1]:
        copied("main", [cell.key], tmp_path)
        assert f"| {shown(cell.label)} |" in dict(pages(Saved(tmp_path)))["main-all.md"]
        store = ResultStore(tmp_path / "main")
        content = store.load()[cell.key].content
        content["config"]["data"]["limit"] = 17
        store.save(cell.key, content)
        assert f"| {shown(cell.label)} |" not in dict(pages(Saved(tmp_path))).get("main-all.md", "")


def test_every_cell_is_a_run_that_there_can_be():
    for cells in (*CELLS.values(), *(ablation.cells for ablation in ABLATIONS.values())):
        assert len({cell.key for cell in cells}) == len(cells)
        for cell in cells:
            assert cell.plan({}).train.seed == cell.seed


def test_results_of_ablations_share_a_name_only_where_they_are_one():
    plans = {}
    for cell in (cell for ablation in ABLATIONS.values() for cell in ablation.cells):
        assert plans.setdefault(cell.key, cell.plan({})) == cell.plan({}), cell.key


def test_every_variant_of_an_ablation_differs_from_the_model_and_from_the_others():
    for name, ablation in ABLATIONS.items():
        plans = {cell.label: cell.plan({}) for cell in ablation.cells if cell.seed == 0}
        assert ablation.base in plans
        assert len({str(plan) for plan in plans.values()}) == len(plans), name


def test_tuning_gives_every_model_the_same_settings_and_never_looks_at_the_test():
    for name, often in {"train.learning_rate": 1, "model.dropout": 3, "loss.kind": 4, "model.init": 4}.items():
        assert max(Counter(settings[name] for settings in SETTINGS).values()) == often
    for model in TUNED:
        for cells in filter(None, (trial_cells(model), earlier_cells(model))):
            plans = {cell.label: cell.plan({}) for cell in cells}
            assert len({str(plan) for plan in plans.values()}) == len(cells)
            assert {plan.evaluate.split for plan in plans.values()} == {"valid"}
            assert len({plan.data for plan in plans.values()}) == 1
        for cell, settings in zip(trial_cells(model), SETTINGS, strict=True):
            assert cell.settings.items() >= {k: v for k, v in settings.items() if (model, k) != NO_CHOICE}.items()


def test_the_best_trial_of_a_model_is_the_best_of_the_saved_ones():
    assert {*BEST} == {*TUNED}
    for model, best in BEST.items():
        found = dict(saved_results(trial_cells(model), RESULTS / "tuning", {}))
        reached = [found[cell.label].exact["mrr"] for cell in trial_cells(model)]
        assert len(reached) == TRIALS
        assert reached.index(max(reached)) == best - 1
        assert "evaluate.split" not in best_of_trials(model)


def test_the_best_setting_of_a_model_is_bold_and_missing_ones_are_blank():
    assert tuning_page([]) == ""

    def ranked(mrr):
        found = result(model="unif", also={})
        return replace(found, exact={**found.exact, "mrr": mrr})

    labels = list(EARLIER)
    page = tuning_page(
        [
            (f"unif, {labels[0]}", ranked(0.25)),
            (f"unif, {labels[2]}", ranked(0.5)),
            ("unif, trial 2", ranked(0.75)),
        ]
    )
    rows = [line for line in page.splitlines() if line.startswith("| unif")]
    trials, earlier = ([cell.strip() for cell in row.split("|")[1:-1]] for row in rows)
    assert trials == ["unif", "", "**0.750**", *[""] * (TRIALS - 2)]
    assert earlier == ["unif", "0.250", "", "**0.500**", ""]


def test_the_best_of_equal_trials_are_ranked_on_test_splits():
    labels = [shown(cell.label) for cell in CELLS["tuned"]]
    assert {of_trials(name) for name in BEST} <= {*labels}
    found = [(name, result(model=name.split(",")[0], also={})) for name in map(of_trials, ("galm", "tabcs", "unif"))]
    page = best_trials_section(found)
    (row,) = [line for line in page.splitlines() if line.startswith("| galm |")]
    assert row.count("|") == 3
    assert "[main.md](main.md) compares them" in page
    assert best_trials_section([]) == ""


def test_the_reference_is_a_model_of_the_table():
    cells = [cell for part in CELLS.values() for cell in part]
    for dataset in {cell.dataset for cell in cells}:
        assert {cell.label for cell in cells if cell.dataset == dataset} & set(REFERENCES)
    assert all(resolve("jdk", label.partition(",")[0], {}) for label in REFERENCES)


def test_rows_are_held_against_the_first_reference_that_there_is():
    ranked = [(name, result(model=name, also={})) for name in ("unif", "bm25")]
    assert "MRR - bm25 " in tables(ranked, ("galm", "bm25"), {}, whole=False)
    assert "MRR - unif " in tables(ranked, ("unif", "bm25"), {}, whole=False)


def test_a_table_says_what_its_models_were_trained_on():
    seen = result(model="galm", also={})
    more = replace(seen, config={"data": {"extra_train_sets": "debian_sample,open_java"}})
    other = replace(seen.data, fingerprint="other")
    without = replace(result(model="bm25", also={}), parameters=0, dataset="csn_tabcs", data=other)
    text = tables([("galm", seen), ("more", more), ("bm25", without)], ("galm",), {}, whole=False)
    assert "trained on jdk or jdk with debian_sample and open_java. " in text
    assert "trained on nothing. " in text


def test_a_table_has_rows_of_equal_length_best_first():
    ranked = [(name, result(model=name, also={})) for name in ("galm", "bm25")]
    for whole in (True, False):
        text = tables(ranked, ("galm",), {}, whole=whole)
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) == 1
        assert [line.split("|")[1].strip() for line in lines[2:]] == ["galm", "bm25"]
        assert ("weight of the model" in text) == whole


def test_an_encoders_trials_differ_and_never_look_at_the_test():
    plans = {cell.key: cell.plan({}) for cell in encoder_cells()}
    assert len({str(plan) for plan in plans.values()}) == len(plans) == 2 * len(ENCODER_SETTINGS)
    assert {plan.evaluate.split for plan in plans.values()} == {"valid"}
    assert dict(CHOSEN) in [dict(settings) for settings in ENCODER_SETTINGS.values()]


def test_an_encoders_trials_have_a_row_each_and_a_column_for_each_data_set():
    assert "encoder" not in tuning_page([("unif, trial 2", result(model="unif", also={}))])
    (first, *_), cells = ENCODER_SETTINGS, encoder_cells()
    found = result(model="minilm", also={})
    page = tuning_page([(cells[0].label, replace(found, exact={**found.exact, "mrr": 0.5}))])
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {first} |")]
    assert [cell.strip() for cell in row.split("|")[1:-1]] == [first, "0.500", ""]


def test_one_command_writes_the_pages_of_contexts_and_of_posts_too():
    names = {name for name, _ in pages(SAVED)}
    corpora = {each.name for each in (RESULTS / "posts").iterdir() if each.is_dir()}
    assert names >= {"scotch.md", *(f"posts/{each}.md" for each in corpora)}
    assert names >= {f"posts/{page.name}" for page in (RESULTS / "posts").glob("*.md")}


def test_contexts_and_posts_of_ones_own_have_their_pages_too(tmp_path):
    for model in ("m", "m_no_context"):
        save_context(context_result(model, 0), tmp_path / "context")
    write_posts(tmp_path / "posts" / "site")
    assert {name for name, _ in pages(Saved(tmp_path, own=True))} == {"scotch.md", "posts/site.md"}
