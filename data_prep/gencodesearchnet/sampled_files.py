"""Writes the two tasks in the task package's format: each text with each code that it is compared with."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from data_prep.gencodesearchnet.records import Example, line_of, write_lines
from data_prep.gencodesearchnet.sampling import Block, Negatives


def write_matching(path: Path, examples: Sequence[Example], negatives: Negatives) -> None:
    """Write two lines per pair: the pair, then its text with the code of its negative."""
    write_lines(path, _matching_lines(examples, negatives))


def write_ranking(path: Path, examples: Sequence[Example], blocks: Iterable[Block]) -> None:
    """Write one line per candidate: each pair first, then its text with the code of each distractor."""
    write_lines(path, _ranking_lines(examples, blocks))


def _matching_lines(examples: Sequence[Example], negatives: Negatives) -> Iterator[str]:
    for pair, negative in zip(examples, negatives.tolist(), strict=True):
        yield line_of(pair)
        yield line_of(Example(pair.text, examples[negative].code), target=0)


def _ranking_lines(examples: Sequence[Example], blocks: Iterable[Block]) -> Iterator[str]:
    for own, *distractors in (candidates for block in blocks for candidates in block.tolist()):
        yield line_of(examples[own])
        for distractor in distractors:
            yield line_of(Example(examples[own].text, examples[distractor].code), target=0)
