"""A text and a code as one sequence of tokens, ``<s> text </s> code </s>``, whatever the tokenizer's own way is.

The text is cut to its first 50 tokens. Where both are too long the longer one loses its last token, again and again,
until they fit (Diera et al., GenBench 2023; their released code).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor
from tqdm import tqdm

from data_prep.store.ragged_lists import Ragged, edges

TEXT_TOKENS: Final = 50
SPECIAL: Final = 3
"""The start, the separator and the end."""
_TOKENIZED_AT_ONCE: Final = 1024
Rows = Int64[np.ndarray, " pairs"]


def kept_lengths(texts: Rows, codes: Rows, room: int) -> tuple[Rows, Rows]:
    """How many tokens of each text and code stay, where both together may have ``room``.

    The longer one loses its last token, and of two equal ones the code, until both fit.
    """
    half = room // 2
    kept_texts = np.where(codes <= half, np.minimum(texts, room - codes), np.minimum(texts, room - half))
    kept_codes = np.where(texts <= room - half, np.minimum(codes, room - texts), np.minimum(codes, half))
    return kept_texts, kept_codes


@dataclass(frozen=True, slots=True)
class PairTokens:
    """Texts and codes as token ids, and how a tokenizer joins them."""

    texts: Ragged
    codes: Ragged
    start: int
    separator: int
    padding: int
    room: int  # for the tokens of a text and a code

    @classmethod
    def of(cls, tokenizer: Any, texts: Sequence[str], codes: Sequence[str], max_length: int) -> "PairTokens":
        """Read ``texts`` and ``codes``, stripped.

        Raises:
            ValueError: the tokenizer has no start, separator or padding.
        """
        ids = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id)
        if None in ids:
            raise ValueError("a cross-encoder needs a tokenizer with a start, a separator and padding: take an encoder")
        room = max_length - SPECIAL
        read_texts = _token_lists(tokenizer, texts, TEXT_TOKENS, "texts")
        return cls(read_texts, _token_lists(tokenizer, codes, room, "codes"), *ids, room)

    def lengths(self, texts: Rows, codes: Rows) -> Rows:
        """Tokens of each pair of a text and a code, with the special ones."""
        kept_texts, kept_codes = self._kept(texts, codes)
        return kept_texts + kept_codes + SPECIAL

    def batch(self, texts: Rows, codes: Rows, kinds: int) -> dict[str, Tensor]:
        """The sequences of pairs, each ``[pairs, tokens]``: ids, mask and, for models with two kinds of tokens, these.

        The second kind is what stands after the separator.
        """
        kept_texts, kept_codes = self._kept(texts, codes)
        shape = (len(texts), int((kept_texts + kept_codes).max(initial=0)) + SPECIAL)
        ids, mask, second = np.full(shape, self.padding), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        pairs = np.stack((texts, codes, kept_texts, kept_codes), axis=1).tolist()
        for row, (text, code, t, c) in enumerate(pairs):
            end = t + c + 2  # where the last separator stands
            ids[row, 0], ids[row, t + 1], ids[row, end] = self.start, self.separator, self.separator
            ids[row, 1 : t + 1] = self.texts[text][:t]
            ids[row, t + 2 : end] = self.codes[code][:c]
            mask[row, : end + 1] = 1
            second[row, t + 2 : end + 1] = 1
        found = {"input_ids": ids, "attention_mask": mask} | ({"token_type_ids": second} if kinds > 1 else {})
        return {name: torch.from_numpy(values) for name, values in found.items()}

    def _kept(self, texts: Rows, codes: Rows) -> tuple[Rows, Rows]:
        return kept_lengths(self.texts.lengths[texts], self.codes.lengths[codes], self.room)


def _token_lists(tokenizer: Any, strings: Sequence[str], longest: int, what: str) -> Ragged:
    """The first ``longest`` tokens of each string."""
    values, lengths = [np.zeros(0, np.int32)], []
    with tqdm(total=len(strings), desc=f"tokens of {what}", disable=None, leave=False) as bar:
        for start in range(0, len(strings), _TOKENIZED_AT_ONCE):
            part = [string.strip() for string in strings[start : start + _TOKENIZED_AT_ONCE]]
            read = tokenizer(part, add_special_tokens=False, split_special_tokens=True)["input_ids"]
            cut = Ragged.of([ids[:longest] for ids in read])
            values.append(cut.values)
            lengths += cut.lengths.tolist()
            bar.update(len(part))
    return Ragged(np.concatenate(values), edges(np.array(lengths, np.int64)))
