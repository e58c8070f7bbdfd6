"""The complete configuration of a run: one frozen dataclass per section, from defaults, recipe and command line.

A saved run of a model of one's own (:mod:`experiments.recipes.own_models`) holds the name of its class, never a path
that would be imported when somebody else's run is opened.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.errors import UserError, shown
from data_prep.files.access import named_path
from data_prep.files.writing import write_atomically
from data_prep.installation import workspace
from data_prep.sources.pair_files import absolute_list
from data_prep.store.tokenizing import WordsConfig
from evaluation.config import EvaluateConfig
from experiments.recipes.models import MODELS, OWN, as_typed, config_type_of, settings_of
from experiments.terminal.options import (
    Option,
    by_section,
    fitted,
    options_of,
    options_of_sections,
    parsed_values,
    split_arguments,
    stored_configuration,
    switches_of,
    typed_text,
    unknown_option,
)
from training.config import LossConfig, TrainConfig

REPOSITORY: Final = workspace()
"""The folder that contains ``data``, ``runs`` and results."""
OUT: Final = Option("out", str, "", "Folder of this run; empty: runs/<dataset>-<model>-<options>-<time>.")
_PATHS: Final = (
    "out",
    "data.path",
    "data.root",
    "train.resume",
    "train.from_run",
    "train.continue_run",
)  # resolved to absolute paths when parsed
FREE: Final = ("evaluate.", "data.path", "data.root", "data.mirror")
"""Prefixes of the options on which the weights of a run do not depend."""
CHANGEABLE: Final = (*FREE, "data.language")
"""Prefixes of the options that may change when a finished run is evaluated again: also the language tested on."""


@dataclass(frozen=True)
class Configuration:
    """All options of a run."""

    dataset: str
    model_name: str
    data: DataConfig
    words: WordsConfig
    model: Any
    loss: "LossConfig"
    train: TrainConfig
    evaluate: EvaluateConfig
    out: str = ""

    def section(self, name: str) -> dict[str, Any]:
        """The fields of a section and their values."""
        part = getattr(self, name)
        return {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}

    @property
    def sections(self) -> dict[str, dict[str, Any]]:
        """All sections by name."""
        return {name: self.section(name) for name in SECTIONS}

    def save(self, path: Path) -> None:
        """Write the configuration as JSON."""
        content = {"dataset": self.dataset, "model_name": self.model_name, "out": self.out}
        write_atomically(path, json.dumps(content | self.sections, indent=2) + "\n")

    @classmethod
    def load(cls, path: Path) -> "Configuration":
        """Load what :meth:`save` wrote.

        Raises:
            UserError: the file is missing, damaged, or from another version.
        """
        content = stored_configuration(path)
        dataset, model, out = (content.pop(key) for key in ("dataset", "model_name", "out"))
        if model not in MODELS:
            other = f" nor the one of {', '.join(map(as_typed, OWN))}" if OWN else ""
            raise UserError(
                f"the run in {path.parent} is of {shown(model)}, which is no model of this program{other}: if it is "
                "your own, name its file, --model=FILE.py:CLASS"
            )
        try:
            return _build(dataset, model, out, with_present_names(model, content))
        except UserError as error:
            raise UserError(f"the configuration in {path} cannot be used: {error}") from error


_OF_FCARCS: Final = ("fcarcs", "fcarcs_no_ast")
SECTIONS: Final = ("data", "words", "model", "loss", "train", "evaluate")


def section_types(model: str) -> dict[str, type]:
    """The dataclass of each section for ``model``."""
    return {
        "data": DataConfig,
        "words": WordsConfig,
        "model": config_type_of(model),
        "loss": LossConfig,
        "train": TrainConfig,
        "evaluate": EvaluateConfig,
    }


def all_options(model: str) -> dict[str, Option]:
    """All options of ``model``, by full name."""
    return options_of_sections(section_types(model)) | {"out": OUT}


def split_run_arguments(arguments: Sequence[str], model: str = "") -> tuple[list[str], dict[str, str]]:
    """Split a command line about runs into words and options; switches are those of ``model`` or the models named."""
    switches: set[str] = set()
    if any(each.startswith("--") and "=" not in each for each in arguments):  # else no model has to be imported
        for name in [each for each in (model, *arguments) if each in MODELS] or ["galm"]:
            switches |= switches_of(all_options(name).values())
    return split_arguments(arguments, switches)


def resolve(dataset: str, model: str, typed: Mapping[str, str]) -> Configuration:
    """Build a configuration from defaults, the model's recipe, and the user's options (option -> text), in this order.

    Raises:
        UserError: an unknown model or option, an invalid value, or an invalid combination of values.
    """
    values = parse_options(model, {**settings_of(model), **typed})
    return _build(dataset, model, values.pop("out", ""), by_section(values))


def change(configuration: Configuration, typed: Mapping[str, str]) -> Configuration:
    """``configuration`` with the user's options changed."""
    values = parse_options(configuration.model_name, typed)
    out = values.pop("out", configuration.out)
    nested = by_section(values)
    sections = {name: configuration.section(name) | nested.get(name, {}) for name in SECTIONS}
    return _build(configuration.dataset, configuration.model_name, out, sections)


