"""Options: ``--section.field=value`` or ``--section.field value`` of a command line and their fields, and stored ones.

Stored ones are read from a run's configuration file before its dataclasses are built; a packed model is no run.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from data_prep.errors import RENAMED, UserError, shown, with_current_names
from data_prep.files.json_text import load_json

Options = TypeVar("Options")
PACKED: Final = ("words.json", "model.safetensors")
"""Files of a packed model (:mod:`search.models.packed_model`) beside its configuration."""
_PLAIN: Final = str | int | float
_LARGEST: Final = 1e300
_CLOSE: Final = 0.65
"""Similarity from which a known name is suggested: of epoch and epochs it is 0.91, of hidden and tied 0.4."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option: one field of one section."""

    name: str  # "train.epochs"
    annotation: Any
    default: Any
    text: str = ""  # what it is, if that is not below a field of ``owner``
    owner: type | None = None

    @property
    def accepts(self) -> str:
        """A description of the accepted values."""
        return _accepts(self.annotation)


def options_of(section: str, config_type: type) -> dict[str, Option]:
    """The options that set ``config_type``'s fields, by field name."""
    hints, found = get_type_hints(config_type), {}
    for field in fields(config_type):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        kind = hints[field.name]
        kind = get_args(kind)[0] if isinstance(kind, UnionType) else kind  # "float | None": None is not typed
        found[field.name] = Option(f"{section}.{field.name}", kind, default, owner=config_type)
    return found


def options_of_sections(types: Mapping[str, type]) -> dict[str, Option]:
    """All options of some sections, each with its dataclass, by full name."""
    return {option.name: option for section, kind in types.items() for option in options_of(section, kind).values()}


