"""Pairs per second of GALM's fast form, compared with its plain form and with the machine's matrix product.

Operations are counted by the equations, without padding; a multiplication and an addition are two operations, and
exponentials, roots and tanh are not counted. For a pair with n query words and a method of m words, with vectors of
width d, B blocks, L layers and graph width F:

    eqs. 7 to 9: logits 2nmd, mix 2nmd, products and norms of the blocks 4nd
    eq. 12: first layer 2nBF + 2n²F; each further one 2n²F (edges, eq. 11) + 2nF² + 2n²F
    eq. 13: 2nF² + 2nF

Equal words of several queries are processed once per method, so less than that is executed: eqs. 7 to 9 and nBF once
for each distinct word of the block's queries, and the rest for each query.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float, Int

from data_prep.store.tokenizing import TokenizedPairs, WordTokenizer
from evaluation.speed import Form, Measured, Row, SpeedOptions, compare, form_of
from experiments.speed.pairs import WIDTHS, galm_of, of_width, pairs_of, plan_of
from galm.all_pairs import EncodedWords, distinct_words
from galm.config import GalmConfig
from galm.model import Galm
from modeling.base import NeuralRanker

BLOCK: Final = 512
"""Queries, and methods, scored together, as by the ranker."""
SAMPLE: Final = 32
"""Queries of the block that the plain form scores."""
_QUERIES_A_BATCH: Final = 8
_CODES_A_BATCH: Final = 64
_PRODUCT: Final = 2048
"""Rows and columns of the matrices whose product measures the machine's speed."""
_MILLION: Final = 1e6


def word_operations(config: GalmConfig, code_words: Int[np.ndarray, " codes"]) -> Float[np.ndarray, " codes"]:
    """Operations of one query word with each method: eqs. 7 to 9 and the first layer's weights."""
    attention = 4.0 * code_words * config.dim + 4 * config.dim
    return attention + 2 * config.num_blocks * config.gcn_dim


def graph_operations(config: GalmConfig, query_words: Int[np.ndarray, " queries"]) -> Float[np.ndarray, " queries"]:
    """Operations of each query's graph for one method: the remaining parts of eqs. 11 to 13."""
    n, width = query_words.astype(np.float64), config.gcn_dim
    further = 4 * n**2 * width + 2 * n * width**2
    return 2 * n**2 * width + (config.layers - 1) * further + 2 * n * width**2 + 2 * n * width


def all_operations(
    config: GalmConfig,
    query_words: Int[np.ndarray, " queries"],
    code_words: Int[np.ndarray, " codes"],
    brought: int | None = None,
) -> float:
    """Operations of all queries with all methods; ``brought`` words are processed per method, by default all."""
    words = int(query_words.sum()) if brought is None else brought
    graphs = graph_operations(config, query_words).sum() * len(code_words)
    return float(words * word_operations(config, code_words).sum() + graphs)


