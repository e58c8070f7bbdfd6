"""Reading a run's configuration file, before its dataclasses are built; a packed model is no run. Light to import."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from data_prep.errors import UserError, with_current_names
from data_prep.files.access import read_whole, reason
from data_prep.files.json_text import parse_json
from experiments.terminal.options import Option

_PLAIN: Final = str | int | float
_LARGEST: Final = 1e300
_OF_FCARCS: Final = ("fcarcs", "fcarcs_no_ast")


def stored_configuration(path: Path, *, as_saved: bool = False) -> dict[str, Any]:
    """The sections, each a dict of plain values and lists of them, and dataset, model_name and out.

    Options have the names of today, except with ``as_saved``.

    Raises:
        UserError: the file is missing, damaged, or not a configuration.
    """
    try:
        content = parse_json(read_whole(path))
    except OSError as error:
        raise UserError(f"expected the configuration of a run in {path}: {reason(error)}") from error
    except UserError as error:
        raise UserError(f"expected the configuration of a run in {path}: {error}") from error
    names = ("dataset", "model_name", "out")
    if not isinstance(content, dict) or not all(isinstance(content.get(name), str) for name in names):
        raise UserError(f"expected the configuration of a run in {path}: it lacks {', '.join(names)}")
    for name, section in content.items():
        if name not in names and not (isinstance(section, dict) and all(map(_is_plain, section.values()))):
            raise UserError(f"expected the configuration of a run in {path}: {name!r:.40} contains no options")
    return content if as_saved else with_current_names(content)


def _is_plain(value: object) -> bool:
    return all(isinstance(each, _PLAIN) for each in (value if isinstance(value, list) else [value]))


def stored_options(path: Path) -> dict[str, Any]:
    """The options by full name, such as ``train.epochs``.

    Raises:
        UserError: the file is missing, damaged, or not a configuration.
    """
    found: dict[str, Any] = {}
    for name, part in stored_configuration(path).items():
        found |= {f"{name}.{field}": value for field, value in part.items()} if isinstance(part, dict) else {name: part}
    return found


def with_present_names(model: str, sections: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of a configuration of ``model``, with old option names replaced by the current ones.

    FcarCS had ``model.ast``, whether it reads the kinds of nodes, before ``model.structure``; runs from before
    ``data.clean_splits`` did not have them.
    """
    if isinstance(sections.get("data"), Mapping):
        sections = {**sections, "data": {"clean_splits": False, **sections["data"]}}
    part = sections.get("model")
    if model not in _OF_FCARCS or not isinstance(part, Mapping) or type(part.get("ast")) is not bool:
        return dict(sections)
    others = {name: value for name, value in part.items() if name != "ast"}
    return {**sections, "model": {"structure": "ast" if part["ast"] else "none", **others}}


def fitted(value: object, option: Option) -> Any:
    """Convert a stored or already parsed value to an option's type: lists to tuples, and 1 to 1.0 for floats.

    Raises:
        UserError: the value is invalid for the option.
    """
    found: Any = tuple(value) if isinstance(value, list) else value
    if option.annotation is float and type(found) is int and abs(found) < _LARGEST:
        found = float(found)
    if not _fits(found, option.annotation):
        raise UserError(f"--{option.name} takes {option.accepts}, not {value!r:.60}")
    return found


def _fits(value: Any, annotation: Any) -> bool:
    if get_origin(annotation) is tuple:
        return isinstance(value, tuple) and all(_fits(each, get_args(annotation)[0]) for each in value)
    if get_origin(annotation) is Literal:
        return any(value == choice and type(value) is type(choice) for choice in get_args(annotation))
    return type(value) is annotation and (annotation is not float or abs(value) < _LARGEST)


PACKED: Final = ("words.json", "model.safetensors")
"""Files of a packed model (:mod:`search.models.packed_model`) beside its configuration."""


def is_packed(folder: Path) -> bool:
    """Whether a folder has a packed model, possibly a damaged one, rather than a run."""
    return any((folder / name).exists() for name in PACKED)


def check_is_run(folder: Path) -> None:
    """Check that a folder does not have a packed model, where a run is needed.

    Raises:
        UserError: it has one.
    """
    if is_packed(folder):
        raise UserError(
            f"{folder} has a packed model, which can only search: name the folder of the run that it was packed from"
        )
