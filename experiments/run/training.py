"""The training of a run: its model, its validation, and TensorBoard pages about validation pairs and word vectors.

The pages have samples with ranks, alignments with edges, and the projector.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from tqdm import tqdm

from baselines.snipper_encoder import hard_negatives
from data_prep.errors import UserError
from data_prep.store.arrays import Int64
from data_prep.store.batching import Batch
from data_prep.store.prepared_data import PreparedData
from data_prep.store.split import Split, TokenizedPairs
from evaluation.config import EvaluateConfig
from evaluation.evaluator import Evaluation, evaluate
from evaluation.metrics import chance_ranks, exact, short_columns
from evaluation.significance import bootstrap_interval
from experiments.recipes.config import Configuration
from experiments.recipes.models import OWN, class_of
from experiments.recipes.own_models import PAIRS, check_model
from experiments.recipes.run_folder import RunFolder, miner
from experiments.run.data import check_fields
from experiments.run.earlier_run import beginning
from experiments.terminal.console import say
from modeling import distributed as processes
from modeling.base import Encoded, NeuralRanker, PairTokenizer
from modeling.pool_ranker import PoolRanker, scoring
from modeling.ranker import Ranker, best_device
from training.board import Board, Sample
from training.checkpoint import save_weights
from training.config import TrainConfig
from training.drawing import alignment_picture
from training.state import seed_everything
from training.task import Loss, PairTask
from training.trainer import TrainingReport, train

DIAGNOSED: Final = 256
"""Validation pairs whose graphs are looked into after an epoch."""
SAMPLES: Final = 12
PICTURES: Final = 4
_NEARLY_ALL: Final = 0.99
_WIDE: Final = 0.1
_FEW: Final = 50
MOST_VECTORS: Final = 5_000  # of a table in the projector, which becomes slow with more


@dataclass(frozen=True, slots=True)
class Pages:
    """Writes evaluations of a model to a board."""

    board: Board
    tokenizer: PairTokenizer

    def show(self, model: NeuralRanker, evaluation: Evaluation) -> None:
        """Samples spread over the evaluated pairs, and pictures of a few of them."""
        pool = evaluation.pool
        rows = np.linspace(0, len(pool) - 1, min(SAMPLES, len(pool)), dtype=int).tolist()
        self.board.samples("valid/samples", [_sample(evaluation, row) for row in rows])
        for number, row in enumerate(rows[:PICTURES]):
            self._picture(model, pool.take(np.array([row])), number, int(evaluation.ranks[row]))

    @torch.inference_mode()
    def _picture(self, model: NeuralRanker, pair: Split, number: int, rank: int) -> None:
        ids = self.tokenizer.encode(pair)
        queries, codes = model.moved(ids.queries([0])), model.moved(ids.codes([0]))
        query, code = model.encode_query(queries), model.encode_code(codes)
        weights = model.alignment(query, code) if query.mask.any() and code.mask.any() else None
        if weights is None:
            return
        asked = self._read(queries, "query")
        read = [(field, word) for field in model.code_fields for word in self._read(codes, field)]
        found, edges = _unpadded(weights, query, code), model.edges(query)
        if found.shape != (len(asked), len(read)):  # a model reads pads or truncates a field
            return
        text, score = pair.text(0), float(model.score_pairs(query, code)[0])
        title = f"{text.query_text}\nrank {rank}, score {score:.3f}: {text.type_name}.{text.method_name}"
        between = None if edges is None else _unpadded(edges, query, query)
        fields, words = ([each[place] for each in read] for place in (0, 1))
        figure = alignment_picture(found, asked, words, fields, title, between)
        self.board.picture(f"alignment/{number}", figure)

    def _read(self, batch: Batch, field: str) -> list[str]:
        return self.tokenizer.words(field, batch[field].ids[batch[field].mask].tolist())

    def finish(self, model: NeuralRanker) -> None:
        """The most frequent words of every table of word vectors."""
        tables = model.word_vectors()
        self.board.word_vectors(
            {
                name.replace(" ", "-"): (vectors[:MOST_VECTORS], words[:MOST_VECTORS])
                for name, (vectors, words) in tables.items()
            }
        )


def _sample(evaluation: Evaluation, row: int) -> Sample:
    rank = int(evaluation.ranks[row])
    text, first = evaluation.pool.text(row), int(evaluation.top_codes[row, 0])
    return Sample(text.query_text, text.source, rank, "" if first == row else evaluation.pool.text(first).source)


def _unpadded(
    weights: Float[Tensor, "1 left right"], left: Encoded, right: Encoded
) -> Float[np.ndarray, "rows columns"]:
    return weights[0][left.shown[0]][:, right.shown[0]].float().cpu().numpy()


def trained(
    plan: Configuration, data: PreparedData, tokenizer: PairTokenizer, folder: RunFolder
) -> tuple[PoolRanker, TrainingReport, Pages | None]:
    """The trained model of a run as a ranker, what training reached, and the first process's TensorBoard pages."""
    tokenizer.check()
    model = build_model(plan, tokenizer)
    if plan.model_name in OWN:
        check_model(
            model, tokenizer.encode(data.splits["train"].take(np.arange(min(len(data.splits["train"]), PAIRS))))
        )
    check_fields(plan, model, tokenizer)
    pages = None
    if processes.is_first():
        _keep_vocabulary(tokenizer, plan, folder)
        pages = Pages(Board(folder.path), tokenizer)
    say(f"{plan.model_name}: {parameters_of(model):,} parameters, on {best_device()}")
    report = train_stage(plan, model, tokenizer, data, folder, pages)
    if pages:
        save_weights(model, folder.weights, folder.made_with)
        pages.finish(model)
    processes.broadcast(None)  # wait until the weights are saved
    return (
        PoolRanker(model, tokenizer, best_device(), bfloat16=plan.evaluate.matmul_precision == "bfloat16"),
        report,
        pages,
    )


