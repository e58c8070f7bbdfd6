import numpy as np
import pytest
from matplotlib.text import Text

from training.drawing import MOST_COLUMNS, MOST_ROWS, alignment_picture, pixels, readable, strongest

QUERY = ["returns", "the", "index", "of", "the", "first", "element"]
CODE = ["find", "index", "list", "get", "size", "equals", "iterator"]


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_every_word_and_field_stands_at_its_place():
    weights = np.random.default_rng(0).random((len(QUERY), len(CODE)))
    fields = ["name"] * 2 + ["tokens"] * 4 + ["api"]
    edges = np.random.default_rng(1).random((len(QUERY), len(QUERY)))
    axes, graph = alignment_picture(weights, QUERY, CODE, fields, "title", edges).axes
    assert labels(axes.yaxis) == QUERY
    assert labels(axes.xaxis) == CODE
    assert [(text.get_text(), text.get_position()[0]) for text in axes.texts] == [
        ("name", -0.4),
        ("tokens", 1.6),
        ("api", 5.6),
    ]
    assert np.array_equal(axes.images[0].get_array(), weights)
    assert labels(graph.xaxis) == QUERY
    assert np.array_equal(graph.images[0].get_array(), edges)


def test_of_many_words_the_strongest_are_drawn_in_order():
    weights, rows, columns = np.zeros((30, 100)), list(range(3, 3 + 2 * MOST_ROWS, 2)), list(range(5, 65, 6))
    weights[np.ix_(rows, columns)] = -1.0
    assert strongest(weights, MOST_COLUMNS) == columns
    edges, asked, words = (
        np.arange(900.0).reshape(30, 30),
        [f"q{row}" for row in range(30)],
        [f"w{n}" for n in range(100)],
    )
    axes, graph = alignment_picture(weights, asked, words, ["tokens"] * 100, "title", edges).axes
    assert labels(axes.xaxis) == [words[column] for column in columns]
    assert labels(axes.yaxis) == labels(graph.xaxis) == [asked[row] for row in rows]
    assert np.array_equal(graph.images[0].get_array(), edges[np.ix_(rows, rows)])
    assert "10 of 100 code words" in axes.get_xlabel()


def test_words_are_readable_at_the_width_of_a_card_and_the_question_is_whole():
    """TensorBoard scales a picture to 350 pixels; what is written is then at least 9 pixels high, and inside."""
    question = " ".join(f"{word} and so on" for word in QUERY * 2)
    words = ["internationalised"] * 20
    figure = alignment_picture(np.ones((20, 20)), words, words, ["statements"] * 20, f"{question}\nA.b", np.eye(20))
    height, width, _ = pixels(figure).shape
    written = [text for text in figure.findobj(Text) if text.get_text()]
    assert min(text.get_fontsize() for text in written) * figure.dpi / 72 * 350 / width >= 9
    for box in (text.get_window_extent() for text in written):
        assert box.x0 >= 0 <= box.y0
        assert box.x1 <= width
        assert box.y1 <= height
    assert figure.get_suptitle().replace("\n", " ") == f"{question} A.b"


def test_strange_words_are_drawn_without_a_warning():
    words = ["$a$", "x_{1}^", "中文", "a" * 60, "\N{GRINNING FACE}", "\\frac", "<b>", ""]
    even = np.eye(len(words))
    picture = pixels(alignment_picture(even, words, words, ["name"] * len(words), "a $title$ 中", even))
    assert picture.dtype == np.uint8
    assert picture.shape[2] == 3
    assert picture.std() > 10
    assert readable("中a") == "□a"
    assert len(readable("a" * 60)) == 12


@pytest.mark.parametrize("fill", [0.0, 1.0, -1.0])
def test_even_weights_are_drawn(fill):
    assert pixels(alignment_picture(np.full((2, 2), fill), ["a", "b"], ["a", "b"], ["x", "y"], "t")).size


def test_words_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="expected weights of 2 x 1 words"):
        alignment_picture(np.eye(2), ["a", "b"], ["a"], ["name"], "t")
    with pytest.raises(ValueError, match="a field for each of 2 code words, but got 1"):
        alignment_picture(np.eye(2), ["a", "b"], ["a", "b"], ["name"], "t")