def typed_again(configuration: Configuration) -> dict[str, str]:
    """The options, as typed, by which :func:`resolve` gives ``configuration`` again, for a run in a folder of its own.

    They do not depend on how the run was started, interrupted or resumed.
    """
    default = resolve(configuration.dataset, configuration.model_name, {})
    return {
        f"{section}.{field}": typed_text(value)
        for section in SECTIONS
        for field, value in configuration.section(section).items()
        if value != default.section(section)[field] and (section, field) != ("train", "resume")
    }


def parse_options(model: str, typed: Mapping[str, str]) -> dict[str, Any]:
    """Parse the values of options, by full name.

    Raises:
        UserError: an option that ``model`` does not have, or an invalid value.
    """
    values = parsed_values(typed, all_options(model), model)
    return values | {name: _absolute(values[name], name) for name in _PATHS if name in values}


def _absolute(text: str, option: str) -> str:
    if not text:
        return ""
    return absolute_list(text) if option == "data.path" else str(named_path(text))


def _build(dataset: str, model: str, out: str, sections: Mapping[str, Mapping[str, Any]]) -> Configuration:
    known = all_options(model)
    parts = {}
    for section, config_type in section_types(model).items():
        values = {}
        for field, value in sections.get(section, {}).items():
            if f"{section}.{field}" not in known:
                raise unknown_option(f"{section}.{field}", known, model)
            values[field] = fitted(value, known[f"{section}.{field}"])
        parts[section] = config_type(**values)
    return Configuration(dataset, model, out=out, **parts)


def as_lines(configuration: Configuration) -> list[str]:
    """The configuration for display: one paragraph per section, ``*`` after values that are not the default."""
    lines = [f"{configuration.dataset} {configuration.model_name}  (* not the default)"]
    for name, config_type in section_types(configuration.model_name).items():
        line = f"  {name:<9}"
        for field, option in options_of(name, config_type).items():
            value = getattr(getattr(configuration, name), field)
            text = typed_text(value) or '""'
            word = f" {field}={text}{'' if value == option.default else '*'}"
            if len(line) + len(word) > 110:  # columns
                lines.append(line)
                line = " " * 11
            line += word
        lines.append(line)
    return lines


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


def own_model_in(arguments: Sequence[str]) -> str:
    """The value of ``--model`` on a command line, which may follow a blank; "" if there is none."""
    for place, each in enumerate(arguments):
        if each.startswith("--model=") or (each == "--model" and place + 1 < len(arguments)):
            return each.partition("=")[2] or arguments[place + 1]
    return ""
