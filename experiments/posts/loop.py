"""SnippeR's self-training loop (arXiv 2305.11625, section 4), as stages that are cached by their content.

0. pre-train on duplicates: query of A, document B with its body;
1. round 1: query and title with accepted answer of the same question, in-batch negatives alone;
2. mine: the documents that this model ranks highest for each training query, without its own and its duplicates;
3. round 2: the same with hard negatives drawn from the mined ones, from the weights of stage 0. And so on.

Before all of them, if asked for, comes a stage on the docstrings of functions, like the paper's baseline.

A stage's folder is named by a checksum of everything that determines its result, including the stage before it. A
command that was stopped continues where it was, and variants share the stages that they have in common.
"""

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from jaxtyping import Float32, Int64

from baselines.snipper_encoder import SnippetEncoder, SnippetSubwords, SnippetTokenizer, encode_texts, hard_negatives
from baselines.snipper_light import LightTokenizer
from baselines.snipper_texts import QueryText
from data_prep.errors import UserError
from data_prep.files.access import ABSENT, named_path, reason
from data_prep.files.json_text import load_json
from data_prep.files.writing import sole_holder, write_atomically
from data_prep.installation import default_or_named
from data_prep.posts.sets import PostSets
from data_prep.store.arrays import Ragged
from data_prep.store.split import TokenizedPairs
from evaluation.metrics import mrr, top_at_k
from experiments.posts.config import PostsPlan
from experiments.posts.pools import LoopPairs, Pool, TextPair, checksum, development_pools, docstring_pairs
from experiments.recipes.run_folder import ENCODERS, RECORD, TOKENIZER, WEIGHTS
from modeling.base import NeuralRanker
from modeling.ranker import Scores, VectorScores, best_device
from training.checkpoint import load_weights, save_weights
from training.config import FREE, LossConfig, TrainConfig
from training.state import seed_everything
from training.task import Loss, PairTask
from training.trainer import CHECKPOINT, train

Mined: TypeAlias = Int64[np.ndarray, "pairs mined"]
"""Hard negatives of each training pair."""
_NEGATIVES: Final = "negatives.npy"
_NO_QUERY: Final = QueryText("", "")
_FREE: Final = frozenset((*FREE, "processes")) - {"epochs", "patience"}
"""Options of training that do not change its result."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A finished stage."""

    name: str
    key: str
    folder: Path
    record: Mapping[str, Any]  # what is known of its training


