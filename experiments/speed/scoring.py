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
from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from data_prep.store.tokenizing import TokenizedPairs, WordTokenizer
from experiments.recipes.config import Configuration, resolve
from experiments.speed.timing import Spread, in_turn, timed
from galm.all_pairs import EncodedWords, distinct_words
from galm.config import GalmConfig
from galm.model import Galm
from modeling.base import NeuralRanker
from training.seeding import seed_everything

WIDTHS: Final = (32, 256)
"""Graph widths to measure: GSMN's, and that of a word vector."""
BLOCK: Final = 512
"""Queries, and methods, scored together, as by the ranker."""
SAMPLE: Final = 32
"""Queries of the block that the plain form scores."""
_QUERIES_A_BATCH: Final = 8
_CODES_A_BATCH: Final = 64
_FORMS: Final = ("fast", "bfloat16", "plain", "padded")
_PRODUCT: Final = 2048
"""Rows and columns of the matrices whose product measures the machine's speed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The machine's float32 matrix product."""

    rows: int  # and columns
    gflops: Spread  # 10^9 operations per second


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The pairs that were scored."""

    queries: int
    codes: int
    plain_pairs: int
    query_words: float  # mean
    code_words: float  # mean
    distinct_query_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """Both forms at one graph width."""

    fast_pairs_per_second: Spread
    bfloat16_pairs_per_second: Spread  # fast, with bfloat16 products
    plain_pairs_per_second: Spread  # in small batches of similar length on both sides, with little padding
    padded_pairs_per_second: Spread  # plain, in the ranker's batches: queries padded to the longest of the block
    speedup: Spread  # of fast over plain, in the same round
    padded_speedup: Spread
    bfloat16_speedup: Spread  # of fast with bfloat16 products over fast without
    equation_operations: float  # per pair
    executed_operations: float  # per pair
    matmul_fraction: float  # operations per second by the equations, as a share of the matrix product's
    executed_fraction: float  # executed operations per second, as a share of the matrix product's
    largest_difference: float  # between the forms' scores, as a share of the largest score


def plan_of_width(width: int) -> Configuration:
    """The recipe of galm with graph width ``width``, and two layers: the edges of eq. 10 and those of eq. 11."""
    return resolve("jdk", "galm", {"model.gcn_dim": str(width), "model.layers": "2"})


def galm_of_width(width: int, tokenizer: WordTokenizer, train: TokenizedPairs) -> Galm:
    """GALM before training, on the CPU."""
    plan = plan_of_width(width)
    seed_everything(plan.train.seed)
    model = Galm(plan.model, tokenizer.vocabularies)
    model.start_from(train)
    return model


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
    def query_words(self) -> Int[np.ndarray, " queries"]:
        """Words of each query."""
        return self.ids.query_lengths[self.queries]

    @property
    def code_words(self) -> Int[np.ndarray, " codes"]:
        """Words of each method."""
        return self.ids.code_lengths[self.codes]

    @property
    def sample(self) -> Int[np.ndarray, " sample"]:
        """Positions of some of the queries, spread over all lengths."""
        return np.arange(0, len(self.queries), max(1, len(self.queries) // SAMPLE))


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of the plain form, and its position in the block."""

    rows: Int[np.ndarray, " queries"]
    columns: slice
    queries: EncodedWords
    codes: EncodedWords


def plain_batches(model: Galm, block: Block, whole: EncodedWords, *, padded: bool) -> list[Batch]:
    """The sampled queries with all methods, ``padded`` as by the ranker, else in small batches."""
    step = len(block.sample) if padded else _QUERIES_A_BATCH
    batches = []
    for at in range(0, len(block.codes), _CODES_A_BATCH):
        columns = slice(at, at + _CODES_A_BATCH)
        codes = model.encode_code(block.ids.codes(block.codes[columns]))
        for start in range(0, len(block.sample), step):
            rows = block.sample[start : start + step]
            trimmed = model.encode_query(block.ids.queries(block.queries[rows]))
            queries = whole.rows(torch.from_numpy(rows)) if padded else trimmed
            batches.append(Batch(rows, columns, queries, codes))
    return batches


