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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor

from modeling.device import best_device
from modeling.transformers.codet5p import is_codet5p, load_codet5p_classifier, load_codet5p_tokenizer
from modeling.transformers.pair_tokens import SPECIAL, PairTokens, Rows
from modeling.transformers.pretrained import extra, load_pretrained, most_tokens

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


def load_cross_encoder(name: str, max_length: int = 0, batch_size: int = 64) -> "CrossEncoder":
    """A fine-tuned cross-encoder, on the GPU if there is one.

    Args:
        name: its folder, or another name that :func:`modeling.transformers.pretrained.load_pretrained` knows.
        max_length: most tokens of a pair; 0: as many as in fine-tuning, and 512 at most.
        batch_size: pairs at once.

    Raises:
        ValueError: the libraries or the model are missing, or it reads fewer tokens than asked for; one line.
    """
    tokenizer, model = load_tokenizer(name), load_classifier(name)
    length = max_length or int(min(tokenizer.model_max_length, _LONGEST, most_tokens(model.config)))
    return CrossEncoder(model.to(best_device()), tokenizer, length, batch_size)


class CrossEncoder:
    """Scores pairs of a text and a code by the logarithm of the odds that they match."""

    def __init__(self, model: Any, tokenizer: Any, max_length: int, batch_size: int = 64) -> None:
        """Take a model of two logits as it is, on the device where it is.

        Raises:
            ValueError: the model reads fewer tokens than ``max_length``, or that leaves no room.
        """
        longest = most_tokens(model.config)
        if not SPECIAL + 2 <= max_length <= longest:
            raise ValueError(f"max_length takes {SPECIAL + 2} to {longest:,} tokens with this model, not {max_length}")
        self.model, self.tokenizer, self.max_length, self.batch_size = model, tokenizer, max_length, batch_size

    @property
    def natural_threshold(self) -> float:
        """0, even odds: the larger logit is that of a match."""
        return 0.0

    def over(self, texts: Sequence[str], codes: Sequence[str]) -> "CrossEncoderScores":
        """Read texts and codes as tokens."""
        tokens = PairTokens.of(self.tokenizer, texts, codes, self.max_length)
        return CrossEncoderScores(self.model, tokens, self.batch_size)


@dataclass(frozen=True, slots=True)
class CrossEncoderScores:
    """Scores pairs of texts and codes that were read."""

    model: Any
    tokens: PairTokens
    batch_size: int

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The logarithm of the odds that a query and each of its candidates match: the second logit minus the first.

        It orders pairs as the probability of a match does, which in single precision is 1 for all that are sure.
        """
        logits = self.logits(queries, candidates)
        return np.asarray(logits[..., 1] - logits[..., 0])

    def logits(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates 2"]:
        """The logits of "no match" and "match" of a query and each of its candidates."""
        texts, codes = np.repeat(queries, candidates.shape[1]), candidates.ravel()
        found = np.zeros((len(texts), 2), np.float32)
        order = np.argsort(
            -self.tokens.lengths(texts, codes), kind="stable"
        )  # pairs of a batch are of about one length
        for start in range(0, len(order), self.batch_size):
            rows = order[start : start + self.batch_size]
            found[rows] = self._batch_logits(texts[rows], codes[rows]).cpu().numpy()
        return found.reshape(*candidates.shape, 2)

    def _batch_logits(self, texts: Rows, codes: Rows) -> Float[Tensor, "pairs 2"]:
        batch = self.tokens.batch(texts, codes, kinds_of(self.model))
        training = self.model.training
        self.model.eval()
        try:
            with torch.inference_mode():
                logits: Tensor = self.model(**{name: ids.to(self.model.device) for name, ids in batch.items()}).logits
        finally:
            self.model.train(training)
        return logits.float()


def kinds_of(model: Any) -> int:
    """How many kinds of tokens the model tells apart: 2 for BERT, 1 for RoBERTa."""
    return int(getattr(model.config, "type_vocab_size", 1))


def gold_logit_scores(logits: Float32[np.ndarray, "queries candidates 2"]) -> Float32[np.ndarray, "queries candidates"]:
    """What the released ranking script compares: the gold's "no match" logit with the others' "match" logits.

    A demonstration: the better a model is, the lower it ranks. The gold is the first candidate.
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
