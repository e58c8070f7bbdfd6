"""Texts that a model joins itself: read without special tokens, and then as one sequence between them.

A text and a code are ``<s> text </s> code </s>``, for every tokenizer. If a pair is too long, the last token of the
longer side is removed repeatedly until it fits (Diera et al., GenBench 2023; their released code).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Int64
from torch import Tensor

from data_prep.store.arrays import Ragged
from data_prep.store.batching import Words
from modeling.transformers.pretrained import extra
from modeling.transformers.subword_pairs import Subwords

SPECIAL: Final = 3
"""The start, the separator and the end."""
Lengths = Int64[Tensor, " pairs"]


@dataclass(frozen=True, slots=True)
class Joining:
    """How texts and codes become sequences."""

    start: int  # token id
    separator: int
    padding: int
    kinds: int  # token types that the model distinguishes: 2 for BERT, 1 for RoBERTa
    room: int  # maximum tokens of a text and a code together


def kept_lengths(texts: Lengths, codes: Lengths, room: int) -> tuple[Lengths, Lengths]:
    """How many tokens of each text and code remain if both together may have ``room``.

    The last token of the longer side, or of the code if both are equally long, is removed until both fit.
    """
    half = room // 2
    kept_texts = torch.where(codes <= half, texts.minimum(room - codes), texts.clamp(max=room - half))
    kept_codes = torch.where(texts <= room - half, codes.minimum(room - texts), codes.clamp(max=half))
    return kept_texts, kept_codes


def joined_lengths(texts: Lengths, codes: Lengths, room: int) -> Lengths:
    """Length of each sequence in tokens, including special tokens."""
    kept_texts, kept_codes = kept_lengths(texts, codes, room)
    return kept_texts + kept_codes + SPECIAL


def joined(texts: Words, codes: Words, how: Joining) -> dict[str, Int64[Tensor, "pairs tokens"]]:
    """Text i and code i as a sequence: ids, mask and, for models with two token types, the types.

    Tokens after the separator have the second type.
    """
    kept = kept_lengths(texts.mask.sum(1), codes.mask.sum(1), how.room)
    text, code = kept[0][:, None], kept[1][:, None]  # [pairs, 1]
    last = text + code + 2  # position of the second separator
    places = torch.arange(int(last.max()) + 1, device=last.device)[None]  # [1, tokens]
    of_text, of_code = (places >= 1) & (places <= text), (places > text + 1) & (places < last)
    ids = torch.full(of_text.shape, how.padding, dtype=torch.int64, device=last.device)
    ids[:, 0] = how.start
    ids[(places == text + 1) | (places == last)] = how.separator
    ids = torch.where(of_text, _at(texts.ids, places - 1), ids)
    ids = torch.where(of_code, _at(codes.ids, places - text - 2), ids)
    found = {"input_ids": ids, "attention_mask": (places <= last).long()}
    return found | ({"token_type_ids": ((places > text + 1) & (places <= last)).long()} if how.kinds > 1 else {})


def _at(ids: Int64[Tensor, "pairs words"], places: Int64[Tensor, "some tokens"]) -> Int64[Tensor, "pairs tokens"]:
    """The ids at ``places`` of each row; arbitrary ids where a place is out of range."""
    return ids.gather(1, places.clamp(0, ids.shape[1] - 1).expand(len(ids), -1))


CHARACTERS_PER_TOKEN: Final = 64
"""A text is cut to this many characters per token before it is tokenized: it may have megabytes."""
_AT_ONCE: Final = 512


def plain_tokens(vocabulary: Subwords, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without special ones: a text that spells one is plain text.

    Raises:
        ValueError: the library is missing.
    """
    reader = extra("tokenizers").Tokenizer.from_str(vocabulary.tokenizer)
    reader.no_padding()
    reader.no_truncation()
    reader.encode_special_tokens = True
    found: list[list[int]] = []
    for at in range(0, len(texts), _AT_ONCE):
        found += [list(each.ids) for each in reader.encode_batch(texts[at : at + _AT_ONCE], add_special_tokens=False)]
    return found


def between_marks(vocabulary: Subwords, lists: Iterable[Sequence[int]]) -> Ragged:
    """Each list between the first token and the separator of the model.

    Raises:
        ValueError: the tokenizer has none.
    """
    start, separator, _ = vocabulary.marks
    return Ragged.of([[start, *tokens, separator] for tokens in lists])
