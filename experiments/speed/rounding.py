"""The effect of bfloat16 products on the ranks of a trained GALM, compared with float32."""

from dataclasses import dataclass

import numpy as np

from data_prep.store.prepared_data import Split
from data_prep.store.tokenizing import WordTokenizer
from evaluation.config import EvaluateConfig
from evaluation.evaluator import evaluate
from evaluation.metrics import mrr
from galm.model import Galm
from modeling.pool_ranker import PoolRanker


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """The ranks of the same golds in both precisions."""

    float32_mrr: float
    bfloat16_mrr: float
    moved: float  # share of the golds whose ranks differ
    moved_at_top: float  # share of the golds that are first in only one of both
    farthest: int  # largest difference of ranks


def measure_rounding(model: Galm, tokenizer: WordTokenizer, split: Split, pool: EvaluateConfig) -> Rounding:
    """Rank ``pool`` of ``split`` in both precisions."""
    exact, rounded = (
        evaluate(PoolRanker(model, tokenizer, bfloat16=bfloat16), split, pool, progress=False).ranks
        for bfloat16 in (False, True)
    )
    return Rounding(
        float32_mrr=mrr(exact),
        bfloat16_mrr=mrr(rounded),
        moved=float(np.mean(exact != rounded)),
        moved_at_top=float(np.mean((exact == 1) != (rounded == 1))),
        farthest=int(np.abs(exact - rounded).max()),
    )
