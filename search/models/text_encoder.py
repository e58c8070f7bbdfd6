"""Pretrained encoders of text over the rows of an index: a folder of sentence-transformers, or a run over subwords.

A row is read as the words of its name and then its source; a vector does not depend on the other rows of its batch,
up to rounding. ``bash run.sh install sentences`` adds the libraries.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float, Float16, Float32, Int64
from torch import Tensor
from torch.nn.functional import normalize

from data_prep.errors import UserError
from data_prep.store.batching import Words, pad
from data_prep.store.prepared_data import Split
from data_prep.store.ragged_lists import Ragged
from data_prep.store.tokenizing import TokenizedPairs
from experiments.recipes.run_folder import load_run
from modeling.base import BiEncoder
from modeling.transformers.sentence_encoder import load_sentence_model
from modeling.transformers.subword_pairs import SubwordTokenizer, subwords_in
from search.models.folder import is_sentence_model, model_hash

_AT_ONCE: Final = 32
"""Rows of like length that are encoded at once."""
_PROMPTS: Final = (("query",), ("document", "passage"))
"""Names of the texts that some models want before a query, and before a document."""

Encode = Callable[[Words], Float[Tensor, "batch dim"]]


class TextEncoder:
    """A :class:`search.index.encoders.RowEncoder` that reads source text."""

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
