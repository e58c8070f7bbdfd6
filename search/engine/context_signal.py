"""The text above a cursor as lexical evidence: BM25 over those of its words that fewest rows have.

The frequent words of a file say nothing about what is missing in it; its rare ones name what it works with. Words of
the query itself are left out, since they count already, and so are words that no row has.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from data_prep.array_types import Float32
from search.retrieval.bm25_index import Bm25Index, terms_of

RAREST: Final = 10
"""Words of a context that count."""


def rarest(context: Sequence[str], query: Sequence[str], lexical: Bm25Index, count: int = RAREST) -> list[str]:
    """The terms of ``context`` that fewest rows have, and not the query; of equal ones those nearest to the cursor.

    Args:
        context: words, nearest last.
        query: its words.
        lexical: of the rows.
        count: of terms.
    """
    asked = {*terms_of(query)}
    found: dict[str, int] = {}
    for term in terms_of(context[::-1]) if context else ():
        if term not in asked and (holders := lexical.holders(term)):
            found[term] = holders
    return sorted(found, key=found.__getitem__)[:count]


def context_scores(
    context: Sequence[str], query: Sequence[str], lexical: Bm25Index, count: int = RAREST
) -> Float32[np.ndarray, " rows"]:
    """The score of each row for the rarest words of ``context``, from 0 to 1; 0 everywhere if it says nothing."""
    found = np.zeros(lexical.size, np.float32)
    for term in rarest(context, query, lexical, count):
        rows, gains = lexical.postings(term)
        found[rows] += gains
    return found / (found.max(initial=0) or np.float32(1))
