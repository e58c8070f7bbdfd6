"""Small vocabularies, and batches written as lists of ids."""

from collections.abc import Sequence

import torch

from data_prep.store.batching import Batch, Words
from data_prep.store.tokenizing import PAD, Vocabularies, Vocabulary

VOCABULARIES = Vocabularies(  # of 13, 21, 9 and 8 ids
    Vocabulary(tuple(f"q{number}" for number in range(11))),
    Vocabulary(tuple(f"c{number}" for number in range(19))),
    Vocabulary(tuple(f"a{number}" for number in range(7))),
    Vocabulary(tuple(f"s{number}" for number in range(6))),
)
LENGTHS = {
    "query_length": 4, "name_length": 3, "tokens_length": 5, "api_length": 4, "ast_length": 6, "statements_length": 3,
}  # fmt: skip
QUERIES = [[2, 3, 4], [5, 1, 5, 12], [7]]
CODES = {
    "name": [[2, 3], [4, 5, 1], [6]],
    "tokens": [[7, 8, 9, 20], [10], [2, 11, 12, 13, 14]],
    "api": [[15, 16, 15], [17, 2, 3, 4], [18, 19]],
    "ast": [[2, 3, 4, 5, 6, 8], [7], [3, 3, 2]],
    "statements": [[2, 3], [4, 5, 7], [6]],
}


def words(lists: Sequence[Sequence[int]], width: int = 0) -> Words:
    """Padded to the longest list, or to ``width``."""
    width = max(1, width, *map(len, lists))
    ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in lists])
    return Words(ids, torch.tensor([[place < len(row) for place in range(width)] for row in lists]))


def queries(lists: Sequence[Sequence[int]] = QUERIES, width: int = 0) -> Batch:
    return {"query": words(lists, width)}


def codes(width: int = 0, **changed: Sequence[Sequence[int]]) -> Batch:
    return {field: words(changed.get(field, lists), width) for field, lists in CODES.items()}


def randomised(model: torch.nn.Module) -> None:
    """Weights far from 0, so that nothing hides behind small numbers; double, without dropout."""
    model.double().eval()
    torch.manual_seed(1)
    for weight in model.parameters():
        torch.nn.init.uniform_(weight, -1, 1)


def scores_of(model: torch.nn.Module, query: Batch, code: Batch) -> torch.Tensor:
    return model.score_matrix(model.encode_query(query), model.encode_code(code))


def as_read(lists: Sequence[int], length: int, *, release_compatible: bool) -> list[int]:
    """The ids that a model reads of a list: with ``release_compatible`` cut and filled up to ``length``, unknown ones
    as pads."""
    return (
        [PAD if each == 1 else each for each in [*lists, *[PAD] * length][:length]]
        if release_compatible
        else list(lists)
    )


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    product = sum(x * y for x, y in zip(left, right, strict=True))
    norms = sum(x * x for x in left) ** 0.5 * sum(y * y for y in right) ** 0.5
    return product / norms if norms else 0.0


def counted(words, *, comments):
    """How often each stem of a file's words occurs in its comments, or else outside of them."""
    found = {stem: sum(words.places[number] & 1 == comments).item() for stem, number in words.stems.items()}
    return {stem: count for stem, count in found.items() if count}
