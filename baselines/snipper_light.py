"""The light encoder: a text's vector is the weighted sum of the vectors of its distinct words.

    E(text) = sum over its distinct words w of a_w e_w

It is no part of the paper; it runs the paper's training loop in minutes on a CPU. Random vectors e_w of words are
nearly orthogonal, so with weights a_w that begin as inverse document frequencies the cosine of two texts begins near
that of tf-idf vectors (random indexing; Sahlgren 2005), also for words that training has not seen. Training moves both.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from baselines.snipper_encoder import SnippetEncoder
from baselines.snipper_texts import LightConfig, QueryText, code_words, cut
from data_prep.errors import UserError
from data_prep.files.access import read_whole, reason
from data_prep.files.json_text import parse_json
from data_prep.files.writing import write_atomically
from data_prep.store.arrays import Ragged
from data_prep.store.batching import Words
from data_prep.store.tokenizing import PAD, Vocabulary


@dataclass(frozen=True)
class LightTokenizer:
    """Distinct stemmed parts of identifiers as ids."""

    vocabulary: Vocabulary
    rarity: Float32[np.ndarray, " ids"]
    """Inverse document frequency of each id in the training texts."""
    config: LightConfig

    @classmethod
    def of(cls, texts: Sequence[str], config: LightConfig) -> "LightTokenizer":
        """A tokenizer whose words are those of ``texts``, training queries and documents."""
        holders = Counter(
            word for text in texts for word in dict.fromkeys(code_words(text))
        )  # equal ones in this order
        known = [word for word, count in holders.most_common(config.words) if count >= config.min_count]
        vocabulary = Vocabulary(tuple(known), config.buckets)
        counts = np.ones(len(vocabulary), np.float64)
        counts[len(vocabulary) - len(known) :] = [holders[word] for word in known]
        total = max(1, len(texts))
        rarity = np.log1p((total - counts + 0.5) / (counts + 0.5)).astype(np.float32)
        return cls(vocabulary, rarity, config)

    def queries(self, texts: Sequence[QueryText]) -> Ragged:
        """Code and error of each query as ids of its distinct words."""
        config = self.config
        return self._ids([text.text for text in texts], lambda ids: cut(ids, config.query_length, config.truncation))

    def documents(self, texts: Sequence[str]) -> Ragged:
        """Each document as ids of its distinct words."""
        return self._ids(texts, lambda ids: ids[: self.config.document_length])

    def _ids(self, texts: Sequence[str], shorten: Callable[[list[str]], list[str]]) -> Ragged:
        return Ragged.of([self.vocabulary.ids(shorten([*dict.fromkeys(code_words(text))])).tolist() for text in texts])

    def save(self, path: Path) -> None:
        """Write words and weights as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        first = len(self.vocabulary) - len(self.vocabulary.words)
        content = {
            "words": self.vocabulary.words,
            "buckets": self.vocabulary.unknown_buckets,
            "rarity": [round(float(each), 5) for each in self.rarity[first - 1 :]],
        }
        write_atomically(path, json.dumps(content, ensure_ascii=False))

    @classmethod
    def load(cls, path: Path, config: LightConfig) -> "LightTokenizer":
        """Load what :meth:`save` wrote.

        Raises:
            UserError: the file is missing or damaged.
        """
        try:
            content = parse_json(read_whole(path))
            vocabulary = Vocabulary.checked({"words": content["words"], "unknown_buckets": content["buckets"]})
            weights, words = np.array(content["rarity"], np.float32), len(vocabulary.words)
            if weights.shape != (1 + words,) or not np.isfinite(weights).all():
                raise UserError("its weights do not fit its words")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"expected the words of an encoder in {path}, but they cannot be read: {reason(error)}"
            ) from error
        unknown = np.full(len(vocabulary) - words - 1, weights[0], np.float32)
        return cls(vocabulary, np.concatenate([unknown, weights]), config)


class WordTower(nn.Module):
    """Word vectors and their weights."""

    def __init__(self, words: int, dim: int, dropout: float) -> None:
        """Random vectors of about length 1, all with weight 1; ``dropout``: share of words left out in training."""
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.vectors = nn.Embedding(words, dim)
        self.weights = nn.Embedding(words, 1)
        nn.init.normal_(self.vectors.weight, std=dim**-0.5)
        nn.init.ones_(self.weights.weight)

    def forward(self, words: Words) -> Float[Tensor, "batch dim"]:
        """The weighted sum over the words of each text."""
        ids = words.ids[words.mask]  # of all texts, one after the other
        weights = self.dropout(self.weights(ids).squeeze(1))
        lengths = words.mask.sum(1)
        read, places = ids.unique(return_inverse=True)  # each vector is read once
        starts = lengths.cumsum(0) - lengths
        return embedding_bag(places, self.vectors(read), starts, mode="sum", per_sample_weights=weights)


class LightEncoder(SnippetEncoder):
    """Scores a snippet against a post by the cosine of their weighted sums of word vectors."""

    config_type = LightConfig
    config: LightConfig

    def __init__(self, config: LightConfig, vocabulary: Vocabulary) -> None:
        """Build one tower, or two."""
        super().__init__(config, vocabulary, lambda: WordTower(len(vocabulary), config.dim, config.word_dropout))

    @torch.no_grad()
    def initialize(self, tokenizer: LightTokenizer) -> None:
        """Set the weights of the words to their inverse document frequencies."""
        rarity = tokenizer.rarity
        for tower in self.towers:
            assert isinstance(tower, WordTower)
            tower.weights.weight.copy_(torch.from_numpy(rarity / rarity.mean())[:, None])
            tower.vectors.weight[PAD] = 0.0

    def vectors(self, words: Words, side: int) -> Float[Tensor, "batch dim"]:
        """The weighted sum of the vectors of each text's words."""
        found: Tensor = self.tower(side)(words)
        return found
