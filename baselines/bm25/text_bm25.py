"""BM25 over raw text in any language: words of the text against words of the code, without training.

Runs of letters, digits and underscores are split like identifiers (camel case, snake case) and lower-cased. A word that
occurs several times in the text counts each time.
"""

import re
from typing import Final

from baselines.bm25.token_bm25 import TokenBm25, TokenBm25Scores
from data_prep.languages.identifiers import split_identifier
from data_prep.store.prepared_data import Split
from modeling.ranker import Ranker

_RUN: Final = re.compile(r"\w+")


def text_words(text: str) -> list[str]:
    """The words of a text or a code, in order: ``read.csv(myFile2)`` -> read, csv, my, file, 2."""
    return [part for run in _RUN.findall(text) for part in split_identifier(run)]


class TextBm25(Ranker):
    """Scores texts against codes by BM25, with Lucene's parameters."""

    def over(self, queries: Split, corpus: Split) -> TokenBm25Scores:
        """Index the words of all code, and read the texts."""
        index = TokenBm25(text_words(corpus.text(row).source) for row in range(len(corpus)))
        return index.over([text_words(queries.text(row).query_text) for row in range(len(queries))])
