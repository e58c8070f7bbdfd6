import pytest

from experiments.tables import END, README, RESULTS, START, with_tables, write_tables


def test_the_readme_is_in_step_with_the_kept_results():
    text = README.read_text(encoding="utf-8")
    assert with_tables(text, RESULTS) == text, "run: bash run.sh tables"


def test_only_the_section_between_the_markers_changes(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{START}\nold\n{END}\nafter\n", encoding="utf-8")
    write_tables(readme, RESULTS)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{START}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text


@pytest.mark.parametrize("text", ["", START, END, f"{END}{START}"])
def test_missing_markers_are_named(text):
    with pytest.raises(ValueError, match="results:start"):
        with_tables(text, RESULTS)


def test_a_damaged_result_is_named(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ValueError, match=r"x\.json"):
        with_tables(f"{START}{END}", tmp_path)
