"""The paper's Table 1 as data, and a table that compares it with recomputed numbers."""

from collections.abc import Sequence
from typing import Final

from data_prep.gencodesearchnet.statistics import Row

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
