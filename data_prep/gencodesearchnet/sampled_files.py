"""The two tasks as the files that the task package builds: each text with each code that it is compared with."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from data_prep.gencodesearchnet.records import Example, line_of, write_lines
from data_prep.gencodesearchnet.sampling import Block, Negatives


def write_matching(path: Path, examples: Sequence[Example], negatives: Negatives) -> None:
    """Write two lines a pair: itself, then its text with the code of its negative."""
    write_lines(path, _matching_lines(examples, negatives))


def write_ranking(path: Path, examples: Sequence[Example], blocks: Iterable[Block]) -> None:
    """Write a line a candidate: of each pair its own code first, then its text with the code of each distractor."""
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
