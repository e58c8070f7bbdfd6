"""Prepared data by profile: real Java with the published fields, and the release's words out of its own sources."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from jcg_release import lines, released

from data_prep.config import DataConfig
from data_prep.pipeline.filters import FILTERS, NOT_PARSED
from data_prep.prepare import prepare
from data_prep.records import CODE_FIELDS, SPLITS
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import Split

PUBLISHED = {"name": "methodname", "tokens": "tokens", "api": "apiseq", "ast": "sbt"}
METHODS = 1_500


def prepared(path: Path, root: Path, **settings: object) -> tuple[PreparedData, list[str]]:
    said: list[str] = []
    config = DataConfig(path=str(path), root=str(root), valid_share=0.2, test_share=0.2, processes=1, **settings)
    return prepare("folder", config, command="the tests", say=said.append), said


def words(data: PreparedData) -> dict[tuple[str, int], Mapping[str, list[str]]]:
    """Path and line of each pair -> its words."""

    def of(split: Split, row: int) -> Mapping[str, list[str]]:
        return {field: split.word_list(field, row) for field in ("query", *CODE_FIELDS)}

    splits = [data.splits[name] for name in SPLITS]
    return {
        (split.text(row).path, split.text(row).start_line): of(split, row)
        for split in splits
        for row in range(len(split))
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("profiles")


@pytest.fixture(scope="module")
def jcg(java_folder, root) -> PreparedData:
    return prepared(java_folder, root, profile="jcg")[0]


def test_statement_trees_change_nothing_else(java_folder, root, data_with_statements):
    plain, trees = words(prepared(java_folder, root)[0]), words(data_with_statements)
    assert plain.keys() == trees.keys()
    with_trees = 0
    for place, fields in plain.items():
        assert fields["statements"] == []
        with_trees += bool(trees[place]["statements"])
        assert fields | {"statements": trees[place]["statements"]} == trees[place]
    unread = data_with_statements.manifest["counts"]["not_parsed_by_javalang"]
    assert 0 < len(plain) - with_trees <= unread
    assert len(data_with_statements.manifest["not_parsed_by_javalang"]) == unread


def test_each_choice_of_fields_has_a_folder_of_its_own(java_folder, root, data_with_statements, jcg):
    plain, _ = prepared(java_folder, root)
    name = plain.folder.name
    assert (data_with_statements.folder.name, jcg.folder.name) == (f"{name}-statements", f"{name}-jcg")
    for settings in ({}, {"profile": "jcg"}, {"profile": "jcg", "statements": True}):
        assert prepared(java_folder, root, **settings)[1] == []  # none was overwritten


def test_what_javalang_cannot_parse_is_left_out_and_told(jcg, data_with_statements):
    counts, told = jcg.manifest["counts"], jcg.manifest["not_parsed_by_javalang"]
    assert [*counts["dropped"]] == [*FILTERS, NOT_PARSED]
    assert counts["dropped"][NOT_PARSED] == counts["not_parsed_by_javalang"] == len(told) > 0
    assert counts["documented_methods"] == (
        sum(counts["dropped"].values()) + sum(counts["duplicates"].values()) + counts["pairs"]
    )
    assert NOT_PARSED not in data_with_statements.manifest["counts"]["dropped"]
    assert all(":" in each["path"] and "Java method" in each["reason"] for each in told)
    left_out = {tuple(each["path"].rsplit(":", 1)) for each in told}
    assert not left_out & {(path, str(line)) for path, line in words(jcg)}


def test_published_fields_of_real_java(jcg):
    for fields in words(jcg).values():
        assert fields["ast"][:2] == ["(", "MethodDeclaration"]
        assert fields["tokens"][-1] in {"}", ";"} or len(fields["tokens"]) == 1_000
        assert fields["statements"][0].startswith("MethodDeclaration(")
        assert fields["name"]


def test_the_sources_of_the_release_give_its_words(tmp_path):
    """Of its first methods as files of their own; all of them in test_jcg_fields.py."""
    folder = tmp_path / "java"
    folder.mkdir()
    for row, line in enumerate(lines()[:METHODS]):
        body = line.replace("STR_", '""').replace("NUM_", "0").replace("BOOL_", "true")
        (folder / f"C{row}.java").write_text(f"class C{row} {{\n/** Does what it is for. */\n{body}\n}}\n", "utf-8")
    data, _ = prepared(folder, tmp_path, profile="jcg", min_method_lines=1, near_duplicate=1.0)
    found = {int(path[1:-5]): fields for (path, _), fields in words(data).items()}
    assert len(found) > METHODS / 2  # without those that the filters drop or that stand there twice
    for field, name in PUBLISHED.items():
        rows, vocabulary = released(name)
        unknown = 3 if field == "tokens" else 0
        for row, fields in found.items():
            assert [vocabulary.get(word, unknown) for word in fields[field]] == rows[row]