def plain_scores(model: Galm, batches: Sequence[Batch], size: int) -> Float[Tensor, "queries codes"]:
    """Scores by the equations as written; NaN for pairs in no batch."""
    scores = torch.full((size, size), float("nan"))
    for batch in batches:
        scores[batch.rows, batch.columns] = NeuralRanker.score_matrix(model, batch.queries, batch.codes)
    return scores


@torch.inference_mode()
def measure_scoring(
    tokenizer: WordTokenizer, train: TokenizedPairs, test: TokenizedPairs, repeats: int
) -> tuple[Product, Scored, dict[int, Scoring]]:
    """Pairs per second at every width, alternating with the machine's matrix product."""
    block = Block.drawn(test, BLOCK)
    size = len(block.codes)
    left, right = torch.rand(2, _PRODUCT, _PRODUCT)
    product = partial(timed, partial(torch.mm, left, right, out=torch.empty_like(left)))
    forms, distinct = {}, 0
    for width in WIDTHS:
        model = galm_of_width(width, tokenizer, train).eval()
        queries, codes = (model.encode_query(test.queries(block.queries)), model.encode_code(test.codes(block.codes)))
        distinct = len(distinct_words(queries)[0])
        forms[f"matrix product {width}"] = product
        fast = partial(model.score_matrix, queries, codes)
        forms[f"fast {width}"] = partial(timed, fast)
        forms[f"bfloat16 {width}"] = partial(timed, torch.autocast("cpu", torch.bfloat16)(fast))
        for name, padded in (("plain", False), ("padded", True)):
            batches = plain_batches(model, block, queries, padded=padded)
            forms[f"{name} {width}"] = partial(timed, partial(plain_scores, model, batches, size))
    found = in_turn(forms, repeats)
    products = [seconds for width in WIDTHS for seconds, _ in found[f"matrix product {width}"]]
    gflops = Spread.of([2e-9 * _PRODUCT**3 / seconds for seconds in products])
    scored = Scored(
        queries=size,
        codes=size,
        plain_pairs=len(block.sample) * size,
        query_words=float(block.query_words.mean()),
        code_words=float(block.code_words.mean()),
        distinct_query_words=distinct,
    )
    runs = {width: {name: found[f"{name} {width}"] for name in _FORMS} for width in WIDTHS}
    widths = {width: _scoring(width, runs[width], block, scored, gflops.median) for width in WIDTHS}
    return Product(rows=_PRODUCT, gflops=gflops), scored, widths


def _scoring(
    width: int, runs: dict[str, list[tuple[float, Tensor]]], block: Block, scored: Scored, gflops: float
) -> Scoring:
    all_pairs = scored.queries * scored.codes
    pairs = {"fast": all_pairs, "bfloat16": all_pairs, "plain": scored.plain_pairs, "padded": scored.plain_pairs}
    rates = {name: [pairs[name] / seconds for seconds, _ in run] for name, run in runs.items()}
    config = plan_of_width(width).model
    lengths = (block.query_words, block.code_words)
    equations = all_operations(config, *lengths) / all_pairs
    executed = all_operations(config, *lengths, scored.distinct_query_words) / all_pairs
    fast = Spread.of(rates["fast"])
    exact, plain = runs["fast"][-1][1], runs["plain"][-1][1]
    return Scoring(
        fast_pairs_per_second=fast,
        bfloat16_pairs_per_second=Spread.of(rates["bfloat16"]),
        plain_pairs_per_second=Spread.of(rates["plain"]),
        padded_pairs_per_second=Spread.of(rates["padded"]),
        speedup=Spread.of(np.divide(rates["fast"], rates["plain"]).tolist()),
        padded_speedup=Spread.of(np.divide(rates["fast"], rates["padded"]).tolist()),
        bfloat16_speedup=Spread.of(np.divide(rates["bfloat16"], rates["fast"]).tolist()),
        equation_operations=equations,
        executed_operations=executed,
        matmul_fraction=equations * fast.median / (gflops * 1e9),
        executed_fraction=executed * fast.median / (gflops * 1e9),
        largest_difference=float((plain - exact)[block.sample].abs().max() / exact.abs().max()),
    )
