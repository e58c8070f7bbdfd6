"""A small model and runs of it on real pairs; as a program, a run that is killed again and again until it ends."""

import gzip
import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from data_prep.records import Method, Pair
from data_prep.store.prepared_data import open_prepared, write_prepared
from data_prep.store.split import TokenizedPairs
from data_prep.store.tokenizing import WordsConfig, WordTokenizer
from modeling.base import Encoded, NeuralRanker
from training import optimiser
from training.checkpoint import save_weights
from training.config import TrainConfig
from training.state import seed_everything
from training.task import PairTask
from training.trainer import TrainingReport, train

EXAMPLE = Path(__file__).parents[3] / "shared" / "data" / "deepcs_example" / "pairs.jsonl.gz"
SMALL = TrainConfig(epochs=3, batch_size=8, learning_rate=5e-3, schedule="cosine", threads=1, checkpoint_minutes=0.0)


@dataclass(frozen=True)
class MeanConfig:
    width: int = 16
    dropout: float = 0.2


class MeanPool(NeuralRanker):
    """The product of the mean word vectors, with dropout between: what a bi-encoder is at the least."""

    config_type = MeanConfig

    def __init__(self, config, vocabularies):
        super().__init__(config, vocabularies)
        self.query = nn.Embedding(len(vocabularies.query), config.width, padding_idx=0)
        self.code = nn.Embedding(len(vocabularies.code), config.width, padding_idx=0)
        self.dropout = nn.Dropout(config.dropout)

    def encode_query(self, queries):
        return self._encode(self.query, [queries["query"]])

    def encode_code(self, codes):
        return self._encode(self.code, [codes[field] for field in ("name", "tokens", "api")])

    def score_pairs(self, queries, codes):
        return (queries.states * codes.states).sum((1, 2))

    def _encode(self, table, fields):
        ids = torch.cat([words.ids for words in fields], 1)
        mask = torch.cat([words.mask for words in fields], 1)
        states = self.dropout(table(ids)) * mask[:, :, None]
        mean = states.sum(1, keepdim=True) / mask.sum(1)[:, None, None].clamp(min=1)
        return Encoded(mean, mask[:, :1])


def hinge(scores, negatives, _epoch):
    costs = (0.5 - scores.diagonal()[:, None] + scores).clamp(min=0)
    return (costs * negatives).sum() / negatives.sum().clamp(min=1)


@dataclass(frozen=True)
class Setting:
    """What a run is made of."""

    tokenizer: WordTokenizer
    train: TokenizedPairs
    valid: TokenizedPairs

    @classmethod
    def open(cls, store: Path, most: int = 200) -> "Setting":
        splits = open_prepared(store).splits
        train_split = splits["train"].take(np.arange(min(most, len(splits["train"]))))
        tokenizer = WordTokenizer.build(train_split, WordsConfig(min_count=1))
        return cls(tokenizer, tokenizer.encode(train_split), tokenizer.encode(splits["valid"]))

    @property
    def large(self) -> int:
        """The size of its larger table alone: as ``training.optimiser.LARGE``, one is updated by rows, one is not."""
        return MeanConfig().width * max(len(self.tokenizer.vocabularies.query), len(self.tokenizer.vocabularies.code))

    def model(self, config: MeanConfig | None = None) -> MeanPool:
        seed_everything(0, 1)
        return MeanPool(config or MeanConfig(), self.tokenizer.vocabularies)

    def validate(self, model: NeuralRanker) -> dict[str, float]:
        rows = np.arange(len(self.valid))
        scores = model.score_matrix(
            model.encode_query(self.valid.queries(rows)), model.encode_code(self.valid.codes(rows))
        )
        ranks = (scores >= scores.diagonal()[:, None]).sum(1).double()
        return {"mrr": (1 / ranks).mean().item(), "top1": (ranks == 1).double().mean().item()}

    def run(self, folder: Path, config: TrainConfig = SMALL, **others) -> tuple[MeanPool, TrainingReport]:
        folder.mkdir(exist_ok=True)
        model = others.pop("model", None) or self.model()
        loss = others.pop("loss", hinge)
        measure, hard = others.pop("validate", self.validate), others.pop("hard_negatives", None)
        task = PairTask(model, loss, self.train, measure, config, others.pop("device", "cpu"), hard)
        seed_everything(config.seed, config.threads)
        return model, train(task, config, folder, **others)


def write_example(store: Path) -> None:
    """The DeepCS example's first pairs as a prepared data set."""
    with gzip.open(EXAMPLE, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for _, line in zip(range(500), lines, strict=False)]
    pairs = [_pair(row) for row in rows]
    write_prepared(store, {"train": pairs[:400], "valid": pairs[400:], "test": []}, {"dataset": "deepcs_example"})


def _pair(row: dict) -> Pair:
    fields = {field: tuple(row[field]) for field in ("name", "tokens", "api")} | {"ast": ()}
    place = {"origin": row["repo"], "path": row["file"], "start_line": 1, "end_line": 1}
    method = Method(
        **place, type_name="", name=row["name"][0], kind="method", source=row["code"], documentation="", fields=fields
    )
    return Pair(method, " ".join(row["query"]), tuple(row["query"]))


def run_killed(store: Path, folder: Path, seed: int, most: int = 3) -> dict:
    """Start a run, kill it at a random moment, resume it, and so on ``most`` times, then let it end."""
    import torch._dynamo  # noqa: F401 - what the first step would load, so that the moments lie among the steps

    clock, kills = random.Random(seed), 0
    setting = Setting.open(store)
    optimiser.LARGE = setting.large
    lines = folder / "lines"
    while True:
        told = len(_lines(lines))
        child = os.fork()
        if child == 0:
            _run_resumed(setting, folder, lines)
        while len(_lines(lines)) == told:  # its first line says where it goes on
            time.sleep(0.01)
        if kills < most:
            time.sleep(clock.uniform(0.0, 0.5))
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status):
            return {"kills": kills, "lines": _lines(lines), "exit": os.waitstatus_to_exitcode(status)}
        kills += 1


def slow_hinge(*arguments):
    """The same loss, so slow that no run of 75 batches ends within three waits of half a second, on any machine."""
    time.sleep(0.04)
    return hinge(*arguments)


def _run_resumed(setting: Setting, folder: Path, lines: Path) -> None:
    try:
        config = replace(SMALL, resume=str(folder), checkpoint_minutes=1e-4)
        with lines.open("a") as file:
            say = lambda line: (file.write(line + "\n"), file.flush())  # noqa: E731
            model, report = setting.run(folder, config, loss=slow_hinge, say=say)
        save_weights(model, folder / "weights.safetensors")
        (folder / "history.json").write_text(json.dumps(report.history))
        os._exit(0)
    finally:
        os._exit(1)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run_killed(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))))
