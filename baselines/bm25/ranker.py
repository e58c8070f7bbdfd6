"""BM25, the baseline without training: words of the query against words of the method.

Each query word found in a method contributes, in Lucene's variant of the formula (Kamphuis et al., ECIR 2020),

    ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average_length))

where N is the number of methods, n the number that contain the word, f its count in this method, and length the number
of words. A method is read as its name (``name_weight`` times), its tokens, and its API words split like identifiers; a
query as a set. Words that are missing from a release (``UNKNOWN``) are ignored on both sides.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Final, Literal

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN
from jaxtyping import Float32, Int64

from data_prep.bounds import check_bounds, real, whole
from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from data_prep.records import UNKNOWN
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import Ragged
from modeling.ranker import Ranker, Scores

_BLOCK_BYTES: Final = 1 << 25
"""Maximum size of a block of scores, 32 MiB."""


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """Configuration of BM25 (section ``model``)."""

    k1: float = 1.2
    """Term frequency saturation: larger values saturate more slowly (Lucene's 1.2)."""
    b: float = 0.75
    """Length normalisation, 0 to 1 (Lucene's 0.75)."""
    method: Literal["lucene", "atire"] = "lucene"
    """Variant of the formula: Lucene's, or ATIRE's with ln(N / n) and the second factor times k1 + 1."""
    name_weight: int = 2
    """Number of times that words of the name count; 0: not at all."""
    distinct: bool = False
    """Whether repeated words of a method count only once among its tokens and once among its API words."""
    common_words: bool = True
    """Whether English stop words of a query count; false: they are ignored (bm25s's list)."""
    stem: bool = True
    """Whether words are stemmed (Snowball, English), which is stronger; BM25 in most papers does not stem."""

    def __post_init__(self) -> None:
        check_bounds(self, {"k1": real(0, 1000), "b": real(0, 1), "name_weight": whole(0, 1000)}, "model")


class Bm25(Ranker):
    """Ranks the methods of a corpus by BM25."""

    config_type: ClassVar[type] = Bm25Config

    def __init__(self, config: Bm25Config) -> None:
        """Nothing is trained; :meth:`over` counts words."""
        self.config = config
        self._stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord if config.stem else str

    def over(self, queries: Split, corpus: Split) -> "Bm25Scores":
        """Index the words of ``corpus``, and tokenize the queries.

        Raises:
            UserError: ``corpus`` is empty.
        """
        if not len(corpus):
            raise UserError(f"BM25 ranks at least one method, but split {corpus.name} has none")
        terms = {"": 0}  # a term of no method, so that there is at least one even if all methods are empty
        fields = [self._read(corpus, field, terms, grow=True) for field in ("name", "tokens", "api")]
        name, tokens, api = fields
        if self.config.distinct:
            tokens, api = ([list(dict.fromkeys(words)) for words in field] for field in (tokens, api))
        methods = [[*n * self.config.name_weight, *t, *a] for n, t, a in zip(name, tokens, api, strict=True)]
        scorer = bm25s.BM25(
            k1=self.config.k1, b=self.config.b, method=self.config.method, dtype="float32", auto_compile=False
        )
        with np.errstate(invalid="ignore"):  # the average length is 0 if all methods are empty
            scorer.index((methods, terms), create_empty_token=False, show_progress=False)
        asked = [sorted(set(query)) for query in self._read(queries, "query", terms, grow=False)]
        return Bm25Scores(scorer, asked, len(methods))

    def _read(self, split: Split, field: str, terms: dict[str, int], *, grow: bool) -> list[list[int]]:
        """The lists of ``field`` as ids of ``terms``; new words get new ids or, without ``grow``, are ignored."""
        lists: Ragged = split.words[field]
        forms: dict[int, list[int]] = {}
        for number in np.unique(lists.values).tolist():
            word = split.lexicon[number]
            common = field == "query" and not self.config.common_words and word in STOPWORDS_EN
            if word == UNKNOWN or common:  # UNKNOWN stands for different words
                forms[number] = []
                continue
            parts = [self._stem(part) for part in (split_identifier(word) if field == "api" else (word,))]
            if grow:
                forms[number] = [terms.setdefault(part, len(terms)) for part in parts]
            else:
                forms[number] = [terms[part] for part in parts if part in terms]
        return [list(chain.from_iterable(forms[number] for number in lists[row].tolist())) for row in range(len(lists))]


class Bm25Scores(Scores):
    """BM25 scores, computed by bm25s."""

    def __init__(self, scorer: bm25s.BM25, asked: Sequence[Sequence[int]], codes: int) -> None:
        """``asked``: the distinct terms of each query; ``codes``: the number of codes."""
        super().__init__(len(asked), codes)
        self._scorer, self._asked = scorer, asked

    def __call__(
        self, queries: Int64[np.ndarray, " block"], candidates: Int64[np.ndarray, "block candidates"]
    ) -> Float32[np.ndarray, "block candidates"]:
        """The scores of the candidates, selected from the scores of all codes."""
        scores = np.empty(candidates.shape, np.float32)
        for row, query in enumerate(queries.tolist()):
            scores[row] = self._scores(query)[candidates[row]]
        return scores

    def blocks(self) -> Iterator[Float32[np.ndarray, "block codes"]]:
        """Every query against every code, some queries at a time."""
        step = max(1, _BLOCK_BYTES // (4 * self.codes))  # queries per block
        for start in range(0, self.queries, step):
            yield np.stack([self._scores(query) for query in range(start, min(start + step, self.queries))])

    def _scores(self, query: int) -> Float32[np.ndarray, " codes"]:
        found: Float32[np.ndarray, " codes"] = self._scorer.get_scores_from_ids(self._asked[query])
        return found
