"""Sizes of GenCodeSearchNet's sets and distances of their tokens, as in the paper's table 1, for the sets available."""

from pathlib import Path

from data_prep.errors import UserError
from data_prep.gencodesearchnet.fine_tuning import find_fine_tuning
from data_prep.gencodesearchnet.statistics import combined, row_of, statistics_table, subset_statistics
from data_prep.gencodesearchnet.subsets import find_subsets
from evaluation.benchmark import COSQA
from experiments.gencodesearchnet.pictures import distance_picture
from experiments.terminal.console import say


def measured(path: Path) -> tuple[str, bytes]:
    """The table in Markdown, with the published numbers, and the heat map of all distances (PNG).

    Raises:
        ValueError: no subset is in the folder ``path``, or a file is damaged.
    """
    subsets, missing = find_subsets(path)
    try:
        source = find_fine_tuning(path, subsets).train
    except UserError as error:
        say(f"no distances to the fine-tuning set: {error}")
        source = None
    sets = [*([source] if source else []), *subsets]
    found = [subset_statistics(each.name, each.examples) for each in sets]
    rows = [row_of(each, found[0] if source else None) for each in found]
    tested = [row for row, each in zip(rows, sets, strict=True) if each is not source and each.name != COSQA[0]]
    origins = "\n".join(f"- {each.name}: {each.origin}" for each in sets)
    gone = f"\n\nMissing: {', '.join(missing)}." if missing else ""
    return f"{statistics_table([*rows, combined(tested)])}\n\n{origins}{gone}\n", distance_picture(found)
