"""The sizes of posts, with the paper's numbers beside: ``bash run.sh posts statistics``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from data_prep.files.access import check_folder_place
from data_prep.files.writing import write_atomically
from data_prep.installation import default_or_named
from data_prep.posts.sets import Post, PostSets
from data_prep.posts.store import prepare_posts
from evaluation.tables import SNIPPER_COUNTS as COUNTS
from evaluation.tables import SNIPPER_ERRORS as ERRORS
from evaluation.tables import SNIPPER_PERCENTAGES as PERCENTAGES
from evaluation.tables import SNIPPER_SIZES as SIZES
from experiments.posts.config import PostsPlan
from experiments.tables.comparison_pictures import as_png
from training.drawing import Figure


@dataclass(frozen=True, slots=True)
class SizeRow:
    """Mean sizes in characters of a subset."""

    subset: str
    posts: int
    total: float
    field: float

    @property
    def percent(self) -> float:
        """Size of the fields in percent of the total."""
        return 100 * self.field / self.total if self.total else 0.0


_SUBSETS: Final[dict[str, Callable[[Post], int]]] = {
    "all posts": lambda post: len(post.text),
    "with code": lambda post: len(post.code),
    "with error": lambda post: len(post.error),
    "with code and error": lambda post: (len(post.code) + len(post.error)) * bool(post.code and post.error),
    "with best_answer": lambda post: len(post.best_answer),
}
"""Subset -> size of its fields in a post, 0 if the post is not part of it."""


def size_rows(posts: Sequence[Post]) -> list[SizeRow]:
    """Sizes of the fields of posts, as in the paper's table of statistics.

    For a subset of the questions: the mean number of characters of a question's text, and of the fields in question.
    The percentage is the second over the first. The paper does not say what the total of a question is; its numbers
    exclude that the answer is part of it (questions with an answer have a smaller total than all), so here it is the
    question's text.
    """
    rows = []
    for subset, size in _SUBSETS.items():
        found = [(len(post.text), size(post)) for post in posts if size(post) or subset == "all posts"]
        count = max(1, len(found))
        total, field = (sum(column) / count for column in zip(*found, strict=True)) if found else (0.0, 0.0)
        rows.append(SizeRow(subset, len(found), total, field))
    return rows


def write_statistics(plan: PostsPlan, command: str, say: Callable[[str], None]) -> str:
    """Write statistics.md and statistics.png to the folder of the plan, and return the page.

    Raises:
        ValueError: the dump is not available.
        OSError: the files cannot be written.
    """
    out = default_or_named(plan.loop.out)
    check_folder_place(out, "--loop.out")
    posts = prepare_posts(plan.data, command=command, say=say)
    rows = size_rows(posts.posts)
    page = statistics_page(PostSets(posts.posts, plan.data).counts(), rows)
    out.mkdir(parents=True, exist_ok=True)
    write_atomically(out / "statistics.md", page)
    write_atomically(out / "statistics.png", picture(rows))
    return f"{page}\n{out / 'statistics.md'}, {out / 'statistics.png'}"


def statistics_page(counts: dict[str, int], rows: Sequence[SizeRow]) -> str:
    """Counts, sizes, and what the paper prints."""
    total = max(1, counts["questions"])
    lines = ["| | here | % | paper | % |", "|---|---:|---:|---:|---:|"]
    for name, count in counts.items():
        share = f"{100 * count / total:.2f}" if name in PERCENTAGES else ""
        lines.append(f"| {name} | {count:,} | {share} | {_number(COUNTS.get(name))} | {PERCENTAGES.get(name, '')} |")
    lines += ["", "Mean sizes in characters; percent: of the fields in the total.", ""]
    lines += ["| subset | posts | total | fields | % | paper: total | fields | % |", "|---|" + "---:|" * 7]
    for row in rows:
        printed = " | ".join(f"{value:,.2f}" for value in SIZES[row.subset])
        here = f"{row.posts:,} | {row.total:,.2f} | {row.field:,.2f} | {row.percent:.2f}"
        lines.append(f"| {row.subset} | {here} | {printed} |")
    lines += [
        "",
        "Printed in the paper, and what its own numbers give:",
        "",
        "| | printed | computed |",
        "|---|---:|---:|",
    ]
    lines += [f"| {name} | {printed} | {computed} |" for name, (printed, computed) in ERRORS.items()]
    return "\n".join(lines) + "\n"


def picture(rows: Sequence[SizeRow]) -> bytes:
    """Bars of total and field sizes, as PNG."""
    figure = Figure(figsize=(8, 3.2), dpi=110, layout="constrained")
    axes = figure.subplots()
    places = range(len(rows))
    axes.barh(
        [place - 0.2 for place in places], [row.total for row in rows], 0.4, label="question's text", color="#9ab"
    )
    axes.barh([place + 0.2 for place in places], [row.field for row in rows], 0.4, label="fields", color="#357")
    axes.set_yticks([*places], [f"{row.subset} ({row.posts:,})" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("mean size in characters")
    axes.legend()
    return as_png(figure)


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
