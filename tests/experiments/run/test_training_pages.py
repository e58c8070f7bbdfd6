"""The board's pictures of real pairs: one for each model that shows something, with a word for every row and column."""

import re
from dataclasses import dataclass, field

import numpy as np
import pytest
from matplotlib.figure import Figure

from data_prep.store.tokenizing import WordsConfig, WordTokenizer
from experiments.recipes.config import resolve
from experiments.run.training import Pages, build_model
from training import drawing

DRAWN = {"galm", "tabcs", "tabcs_no_ast", "carlcs_cnn", "carlcs_ts", "fcarcs", "fcarcs_no_ast"}


@dataclass
class Drawn:
    """In the place of a board."""

    pictures: dict[str, Figure] = field(default_factory=dict)

    def picture(self, name: str, figure: Figure) -> None:
        self.pictures[name] = figure


def pictures(data, model: str, **options: str) -> tuple[Drawn, WordTokenizer]:
    """Of the pairs at rows 0 and 1 of the training split."""
    plan = resolve("folder", model, options)
    tokenizer = WordTokenizer.build(data.splits["train"], WordsConfig(**plan.section("words")))
    board, ranker = Drawn(), build_model(plan, tokenizer).eval()
    for row in (0, 1):
        Pages(board, tokenizer)._picture(ranker, data.splits["train"].take(np.array([row])), row, 3)
    return board, tokenizer


@pytest.mark.parametrize("model", sorted(DRAWN))
def test_a_picture_has_the_words_of_its_pair(data_with_statements, model, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_ROWS", 1000)
    monkeypatch.setattr(drawing, "MOST_COLUMNS", 1000)
    board, tokenizer = pictures(data_with_statements, model)
    ids = tokenizer.encode(data_with_statements.splits["train"])
    for row in (0, 1):
        figure, text = board.pictures[f"alignment/{row}"], data_with_statements.splits["train"].text(row)
        axes = figure.axes[0]
        asked = [tokenizer.vocabularies.query.word(int(each)) for each in ids.fields["query"][row]]
        assert [label.get_text() for label in axes.get_yticklabels()] == asked
        assert len(figure.axes) == (2 if model == "galm" else 1)  # the edges of its graph
        title = figure.get_suptitle().replace("\n", " ")
        assert title.startswith(" ".join(text.query_text.split()))
        assert re.search(rf" rank 3, score -?\d\.\d+: {text.type_name}\.{text.method_name}$", title)
        fields = [text.get_text() for text in axes.texts]
        assert fields
        assert ("ast" in fields) == (model in {"tabcs", "carlcs_ts"})
        assert ("statements" in fields) == (model == "fcarcs")


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("fcarcs", {"model.tokens_length": "1"}),
        ("fcarcs", {"model.release_compatible": "true"}),
        ("carlcs_cnn", {"model.release_compatible": "true"}),
    ],
)
def test_no_picture_where_what_is_read_is_not_the_words(data_with_statements, model, options):
    assert pictures(data_with_statements, model, **options)[0].pictures == {}
