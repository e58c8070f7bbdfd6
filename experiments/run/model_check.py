"""Whether a model of one's own does what :mod:`modeling.base` asks of it: tried on a few pairs, before it is trained.

Its random state is as before. What its own code raises is not caught, so that its traceback names the place.
"""

from typing import Any, Final

import torch
from torch import Tensor

from data_prep.errors import UserError, shown
from data_prep.store.batching import Batch
from data_prep.store.split import TokenizedPairs
from modeling.base import BiEncoder, Encoded, NeuralRanker

PAIRS: Final = 3
"""Pairs that it is tried on."""
_CLOSE: Final = 1e-3
"""Difference of two scores that rounding may explain, relative to the larger one or to 1."""


def check_model(model: NeuralRanker, ids: TokenizedPairs) -> None:
    """Refuse a model whose methods return something else than they should.

    Args:
        model: on its device.
        ids: two pairs or more.

    Raises:
        UserError: the message names the method, what is expected and what came.
    """
    number, is_training = min(PAIRS, len(ids)), model.training
    rows = [*range(number)]
    _check_weights(model)
    queries, codes = model.moved(ids.queries(rows)), model.moved(ids.codes(rows))
    _check_fields(model, codes)
    with torch.random.fork_rng():
        model.eval()
        query, code = _encoded(model, queries, "query", number), _encoded(model, codes, "code", number)
        _check_alike(model, query, code)
        _check_scores(model, query, code)
        _check_shown(model, query, code)
        model.train(is_training)


def _check_weights(model: NeuralRanker) -> None:
    if not any(weight.requires_grad for weight in model.parameters()):
        raise UserError(
            f"{type(model).__name__} has no weights to train: expected layers of torch.nn or nn.Parameter as its "
            "attributes, set in __init__"
        )


def _check_fields(model: NeuralRanker, codes: Batch) -> None:
    fields = model.code_fields
    if not isinstance(fields, tuple | list) or not fields:
        raise _wrong(model, "code_fields", "a property that returns a tuple of fields", fields)
    for each in fields:
        if each not in codes:
            raise UserError(
                f"{type(model).__name__}.code_fields: expected fields among {', '.join(codes)}, got {shown(each)}"
            )


def _encoded(model: NeuralRanker, batch: Batch, side: str, number: int) -> Encoded:
    """One side of the pairs."""
    if isinstance(model, BiEncoder):
        vectors = getattr(model, f"{side}_vectors")(batch)
        if not _is_float(vectors, number, None):
            raise _wrong(model, f"{side}_vectors", f"a float tensor [{number}, dim], a vector for each", vectors)
    found = getattr(model, f"encode_{side}")(batch)
    if not isinstance(found, Encoded):
        raise _wrong(model, f"encode_{side}", "modeling.base.Encoded(states, mask)", found)
    if not _is_float(found.states, number, None, None):
        raise _wrong(model, f"encode_{side}", f"states as a float tensor [{number}, words, dim]", found.states)
    mask, words = found.mask, found.states.shape[1]
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (number, words):
        raise _wrong(model, f"encode_{side}", f"mask as a bool tensor [{number}, {words}]", mask)
    return found


def _check_alike(model: NeuralRanker, query: Encoded, code: Encoded) -> None:
    """Refuse vectors of the two sides that cannot be multiplied."""
    left, right = query.states, code.states
    if left.dtype != right.dtype:
        raise _wrong(model, "encode_code", f"states of {_type(left)} as those of encode_query", right)
    if isinstance(model, BiEncoder) and left.shape[2] != right.shape[2]:
        raise _wrong(model, "code_vectors", f"vectors of {left.shape[2]} numbers as query_vectors", right[:, 0])


def _check_scores(model: NeuralRanker, query: Encoded, code: Encoded) -> None:
    """Check the scores of pairs, and those of all queries with fewer codes."""
    number, fewer = len(query), len(query) - 1
    scores = model.score_pairs(query, code)
    if not _is_float(scores, number):
        raise _wrong(model, "score_pairs", f"a float tensor [{number}], a score for each pair", scores)
    if not scores.isfinite().all():
        wrong = scores[~scores.isfinite()][0].item()
        raise UserError(f"{type(model).__name__}.score_pairs: expected numbers, got {wrong} before any training")
    if not scores.requires_grad:
        raise UserError(
            f"{type(model).__name__}.score_pairs: expected scores with a gradient, got none: look for detach(), "
            "no_grad(), numpy or whole numbers between the weights and the scores"
        )
    matrix = model.score_matrix(query, code.rows(slice(fewer)))
    if not _is_float(matrix, number, fewer):
        raise _wrong(model, "score_matrix", f"a float tensor [{number} queries, {fewer} codes]", matrix)
    diagonal = matrix.diagonal()
    if not torch.allclose(diagonal, scores[:fewer].to(matrix.dtype), rtol=_CLOSE, atol=_CLOSE):
        raise UserError(
            f"{type(model).__name__}.score_matrix: expected the scores of score_pairs, got {diagonal[0].item():.4g} "
            f"and not {scores[0].item():.4g} for the first pair"
        )


def _check_shown(model: NeuralRanker, query: Encoded, code: Encoded) -> None:
    """Check what is drawn of the pairs, if anything is."""
    asked, read = query.shown.shape[1], code.shown.shape[1]
    for name, found, wide in (
        ("alignment", model.alignment(query, code), read),
        ("edges", model.edges(query), asked),
    ):
        if found is not None and not _is_float(found, len(query), asked, wide):
            raise _wrong(model, name, f"None or a float tensor [{len(query)}, {asked}, {wide}]", found)


def _is_float(value: Any, *sizes: int | None) -> bool:
    """Whether a value is a tensor of floating-point numbers with axes of these sizes; None: any."""
    if not isinstance(value, Tensor) or not value.is_floating_point() or value.dim() != len(sizes):
        return False
    return all(size is None or size == own for size, own in zip(sizes, value.shape, strict=True))


def _wrong(model: NeuralRanker, method: str, expected: str, value: Any) -> UserError:
    got = f"a tensor of {_type(value)} {[*value.shape]}" if isinstance(value, Tensor) else _named(value)
    return UserError(f"{type(model).__name__}.{method}: expected {expected}, got {got}")


def _named(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _type(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")