@dataclass
class Loop:
    """The loop of one plan and data set."""

    plan: PostsPlan
    sets: PostSets
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        self.pairs = LoopPairs(self.plan.loop, self.sets)
        self._ids_of = cache(lambda documents: self.tokenizer.documents(documents))

    def run(self) -> list[Stage]:
        """Train all stages that are not cached; returns the stages.

        Raises:
            ValueError: there are too few pairs, or a stage is damaged.
            OSError: a stage cannot be written.
            KeyboardInterrupt: Ctrl-C, after a checkpoint.
        """
        stages: list[Stage] = []
        key = self._key("start", "", {"seed": self.plan.train.seed, "words": self._known_words})
        if self.plan.loop.docstrings:
            pairs = docstring_pairs(named_path(self.plan.loop.docstrings))
            stages.append(self._trained("docstrings", key, pairs, None, self.plan.loop.docstring_epochs))
            key = stages[-1].key
        pairs = self.pairs.pretraining()
        if len(pairs) >= 2:
            stages.append(self._trained("pretrain", key, pairs, None, self.plan.loop.pretrain_epochs))
            key = stages[-1].key
        elif self.plan.loop.pretrain != "none":
            self.say(f"{len(pairs)} pairs to pre-train on are too few: without pre-training")
        start = key
        for number in range(1, self.plan.loop.rounds + 1):
            mined = None if number == 1 else self._mined(f"mine-{number - 1}", key)
            key = start if self.plan.loop.restart == "pretrained" else key
            stages.append(self._trained(f"round-{number}", key, self.pairs.training, mined, self.plan.train.epochs))
            key = stages[-1].key
        return stages

    def ranker(self, stage: Stage) -> "EncoderRanker":
        """The model of a finished stage."""
        model = self._model(None)
        load_weights(model, stage.folder / WEIGHTS)
        return EncoderRanker(model.eval(), self.tokenizer, self._ids_of)

    def untrained(self) -> "EncoderRanker":
        """The encoder before any training, such as a pretrained transformer out of the box."""
        seed_everything(self.plan.train.seed, self.plan.train.threads)
        return EncoderRanker(self._model("").eval(), self.tokenizer, self._ids_of)

    @cached_property
    def pools(self) -> list[Pool]:
        """The development sets that have queries, over ``--train.validate_pool`` documents."""
        found = development_pools(self.sets, self.plan.loop.parts, body=self.plan.evaluate.body)
        return [pool.part(self.plan.train.validate_pool, self.sets.config.seed) for pool in found]

    @cached_property
    def _development_key(self) -> str:
        texts = [(query, "") for pool in self.pools for query in pool.queries]
        return checksum([*texts, *((_NO_QUERY, document) for pool in self.pools for document in pool.documents)])

    @cached_property
    def tokenizer(self) -> SnippetTokenizer:
        """The tokenizer, built from the training pairs."""
        if self.plan.kind == "light":
            texts = [text for query, document in self.pairs.training for text in (query.text, document)]
            return LightTokenizer.of(texts, self.plan.model)
        return SnippetSubwords.of(self.plan.model)

    @property
    def _known_words(self) -> str:
        """A checksum of the words whose vectors are trained: weights mean nothing without their order."""
        known = self.tokenizer.vocabulary.words if isinstance(self.tokenizer, LightTokenizer) else ()
        return hashlib.sha256("\n".join(known).encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def _training_ids(self) -> tuple[Ragged, Ragged]:
        return self._ids(self.pairs.training)

    def _ids(self, pairs: Sequence[TextPair]) -> tuple[Ragged, Ragged]:
        queries, documents = [query for query, _ in pairs], [document for _, document in pairs]
        return self.tokenizer.queries(queries), self.tokenizer.documents(documents)

    def _trained(
        self, name: str, start: str, pairs: Sequence[TextPair], mined: tuple[str, Mined] | None, epochs: int
    ) -> Stage:
        """Train from the weights of stage ``start`` (its key), or load the cached result."""
        loop, own = self.plan.loop, self.plan.train
        config = replace(own, epochs=epochs, validate_every=min(own.validate_every, epochs))
        about = {
            "stage": "train",
            "pairs": checksum(pairs),
            "train": {name: value for name, value in asdict(config).items() if name not in _FREE},
            "mined": mined[0] if mined else "",
            "negatives": loop.negatives if mined else 0,
            "development": self._development_key,
        }
        key = self._key(name, start, about)
        folder = self._stage_folder(key)
        with self._sole_maker(folder):
            if not (folder / RECORD).exists():
                self._train(folder, name, start, pairs, mined[1] if mined else None, config)
        record = load_json(folder / RECORD, "the record of a stage")
        best = ", ".join(f"{what} {value:.4f}" for what, value in record["best"].items())
        self.say(f"{name}: {len(pairs):,} pairs, best of {record['epochs']} epochs on development: {best} ({folder})")
        return Stage(name, key, folder, record)

    def _train(
        self, folder: Path, name: str, start: str, pairs: Sequence[TextPair], mined: Mined | None, config: TrainConfig
    ) -> None:
        seed_everything(config.seed, config.threads)
        model = self._model(start)
        queries, documents = self._training_ids if pairs is self.pairs.training else self._ids(pairs)
        fields = {"query": queries, "code": documents}
        config = replace(config, resume=str(folder) if (folder / CHECKPOINT).exists() else "")
        task = PairTask(
            model,
            Loss(LossConfig("cross_entropy", temperature=self.plan.model.temperature, directions="queries")),
            TokenizedPairs(fields, code_fields=("code",), key_fields=("code",)),
            self._measures,
            config,
            best_device(),
            mined,
            self.plan.loop.negatives,
        )
        self.say(f"{name}: training on {len(pairs):,} pairs")
        report = train(task, config, folder, say=self.say)
        save_weights(model, folder / WEIGHTS)
        self.tokenizer.save(folder / TOKENIZER)
        best = next((each for each in report.history if each["epoch"] == report.best_epoch), {})
        record = {
            "stage": name,
            "epochs": report.epochs_run,
            "best_epoch": report.best_epoch,
            "best": {what: value for what, value in best.items() if "mrr" in what or "recall" in what},
            "history": report.history,
            "seconds": round(report.seconds, 1),
            "pairs": len(pairs),
            "model": asdict(self.plan.model),
            "kind": self.plan.kind,
        }
        write_atomically(folder / RECORD, json.dumps(record, indent=1) + "\n")
        (folder / CHECKPOINT).unlink(missing_ok=True)

    def _measures(self, model: NeuralRanker) -> dict[str, float]:
        """MRR and Recall@10 of each development set; the mean Recall@10 selects the epoch."""
        assert isinstance(model, SnippetEncoder)
        ranker = EncoderRanker(model, self.tokenizer, self._ids_of)
        found: dict[str, float] = {}
        for pool in self.pools:
            ranks = pool.ranks(ranker.over(pool))
            found |= {f"{pool.name} mrr": mrr(ranks), f"{pool.name} recall@10": top_at_k(ranks, 10)}
        return {"mrr": _mean(found, " mrr"), "selection": _mean(found, " recall@10"), **found}

    def _mined(self, name: str, key: str) -> tuple[str, Mined]:
        """The hard negatives that the model of the stage with ``key`` finds, cached."""
        count, own = self.plan.loop.mined, self._key(name, key, {"mined": self.plan.loop.mined})
        folder = self._stage_folder(own)
        path = folder / _NEGATIVES
        with self._sole_maker(folder):
            if not path.exists():
                ranker = self.ranker(Stage("", key, self._stage_folder(key), {}))
                queries, documents = self._training_ids
                scores = VectorScores(ranker.queries(queries), ranker.documents(documents))
                content = io.BytesIO()
                np.save(content, hard_negatives(scores.blocks(), self.pairs.duplicates(), count), allow_pickle=False)
                write_atomically(path, content.getvalue())
        try:
            found: Mined = np.load(path, allow_pickle=False)
        except (*ABSENT, ValueError, EOFError) as error:
            raise UserError(f"{path} is damaged ({reason(error)}): remove it, it is made again") from error
        self.say(f"{name}: {count} negatives per query ({folder})")
        return own, found

    def _model(self, start: str | None) -> SnippetEncoder:
        """A model with the weights of the stage ``start``; if that is no stage, its first ones; None: any weights."""
        _, encoder = ENCODERS[self.plan.kind]
        model: SnippetEncoder = encoder(self.plan.model, self.tokenizer.vocabulary)
        if start is not None:
            model.initialize(self.tokenizer)
        if start and (folder := self._stage_folder(start)).is_dir():
            load_weights(model, folder / WEIGHTS)
        return model.to(best_device())

    def _key(self, name: str, before: str, about: Mapping[str, Any]) -> str:
        content = {"before": before, "model": asdict(self.plan.model), "kind": self.plan.kind, **about}
        key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
        return f"{name}-{key}"

    def _stage_folder(self, key: str) -> Path:
        return default_or_named(self.plan.loop.out) / "stages" / key

    @contextmanager
    def _sole_maker(self, folder: Path) -> Iterator[None]:
        """Lock the folder of a stage, which is created; wait until another process that makes it has ended."""
        waiting = f"waiting for another process that makes {folder.name}"
        with sole_holder(folder.with_name(f"{folder.name}.lock"), lambda: self.say(waiting)):
            folder.mkdir(parents=True, exist_ok=True)
            yield


def _mean(measures: Mapping[str, float], ending: str) -> float:
    return float(np.mean([value for name, value in measures.items() if name.endswith(ending)] or [0.0]))


@dataclass
class EncoderRanker:
    """A trained encoder."""

    model: SnippetEncoder
    tokenizer: SnippetTokenizer
    ids_of: Callable[[tuple[str, ...]], Ragged]
    """The documents of a corpus as ids, which rankers with the same tokenizer share."""

    def __post_init__(self) -> None:
        self._vectors_of = cache(lambda documents: self.documents(self.ids_of(documents)))

    def over(self, pool: Pool) -> Scores:
        """The scores of all queries of a pool; the documents of a corpus are encoded once."""
        return VectorScores(self.queries(self.tokenizer.queries(pool.queries)), self._vectors_of(pool.documents))

    def queries(self, ids: Ragged) -> Float32[np.ndarray, "queries dim"]:
        """The vectors of queries."""
        return encode_texts(self.model, ids, "query")

    def documents(self, ids: Ragged) -> Float32[np.ndarray, "docs dim"]:
        """The vectors of documents."""
        return encode_texts(self.model, ids, "code")
