"""The page of saved results with contexts: ``context table`` writes ``experiments/results/scotch.md`` and pictures."""

from collections.abc import Mapping, Sequence
from typing import Final

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from evaluation.result_store import ResultStore
from experiments.context.page_ends import both_splits, published_numbers, trees_in_turn, words_by_validation
from experiments.context.page_sections import SPLIT_NAMES, sections
from experiments.context.paired import paired
from experiments.context.pictures import length_picture, recall_picture
from experiments.context.results import ContextResult, load_results
from experiments.context.systems import LENGTHS, shortened
from experiments.recipes.results_folder import RESULTS
from experiments.terminal.console import say

FOLDER: Final = "context"
_PAGE: Final = "scotch"


def table(arguments: Sequence[str]) -> None:
    """Write the page and its pictures.

    Raises:
        UserError: there are words or options, or no results, or one is damaged.
    """
    if arguments:
        raise UserError("bash run.sh context table takes no words or options")
    ResultStore(RESULTS / FOLDER).fold()
    results = load_results(RESULTS / FOLDER)
    if not results:
        raise UserError(f"expected results in {RESULTS / FOLDER}: bash run.sh context RUN_DIR --save=DIR makes them")
    written = {f"{_PAGE}.md": page(results).encode(), **pictures(results)}
    for name, content in written.items():
        write_atomically(RESULTS / name, content)
    say(f"wrote {', '.join(written)}")


def page(results: Sequence[ContextResult]) -> str:
    """Tables of all results, with the published numbers beside."""
    found = paired(results)
    whole = {key: pairs for key, pairs in found.items() if key[1] in SPLIT_NAMES}
    parts = [["# Scotch: what the text above a function brings"], [_conventions()]]
    for key, pairs in sorted(whole.items()):
        parts += sections(key, pairs)
    valid = {key: pairs for key, pairs in paired(results, "valid").items() if key[1] in SPLIT_NAMES}
    parts += [both_splits(whole), words_by_validation(valid), trees_in_turn(found), published_numbers()]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def pictures(results: Sequence[ContextResult]) -> Mapping[str, bytes]:
    """The pictures by file name: of each data set split by repository, its largest pools."""
    found = {}
    for key, pairs in sorted(paired(results).items()):
        dataset, split, model, of_all, _, pool = key
        if split == "repo":
            name = f"scotch-{dataset}-{model}{'-all' * of_all}"
            found[f"{name}-recall.png"] = recall_picture(pairs, pool)
            shortest = shortened(LENGTHS[0])
            ablated = {language: each for language, (each, _) in pairs.items() if shortest in each[0].systems}
            if ablated:
                found[f"{name}-length.png"] = length_picture(ablated, pool)
    return found


def _conventions() -> str:
    return (
        "Each test query is ranked over the functions of its pool, ties against it; pools are drawn at random, and the "
        "last is padded with functions of others. Means over seeds. Intervals are 95 %, over seeds of training and "
        "over whole repositories; with one seed there is none. BM25 reads the query, or with it "
        "the rarest words of its context; tuned: with settings chosen on validation pairs of the JDK. The weight of a "
        "fusion is chosen on validation pairs. A language with fewer test pairs than a pool has is one pool of all."
    )
