"""What tells runs apart, in few words: the options in which they differ, for labels of tables and names of folders."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from experiments.recipes.config import SECTIONS, Configuration, resolve
from experiments.recipes.results_folder import settings_of

_LONGEST: Final = 60
"""Characters of a folder's name for what differs."""

Settings = Mapping[str, object]
"""Options by full name, with their values."""


def differing(settings: Sequence[Settings]) -> list[str]:
    """The names of the options that do not have the same value in all of ``settings``, in order."""
    names = dict.fromkeys(name for each in settings for name in each)
    return [name for name in names if len({_as_text(each.get(name)) for each in settings}) > 1]


def in_words(settings: Settings, names: Iterable[str]) -> list[str]:
    """``field=value`` of some options; with the section where a field's name alone is not clear."""
    names = [*names]
    fields = [name.rpartition(".")[2] for name in names]
    shown = (field if fields.count(field) == 1 else name for name, field in zip(names, fields, strict=True))
    return [f"{name}={shown_value(settings.get(full))}" for name, full in zip(shown, names, strict=True)]


def shown_value(value: object) -> str:
    """A value as it is typed; "none" for an empty one."""
    if isinstance(value, list | tuple):
        return ",".join(map(shown_value, value))
    return str(value).lower() if isinstance(value, bool) else str(value) if value not in ("", None) else "none"


def folder_name(words: Iterable[str]) -> str:
    """Words such as ``dim=64`` as a part of a folder's name; a long one ends with a digest of all."""
    whole = ",".join(words)
    name = re.sub(r"[^\w.=,+-]+", "_", whole).strip("_,.")
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 7]}-{hashlib.sha256(whole.encode(errors='surrogatepass')).hexdigest()[:6]}"


def changed_name(plan: Configuration) -> str:
    """The options that a run has otherwise than its recipe, as a part of its folder's name; "" if there are none."""
    recipe, own = (
        settings_of({section: each.section(section) for section in SECTIONS})
        for each in (resolve(plan.dataset, plan.model_name, {}), plan)
    )
    return folder_name(in_words(own, differing([recipe, own])))


def _as_text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