def _keep_vocabulary(tokenizer: PairTokenizer, plan: Configuration, folder: RunFolder) -> None:
    if not folder.vocabulary.exists():
        tokenizer.save(folder.vocabulary)
    elif class_of(plan.model_name).saved_tokenizer(folder.vocabulary, plan.words, plan.model) != tokenizer:
        raise UserError(f"the data have changed since the run in {folder.path} began: start a new run")


def parameters_of(ranker: Ranker | NeuralRanker) -> int:
    """Number of trainable parameters of a model, 0 if it has none."""
    model = ranker.model if isinstance(ranker, PoolRanker) else ranker
    return sum(weight.numel() for weight in model.parameters()) if isinstance(model, NeuralRanker) else 0


def build_model(plan: Configuration, tokenizer: PairTokenizer) -> NeuralRanker:
    """The model with random initial weights, which depend on ``--train.seed``."""
    seed_everything(plan.train.seed, plan.train.threads)
    model: NeuralRanker = class_of(plan.model_name)(plan.model, tokenizer.vocabulary)
    return model.to(best_device())


def train_stage(
    plan: Configuration,
    model: NeuralRanker,
    tokenizer: PairTokenizer,
    data: PreparedData,
    folder: RunFolder,
    pages: Pages | None,
) -> TrainingReport:
    """Train; afterwards ``model`` has the weights of the best validation epoch."""
    ids = tokenizer.encode(data.splits["train"])
    if not (plan.train.from_run or plan.train.continue_run):  # else the weights are of that run
        model.start_from(ids)
    valid = data.splits["valid"]
    diagnosed = tokenizer.encode(valid.take(np.arange(min(len(valid), DIAGNOSED))))
    loss = Loss(plan.loss)
    task = PairTask(
        model,
        loss,
        ids,
        _validation(plan, tokenizer, valid, diagnosed, pages),
        plan.train,
        best_device(),
        mined_negatives(plan.train, data.splits["train"], ids),
        plan.train.hard_negatives,
        selects=loss.selects,
        remark=loss.remark,
    )
    seed_everything(plan.train.seed, plan.train.threads)
    board, begin = pages.board if pages else None, beginning(plan, task)
    report = train(task, plan.train, folder.path, board=board, say=say, begin=begin)
    if warning := model.collapse_warning(diagnostics(model, diagnosed)):
        say(f"{plan.model_name}: {warning}")
    return report


