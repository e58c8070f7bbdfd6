"""The results of the speed measurements: a record, and its tables in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.provenance import Machine
from evaluation.results import DataSource
from experiments.speed.extraction import Extraction
from experiments.speed.pools import WIDTH, PoolSpeed
from experiments.speed.scoring import Product, Scored, Scoring
from experiments.speed.timing import Growth, Spread
from experiments.speed.training import BATCH, BATCHES, Reached, StepSeconds, Training


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedReport:
    """All measurements of one run of ``bash run.sh speed``; the first numbers are for graph width 32."""

    scoring_speedup: float  # of the fast form over the plain form, in pairs per second
    training_speedup: float  # the same for forward, loss and backward of a step
    matmul_fraction: float  # operations per second by the equations, as a share of the machine's matrix product
    ten_thousand_minutes: float  # to rank 10,000 methods for 10,000 queries
    ten_thousand_measured: bool  # False: extrapolated from the pairs per second of the largest pool
    wide_ten_thousand_minutes: float  # the same at width 256, always extrapolated
    wide_bfloat16_ten_thousand_minutes: float  # the same with bfloat16 products
    peak_memory_mb: float  # of the largest pool
    command: str
    code_version: str
    date: str  # ISO 8601, UTC
    seconds: float  # of the whole run
    data: DataSource
    machine: Machine
    threads: int
    kernels: bool  # False: there was no C compiler, and the fast form ran without its kernels
    matmul: Product
    scored: Scored
    scoring: Mapping[int, Scoring]  # by width
    training: Mapping[int, Training]  # by width
    pools_split: str
    pools: Sequence[PoolSpeed]
    growth_with_pairs: Growth
    lengths: Sequence[PoolSpeed]
    growth_with_length: Growth
    extraction: Extraction
    reached: Reached | None  # None: not measured


def markdown(report: SpeedReport) -> str:
    """The report in Markdown."""
    machine = report.machine
    parts = [
        "# Speed",
        f"`{report.command}` on {machine.cpu}, {machine.cores} cores ({machine.platform}), {report.threads} threads, "
        f"Python {machine.python}, torch {machine.torch}; {report.data.origin}; code {report.code_version}; "
        f"{report.date}; {report.seconds / 60:.0f} minutes. Medians, with the least and the most in parentheses; forms "
        "that are compared were measured in turn, and their ratios are of the same round.",
        "" if report.kernels else "**Without a C compiler: the fast form ran without its kernels.**",
        *_scoring_part(report),
        *_training_part(report),
        *_pools_part(report),
        *_extraction_part(report.extraction),
        *(_reached_part(report.reached) if report.reached else []),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _scoring_part(report: SpeedReport) -> list[str]:
    scored, matmul = report.scored, report.matmul
    rows: list[tuple[str, Any]] = [
        ("pairs per second, fast", lambda s: shown(s.fast_pairs_per_second)),
        ("pairs per second, fast, bfloat16 products", lambda s: shown(s.bfloat16_pairs_per_second)),
        ("pairs per second, plain, little padding", lambda s: shown(s.plain_pairs_per_second)),
        ("pairs per second, plain, the ranker's padding", lambda s: shown(s.padded_pairs_per_second)),
        ("fast to plain, little padding", lambda s: shown(s.speedup)),
        ("fast to plain, the ranker's padding", lambda s: shown(s.padded_speedup)),
        ("bfloat16 products to float32", lambda s: shown(s.bfloat16_speedup)),
        ("operations a pair, by the equations", lambda s: digits(s.equation_operations)),
        ("operations a pair, executed", lambda s: digits(s.executed_operations)),
        ("of the matrix product's rate, by the equations", lambda s: f"{s.matmul_fraction:.2f}"),
        ("of the matrix product's rate, executed", lambda s: f"{s.executed_fraction:.2f}"),
        ("largest difference of scores, of the largest score", lambda s: f"{s.largest_difference:.1g}"),
    ]
    return [
        "## Scoring",
        f"{scored.queries:,} queries x {scored.codes:,} methods of the test split, in order of length "
        f"({scored.query_words:.1f} and {scored.code_words:.1f} words on average), by the fast form in one piece. The "
        f"plain form, equation by equation, scored {scored.plain_pairs:,} of the pairs: in small batches of like "
        "length on both sides, each padded to its own longest, and once more with queries padded to the longest of "
        "all, as the ranker's batches are. A product of two float32 matrices of "
        f"{matmul.rows:,} x {matmul.rows:,} ran at {shown(matmul.gflops)} GFLOP/s.",
        _table(["graph width", *report.scoring], [[name, *map(cell, report.scoring.values())] for name, cell in rows]),
        "Operations are counted by the equations from the real lengths, without padding, exponentials, roots and "
        "tanh. Equal words of several queries are brought to a method once: the queries have "
        f"{scored.distinct_query_words:,} distinct words among {scored.queries * scored.query_words:,.0f}. So the fast "
        "form executes less than the equations say, and the fraction by the equations may be above what the processor "
        "did; the executed one counts eqs. 7 to 9 and the first layer's weights once for each distinct word.",
    ]


def _training_part(report: SpeedReport) -> list[str]:
    header = ["width", "form", "forward, loss", "backward", "clipping", "optimiser", "whole step"]
    forms = [(width, form, getattr(t, form)) for width, t in report.training.items() for form in ("fast", "plain")]
    rows = [[width, form, *_milliseconds(step)] for width, form, step in forms]
    found = [
        f"At width {width} the fast form is {shown(t.speedup)} times as quick in forward, loss and backward, and "
        f"{shown(t.step_speedup)} times in the whole step; the gradients differ by {t.gradient_difference:.1g} of "
        "their norm."
        for width, t in report.training.items()
    ]
    return [
        "## A training step",
        f"{BATCH} x {BATCH} pairs, milliseconds a step over {BATCHES} batches of the trainer's, padded as it pads; "
        "ranking loss over all negatives, AdamW fused.",
        _table(header, rows),
        " ".join(found),
    ]


def _milliseconds(step: StepSeconds) -> list[str]:
    parts = (step.forward_and_loss, step.backward, step.clipping, step.optimiser, step.whole)
    return [shown(part, 1000) for part in parts]


def _pools_part(report: SpeedReport) -> list[str]:
    split = "the test split" if report.pools_split == "test" else "the training split, since the test split is smaller"
    ten = "measured" if report.ten_thousand_measured else "extrapolated from the largest pool"
    header = ["methods", "code words", "seconds", "times", "pairs per second", "peak MiB", "MiB before"]
    return [
        "## Whole pools",
        f"Every query of a pool ranked over all its methods, graph width {WIDTH}, before training; pools drawn from "
        f"{split}, each time in a new process. Seconds hold encoding and scoring; before them the process held the "
        "model, its vocabulary and the data.",
        _table(header, [_pool_row(pool) for pool in report.pools]),
        f"Time grows with the number of pairs to the power of {report.growth_with_pairs.exponent:.2f}. 10,000 x 10,000 "
        f"pairs take {report.ten_thousand_minutes:.1f} minutes ({ten}); at width 256 "
        f"{report.wide_ten_thousand_minutes:.0f} minutes, and {report.wide_bfloat16_ten_thousand_minutes:.0f} with "
        "bfloat16 products (extrapolated from its pairs per second).",
        f"The {report.lengths[0].methods:,} longest methods of the training split, cut to fewer words:",
        _table(header, [_pool_row(pool) for pool in report.lengths]),
        f"Time grows with the words of a method to the power of {report.growth_with_length.exponent:.2f}.",
    ]


def _pool_row(pool: PoolSpeed) -> list[str]:
    numbers = (digits(pool.pairs_per_second), f"{pool.peak_memory_mb:,.0f}", f"{pool.memory_before_mb:,.0f}")
    return [
        f"{pool.methods:,}",
        f"{pool.code_words:.1f}",
        shown(pool.seconds),
        str(pool.seconds.repeats),
        *numbers,
    ]


def _extraction_part(found: Extraction) -> list[str]:
    ways = {
        "tree-sitter, with all fields": found.extracted,
        "tree-sitter, declarations": found.found,
        "javalang, declarations": found.javalang,
    }
    return [
        "## Extraction",
        f"Methods with a body in {found.files} files of the JDK ({found.megabytes:.1f} MB), one process; "
        f"{found.skipped} more were drawn that javalang cannot parse.",
        _table(
            ["", "methods", "methods per second"],
            [[name, f"{way.methods:,}", shown(way.methods_per_second)] for name, way in ways.items()],
        ),
        f"With all fields {shown(found.speedup)} times javalang's speed, declarations alone "
        f"{shown(found.found_speedup)} times.",
    ]


def _reached_part(reached: Reached) -> list[str]:
    if reached.seconds is None:
        end = "No epoch reached it."
    else:
        end = f"Epoch {reached.epochs} reached it, after {reached.seconds:.0f} seconds of training."
    return [
        "## Time to BM25",
        f"BM25's MRR over {reached.pool:,} validation methods is {reached.bm25_mrr:.3f}. galm, trained for "
        f"{len(reached.history)} epochs by its recipe, was validated on the same after each. {end}",
        _table(
            ["epoch", "seconds of training", "MRR"],
            [[each.epoch, f"{each.seconds:.0f}", f"{each.mrr:.3f}"] for each in reached.history],
        ),
        f"With bfloat16 products the last model's MRR is {reached.rounding.bfloat16_mrr:.4f} in place of "
        f"{reached.rounding.float32_mrr:.4f}: {reached.rounding.moved:.1%} of the methods asked for have another rank, "
        f"{reached.rounding.moved_at_top:.1%} are first in one of both only, and the farthest moved by "
        f"{reached.rounding.farthest:,} places.",
    ]


def _table(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    lines: list[Iterable[object]] = [header := list(header), ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def shown(spread: Spread, factor: float = 1) -> str:
    """The median, with the least and the most in parentheses."""
    middle, least, most = (digits(value * factor) for value in (spread.median, spread.least, spread.most))
    return middle if spread.repeats == 1 else f"{middle} ({least} to {most})"


def digits(value: float) -> str:
    """A number with three significant digits, without an exponent."""
    if value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"
