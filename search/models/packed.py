"""The packed models without torch, one that scores rows and the light pair, and the reranker that an option names."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import named_path
from data_prep.languages.identifiers import split_identifier
from data_prep.records import CONTEXT_FIELD
from data_prep.store.arrays import Float16, Float32, Int32, Int64, Ragged
from data_prep.store.split import Split, TokenizedPairs
from data_prep.store.tokenizing import WordsConfig
from experiments.terminal.options import is_packed, stored_configuration
from galm.config import GalmConfig
from galm.fast.query_scorer import Codes, Graphs, QueryScorer, covers, shapes
from search.engine.signals import Alignment, Reranker, Rows, Scores
from search.index.code_index import Index, with_own_words
from search.models.folder import (
    CONFIG,
    DEFAULT_BI_ENCODER,
    DEFAULT_MODEL,
    checked_parts,
    model_hash,
    no_model,
    read_packed,
    section_of,
    unusable,
)


def sentence_model(name: str) -> Path | None:
    """The folder of the sentence-transformers model ``name``: a folder itself, or that in an installed package."""
    from modeling.transformers.pretrained import model_folder

    folder = model_folder(name)
    return folder if folder and (folder / "modules.json").is_file() else None


def check_model(name: str) -> None:
    """Check that a model exists, before anything is read.

    Raises:
        UserError: the message names what is missing.
    """
    if not sentence_model(name):
        checked_parts(named_path(name))


def reranker_maker(model: str, *, for_many: bool = True) -> Callable[[Index], Reranker | None]:
    """Load the model that ``--model`` names; the result makes a reranker over the rows of an index: None by ``none``.

    ``for_many``: whether many queries will come, so that it is worth to prepare all rows for them.
    """
    if model == "none":
        return lambda _: None
    if model and (sentences := sentence_model(model)):
        from search.models.torch_models import SentenceReranker

        return lambda index: SentenceReranker(sentences, index.split)
    folder = named_path(model) if model else DEFAULT_MODEL
    if scored_without_torch(folder):
        packed = packed_model(folder)
        return lambda index: PackedReranker(packed, index.split, for_many=for_many)
    if not (folder / CONFIG).is_file():  # which is said before torch is imported
        raise no_model(folder, CONFIG)
    from search.models.packed_model import load_model
    from search.models.torch_models import ModelReranker

    ranker, tokenizer = load_model(folder)
    return lambda index: ModelReranker(ranker, tokenizer, index.split)


def maker_at_once(model: str) -> Callable[[Index], Reranker | None]:
    """As :func:`reranker_maker`, for a few files: none if the model would have to be loaded for long."""
    if model or not scored_without_torch(DEFAULT_MODEL):
        return lambda _: None
    return reranker_maker("", for_many=False)


_NAMES: Final = ("galm", "galm_plus")
AT_ONCE: Final = 512
"""Rows scored at a time, so that memory does not grow with their number."""


def read_words(words: Sequence[str], field: str, config: WordsConfig) -> list[str]:
    """The words of a query or of a field of a row as a model reads them, but unstemmed."""
    parted = field == "api" and config.api == "split"
    read = chain.from_iterable(map(split_identifier, words)) if parted else words
    return [*read][: getattr(config, f"{field}_length")]


def scored_without_torch(folder: Path) -> bool:
    """Whether the model in ``folder`` can be scored here; a damaged one cannot."""
    if not is_packed(folder):
        return False
    try:
        plan = stored_configuration(folder / CONFIG)
        return plan["model_name"] in _NAMES and covers(section_of(plan, "model", GalmConfig))
    except UserError:
        return False


class PackedModel:
    """A packed galm_plus."""

    def __init__(self, folder: Path) -> None:
        """The model in ``folder``.

        Raises:
            ValueError: a file is missing or damaged, or is not of such a model.
        """
        packed = read_packed(folder)
        config = section_of({"model": packed.model}, "model", GalmConfig)
        wanted = shapes(config, len(packed.tokenizer.vocabularies.code))
        packed.check_shapes(wanted)
        names = {name.split(".")[2]: name for name in wanted if name.startswith("words.tables.")}
        tables = {table: packed.table(name, wanted[name]) for table, name in names.items()}
        self.config, self.tokenizer = config, packed.tokenizer
        self.scorer = QueryScorer(config, packed.weights, tables)


def packed_model(folder: Path = DEFAULT_MODEL) -> PackedModel:
    """The model in ``folder``, kept until one of its files is written to; raises what :class:`PackedModel` does."""
    return _kept(folder, tuple(each.stat().st_mtime_ns for each in sorted(folder.iterdir())))


@lru_cache(maxsize=1)
def _kept(folder: Path, _: tuple[int, ...]) -> PackedModel:
    return PackedModel(folder)


class PackedReranker:
    """A :class:`search.engine.signals.Reranker` by numpy and the kernels."""

    def __init__(self, model: PackedModel, rows: Split, *, for_many: bool = False) -> None:
        """``rows``: of the index; ``for_many``: all are prepared at once, since many queries will come."""
        self._model, self._rows = model, rows
        self._all = model.scorer.codes(model.tokenizer.encode(rows).fields) if for_many else None
        self._query = lru_cache(maxsize=16)(self._asked)

    def knows(self, word: str) -> bool:
        """Whether the model has a word of a query in its vocabulary."""
        return self._model.tokenizer.knows(word)

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows`` for the words of a query; of none, all rows are equal, at 0."""
        return self.begun(query, rows)()

    def begun(self, query: Sequence[str], rows: Rows) -> Callable[[], Scores]:
        """The same, perhaps computed beside what else is done before it is called."""
        begun = self._model.scorer.begun(self._query(tuple(query)), self._all, rows) if query and self._all else None
        return begun or partial(self._scored, query, rows)

    def _scored(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        if not query:
            return np.zeros(len(rows), np.float32)
        asked = self._query(tuple(query))
        found = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            codes, own = (self._all, part) if self._all else (self._codes(part), np.arange(len(part)))
            found[start : start + AT_ONCE] = self._model.scorer.scores(asked, codes, own)
        return found

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """What each word of a query attended to in a row."""
        config = self._model.tokenizer.config
        asked, code = self._query(tuple(query)), self._codes(np.array([row]))
        fields = self._model.config.code_fields
        labels = {field: read_words(self._rows.word_list(field, row), field, config) for field in fields}
        words, names = read_words(query, "query", config), [word for each in labels.values() for word in each]
        if (len(asked.lists.places), len(code.words.places)) != (len(words), len(names)):
            return None
        weights = self._model.scorer.attention(asked, code)
        aligned, own = weights @ code.words.states, asked.lists.states
        lengths = np.linalg.norm(aligned, axis=1) * np.linalg.norm(own, axis=1)
        agreement = (aligned * own).sum(1) / np.maximum(lengths, 1e-8)
        return Alignment(words, names, [field for field, each in labels.items() for _ in each], weights, agreement)

    def _codes(self, rows: Int64[np.ndarray, " some"]) -> Codes:
        if self._all is not None:
            return self._all.take(rows)
        return self._model.scorer.codes(self._model.tokenizer.encode(with_own_words(self._rows.take(rows))).fields)

    def _asked(self, query: tuple[str, ...]) -> Graphs:
        return self._model.scorer.query(self._model.tokenizer.query_ids(query).tolist())


_CODE_FIELDS: Final = ("name", "tokens", "api")
_SHARED: Final = "shared"


class PackedLight:
    """The light pair as a :class:`search.index.vectors.RowEncoder` by numpy.

    :mod:`baselines.scotch_light` has its equations; the sums are the same within rounding.
    """

    fields: tuple[str, ...] = _CODE_FIELDS

    def __init__(self, run: Path | None = None) -> None:
        """Load a packed light pair; None: the shipped one.

        Raises:
            ValueError: a file is missing or damaged, or is not of such a model.
        """
        folder = run or DEFAULT_BI_ENCODER
        packed = read_packed(folder)
        known, dim = packed.tokenizer.vocabularies.code, packed.model.get("dim", 0)
        self._context_words = packed.model.get("context_words", 0)
        fields = ["query", *_CODE_FIELDS, *[CONTEXT_FIELD] * (self._context_words > 0)]
        tables = {_SHARED: (len(known), dim), **dict.fromkeys(fields, (len(known), 1))}
        gains: dict[str, tuple[int, ...]] = {"gains": (len(_CODE_FIELDS),)}
        gains |= {"context_gain": ()} if self._context_words else {}
        try:
            packed.check_shapes({**gains, **{_name(name): shape for name, shape in tables.items()}})
            stored = {name: packed.table(_name(name), shape) for name, shape in tables.items()}
        except UserError as error:
            raise unusable(folder, str(error)) from error
        self._states = stored.pop(_SHARED)
        self._weights = {name: table.rows(np.arange(len(known)))[:, 0] for name, table in stored.items()}
        self._gains, self._context_gain = packed.weights["gains"], packed.weights.get("context_gain", np.float32(0))
        self._tokenizer = packed.tokenizer
        self.run, self.model, self.dim = str(run or ""), model_hash(folder), dim

    def knows(self, word: str) -> bool:
        """Whether its vocabulary has a word of a query."""
        return self._tokenizer.knows(word)

    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query under the words above a cursor, nearest last, with norm 1."""
        found = self._sums("query", _one_list(self._tokenizer.query_ids(words)))
        if context and self._context_words:
            near = self._tokenizer.prose_ids(context[-self._context_words :])
            found = found + self._context_gain * self._sums(CONTEXT_FIELD, _one_list(near))
        return _normalised(found)

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""
        return self._tokenizer.encode(rows)

    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of ``rows``, with norm 1; 0 for rows without words.

        The order of each sum does not depend on the other rows.
        """
        found = np.zeros((len(rows), self.dim), np.float32)
        for gain, field in zip(self._gains, _CODE_FIELDS, strict=True):
            found += gain * self._sums(field, ids.fields[field].take(rows))
        return _normalised(found).astype(np.float16)

    def _sums(self, field: str, lists: Ragged) -> Float32[np.ndarray, "rows dim"]:
        """The weighted sum of the word vectors of each list, of length 1; 0 for an empty one."""
        found = np.zeros((len(lists), self.dim), np.float32)
        if len(lists.values):
            full = np.flatnonzero(lists.lengths)
            states = self._states.rows(lists.values.astype(np.int64)) * self._weights[field][lists.values][:, None]
            found[full] = np.add.reduceat(states, lists.offsets[:-1][full], axis=0)
        return _normalised(found)


def _one_list(ids: Int32[np.ndarray, " words"]) -> Ragged:
    return Ragged(ids, np.array([0, len(ids)]))


def _name(table: str) -> str:
    return f"words.tables.{table}.weight"


def _normalised(vectors: Float32[np.ndarray, "rows dim"]) -> Float32[np.ndarray, "rows dim"]:
    """The vectors scaled to length 1; 0 stays 0, as in torch's normalize."""
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