@dataclass(frozen=True, slots=True)
class Block:
    """Pairs drawn from a split: their queries and their methods, each sorted by length, as in the ranker."""

    ids: TokenizedPairs
    queries: Int[np.ndarray, " rows"]
    codes: Int[np.ndarray, " rows"]

    @classmethod
    def drawn(cls, ids: TokenizedPairs, size: int, seed: int = 0) -> "Block":
        """At most ``size`` pairs of ``ids``."""
        rows = np.random.default_rng(seed).choice(len(ids), min(size, len(ids)), replace=False)
        by_length = (np.argsort(lengths[rows], kind="stable") for lengths in (ids.query_lengths, ids.code_lengths))
        return cls(ids, *(rows[order] for order in by_length))

    @property
    def lengths(self) -> tuple[Int[np.ndarray, " queries"], Int[np.ndarray, " codes"]]:
        """Words of each query, and of each method."""
        return self.ids.query_lengths[self.queries], self.ids.code_lengths[self.codes]

    @property
    def sample(self) -> Int[np.ndarray, " sample"]:
        """Positions of some of the queries, spread over all lengths."""
        return np.arange(0, len(self.queries), max(1, len(self.queries) // SAMPLE))


def plain_batches(
    model: Galm, block: Block, whole: EncodedWords, *, padded: bool
) -> list[tuple[EncodedWords, EncodedWords]]:
    """The sampled queries with all methods, ``padded`` as by the ranker, else in small batches."""
    step = len(block.sample) if padded else _QUERIES_A_BATCH
    batches = []
    for at in range(0, len(block.codes), _CODES_A_BATCH):
        codes = model.encode_code(block.ids.codes(block.codes[at : at + _CODES_A_BATCH]))
        for start in range(0, len(block.sample), step):
            rows = block.sample[start : start + step]
            trimmed = model.encode_query(block.ids.queries(block.queries[rows]))
            batches.append((whole.rows(torch.from_numpy(rows)) if padded else trimmed, codes))
    return batches


def score_plainly(model: Galm, batches: Sequence[tuple[EncodedWords, EncodedWords]]) -> None:
    """Score by the equations as written."""
    for queries, codes in batches:
        NeuralRanker.score_matrix(model, queries, codes)


@torch.inference_mode()
def measure_scoring(options: SpeedOptions) -> Measured:
    """Both forms at every width, and products of matrices with as many operations."""
    data = pairs_of(options)
    tokenizer = WordTokenizer.build(data.splits["train"], plan_of(options).words)
    train, test = (tokenizer.encode(data.splits[name]) for name in ("train", "test"))
    block = Block.drawn(test, BLOCK)
    rows: list[Row] = []
    facts: dict[str, dict[str, Any]] = {}
    for width in WIDTHS:
        plan = plan_of(options, "galm", of_width(width))
        model = galm_of(plan, tokenizer.vocabularies, train).eval()
        queries, codes = model.encode_query(test.queries(block.queries)), model.encode_code(test.codes(block.codes))
        pairs, distinct = len(queries) * len(codes), len(distinct_words(queries)[0])
        counts = [all_operations(plan.model, *block.lengths, words) / pairs for words in (distinct, None)]
        rows += compare(f"width {width}", _forms(model, block, queries, codes, counts), options.rounds)
        product = rows[-1].second_seconds.median
        facts[f"width {width}"] = {
            "operations a pair, executed": counts[0],
            "operations a pair, by the equations": counts[1],
            "GFLOP/s of the matrix product": counts[1] * _MILLION / product / 1e9,
            "distinct query words": distinct,
            "query words": int(block.lengths[0].sum()),
        }
    about = (
        f"{data.manifest['origin']}: {len(queries)} queries x {len(codes)} methods of the test split, sorted by "
        f"length, {torch.get_num_threads()} threads. The plain form scores {len(block.sample)} of the queries: in "
        "small batches of like length on both sides, and padded to the longest query of all, as the ranker's batches."
    )
    return Measured(about=about, unit="a million pairs", rows=rows, facts=facts)


def _forms(
    model: Galm, block: Block, queries: EncodedWords, codes: EncodedWords, counts: Sequence[float]
) -> dict[str, Form]:
    amount, sampled = len(queries) * len(codes) / _MILLION, len(block.sample) * len(codes) / _MILLION
    fast = partial(model.score_matrix, queries, codes)
    forms = {"fast": form_of(fast, amount), "bfloat16": form_of(torch.autocast("cpu", torch.bfloat16)(fast), amount)}
    for name, padded in (("plain, little padding", False), ("plain, the ranker's padding", True)):
        batches = plain_batches(model, block, queries, padded=padded)
        forms[name] = form_of(partial(score_plainly, model, batches), sampled)
    left, right = torch.rand(2, _PRODUCT, _PRODUCT)
    product = partial(torch.mm, left, right, out=torch.empty_like(left))
    for name, count in zip(("executed", "by the equations"), counts, strict=True):
        forms[f"matrix product, operations {name}"] = form_of(product, 2 * _PRODUCT**3 / count / _MILLION)
    return forms
