import dataclasses
import json

import pytest

from cli.help import doc_of
from experiments.recipes.config import SECTIONS, Configuration, all_options, as_lines, change, resolve, section_types
from experiments.recipes.models import MODELS, class_of, config_type_of, recipe_of
from experiments.terminal.options import options_of, parse


@pytest.mark.parametrize("model", MODELS)
def test_a_configuration_survives_its_file(model, tmp_path):
    plan = resolve("jdk", model, {"train.epochs": "3", "out": str(tmp_path / "x y")})
    plan.save(tmp_path / "config.json")
    assert Configuration.load(tmp_path / "config.json") == plan


@pytest.mark.parametrize("model", MODELS)
def test_every_option_has_a_text_and_its_default_is_accepted(model):
    for name, option in all_options(model).items():
        assert doc_of(option), f"--{name} has no text below its field"


@pytest.mark.parametrize("model", MODELS)
def test_a_recipe_reaches_the_configuration(model):
    plan, known = resolve("jdk", model, {}), all_options(model)
    for name, text in recipe_of(model).settings.items():
        section, _, field = name.partition(".")
        assert getattr(getattr(plan, section), field) == parse(text, known[name])


@pytest.mark.parametrize("model", MODELS)
def test_the_registered_section_is_the_models_own(model):
    assert class_of(model).config_type is config_type_of(model)


def test_the_defaults_of_galm_are_its_recipe():
    assert not [name for name in recipe_of("galm").settings if name.startswith("model.")]
    assert resolve("jdk", "galm", {}).model == section_types("galm")["model"]()


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("galm", "per_field shared 0.15 1 32 query 0.0 mean"),
        ("galm_paper", "one shared 0.1 2 256 query 0.0 mean"),
        ("galm_plus", "offsets uniform 0.1 0 16 query_and_name 0.25 weighted"),
    ],
)
def test_the_forms_of_galm_have_the_settings_of_their_results(model, expected):
    found, names = resolve("jdk", model, {}).model, "code_tables init init_range layers gcn_dim nodes dropout readout"
    assert [str(getattr(found, name)) for name in names.split()] == expected.split()


def test_a_recipe_stands_above_defaults_and_below_the_user():
    default = {field.name: field.default for field in dataclasses.fields(section_types("galm_plus")["model"])}["nodes"]
    assert resolve("jdk", "galm_plus", {}).model.nodes != default
    assert resolve("jdk", "galm_plus", {"model.nodes": default}).model.nodes == default


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"train.epoch": "3"}, "did you mean --train.epochs"),
        ({"trian.epochs": "3"}, "did you mean --train.epochs"),
        ({"train.epochs": "many"}, "--train.epochs takes a whole number, not 'many'"),
        ({"data.limit": "-1"}, "--data.limit takes"),
        ({"loss.kind": "rank"}, "one of ranking, cross_entropy"),
    ],
)
def test_mistakes_are_named(typed, message):
    with pytest.raises(ValueError, match=message):
        resolve("jdk", "galm", typed)


def test_an_unknown_model_lists_those_there_are():
    with pytest.raises(ValueError, match=r"unknown model 'glam': did you mean galm\?"):
        resolve("jdk", "glam", {})


def test_change_keeps_the_rest():
    plan = resolve("jdk", "galm_plus", {"train.epochs": "3"})
    changed = change(plan, {"evaluate.pool": "50"})
    assert changed.evaluate.pool == 50
    assert dataclasses.replace(changed, evaluate=plan.evaluate) == plan


def test_paths_are_kept_as_absolute_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = resolve("folder", "galm", {"data.path": "my code", "out": "there"})
    assert plan.data.path == str(tmp_path / "my code")
    assert plan.out == str(tmp_path / "there")


def test_a_file_of_before_an_option_has_its_default(tmp_path):
    plan, path = resolve("jdk", "galm", {"data.limit": "9"}), tmp_path / "config.json"
    plan.save(path)
    whole = json.loads(path.read_text())
    for section in SECTIONS:
        for option in whole[section]:
            content = whole | {section: {name: value for name, value in whole[section].items() if name != option}}
            path.write_text(json.dumps(content))
            default = options_of(section, type(getattr(plan, section)))[option].default
            if option == "clean_splits":
                default = False  # copies were left in before
            assert Configuration.load(path).section(section) == plan.section(section) | {option: default}


@pytest.mark.parametrize(("model", "ast", "structure"), [("fcarcs", True, "ast"), ("fcarcs_no_ast", False, "none")])
def test_a_file_of_before_statement_trees_reads_what_it_read(tmp_path, model, ast, structure):
    path = tmp_path / "config.json"
    resolve("jdk", model, {"data.statements": "false"}).save(path)
    content = json.loads(path.read_text())
    del content["model"]["structure"]
    path.write_text(json.dumps(content | {"model": content["model"] | {"ast": ast}}))
    plan = Configuration.load(path)
    assert plan.model.structure == structure
    assert not plan.data.has_statements
    path.write_text(json.dumps(content | {"model": content["model"] | {"ast": "yes"}}))
    with pytest.raises(ValueError, match=r"unknown option of fcarcs\w* '?--model\.ast"):
        Configuration.load(path)


@pytest.mark.parametrize("option", ["data.extra_train_sets", "evaluate.extra_tests"])
def test_named_sets_come_with_their_paths(option):
    def sets(text):
        plan = resolve("jdk", "galm", {option: text})
        return plan.data.extra_sets if option == "data.extra_train_sets" else plan.evaluate.also_sets

    assert sets("") == sets("  ") == ()
    assert sets("csn") == (("csn", ""),)
    assert sets("csn, folder: /a b/c:d ,jdk") == (("csn", ""), ("folder", "/a b/c:d"), ("jdk", ""))
    for text in (",", "csn,", ":path", "csn,,jdk"):
        with pytest.raises(ValueError, match=f"--{option} takes comma-separated DATASET or DATASET:PATH, not '{text}'"):
            sets(text)


def test_a_damaged_file_is_one_line(tmp_path):
    path = tmp_path / "config.json"
    for content in ("", "[]", "{}", '{"dataset": 1'):
        path.write_text(content)
        with pytest.raises(ValueError, match="expected the configuration of a run"):
            Configuration.load(path)


def test_the_printed_configuration_has_every_option_and_marks_changes():
    lines = as_lines(resolve("jdk", "galm", {"train.epochs": "3"}))
    text = "\n".join(lines)
    assert "epochs=3*" in text
    assert "seed=0 " in text
    assert max(map(len, lines)) <= 110
    for name in all_options("galm"):
        section, _, field = name.partition(".")
        assert section == "out" or f" {field}=" in text
    assert all(f"\n  {section}" in text for section in SECTIONS)
