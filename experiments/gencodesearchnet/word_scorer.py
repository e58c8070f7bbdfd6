"""A trained matcher as a scorer of raw texts and codes, whose words are found by rules for any language."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int64

from data_prep.gencodesearchnet.records import Example
from data_prep.gencodesearchnet.words import as_split
from data_prep.store.batching import TokenizedPairs
from modeling.contract import Matcher, PairTokenizer
from modeling.row_scores import RowScores


class WordScorer:
    """GALM or another matcher of the registry, over words of code that need be no Java."""

    def __init__(self, matcher: Matcher, encoder: PairTokenizer) -> None:
        """``matcher``: trained, with the ``encoder`` of its words."""
        self._matcher, self._encoder = matcher, encoder

    @property
    def natural_threshold(self) -> None:
        """None: training compares codes with each other, and fixes no score as a match."""
        return

    def over(self, texts: Sequence[str], codes: Sequence[str]) -> "WordScores":
        """Split texts and codes into words, and these into ids."""
        corpus = as_split("codes", (Example("", code) for code in codes))
        queries = as_split("texts", (Example(text, "") for text in texts))
        return WordScores(RowScores(self._matcher, self._encoder, corpus), self._encoder.encode(queries))


@dataclass(frozen=True, slots=True)
class WordScores:
    """Scores over words that were read."""

    rows: RowScores
    queries: TokenizedPairs

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The score of every candidate of each query."""
        found = [
            self.rows.scores(self.queries.queries([query]), among)
            for query, among in zip(queries.tolist(), candidates, strict=True)
        ]
        return np.stack(found)