def mined_negatives(
    config: TrainConfig, train: Split, ids: TokenizedPairs
) -> Int64[np.ndarray, "pairs negatives"] | None:
    """The codes that ``--train.mined_by`` ranks highest for each training query, without duplicates of its own.

    Raises:
        UserError: there is no such ranker, or it is a run that is not finished.
    """
    if not config.hard_negatives:
        return None
    say(f"mining hard negatives of {len(train):,} queries by {config.mined_by}")
    of_query, of_code = _rows_by(ids.query_keys), _rows_by(ids.code_keys)
    pairs = zip(ids.query_keys.tolist(), ids.code_keys.tolist(), strict=True)
    same = [frozenset(of_query[query] + of_code[code]) for query, code in pairs]
    ranker = miner(config.mined_by)
    return hard_negatives(ranker.over(train, train).blocks(), same, max(config.mined_depth, config.hard_negatives))


def _rows_by(keys: Int64[np.ndarray, " pairs"]) -> dict[int, list[int]]:
    """The rows of every key."""
    rows: dict[int, list[int]] = {}
    for row, key in enumerate(keys.tolist()):
        rows.setdefault(key, []).append(row)
    return rows


def _validation(
    plan: Configuration, tokenizer: PairTokenizer, valid: Split, diagnosed: TokenizedPairs, pages: Pages | None
) -> Callable[[NeuralRanker], Mapping[str, float]]:
    config = EvaluateConfig(pool=min(plan.train.validate_pool, len(valid)), run_depth=1)

    def validate(model: NeuralRanker) -> Mapping[str, float]:
        evaluation = evaluate(PoolRanker(model, tokenizer, best_device()), valid, config, progress=False)
        for doubt in doubts(evaluation):
            with tqdm.external_write_mode(file=sys.stderr):
                say(f"validation: {doubt}")
        measures = exact(evaluation.ranks)
        printed = {each.name: measures[each.name] for each in short_columns()}
        if pages:
            pages.show(model, evaluation)
            pages.board.validation({name: value for name, value in measures.items() if name not in printed})
        return {**printed, **diagnostics(model, diagnosed)}

    return validate


def doubts(evaluation: Evaluation, *, claims: bool = False) -> list[str]:
    """What speaks against an evaluation: scores that are tied, an MRR below chance, and where ``claims``, few queries.

    Of few queries, the width of the 95 % interval of their MRR is said.
    """
    values, found = 1 / evaluation.ranks, []
    chance = float(np.mean(1 / chance_ranks(evaluation.candidates)))
    tied = float(np.mean(evaluation.tied > 0))
    if tied >= _NEARLY_ALL and evaluation.candidates > 1:
        found.append(
            f"for {tied:.0%} of the queries the right code has the same score as others: ties count against it"
        )
    elif values.mean() < chance:
        found.append(f"the MRR of {values.mean():.4f} is below that of a random order, {chance:.4f}")
    if not claims:
        return found
    low, high = bootstrap_interval(values, resamples=1000)
    if high == low and len(values) < _FEW:
        found.append(f"{len(values):,} queries are few, and have the same rank: the MRR has no interval")
    elif high - low > _WIDE or len(values) < _FEW:
        found.append(
            f"{len(values):,} queries are few: the 95 % interval of the MRR is {high - low:.3f} wide, from {low:.3f} "
            f"to {high:.3f}, so that only large differences can be shown"
        )
    return found


def diagnostics(model: NeuralRanker, pairs: TokenizedPairs) -> Mapping[str, float]:
    """The model's diagnostics on pairs, each query with its own code."""
    rows = np.arange(len(pairs))
    with scoring(model):
        return model.diagnostics(model.moved(pairs.queries(rows)), model.moved(pairs.codes(rows)))
