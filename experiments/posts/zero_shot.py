"""A pretrained sentence encoder over posts, without training."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32
from tqdm import tqdm

from baselines.snipper.texts import cut_middle
from experiments.posts.config import ZeroShotConfig
from experiments.posts.pools import Pool
from experiments.posts.rankers import VectorScores
from modeling.ranker import best_device
from modeling.transformers.sentence_encoder import load_sentence_model

_CHARACTERS_PER_TOKEN = 16


@dataclass
class ZeroShotRanker:
    """Cosines of a sentence encoder's vectors; documents that were encoded before are not encoded again."""

    config: ZeroShotConfig

    def __post_init__(self) -> None:
        self._model = load_sentence_model(self.config.base, best_device())
        self._model.max_seq_length = self.config.max_length
        self._known: dict[str, Float32[np.ndarray, " dim"]] = {}

    def over(self, pool: Pool) -> VectorScores:
        """The scores of all queries of a pool; a query that is too long loses its middle, a document its end."""
        queries = [self._shortened(query.text) for query in pool.queries]
        return VectorScores(self._vectors(queries), self._vectors(pool.documents))

    def _shortened(self, text: str) -> str:
        """``text`` without the middle of its words, as many as fit for sure."""
        return " ".join(cut_middle(text.split(" "), self.config.max_length))

    def _vectors(self, texts: Sequence[str]) -> Float32[np.ndarray, "texts dim"]:
        most = self.config.max_length * _CHARACTERS_PER_TOKEN
        cut = [text[:most] for text in texts]
        new = sorted({text for text in cut if text not in self._known}, key=len)
        step = self.config.batch_size
        for at in tqdm(range(0, len(new), step), desc="encoding", unit=" batches", disable=None, leave=False):
            part = new[at : at + step]
            found = self._model.encode(part, batch_size=step, normalize_embeddings=True, show_progress_bar=False)
            self._known.update(zip(part, found, strict=True))
        return np.stack([self._known[text] for text in cut]).astype(np.float32)
