"""A model of one's own, in one file anywhere: ``--model=path/to/file.py:MyRanker``.

The file is imported only when it is named on the command line (or to the Python API). Before it is trained,
:func:`check_model` tries whether it does what :mod:`modeling.base` asks of it, on a few pairs: its random state is as
before, and what its own code raises is not caught, so that its traceback names the place.
"""

import dataclasses
import inspect
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import torch
from torch import Tensor

from data_prep.errors import UserError, one_line, shown
from data_prep.files.access import named_path
from data_prep.store.batching import Batch
from data_prep.store.split import TokenizedPairs
from experiments.recipes.models import BASELINE, MODELS, OWN, TRANSFORMER, Recipe
from experiments.terminal.options import fitted, options_of
from modeling.base import BiEncoder, Encoded, NeuralRanker

PAIRS: Final = 3
"""Pairs that it is tried on."""
_CLOSE: Final = 1e-3
"""Difference of two scores that rounding may explain, relative to the larger one or to 1."""


def add_own_model(named: str) -> str:
    """Import the model ``FILE.py:CLASS``, so that it is found by the class's name like others; returns that name.

    Raises:
        UserError: there is no such file, or no such class in it, or it is no trainable model with a configuration.
    """
    file, _, name = named.rpartition(":")
    path = named_path(file)
    if not file.endswith(".py"):
        raise UserError(
            f"--model takes a file and a class in it, FILE.py:CLASS, such as my.py:MyRanker, not {shown(named)}"
        )
    if not path.is_file():
        raise UserError(f"--model={named}: {path} is no file")
    if name in MODELS and name not in OWN:
        raise UserError(f"--model={named}: {name} is the name of a model of this program: give the class another name")
    module = f"own_model_{path.stem}"
    _check_own(_imported_model(module, path, named), name, named)
    recipe = _own_recipe(module, name)
    OWN[name], MODELS[name] = f"{path}:{name}", recipe
    return name


def _imported_model(module: str, path: Path, named: str) -> Any:
    """The file as a module; what it raises itself is not caught, so that its traceback names the place."""
    spec = spec_from_file_location(module, path)
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules[module] = module_from_spec(spec)
    try:
        spec.loader.exec_module(found)
    except SyntaxError as error:
        raise UserError(f"--model={named}: {error.filename}:{error.lineno} is no Python: {error.msg}") from error
    except ImportError as error:
        raise UserError(f"--model={named}: an import in {path} fails: {one_line(str(error))}") from error
    return found


def _check_own(module: ModuleType, name: str, named: str) -> None:
    kind = getattr(module, name, None)
    if not (isinstance(kind, type) and issubclass(kind, NeuralRanker)):
        own = [each for each, of in vars(module).items() if isinstance(of, type) and of.__module__ == module.__name__]
        has = f"its classes are {', '.join(own)}" if own else "it has no class"
        raise UserError(
            f"--model={named}: expected a class that extends modeling.base.NeuralRanker (docs/experiments.md); {has}"
        )
    if missing := sorted(kind.__abstractmethods__):
        raise UserError(f"--model={named}: expected the methods {', '.join(missing)}, which {name} lacks")
    if not dataclasses.is_dataclass(getattr(kind, "config_type", None)):
        raise UserError(
            f"--model={named}: expected config_type to be the dataclass of its options (docs/experiments.md)"
        )
    if kind.reads not in ("words", "subwords"):
        raise UserError(f"--model={named}: expected reads to be words or subwords, got {shown(kind.reads)}")
    try:
        inspect.signature(kind).bind(None, None)
    except TypeError:
        got = inspect.signature(kind.__init__)
        raise UserError(f"--model={named}: expected __init__(self, config, vocabularies), got __init__{got}") from None
    _check_options(kind.config_type, named)


def _check_options(config_type: type, named: str) -> None:
    """Refuse options that cannot be typed or stored, or have no default of their type."""
    try:
        hints = get_type_hints(config_type)
    except (NameError, TypeError) as error:
        raise UserError(f"--model={named}: a type of {config_type.__name__} is unknown: {error}") from error
    for field in dataclasses.fields(config_type):
        if field.default is field.default_factory:  # both are missing
            raise UserError(f"--model={named}: expected a default of the option {config_type.__name__}.{field.name}")
        kind = hints[field.name]
        if not _is_option(get_args(kind)[0] if get_origin(kind) is tuple else kind):
            raise UserError(
                f"--model={named}: expected the option {config_type.__name__}.{field.name} to be bool, int, float, "
                f"str, a Literal, or tuple[TYPE, ...] of one of these, got {getattr(kind, '__name__', kind)}"
            )
    for name, option in options_of("model", config_type).items():
        try:
            fitted(option.default, option)
        except UserError as error:
            raise UserError(f"--model={named}: the default of {config_type.__name__}.{name}: {error}") from error


def _is_option(kind: Any) -> bool:
    return kind in (bool, int, float, str) or get_origin(kind) is Literal


def _own_recipe(module: str, name: str) -> Recipe:
    settings = TRANSFORMER if resolve_name(f"{module}:{name}").reads == "subwords" else BASELINE
    return Recipe(f"{module}:{name}", "a model of your own", settings, f"{module}:{name}.config_type")


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