def by_section(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Section -> field -> value, from values by full names."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, field = name.partition(".")
        found.setdefault(section, {})[field] = value
    return found


def typed_text(value: object) -> str:
    """A value as it is typed; "" for None."""
    if isinstance(value, list | tuple):
        return ",".join(map(typed_text, value))
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def split_arguments(
    arguments: Sequence[str], switches: Collection[str] = (), known: Collection[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Split a command line into words and options, ``--name=value`` or ``--name value``; the last of a name counts.

    Args:
        arguments: as typed.
        switches: options that are true or false: ``--name`` alone means true, and never takes the next word.
        known: all options; none: they are not known yet.

    Raises:
        UserError: an option without its value, or one that is not known.
    """
    words: list[str] = []
    options: dict[str, str] = {}
    waiting = list(reversed(arguments))
    while waiting:
        argument = waiting.pop()
        name, equals, value = argument[2:].partition("=")
        if argument == "-" or not argument.startswith("-"):
            words.append(argument)
        elif not argument.startswith("--"):
            form = "--name=value" if known and "." not in "".join(known) else "--section.field=value"
            raise UserError(f"unknown option {argument}: options are written {form}")
        elif known and (name or equals) and name not in known:
            raise unknown_option(name, known)
        elif equals or name in switches:
            options[name] = value if equals else "true"
        elif not name or not waiting or waiting[-1].startswith("--"):
            raise UserError(f"{argument} needs a value: write {argument}=VALUE")
        else:
            options[name] = waiting.pop()
    return words, options


def switches_of(options: Iterable[Option]) -> set[str]:
    """The names of the options that are true or false."""
    return {option.name for option in options if option.annotation is bool}


def unknown(what: str, name: str, known: Sequence[str], topic: str = "") -> UserError:
    """The error for a name that is not in ``known``, with a suggestion, and all names if they are few.

    ``topic``: the help topic that lists them.
    """
    if now := RENAMED.get(name.removeprefix("--")):
        return UserError(f"{shown(name)} is now called --{now}")
    near = _nearest(name, known)
    hint = f"did you mean {near}? " if near else ""
    listing = f"known: {', '.join(known)}" if len(known) <= 12 else f"`bash run.sh {f'help {topic}'.strip()}` lists all"
    return UserError(f"unknown {what} {shown(name)}: {hint}{listing}")


def unknown_option(name: str, known: Iterable[str], model: str = "") -> UserError:
    """The error for an option that is not in ``known``, those of a command or of ``model``."""
    what = f"option of {model}" if model else "option"
    return unknown(what, f"--{name}", [f"--{each}" for each in known], model)


def parsed_values(typed: Mapping[str, str], known: Mapping[str, Option], model: str = "") -> dict[str, Any]:
    """Parse the values of options by full name.

    Raises:
        UserError: an option that is not in ``known``, those of ``model``, or an invalid value.
    """
    for name in typed:
        if name not in known:
            raise unknown_option(name, known, model)
    return {name: parse(text, known[name]) for name, text in typed.items()}


def _nearest(name: str, known: Sequence[str]) -> str:
    """The known name that is really close to ``name``, by its field in the same section, else in any; "" if none is."""
    import difflib

    section, _, field = _parts(name)
    for places in ([each for each in known if _parts(each)[0] == section], known):
        by_field = {_parts(each)[2]: each for each in reversed(places)}
        if near := difflib.get_close_matches(field, by_field, n=1, cutoff=_CLOSE):
            return by_field[near[0]]
    return ""


def _parts(name: str) -> tuple[str, str, str]:
    return name.removeprefix("--").lower().rpartition(".")


def parse(text: str, option: Option) -> Any:
    """Parse ``text`` as a value of ``option``.

    Raises:
        UserError: it is not a value of the option's type; the message states what is accepted.
    """
    try:
        return _value(text, option.annotation)
    except ValueError:
        raise UserError(f"--{option.name} takes {option.accepts}, not {shown(text)}") from None


def named_options(kind: type) -> dict[str, Option]:
    """The options of a command without sections, ``--field=value``, by name."""
    return {name: replace(option, name=name) for name, option in options_of("", kind).items()}


def parsed(arguments: Sequence[str], kind: type[Options]) -> tuple[list[str], Options]:
    """Parse the words and options of a command line.

    Raises:
        UserError: an unknown option or an invalid value.
    """
    options = named_options(kind)
    words, typed = split_arguments(arguments, switches_of(options.values()), options)
    return words, kind(**{name: parse(text, options[name]) for name, text in typed.items()})


def _value(text: str, annotation: Any) -> Any:
    if get_origin(annotation) is tuple:
        return tuple(_value(part.strip(), get_args(annotation)[0]) for part in text.split(",") if part.strip())
    if get_origin(annotation) is Literal:
        choices = {str(choice): choice for choice in get_args(annotation)}
    elif annotation is bool:
        choices = {"true": True, "false": False}
    else:
        value = annotation(text)
        if annotation in (int, float) and not math.isfinite(value):
            raise UserError(text)
        return value
    if text not in choices:
        raise UserError(text)
    return choices[text]


def _accepts(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(str(choice) for choice in get_args(annotation) if choice != '')}"
    if get_origin(annotation) is tuple:
        return f"a comma list, each {_accepts(get_args(annotation)[0])}"
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(annotation, "text")


def stored_configuration(path: Path, *, as_saved: bool = False) -> dict[str, Any]:
    """The sections, each a dict of plain values and lists of them, and dataset, model_name and out.

    Options have the names of today, except with ``as_saved``.

    Raises:
        UserError: the file is missing, damaged, or not a configuration.
    """
    content = load_json(path, "the configuration of a run")
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
    """The options by full name, such as ``train.epochs``, as they were saved.

    Raises:
        UserError: the file is missing, damaged, or not a configuration.
    """
    found: dict[str, Any] = {}
    for name, part in stored_configuration(path, as_saved=True).items():
        found |= {f"{name}.{field}": value for field, value in part.items()} if isinstance(part, dict) else {name: part}
    return found


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
