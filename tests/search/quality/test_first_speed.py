"""The measurement of the first question about a folder."""

import pytest

from data_prep.errors import UserError
from evaluation.speed import SpeedOptions
from search.quality.index_speed import measure_first


def test_the_first_question_is_measured_beside_a_later_one(tmp_path):
    (tmp_path / "lines.py").write_text("def read_lines(path):\n    return open(path).readlines()\n", "utf-8")
    found = measure_first(SpeedOptions(rounds=1, path=str(tmp_path)))
    assert [(row.first, row.second) for row in found.rows if row.name == "clock"] == [
        ("index, then search", "search, with an index"),
        ("index, then search", "python with numpy alone"),
    ]
    assert all(row.ratio.median < 1 for row in found.rows)
    assert "2 functions, types and files of 1 file" in found.about
    assert [each.name for each in tmp_path.iterdir()] == ["lines.py"]


def test_a_folder_is_needed():
    with pytest.raises(UserError, match="expected a folder"):
        measure_first(SpeedOptions())
