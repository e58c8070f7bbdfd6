"""What ``bash run.sh help`` prints: data sets, models and every option with type, default and meaning."""

import ast
import textwrap
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

from data_prep.registry import DATASETS
from experiments.speed.config import SpeedConfig
from recipes.config import OUT, SECTIONS, section_types
from recipes.models import COMMANDS, MODELS
from terminal.options import Option, named_options, options_of

_USAGE: Final = """\
bash run.sh DATASET MODEL [--section.field=value ...]   prepare, train, test; leaves a folder in runs/
bash run.sh prepare DATASET [--data.field=value ...]    only prepare the data set (a run does it when needed)
bash run.sh evaluate RUN_DIR [--evaluate.field=value]   test a finished run again, on another pool or data set
bash run.sh board                                       TensorBoard over runs/, on this machine only
bash run.sh compare PART                                every model of the main table that has no kept result
bash run.sh ablate NAME                                 every variant of an ablation that has no kept result
bash run.sh tune MODEL                                  which start and loss suit a model, by validation
bash run.sh table                                       write the tables of the kept results, README's included
bash run.sh speed [--speed.field=value ...]             measure scoring, training, pools and extraction on the JDK
bash run.sh speed search                                measure the index and the answers of the search on the JDK
bash run.sh index DIR [--out=FILE] [--vectors=RUN]      index the methods and types of a folder of Java
bash run.sh search "QUESTION" [--explain] [--json]      ask an index in words, or for a name
bash run.sh serve [--port=8765]                         a web page that searches, at http://127.0.0.1:8765
bash run.sh quality DIR                                 how well the search does on one's own documented methods
bash run.sh gencodesearchnet MODEL [MODEL ...]          rank and match GenCodeSearchNet's test sets
bash run.sh fine_tune BASE --out=FOLDER                 fine-tune a cross-encoder as GenCodeSearchNet's baselines were
bash run.sh statistics                                  tokens and distances of GenCodeSearchNet's sets
bash run.sh format_pairs FORM FILE [...] --out=FILE     files of an origin as GenCodeSearchNet's raw files
bash run.sh sample_pairs FILE --task=T --out=FILE       a raw file as the task package's ranking or matching
bash run.sh r_pairs SOURCE [SOURCE ...] --out=FOLDER    comments and their code from R files or Debian's R packages
bash run.sh test                                        every check there is
bash run.sh help                                        this"""


def help_lines() -> list[str]:
    """The whole help."""
    lines = [_USAGE, "", "data sets"]
    lines += [f"  {name:<15}{_about(target)}" for name, target in DATASETS.items()]
    lines += ["", "models"]
    lines += [f"  {name:<15}{recipe.about}" for name, recipe in MODELS.items()]
    lines += ["", "options, as --name=value"]
    for section in SECTIONS:
        for title, config_type in _types(section).items():
            lines += ["", title, *_entries(options_of(section, config_type).values())]
    lines += ["", "the run", *_entries([OUT])]
    lines += ["", "speed, for bash run.sh speed", *_entries(options_of("speed", SpeedConfig).values())]
    for name, command in COMMANDS.items():
        lines += ["", f"bash run.sh {name}", *_entries(named_options(resolve_name(command.options)).values())]
    return lines


def _about(target: str) -> str:
    """First line of the docstring of a target's class, read without importing it."""
    module, _, name = target.partition(":")
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return (ast.get_docstring(found) or "").partition("\n")[0]


def _types(section: str) -> dict[str, type]:
    if section != "model":
        return {section: section_types("galm")[section]}
    names: dict[type, list[str]] = {}
    for name in MODELS:
        names.setdefault(section_types(name)["model"], []).append(name)
    return {f"model, for {' and '.join(models)}": config_type for config_type, models in names.items()}


def _entries(options: Iterable[Option]) -> list[str]:
    lines = []
    for option in options:
        lines.append(f"  --{option.name}={_typed(option.default)}   ({option.accepts})")
        lines += textwrap.wrap(option.doc, 108, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return lines


def _typed(value: object) -> object:
    """A value as a user types it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else value
