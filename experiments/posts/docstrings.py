"""Pairs of a function and its docstring, for an encoder that is tuned on them before it sees posts.

The paper's baseline is GraphCodeBERT tuned on CodeSearchNet, without syntax trees or data flow (arXiv 2305.11625,
section 5). Here the function takes the place of a query's code, and the first sentence of its docstring that of a
document.
"""

from pathlib import Path

from baselines.snipper.texts import QueryText
from data_prep.errors import UserError
from data_prep.store.prepared_data import open_prepared


def docstring_pairs(folder: Path) -> list[tuple[QueryText, str]]:
    """The training pairs of a prepared data set: the words of each function, which exclude its docstring; a sentence.

    Raises:
        UserError: the folder has no prepared data set, or a damaged one.
    """
    try:
        split = open_prepared(folder).splits["train"]
    except (OSError, UserError) as error:
        raise UserError(
            f"--loop.docstrings takes the folder of a prepared data set, such as data/installed-python after bash "
            f"run.sh prepare installed --data.language=python, not {folder} ({error})"
        ) from error
    pairs = []
    for row in range(len(split)):
        words = [*split.word_list("name", row), *split.word_list("tokens", row)]
        pairs.append((QueryText(" ".join(words), ""), split.text(row).query_text))
    return pairs
