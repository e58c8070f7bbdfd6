"""Nearest rows by FAISS, an extra: all rows where there are few, else those of the nearest clusters (IVF).

IVF parts the rows into clusters by k-means, about 4 of them for the square root of the rows, and looks at the rows of a
sixteenth; in there a vector is 8 bits a number. What it names is scored by the stored vectors, so that only which rows
are found is approximate.
"""

import importlib.util
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from jaxtyping import Float, Float32, Int64

from search.sealed_file import UnusableFileError, read_sealed, write_sealed
from search.vectors import SLACK, Settled, extra

WORTH_IT: Final = 250_000
"""Rows from which clusters are made: below, looking at every row takes less than the model that reads what is found."""
FORMAT: Final = "galm vector clusters 1"
_PROBED: Final = 16
"""One of so many clusters is looked at."""
_TRAINED_ON: Final = 64
"""Rows a cluster that k-means sees."""


def installed() -> bool:
    """Whether the extra is there."""
    return importlib.util.find_spec("faiss") is not None


class FaissVectors(Settled):
    """A FAISS index over the rows."""

    def __init__(
        self, vectors: Float[np.ndarray, "rows dim"], *, clusters_from: int = WORTH_IT, index: Any = None
    ) -> None:
        """Build the index, or take ``index``, which was built of the same vectors.

        Raises:
            ValueError: FAISS is not installed; the vectors are not finite, or longer than 1.
        """
        super().__init__(vectors)
        self._faiss: Any = extra("faiss", "--nearest=faiss")
        self.index: Any = index or self._built(clusters_from)
        self.clusters = getattr(self.index, "nlist", 0)
        if self.clusters:
            self.index.nprobe = max(1, self.clusters // _PROBED)

    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """What FAISS finds; more than asked for as long as the last one ties."""
        rows, wanted = len(self.vectors), count
        while True:
            wanted = min(2 * wanted, rows)
            scores, found = (each[0] for each in self.index.search(query[None], wanted))
            if wanted == rows or found[-1] < 0 or scores[-1] < scores[count - 1] - SLACK or self.clusters:
                return np.sort(found[found >= 0])

    def _built(self, clusters_from: int) -> Any:
        rows, dim = self.vectors.shape
        if rows < clusters_from:
            index = self._faiss.IndexFlatIP(dim)
        else:
            clusters = 1 << round(np.log2(4 * np.sqrt(rows)))
            index = self._faiss.index_factory(dim, f"IVF{clusters},SQ8", self._faiss.METRIC_INNER_PRODUCT)
            index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, _TRAINED_ON
            index.cp.niter = 5
        whole = np.ascontiguousarray(self.vectors, np.float32)
        index.train(whole)
        index.add(whole)
        return index


def kept_faiss(vectors: Float[np.ndarray, "rows dim"], name: str, path: Path) -> FaissVectors:
    """The clusters that lie in ``path`` if they are of the vectors that ``name`` tells; else made, and laid there.

    Raises:
        ValueError: FAISS is not installed; the vectors are not finite, or longer than 1.
    """
    if len(vectors) < WORTH_IT:
        return FaissVectors(vectors)
    faiss: Any = extra("faiss", "--nearest=faiss")
    about = {"vectors": name, "faiss": faiss.__version__}
    try:
        head, content = read_sealed(path, FORMAT)
        if head == about:
            return FaissVectors(vectors, index=faiss.deserialize_index(content))
    except UnusableFileError:
        pass  # none yet, or damaged: it is made of the vectors again
    made = FaissVectors(vectors)
    with suppress(OSError):  # a folder that cannot be written to: they are made each time
        write_sealed(path, FORMAT, about, [faiss.serialize_index(made.index)])
    return made
