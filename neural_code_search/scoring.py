"""A trained model applied to texts: it scores pairs of a query and a Java method, and ranks a pool for a query.

Methods are parsed as an index parses them.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import torch
from jaxtyping import Float32, Int64

from data_prep.errors import UserError, shown
from data_prep.files.access import named_path
from data_prep.records import Pair, SourceFile
from data_prep.store.split import Split
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.own_models import add_own_model
from modeling.base import NeuralRanker
from modeling.pool_ranker import AT_ONCE
from search.engine.question import words_of
from search.files.java_units import read_java
from search.index.code_index import Index
from search.models.folder import DEFAULT_MODEL
from search.models.packed_model import load_model as load_saved
from search.models.torch_models import ModelReranker


class RankedCodes(NamedTuple):
    """The codes of a pool for a query, best first; ties in the order of the pool."""

    indices: Int64[np.ndarray, " found"]
    """Positions in the pool, from 0."""
    scores: Float32[np.ndarray, " found"]
    """Higher is better."""


def load_model(path: str | os.PathLike[str] | None = None, *, own: str = "") -> "CodeModel":
    """The trained model in a folder, on the CPU.

    Args:
        path: the folder of a finished run or of a packed model; None: the shipped model.
        own: the file and class of a run of a model of one's own, ``FILE.py:CLASS``; the file is imported.

    Raises:
        UserError: there is no model, it is damaged, or its run is not finished.
    """
    if own:
        add_own_model(own)
    return CodeModel(*load_saved(DEFAULT_MODEL if path is None else named_path(os.fspath(path))))


class CodeModel:
    """A trained model; :func:`load_model` returns one."""

    def __init__(self, model: NeuralRanker, tokenizer: WordTokenizer) -> None:
        """``model``, and the ``tokenizer`` that turns words into its ids."""
        self.model: Final = model.eval()
        self.tokenizer: Final = tokenizer

    @torch.inference_mode()
    def score_pairs(self, queries: Sequence[str], codes: Sequence[str]) -> Float32[np.ndarray, " pairs"]:
        """The score of query i and code i; higher is better. Scores of different models are not comparable.

        Args:
            queries: questions in words.
            codes: Java methods or constructors, with or without comments, which are not read.

        Raises:
            UserError: the lengths differ, a query has no words, or a code is not one Java method.
        """
        ids = self.tokenizer.encode(Split.of("pairs", _read_pairs(queries, codes)))
        order = np.argsort(ids.code_lengths, kind="stable")  # codes of similar length need little padding
        found = np.empty(len(order), dtype=np.float32)
        for start in range(0, len(order), AT_ONCE):
            rows = order[start : start + AT_ONCE]
            asked, read = self.model.encode_query(ids.queries(rows)), self.model.encode_code(ids.codes(rows))
            found[rows] = self.model.score_pairs(asked, read).float().numpy()
        return found

    def reranker(self, index: Index) -> ModelReranker:
        """The model over the rows of an index."""
        return ModelReranker(self.model, self.tokenizer, index.split)

    def pool(self, codes: Sequence[str]) -> "CodePool":
        """A pool to be ranked for several queries; its codes are parsed once.

        Raises:
            UserError: a code is not one Java method.
        """
        return CodePool(self, codes)

    def rank(self, query: str, codes: Sequence[str], top: int | None = None) -> RankedCodes:
        """The best ``top`` of ``codes`` for a query; None: all of them.

        Raises:
            UserError: the query has no words, a code is not one Java method, or ``top`` is below 1.
        """
        return self.pool(codes).rank(query, top)


class CodePool:
    """Codes that a model ranks for any query; :meth:`CodeModel.pool` returns one."""

    def __init__(self, model: CodeModel, codes: Sequence[str]) -> None:
        self._rows = Split.of("pool", _read_codes(codes))
        self._reranker = ModelReranker(model.model, model.tokenizer, self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def scores(self, query: str) -> Float32[np.ndarray, " codes"]:
        """The score of each code for a query.

        Raises:
            UserError: the query has no words.
        """
        return self._reranker.scores(words_of(query), np.arange(len(self)))

    def rank(self, query: str, top: int | None = None) -> RankedCodes:
        """The best ``top`` codes for a query; None: all of them.

        Raises:
            UserError: the query has no words, or ``top`` is below 1.
        """
        if top is not None and top < 1:
            raise UserError(f"expected top to be 1 or more, got {top}")
        scores = self.scores(query)
        order = np.argsort(-scores, kind="stable")[:top]
        return RankedCodes(order, scores[order])


def _read_pairs(queries: Sequence[str], codes: Sequence[str]) -> list[Pair]:
    """Pair i of query i and code i."""
    _check_texts("queries", queries)
    _check_texts("codes", codes)
    if len(queries) != len(codes):
        raise UserError(f"expected as many codes as queries, got {len(queries):,} queries and {len(codes):,} codes")
    asked = []
    for place, query in enumerate(queries):
        try:
            asked.append(words_of(query))
        except UserError as error:
            raise UserError(f"queries[{place}]: {error}") from error
    return [replace(pair, query=words) for pair, words in zip(_read_codes(codes), asked, strict=True)]


def _read_codes(codes: Sequence[str]) -> list[Pair]:
    """Java methods or constructors, each with the first sentence of its comment, if any, as its query."""
    _check_texts("codes", codes)
    return [_read(code, f"codes[{place}]") for place, code in enumerate(codes)]


def _check_texts(name: str, texts: Sequence[str]) -> None:
    """Refuse what is no sequence of texts."""
    if isinstance(texts, str | bytes):
        raise UserError(f"expected a list of texts as {name}, got one text: {shown(texts)}")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise UserError(f"expected a text as {name}[{place}], got {type(text).__name__}")


def _read(code: str, name: str) -> Pair:
    data = f"class _ {{\n{code}\n}}\n".encode(errors="replace")  # a type around it, whose name has no words
    try:
        read = read_java(SourceFile("", "", data))
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    units = () if read.left_out else read.units  # of what does not parse a part could be read
    others = ("type", "file")
    methods = [each.pair for each in units if each.pair.method.kind not in others and " " not in each.pair.method.name]
    outermost = min((pair.method.type_name.count(".") for pair in methods), default=0)
    found = [pair for pair in methods if pair.method.type_name.count(".") == outermost]
    if len(found) != 1:
        what = f"{len(found)} methods" if found else "none that can be read"
        raise UserError(f"{name}: expected one Java method, got {what} in {shown(code)}")
    return found[0]
