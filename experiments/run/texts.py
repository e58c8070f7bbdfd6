"""What a run says of the texts of its data sets, where a model reads texts, before anything is trained or ranked.

A code without a source is read as the words of its fields (:mod:`modeling.read_texts`). This is said once of each data
set, as is the share of codes and queries that have neither; where all have neither, it is a mistake.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from data_prep.errors import UserError
from data_prep.store.split import PairText, Split
from experiments.terminal.console import say
from modeling.read_texts import with_words

_READ: Final = "text models read the words of"
_FIELDS: Final = "name, tokens and API fields"


def say_texts(read: Iterable[tuple[str, Split, bool]]) -> None:
    """Say of each data set how many codes have no source, and how many codes and queries have nothing to read.

    Args:
        read: the data sets of a run whose rankers read texts, each with a split that it reads, and whether all rows of
            that are queries, too.

    Raises:
        UserError: a data set has pairs, but none of its codes, or of its queries, has a text or words.
    """
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for dataset, split, is_asked in read:
        for row in range(len(split)):
            stored = split.text(row)
            found[dataset].update(_kinds(stored, with_words(stored, split, row), is_asked=is_asked))
    for dataset, counts in found.items():
        _say_of(dataset, counts)


def _kinds(stored: PairText, text: PairText, *, is_asked: bool) -> Iterator[str]:
    """What a pair counts as: a code, one made from its fields, one with nothing to read; the same of its query."""
    yield "codes"
    if not text.source.strip():
        yield "unread codes"
    elif not stored.source.strip():
        yield "made codes"
    if is_asked:
        yield "queries"
        if not text.query_text.strip():
            yield "unread queries"


def _say_of(dataset: str, counts: Counter[str]) -> None:
    unread = {side: (counts[f"unread {side}"], counts[side]) for side in ("codes", "queries")}
    for side, (count, whole) in unread.items():
        if 0 < count == whole:
            raise UserError(
                f"the {count:,} {side} of {dataset} have no text and no words, so there is nothing to read: "
                "take data that have some"
            )
    if made := counts["made codes"]:
        share = f"{dataset}: {_share(made, counts['codes'], 'codes')} have no source"
        whole_set = made + counts["unread codes"] == counts["codes"]
        say(f"{dataset} has no sources: {_READ} its {_FIELDS}" if whole_set else f"{share}: {_READ} their {_FIELDS}")
    for side, (count, whole) in unread.items():
        if count:
            say(f"{dataset}: {_share(count, whole, side)} have no text and no words at all")


def _share(count: int, whole: int, what: str) -> str:
    return f"{count:,} of {whole:,} {what} ({count / whole:.1%})"
