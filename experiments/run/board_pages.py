"""TensorBoard pages about validation pairs and word vectors: samples with ranks, alignments, edges, the projector."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from data_prep.store.batching import Batch
from data_prep.store.prepared_data import Split
from evaluation.evaluator import Evaluation
from modeling.base import Encoded, NeuralRanker, PairTokenizer
from training.board import Board, Sample
from training.drawing import alignment_picture, edges_picture

SAMPLES: Final = 12
PICTURES: Final = 4
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
            self._pictures(model, pool.take(np.array([row])), number)

    @torch.inference_mode()
    def _pictures(self, model: NeuralRanker, pair: Split, number: int) -> None:
        ids, where, title = self.tokenizer.encode(pair), next(model.parameters()).device, pair.text(0).query_text
        queries = {field: words.to(where) for field, words in ids.queries([0]).items()}
        codes = {field: words.to(where) for field, words in ids.codes([0]).items()}
        query, code = model.encode_query(queries), model.encode_code(codes)
        if not (query.mask.any() and code.mask.any()):
            return
        asked = self._read(queries, "query")
        weights, edges = model.alignment(query, code), model.edges(query)
        if weights is not None:
            read, fields = self._read_code(codes, model.code_fields), _field_of_each(codes, model.code_fields)
            found = _unpadded(weights, query, code)
            if found.shape == (len(asked), len(read)):  # unless a model reads pads or truncates a field
                self.board.picture(f"alignment/{number}", alignment_picture(found, asked, read, fields, title))
        if edges is not None:
            self.board.picture(f"edges/{number}", edges_picture(_unpadded(edges, query, query), asked, title))

    def _read_code(self, codes: Batch, fields: Sequence[str]) -> list[str]:
        return [word for field in fields for word in self._read(codes, field)]

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


def _field_of_each(codes: Batch, fields: Sequence[str]) -> list[str]:
    return [field for field in fields for _ in range(int(codes[field].mask.sum()))]


def _unpadded(
    weights: Float[Tensor, "1 left right"], left: Encoded, right: Encoded
) -> Float[np.ndarray, "rows columns"]:
    return weights[0][left.shown[0]][:, right.shown[0]].float().cpu().numpy()
