import numpy as np
import pytest

from training.drawing import MOST_COLUMNS, alignment_picture, edges_picture, heat_map, pixels, readable, strongest

QUERY = ["returns", "the", "index", "of", "the", "first", "element", "in", "the", "list"]
CODE = ["find", "index", "list", "get", "size", "equals", "iterator"]


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_every_word_and_field_stands_at_its_place():
    weights = np.random.default_rng(0).random((len(QUERY), len(CODE)))
    fields = ["name"] * 2 + ["tokens"] * 4 + ["api"]
    axes = alignment_picture(weights, QUERY, CODE, fields, "title").axes[0]
    assert labels(axes.yaxis) == QUERY
    assert labels(axes.xaxis) == CODE
    assert [(text.get_text(), text.get_position()[0]) for text in axes.texts] == [
        ("name", -0.4),
        ("tokens", 1.6),
        ("api", 5.6),
    ]
    assert np.array_equal(axes.images[0].get_array(), weights)


def test_of_a_long_method_the_strongest_words_are_drawn_in_order():
    weights = np.zeros((2, 100))
    chosen = list(range(5, 85, 2))
    weights[1, chosen] = -1.0
    assert strongest(weights, MOST_COLUMNS) == chosen
    words = [f"w{place}" for place in range(100)]
    figure = alignment_picture(weights, ["a", "b"], words, ["tokens"] * 100, "title")
    assert labels(figure.axes[0].xaxis) == [f"w{place}" for place in chosen]
    assert "40 strongest of 100" in figure.get_suptitle()


def test_strange_words_are_drawn_without_a_warning():
    words = ["$a$", "x_{1}^", "中文", "a" * 60, "\N{GRINNING FACE}", "\\frac", "<b>", ""]
    picture = pixels(edges_picture(np.eye(len(words)), words, "a $title$ 中"))
    assert picture.dtype == np.uint8
    assert picture.shape[2] == 3
    assert picture.std() > 10
    assert readable("中a") == "□a"
    assert len(readable("a" * 60)) == 24


@pytest.mark.parametrize("fill", [0.0, 1.0, -1.0])
def test_even_weights_are_drawn(fill):
    assert pixels(edges_picture(np.full((2, 2), fill), ["a", "b"], "t")).size


def test_words_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="expected weights of 2 x 1 words"):
        heat_map(np.eye(2), ["a", "b"], ["a"], "t")
    with pytest.raises(ValueError, match="a field for each of 2 code words, but got 1"):
        alignment_picture(np.eye(2), ["a", "b"], ["a", "b"], ["name"], "t")
