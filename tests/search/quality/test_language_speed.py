"""The measurement of reading files of several languages."""

import pytest

from data_prep.errors import UserError
from evaluation.speed import SpeedOptions
from search.quality.index_speed import measure_languages


def test_other_languages_are_measured_beside_java(tmp_path):
    (tmp_path / "A.java").write_text("class A { int f() { return 1; } }\n" * 50, "utf-8")
    (tmp_path / "a.rb").write_text("def f\n  1\nend\n" * 50, "utf-8")
    (tmp_path / "a.py").write_text("def f():\n    return 1\n" * 50, "utf-8")
    found = measure_languages(SpeedOptions(rounds=1, path=str(tmp_path)))
    assert [(row.name, row.first, row.second) for row in found.rows] == [
        (part, "java", name) for name in ("python", "ruby") for part in ("clock", "processor")
    ]
    assert found.facts["ruby"] == {"files": 1, "MB": 700 / 1e6}
    assert all(row.ratio.median > 0 for row in found.rows)


@pytest.mark.parametrize(("path", "why"), [("", "expected a folder"), (".", "no files of Java")])
def test_a_folder_with_java_and_another_language_is_needed(path, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "A.java").write_text("class A {}\n", "utf-8")
    with pytest.raises(UserError, match=why):
        measure_languages(SpeedOptions(path=path))
