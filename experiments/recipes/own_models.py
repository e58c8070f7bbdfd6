"""A model of one's own, in one file anywhere: ``--model=path/to/file.py:MyRanker``.

The file is imported only when it is named on the command line (or to the Python API).
"""

import dataclasses
import inspect
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from data_prep.errors import UserError, one_line, shown
from data_prep.files.access import named_path
from experiments.recipes.models import BASELINE, MODELS, OWN, TRANSFORMER, Recipe
from experiments.terminal.options import fitted, options_of


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
    from modeling.base import NeuralRanker

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
