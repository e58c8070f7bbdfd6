"""The folder of a run, ``runs/<dataset>-<model>-<options>-<time>/``: its files, its creation, and loading its model.

Also the folder of a stage of training an encoder of snippets.
"""

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from baselines.snipper_encoder import SnippetEncoder, SnippetSubwords, SnippetTokenizer, TransformerSnippetEncoder
from baselines.snipper_light import LightEncoder, LightTokenizer
from data_prep.errors import UserError, reason_and_file
from data_prep.files.access import check_folder_place, file_sha256, named_path, read_whole
from data_prep.files.json_text import parse_json, sorted_json
from data_prep.files.writing import sole_writer
from experiments.recipes.config import FREE, REPOSITORY, Configuration, resolve
from experiments.recipes.models import MODELS, class_of, is_trained, reads_texts
from experiments.recipes.results_folder import changed_name
from experiments.terminal.options import check_is_run, fitted, options_of, stored_options
from modeling.base import NeuralRanker, PairTokenizer
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker, best_device
from training.checkpoint import check_weights, put_weights, saved_weights

_FREE: Final = ("out", *FREE)
"""Prefixes of the settings that the weights do not depend on."""

LOG: Final = "log.txt"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths of a run's files."""

    path: Path

    @property
    def config(self) -> Path:
        """The complete configuration."""
        return self.path / "config.json"

    @property
    def metrics(self) -> Path:
        """The results; written last, so a run that has this file is finished."""
        return self.path / "metrics.json"

    @property
    def weights(self) -> Path:
        """The weights of the best epoch."""
        return self.path / "weights.safetensors"

    @property
    def vocabulary(self) -> Path:
        """The vocabulary or tokenizer."""
        return self.path / "vocabulary.json"

    @property
    def made_with(self) -> dict[str, str]:
        """Checksums, by name, of the files that the weights depend on; of the configuration without changeable options.

        Raises:
            UserError: the configuration is damaged.
            OSError: a file is missing.
        """
        settings = {name: value for name, value in stored_options(self.config).items() if not name.startswith(_FREE)}
        config = hashlib.sha256(sorted_json(settings)).hexdigest()
        return {self.vocabulary.name: file_sha256(self.vocabulary), self.config.name: config}

    @property
    def log(self) -> Path:
        """The printed lines, with timestamps."""
        return self.path / LOG

    def forget(self) -> None:
        """Remove what a run writes before its training, if nothing else is there."""
        begun = (self.config, self.vocabulary, self.log)
        if {*self.path.iterdir()} <= {*begun}:
            for each in begun:
                each.unlink(missing_ok=True)


@contextmanager
def named_folder(plan: Configuration) -> Iterator[None]:
    """Lock the folder that ``--out`` or ``--train.resume`` names, if any, against other runs.

    Raises:
        UserError: another run is writing to it, or ``--out`` is not an empty or absent folder, cannot be created, or
            has a name that is not UTF-8; or none is named, and none can be created in ``runs``.
    """
    if not (plan.train.resume or plan.out):
        check_folder_place(REPOSITORY / "runs", "--out")
        yield
        return
    path = Path(plan.train.resume or plan.out)
    if not plan.train.resume:
        _check_out(path)
    with sole_writer(path):
        if not plan.train.resume and any(each.name != LOG for each in path.iterdir()):  # a log alone: no run yet
            raise _not_empty(path)
        yield


