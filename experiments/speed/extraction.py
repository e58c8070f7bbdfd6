"""Methods per second of tree-sitter, which data preparation uses, and of javalang, on the same files of the JDK."""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import javalang
from javalang.tree import ConstructorDeclaration, MethodDeclaration

from data_prep.languages.java.declarations import find_methods, parse_java
from data_prep.pipeline.java_extraction import methods_of
from data_prep.records import SourceFile
from experiments.speed.timing import Spread, in_turn, timed

_SPARE = 2
"""Files drawn per file needed, since javalang cannot parse the newest Java."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """The speed of a way to find methods."""

    methods: int
    methods_per_second: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The speed of all ways on the same files."""

    files: int
    skipped: int  # drawn as well, but javalang cannot parse them
    megabytes: float
    extracted: Parser  # tree-sitter: methods with name, tokens, API words and tree, as in data preparation
    found: Parser  # tree-sitter: declarations only
    javalang: Parser  # declarations only
    speedup: Spread  # of extracted over javalang
    found_speedup: Spread  # of found over javalang


def drawn(files: Iterable[SourceFile], count: int, seed: int = 0) -> list[SourceFile]:
    """``count`` files, chosen and ordered by their paths and the seed alone."""
    return heapq.nsmallest(count, files, key=lambda file: hashlib.sha256(f"{seed} {file.path}".encode()).digest())


def javalang_methods(file: SourceFile) -> int:
    """Number of methods and constructors with a body that javalang finds."""
    tree = javalang.parse.parse(file.data.decode("utf-8", errors="replace"))
    kinds = MethodDeclaration | ConstructorDeclaration
    return sum(isinstance(node, kinds) and node.body is not None for _, node in tree)


def javalang_parses(file: SourceFile) -> bool:
    """Whether javalang can parse a file."""
    try:
        javalang_methods(file)
    except (javalang.parser.JavaSyntaxError, javalang.tokenizer.LexerError, RecursionError):
        return False
    return True


def measure_extraction(files: Iterable[SourceFile], count: int, repeats: int) -> Extraction:
    """Methods per second over ``count`` of ``files``, in one process."""
    kept: list[SourceFile] = []
    skipped = 0
    for file in drawn(files, _SPARE * count):
        if len(kept) == count:
            break
        if javalang_parses(file):
            kept.append(file)
        else:
            skipped += 1
    ways: dict[str, Callable[[SourceFile], int]] = {
        "extracted": lambda file: sum(1 for _ in methods_of(file)),
        "found": lambda file: sum(1 for _ in find_methods(parse_java(file.data), documented_only=False)),
        "javalang": javalang_methods,
    }
    runs = in_turn({name: partial(timed, partial(_total, way, kept)) for name, way in ways.items()}, repeats)
    parsers = {name: _parser(run) for name, run in runs.items()}
    return Extraction(
        files=len(kept),
        skipped=skipped,
        megabytes=sum(len(file.data) for file in kept) / 1e6,
        **parsers,
        speedup=_ratio(runs["extracted"], runs["javalang"]),
        found_speedup=_ratio(runs["found"], runs["javalang"]),
    )


def _total(way: Callable[[SourceFile], int], files: Sequence[SourceFile]) -> int:
    return sum(map(way, files))


def _parser(run: Sequence[tuple[float, int]]) -> Parser:
    return Parser(methods=run[0][1], methods_per_second=Spread.of([methods / seconds for seconds, methods in run]))


def _ratio(run: Sequence[tuple[float, int]], other: Sequence[tuple[float, int]]) -> Spread:
    rates = ((methods / seconds, m / s) for (seconds, methods), (s, m) in zip(run, other, strict=True))
    return Spread.of([rate / against for rate, against in rates])
