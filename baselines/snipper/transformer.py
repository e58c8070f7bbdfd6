"""SnippeR's encoder: a pretrained transformer, the last state of the first token, dot product.

The paper's is GraphCodeBERT without its data flow input; by default here the packaged MiniLM, which needs no download.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from jaxtyping import Float
from torch import Tensor

from baselines.snipper.config import SnipperTransformerConfig
from baselines.snipper.encoder import SnippetEncoder
from baselines.snipper.texts import QueryText, cut
from data_prep.errors import UserError
from data_prep.store.batching import Words
from data_prep.store.ragged_lists import Ragged
from modeling.transformers.bi_encoder import mean_state, pretrained_weights
from modeling.transformers.joined_pairs import CHARACTERS_PER_TOKEN, between_marks, plain_tokens
from modeling.transformers.pretrained import most_tokens
from modeling.transformers.subword_pairs import Subwords, SubwordTokenizer, subwords_of


@dataclass(frozen=True)
class SnippetSubwords:
    """Queries and documents as subwords between the special tokens."""

    vocabulary: Subwords
    config: SnipperTransformerConfig

    @classmethod
    def of(cls, config: SnipperTransformerConfig) -> "SnippetSubwords":
        """The pretrained model's own.

        Raises:
            UserError: the libraries or the model are missing.
        """
        return cls(subwords_of(config.base), config)

    @classmethod
    def load(cls, path: Path, config: SnipperTransformerConfig) -> "SnippetSubwords":
        """Load what :meth:`save` wrote.

        Raises:
            UserError: the file is missing or damaged.
        """
        return cls(SubwordTokenizer.load(path, config.query_length, config.document_length).vocabulary, config)

    def save(self, path: Path) -> None:
        """Write tokenizer and architecture as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        SubwordTokenizer(self.vocabulary, self.config.query_length, self.config.document_length).save(path)

    def queries(self, texts: Sequence[QueryText]) -> Ragged:
        """The tokens of the code, then those of the error, without their middle if they are too many."""
        room, how = self.config.query_length - 2, self.config.truncation
        parts = self._tokens([*chain.from_iterable((text.code, text.error) for text in texts)], room)
        joined = (first + second for first, second in zip(parts[::2], parts[1::2], strict=True))
        return between_marks(self.vocabulary, [cut(tokens, room, how) for tokens in joined])

    def documents(self, texts: Sequence[str]) -> Ragged:
        """The first tokens of each document."""
        room = self.config.document_length - 2
        return between_marks(self.vocabulary, [tokens[:room] for tokens in self._tokens(texts, room)])

    def _tokens(self, texts: Sequence[str], room: int) -> list[list[int]]:
        """The tokens of both ends of each text: it may have megabytes."""
        most = room * CHARACTERS_PER_TOKEN
        ends = [text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}" for text in texts]
        return plain_tokens(self.vocabulary, ends)


class TransformerSnippetEncoder(SnippetEncoder):
    """Scores a snippet against a post by the dot product of their first tokens' states."""

    config_type = SnipperTransformerConfig
    reads = "subwords"
    config: SnipperTransformerConfig

    def __init__(self, config: SnipperTransformerConfig, vocabulary: Subwords) -> None:
        """Build the architecture; :meth:`initialize` loads the pretrained weights.

        Raises:
            UserError: the libraries are missing, or the model reads fewer tokens.
        """
        super().__init__(config, vocabulary, lambda: vocabulary.build("AutoModel"))
        most = most_tokens(self.towers[0].config)
        if max(config.query_length, config.document_length) > most:
            raise UserError(
                f"--model.query_length and --model.document_length take {most:,} tokens at most with {config.base}"
            )

    def initialize(self, tokenizer: SnippetSubwords) -> None:  # noqa: ARG002 - the base has them
        """Load the pretrained weights into each tower.

        Raises:
            UserError: the base could not be loaded.
        """
        weights = pretrained_weights(self.config.base)
        for tower in self.towers:
            tower.load_state_dict(weights)

    def vectors(self, words: Words, side: int) -> Float[Tensor, "batch dim"]:
        """The state of the first token, or the mean of all."""
        ids = words.ids.masked_fill(~words.mask, self.vocabularies.padding)
        states: Tensor = self.tower(side)(input_ids=ids, attention_mask=words.mask.long()).last_hidden_state
        if self.config.pooling == "cls":
            return states[:, 0]
        return mean_state(states, words)
