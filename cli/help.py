"""What ``bash run.sh help`` prints: an overview on one screen, or the details of each topic named."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from cli.commands import COMMANDS, TRAIN, Command, usage_lines
from data_prep.config import DATASETS
from experiments.recipes.config import OUT, SECTIONS, section_types
from experiments.recipes.models import MODELS, recipe_of, settings_of
from experiments.terminal.options import Option, named_options, options_of, typed_text, unknown

_WIDTH: Final = 104
_SECTIONS: Final = {
    "data": "which pairs, and how they are prepared",
    "words": "how texts become the words that models read",
    "model": "the model; each has its own options: help MODEL",
    "loss": "what training minimizes",
    "train": "epochs, batches, learning rate, processes, resuming",
    "evaluate": "pool, controls, fusion, tests on other data sets",
}


def help_lines(topics: Sequence[str] = ()) -> list[str]:
    """The help about ``topics``; an overview if there are none.

    Raises:
        UserError: a topic is not a command, data set, model or section.
    """
    if not topics:
        return _overview()
    lines: list[str] = []
    for topic in topics:
        lines += ["", *_about(topic)] if lines else _about(topic)
    return lines


def _overview() -> list[str]:
    return [
        "bash run.sh ...",
        *usage_lines(),
        _named("DATASET", DATASETS, "datasets"),
        _named("MODEL", MODELS, "models"),
        _named("section", _SECTIONS, "train"),
        "Exit codes: 0 done; 1 nothing found; 2 a mistake, a full disk or memory; 70 a fault of the program.",
    ]


def _named(title: str, names: Iterable[str], topic: str) -> str:
    """The first of some names, and how all are listed."""
    return f"{title + ':':<9}{textwrap.shorten(', '.join(names), 64, placeholder=' ...')} (`bash run.sh help {topic}`)"


def _about(topic: str) -> list[str]:
    if topic in _LISTS:
        return _LISTS[topic]()
    if topic in COMMANDS:
        return _about_command(topic, COMMANDS[topic])
    if topic in DATASETS:
        return _about_dataset(topic)
    if topic in MODELS:
        return _about_model(topic)
    if topic in _SECTIONS:
        return [f"section {topic}: {_SECTIONS[topic]}", *_entries(_options(topic))]
    if parts := [(f"{name} {topic}", each.parts[topic]) for name, each in COMMANDS.items() if topic in each.parts]:
        return [line for name, part in parts for line in _about_command(name, part)]
    raise unknown("command, data set, model or section", topic, [*COMMANDS, *DATASETS, *MODELS, *_SECTIONS, *_LISTS])


def _about_command(name: str, command: Command) -> list[str]:
    lines = [f"bash run.sh {name} {command.usage}".rstrip(), f"  {command.about}"]
    lines += [f"  needs {command.needs}"] if command.needs else []
    lines += _listed(resolve_name(command.names)) if command.names else []
    lines += _entries(named_options(resolve_name(command.options)).values()) if command.options else []
    for section, config in command.named:
        lines += _entries(options_of(section, resolve_name(config)).values())
    for section in command.sections:
        lines += _entries(_options(section))
    for part, each in command.parts.items():
        lines += _about_command(f"{name} {part}", each)
    return lines


def _listed(names: Mapping[str, Any]) -> list[str]:
    """Names with their descriptions, which are texts or the attribute ``about``."""
    width = max(map(len, names)) + 2
    lines = (f"  {name:<{width}}{getattr(about, 'about', about)}" for name, about in names.items())
    return [part for line in lines for part in textwrap.wrap(line, _WIDTH, subsequent_indent=" " * (width + 2))]


def _about_dataset(name: str) -> list[str]:
    lines = [f"data set {name}: bash run.sh {name} MODEL {TRAIN.usage}"]
    return [
        *lines,
        *(f"  {line}".rstrip() for line in _documentation(name)),
        "",
        "options: help data; several runs: help sweep",
    ]


def _documentation(name: str) -> list[str]:
    """The docstrings of a data set's class and its module, read without importing it."""
    module, _, kind = DATASETS[name].partition(":")
    whole, of_classes = _docstrings(module)
    return f"{of_classes[kind]}\n\n{whole}".splitlines()


def _docstrings(module: str) -> tuple[str, Mapping[str, str]]:
    """The docstrings of a module and of its classes, read without importing it."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return ast.get_docstring(tree) or "", {each.name: ast.get_docstring(each) or "" for each in classes}


def _about_sweep() -> list[str]:
    usage = "bash run.sh DATASET MODEL --sweep.section.field=VALUE,VALUE ... [--sweep.processes=N]"
    return [usage, *(f"  {line}".rstrip() for line in _docstrings("experiments.tables.sweep")[0].splitlines())]


_LISTS: Final[dict[str, Callable[[], list[str]]]] = {
    "datasets": lambda: _listed({name: _documentation(name)[0] for name in DATASETS}),
    "models": lambda: _listed(MODELS),
    "sweep": _about_sweep,
}
"""Topics that are no command, data set, model or section."""


def _about_model(name: str) -> list[str]:
    recipe = recipe_of(name)
    lines = [f"model {name}: {recipe.about}", "  its recipe, where it differs from the defaults:"]
    lines += [f"    --{option}={value}" for option, value in settings_of(name).items()] or ["    none"]
    others = ", ".join(section for section in SECTIONS if section != "model")
    entries = _entries([*options_of("model", section_types(name)["model"]).values(), OUT])
    return [*lines, "", *entries, "", f"further options: help {others}"]


def _options(section: str) -> list[Option]:
    """The options of a section; for the section model those of galm."""
    return list(options_of(section, section_types("galm")[section]).values())


def _entries(options: Iterable[Option]) -> list[str]:
    lines = []
    for option in options:
        lines.append(f"  --{option.name}={typed_text(option.default)}   ({option.accepts})")
        lines += textwrap.wrap(doc_of(option), _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return lines


def doc_of(option: Option) -> str:
    """What an option is: its field's docstring, on one line, for which the source of its class is read."""
    return field_docs(option.owner)[option.name.rpartition(".")[2]] if option.owner else option.text


@lru_cache
def field_docs(config_type: type) -> Mapping[str, str]:
    """The docstring of each field of a dataclass; consecutive fields with one docstring below the last share it.

    Inherited fields have the docstring of the base class.
    """
    docs: dict[str, str] = {}
    for each in reversed(config_type.__mro__):
        if is_dataclass(each):
            docs |= _own_docs(each)
    return docs


def _own_docs(config_type: type) -> dict[str, str]:
    tree = ast.parse(Path(inspect.getsourcefile(config_type) or "").read_text(encoding="utf-8"))
    found = next(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == config_type.__name__)
    docs: dict[str, str] = {}
    waiting: list[str] = []
    for node in found.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            waiting.append(node.target.id)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docs.update(dict.fromkeys(waiting, " ".join(node.value.value.split())))
            waiting = []
    return docs | dict.fromkeys(waiting, "")
