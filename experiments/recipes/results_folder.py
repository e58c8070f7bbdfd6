"""Where commands save results: in ``experiments/results/``, under version control, if all options are the default.

And what tells runs apart, in few words: the options in which they differ, for labels of tables and names of folders.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import named_path
from data_prep.files.json_text import to_json
from data_prep.installation import without_paths
from evaluation.result_store import ROWS, ResultStore, SavedRun
from experiments.recipes.config import REPOSITORY, Configuration, resolve
from experiments.terminal.console import say
from experiments.terminal.options import typed_text

RESULTS: Final = REPOSITORY / "experiments" / "results"
APART: Final = REPOSITORY / "runs" / "results"
_PRECISION: Final = "train.precision"
_PLACES: Final = {
    "data": ("path", "root", "processes", "mirror", "mirrors", "cluster"),
    "train": ("resume", "keep_checkpoint", "threads", "processes", "lazy_embedding_updates"),
    "evaluate": ("shards",),
}
"""Options that do not affect results, such as paths and numbers of processes."""

Sections = Mapping[str, Mapping[str, object]]
"""A configuration: section -> option -> value."""


def load_results(page: str, results: Path | None = None) -> list[SavedRun]:
    """The saved results behind a page of ``experiments/results/``, such as main or ablations: a row a run, its ranks.

    Args:
        page: its name; of posts with the site, posts/sage_trac.
        results: another folder of pages.

    Raises:
        UserError: there is no such page, or a file is damaged.
    """
    folder = results or RESULTS
    if not (folder / page).is_dir():
        pages = ", ".join(sorted(str(path.parent.relative_to(folder)) for path in folder.rglob(ROWS)))
        raise UserError(f"{page} has no saved results in {folder}: expected one of {pages or 'none yet'}")
    return [*ResultStore(folder / page).load().values()]


def results_folder(given: Sections, default: Sections, out: str = "") -> Path:
    """The folder for the result of a run, which is told unless it is ``RESULTS``.

    Args:
        given: the configuration of the run.
        default: the same run with no option typed, or with those that the name of its result contains.
        out: the folder that the user names; "": ``RESULTS``, or ``APART`` if a configuration is another.
    """
    return named_path(out) if out else results_of_commands(by_default=same_results(given, default))


def results_of_commands(*, by_default: bool) -> Path:
    """``RESULTS``, or ``APART``, which is told, if options are not the default."""
    if by_default:
        return RESULTS
    say(f"experiments/results is for the default options: with these, results are saved in {APART}, or in --out=DIR")
    return APART


def same_results(one: Sections, other: Sections) -> bool:
    """Whether two configurations give the same results: they differ at most in ``_PLACES`` and in folders of paths.

    A run's configuration names the precision that ``auto`` became on its machine.
    """
    left, right = settings_of(one), settings_of(other)
    if "auto" in (left.get(_PRECISION), right.get(_PRECISION)):
        left[_PRECISION] = right[_PRECISION] = "auto"
    return left == right


def settings_of(config: Sections) -> dict[str, object]:
    """The options by full name, without those that do not affect results and without the folders of paths."""
    kept = {
        f"{section}.{name}": without_paths(value) if isinstance(value, str) else value
        for section, values in config.items()
        for name, value in values.items()
        if name not in _PLACES.get(section, ())
    }
    found: dict[str, object] = json.loads(json.dumps(to_json(kept)))
    return found


_LONGEST: Final = 60
"""Characters of a folder's name for what differs."""

Settings = Mapping[str, object]
"""Options by full name, with their values."""


def differing(settings: Sequence[Settings]) -> list[str]:
    """The names of the options that do not have the same value in all of ``settings``, in order."""
    names = dict.fromkeys(name for each in settings for name in each)
    return [name for name in names if len({_as_text(each.get(name)) for each in settings}) > 1]


def in_words(settings: Settings, names: Iterable[str]) -> list[str]:
    """``field=value`` of some options, none if it is empty; with the section where a field's name is not clear."""
    names = [*names]
    fields = [name.rpartition(".")[2] for name in names]
    shown = (field if fields.count(field) == 1 else name for name, field in zip(names, fields, strict=True))
    values = (typed_text(settings.get(full)) or "none" for full in names)
    return [f"{name}={value}" for name, value in zip(shown, values, strict=True)]


def folder_name(words: Iterable[str]) -> str:
    """Words such as ``dim=64`` as a part of a folder's name; a long one ends with a digest of all."""
    whole = ",".join(words)
    name = re.sub(r"[^\w.=,+-]+", "_", whole).strip("_,.")
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 7]}-{hashlib.sha256(whole.encode(errors='surrogatepass')).hexdigest()[:6]}"


def changed_name(plan: Configuration) -> str:
    """The options that a run has otherwise than its recipe, as a part of its folder's name; "" if there are none."""
    recipe, own = (settings_of(each.sections) for each in (resolve(plan.dataset, plan.model_name, {}), plan))
    return folder_name(in_words(own, differing([recipe, own])))


def _as_text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
