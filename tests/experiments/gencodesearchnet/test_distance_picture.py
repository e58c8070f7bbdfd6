"""The heat map of the subsets' distances is a picture, with both matrices and every name in it."""

import io
import json

import pytest
from matplotlib.image import imread

from cli.main import main
from data_prep.gencodesearchnet.records import Example
from data_prep.gencodesearchnet.statistics import ByteLevelBpe, distances, subset_statistics
from experiments import corpus_statistics

TEXTS = {"codesearchnet_javascript": ("ab", "zy"), "cosqa": ("bc", "zz"), "statcodesearch": ("d", "x")}
TEXTS |= {f"codesearchnet_javascript_{number}": ("abc", "x" * number + "y") for number in range(1, 6)}
SUBSETS = [subset_statistics(name, [Example(*pair)], ByteLevelBpe([])) for name, pair in TEXTS.items()]


def test_it_is_a_png_that_grows_with_the_subsets():
    few, many = (imread(io.BytesIO(corpus_statistics.distance_picture(subsets))) for subsets in (SUBSETS[:2], SUBSETS))
    assert many.shape[0] > few.shape[0]
    assert many.shape[1] > few.shape[1]


def test_it_shows_the_distances_and_all_names_within_its_bounds(monkeypatch):
    figures = []
    monkeypatch.setattr(corpus_statistics, "as_png", lambda figure: figures.append(figure) or b"")
    corpus_statistics.distance_picture(SUBSETS)
    (figure,) = figures
    figure.draw_without_rendering()
    for axes, side in zip(figure.axes, ("text", "code"), strict=False):
        assert (axes.images[0].get_array() == distances(SUBSETS, side)).all()
        assert [label.get_text() for label in axes.get_xticklabels()] == list(TEXTS)
        cells = [text.get_text() for text in axes.texts]
        assert cells == [f"{value:.2f}" for value in distances(SUBSETS, side).ravel()]
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            box = label.get_window_extent()
            assert box.x0 >= 0
            assert box.y0 >= 0


def test_one_subset_has_a_table_without_a_picture(tmp_path, capsys):
    more = {"target": 1, "target_options": ["no_match", "match"]}
    rows = [{"input": f"adds {number} [CODESPLIT] x += {number}", **more} for number in range(9)]
    (tmp_path / "test_go.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = ["gencodesearchnet", "statistics", f"--path={tmp_path}", f"--out={tmp_path / 'out'}"]
    assert main(line) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["statistics.md"]
    page = (tmp_path / "out" / "statistics.md").read_text()
    assert "| go |" in page.replace("codesearchnet_", "")
    assert capsys.readouterr().out.endswith(f"\n{tmp_path / 'out' / 'statistics.md'}\n")


def test_one_subset_has_no_distances():
    with pytest.raises(ValueError, match="needs two subsets or more, there are 1"):
        corpus_statistics.distance_picture(SUBSETS[:1])
