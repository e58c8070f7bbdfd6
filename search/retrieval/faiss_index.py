"""Nearest-neighbour search by FAISS (optional): exhaustive for few rows, else over the nearest clusters (IVF).

IVF partitions the rows by k-means into about 4 times the square root of the number of rows, and probes a sixteenth of
the clusters; it stores vectors with 8 bits per dimension. Its candidates are rescored with the stored vectors, so only
the set of rows found is approximate.

Three arrays that are expensive to compute are saved beside the vectors: the cluster centres, the cluster of each row,
and the range of each dimension for the 8-bit quantiser. FAISS' own index format is not used, since a forged file
could make FAISS return rows that do not exist, or access invalid memory.
"""

import importlib.util
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.store.arrays import Float, Float32, Int32, Int64, UInt8, read_sealed, write_sealed
from search.retrieval.exact import SLACK, VectorIndex, extra

WORTH_IT: Final = 250_000
"""Minimum number of rows for clusters: below, scanning every row takes less time than the model that reranks."""
FORMAT: Final = "galm vector clusters 2"
_PROBED: Final = 16
"""One of this many clusters is probed."""
_TRAINED_ON: Final = 64
"""Rows per cluster that k-means is trained on."""


def installed() -> bool:
    """Whether FAISS is installed."""
    return importlib.util.find_spec("faiss") is not None


class FaissVectors(VectorIndex):
    """A FAISS index over the rows."""

    def __init__(
        self, vectors: Float[np.ndarray, "rows dim"], *, clusters_from: int = WORTH_IT, index: Any = None
    ) -> None:
        """Build the index, or use ``index``, which was built from the same vectors.

        Raises:
            UserError: FAISS is not installed; the vectors are not finite, or longer than 1.
        """
        super().__init__(vectors)
        self._faiss: Any = extra("faiss", "--nearest=faiss")
        self.index: Any = index or self._built(clusters_from)
        self.clusters = getattr(self.index, "nlist", 0)
        if self.clusters:
            self.index.nprobe = max(1, self.clusters // _PROBED)

    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """The rows that FAISS finds; more than ``count`` while the last one ties."""
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


@dataclass(frozen=True, eq=False, slots=True)
class Clusters:
    """The result of k-means and of training the 8-bit quantiser."""

    centres: Float32[np.ndarray, "clusters dim"]
    ranges: Float32[np.ndarray, " numbers"]  # minimum of each dimension, then the width of its range
    places: Int32[np.ndarray, " rows"]  # cluster of each row

    @classmethod
    def of(cls, index: Any, rows: int) -> "Clusters":
        """The clusters of the FAISS index ``index`` over ``rows`` rows."""
        faiss, places = extra("faiss", "--nearest=faiss"), np.empty(rows, np.int32)
        for cluster in range(index.nlist):
            if size := index.invlists.list_size(cluster):
                places[faiss.rev_swig_ptr(index.invlists.get_ids(cluster), size)] = cluster
        centres = index.quantizer.reconstruct_n(0, index.nlist)
        return cls(centres, faiss.vector_to_array(index.sq.trained), places)

    @classmethod
    def read(cls, content: UInt8[np.ndarray, " bytes"], rows: int, dim: int) -> "Clusters":
        """Parse the clusters of ``rows`` rows with ``dim`` dimensions.

        Raises:
            UserError: ``content`` has another size, or is something else.
        """
        size = np.dtype(np.float32).itemsize
        clusters, rest = divmod(len(content) - size * (2 * dim + rows), size * dim)
        if rest or clusters < 1:
            raise UserError(f"{len(content):,} bytes are not the clusters of {rows:,} rows of {dim}")
        numbers = content.view(np.float32)
        centres, ranges = numbers[: clusters * dim].reshape(clusters, dim), numbers[clusters * dim :][: 2 * dim]
        places = content[size * (clusters + 2) * dim :].view(np.int32)
        if not (
            np.isfinite(centres).all() and np.isfinite(ranges).all() and 0 <= places.min() <= places.max() < clusters
        ):
            raise UserError(f"expected finite numbers, and each row in one of {clusters:,} clusters")
        return cls(centres, ranges, places)

    def index(self, vectors: Float[np.ndarray, "rows dim"]) -> Any:
        """Rebuild the FAISS index over the same ``vectors``."""
        faiss: Any = extra("faiss", "--nearest=faiss")
        (clusters, dim), metric = self.centres.shape, faiss.METRIC_INNER_PRODUCT
        quantizer = faiss.IndexFlatIP(dim)
        quantizer.add(np.ascontiguousarray(self.centres))
        index = faiss.IndexIVFScalarQuantizer(quantizer, dim, clusters, faiss.ScalarQuantizer.QT_8bit, metric)
        faiss.copy_array_to_vector(np.ascontiguousarray(self.ranges), index.sq.trained)
        index.is_trained = True
        whole, places = np.ascontiguousarray(vectors, np.float32), self.places.astype(np.int64)
        index.add_core(len(whole), faiss.swig_ptr(whole), None, faiss.swig_ptr(places))
        return index


def clusters_path(vectors: Path) -> Path:
    """Path of the clusters of the vectors in a file."""
    return vectors.with_name(f"{vectors.name}.faiss")


def are_kept(rows: int, dim: int, name: str, path: Path) -> bool:
    """Whether ``path`` contains valid clusters of the vectors identified by ``name``, or none are needed."""
    return rows < WORTH_IT or not installed() or _read((rows, dim), name, path) is not None


def kept_faiss(vectors: Float[np.ndarray, "rows dim"], name: str, path: Path) -> FaissVectors:
    """Load the clusters from ``path`` if they belong to the vectors identified by ``name``; else build and save them.

    Raises:
        UserError: FAISS is not installed; the vectors are not finite, or longer than 1.
    """
    if len(vectors) < WORTH_IT:
        return FaissVectors(vectors)
    extra("faiss", "--nearest=faiss")
    known = _read(vectors.shape, name, path)
    if known is not None:
        return FaissVectors(vectors, index=known.index(vectors))
    made = FaissVectors(vectors)
    found = Clusters.of(made.index, len(vectors))
    with suppress(OSError):  # a read-only folder: they are built each time
        write_sealed(path, FORMAT, _about(name), [found.centres, found.ranges, found.places])
    return made


def _read(shape: tuple[int, int], name: str, path: Path) -> Clusters | None:
    """The clusters in ``path``; None if there are none, or they belong to other vectors or are damaged."""
    try:
        head, content = read_sealed(path, FORMAT)
        return Clusters.read(content, *shape) if head == _about(name) else None
    except UserError:
        return None


def _about(name: str) -> dict[str, str]:
    return {"vectors": name, "faiss": extra("faiss", "--nearest=faiss").__version__}