def _check_out(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise _not_empty(path)
    try:
        str(path).encode()  # like TensorBoard
    except UnicodeEncodeError as error:
        raise UserError(f"--out={path} has a name that is not UTF-8: name another folder") from error
    check_folder_place(path, "--out")


def _not_empty(path: Path) -> UserError:
    return UserError(f"--out={path} is not an empty folder: name a new one, or resume a run with --train.resume")


@contextmanager
def new_run_folder(plan: Configuration) -> Iterator[RunFolder]:
    """The run folder of ``--out``, or a new one named by data set, model, options and time, locked against other runs.

    Raises:
        UserError: there are too many folders of that time.
    """
    if plan.out:
        yield RunFolder(Path(plan.out))
        return
    parts = (plan.dataset, plan.model_name, changed_name(plan), time.strftime("%Y%m%d-%H%M%S"))
    name = "-".join(filter(None, parts))
    for suffix in ("", *(f"-{number}" for number in range(2, 100))):
        path = REPOSITORY / "runs" / (name + suffix)
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        with sole_writer(path):
            yield RunFolder(path)
        return
    raise UserError(f"{path} exists: name another folder with --out")


def load_run(path: Path) -> tuple[NeuralRanker, PairTokenizer]:
    """Load the model of the finished run in ``path``, on the CPU and in evaluation mode.

    Raises:
        UserError: there is no run, it is damaged or unfinished, or its model has no training.
    """
    folder = RunFolder(path)
    plan = Configuration.load(folder.config)
    if not issubclass(class_of(plan.model_name), NeuralRanker):
        raise UserError(
            f"the run in {folder.path} is of {plan.model_name}, which has nothing trained to load: name a run of a "
            "trained model, such as galm_plus"
        )
    check_finished(folder)
    tokenizer: PairTokenizer = class_of(plan.model_name).saved_tokenizer(folder.vocabulary, plan.words, plan.model)
    weights = saved_weights(folder.weights, folder.made_with)
    check_weights(weights, weights_of(plan, tokenizer), str(folder.weights))  # before memory is allocated
    model = without_weights(plan, tokenizer)
    put_weights(model, weights, str(folder.weights))
    return model.eval(), tokenizer


def check_finished(folder: RunFolder) -> None:
    """Check that the run of a trained model has weights.

    Raises:
        UserError: it has none yet, and the message states how to resume it; or the folder has a packed model.
    """
    if not folder.weights.exists():
        check_is_run(folder.path)
        raise UserError(f"the run in {folder.path} is not finished: resume it with --train.resume={folder.path}")


class _NoStartingValues(TorchFunctionMode):
    """Skips random initialisation, which takes longer than loading the weights that replace it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", None) == "torch.nn.init" or func is Tensor.zero_:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def weights_of(plan: Configuration, tokenizer: PairTokenizer) -> Mapping[str, Tensor]:
    """The names, shapes and types of the model's weights, as meta tensors, which take no memory.

    Raises:
        UserError: there is no such model.
    """
    try:
        with torch.device("meta"):
            return without_weights(plan, tokenizer).state_dict()
    except (RuntimeError, TypeError, OverflowError, MemoryError) as error:
        why = " ".join(str(error).split())
        raise UserError(f"there is no {plan.model_name} with such settings and vocabularies: {why:.200}") from error


def without_weights(plan: Configuration, tokenizer: PairTokenizer) -> NeuralRanker:
    """The model with uninitialised weights."""
    with _NoStartingValues():
        model: NeuralRanker = class_of(plan.model_name)(plan.model, tokenizer.vocabulary)
    return model


def untrained(name: str) -> Ranker:
    """A ranker without training, with the settings of its recipe."""
    ranker: Ranker = class_of(name)(resolve("folder", name, {}).model)
    return ranker


def miner(name: str) -> Ranker:
    """The ranker ``--train.mined_by``, which :func:`check_miner` has checked."""
    return untrained(name) if name in MODELS else PoolRanker(*load_run(named_path(name)), best_device())


def check_miner(name: str) -> None:
    """Check the ranker ``--train.mined_by``.

    Raises:
        UserError: it is neither a ranker without training nor the folder of a finished run.
    """
    if name in MODELS and not is_trained(name):
        return
    folder = named_path(name)
    if name in MODELS or not folder.is_dir():
        raise UserError(
            f"--train.mined_by takes a ranker without training, such as bm25_tuned, or the folder of a run, not {name}"
        )
    check_finished(RunFolder(folder))


def any_reads_texts(plan: Configuration) -> bool:
    """Whether a ranker of a run reads texts: its model, the one that it is fused with, or the one that mines for it."""
    if reads_texts(plan.model_name, plan.model):
        return True
    names = filter(None, (plan.evaluate.fuse_with, plan.train.mined_by if plan.train.hard_negatives else ""))
    others = (
        resolve("folder", name, {}) if name in MODELS else Configuration.load(RunFolder(named_path(name)).config)
        for name in names
    )
    return any(reads_texts(other.model_name, other.model) for other in others)


RECORD: Final = "record.json"
WEIGHTS: Final = "weights.safetensors"
TOKENIZER: Final = "tokenizer.json"
FILES: Final = (RECORD, WEIGHTS, TOKENIZER)


ENCODERS: Final[Mapping[str, tuple[Any, Any]]] = {
    "light": (LightTokenizer, LightEncoder),
    "transformer": (SnippetSubwords, TransformerSnippetEncoder),
}
"""Kind of encoder -> the classes of its tokenizer and of its model."""


def load_snippet_encoder(folder: Path) -> tuple[SnippetEncoder, SnippetTokenizer]:
    """The encoder in ``folder``, on the CPU and in evaluation mode.

    Raises:
        UserError: there is none, or it is damaged.
    """
    try:
        record = parse_json(read_whole(folder / RECORD))
        reader, encoder = ENCODERS[record["kind"]]
        config = _config(encoder.config_type, record["model"])
    except (OSError, UserError, LookupError, TypeError, AttributeError) as error:
        raise UserError(
            f"expected the folder of a finished stage of training in {folder}, but it cannot be read: "
            f"{reason_and_file(error)}"
        ) from error
    tokenizer: SnippetTokenizer = reader.load(folder / TOKENIZER, config)
    model: SnippetEncoder = encoder(config, tokenizer.vocabulary)
    put_weights(model, saved_weights(folder / WEIGHTS), str(folder / WEIGHTS))
    return model.eval(), tokenizer


def _config(kind: type, content: Mapping[str, Any]) -> Any:
    known = options_of("model", kind)
    return kind(**{name: fitted(value, known[name]) for name, value in content.items()})
