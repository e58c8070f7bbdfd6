"""Nearest-neighbour search by libraries (optional): FAISS, and Milvus as a local file (milvus-lite) or a cluster's URI.

FAISS is exhaustive for few rows. Else it partitions them by k-means into about 4 times the square root of their number
(IVF), probes a sixteenth of these, and stores vectors with 8 bits per dimension; its candidates are rescored with the
stored vectors, so only the set of rows is approximate. Three arrays that are expensive to compute are saved beside the
vectors; FAISS' own format is not, since a forged file could make it access invalid memory.

To Milvus the vectors are uploaded once, to a collection named by a hash of their content; an incomplete one is built
again, and old ones are not deleted. A cluster's URI is the only thing in the search that opens a connection to another
machine. A file is served by a thread of this process, on a free port of 127.0.0.1 without a password, until
:meth:`MilvusVectors.close`; only one process at a time can open it.
"""

import hashlib
import importlib.util
import logging
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_prep.errors import UserError
from data_prep.files.access import OWN, named_path
from data_prep.store.arrays import Float, Float32, Int32, Int64, UInt8, read_sealed, write_sealed
from search.retrieval.exact import SLACK, WORTH_IT, VectorIndex, extra

FORMAT: Final = "galm vector clusters 2"
_PROBED: Final = 16  # one of this many clusters is probed
_TRAINED_ON: Final = 64  # rows per cluster that k-means is trained on


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


REMOTE: Final = re.compile(r"(https?|tcp)://", re.IGNORECASE)  # prefix of a cluster's URI
_SENT: Final = 2000  # rows uploaded at a time
_MOST: Final = 16_384  # most rows that Milvus returns
_SECONDS: Final = 30.0  # timeout of a request
_METRIC: Final = {"metric_type": "IP"}
_TALKATIVE: Final = ("grpc._server", "milvus_lite")
"""Loggers that print calls unsupported by milvus-lite, and full tracebacks of errors that are also raised."""
_opened: Counter[str] = Counter()
"""Number of users of each file open in this process."""


def is_milvus(where: str) -> bool:
    """Whether ``where`` refers to Milvus: a URI, or a file that ends in .db."""
    return bool(REMOTE.match(where)) or where.endswith(".db")


class MilvusVectors(VectorIndex):
    """Search over a Milvus collection of the rows."""

    def __init__(self, vectors: Float[np.ndarray, "rows dim"], uri: str, *, approximate_from: int = WORTH_IT) -> None:
        """Open or create the collection; from ``approximate_from`` rows, Milvus chooses the type of its index.

        Raises:
            UserError: Milvus is not installed, or ``uri`` cannot be used; the vectors are not finite, or longer
                than 1.
        """
        super().__init__(vectors)
        self._uri = uri if REMOTE.match(uri) else str(named_path(uri))
        self._milvus: Any = extra("pymilvus", "--nearest=URI")
        self._local = "" if REMOTE.match(uri) else self._uri
        if self._local:
            extra("milvus_lite.server_manager", "--nearest=FILE.db")
            for name in _TALKATIVE:
                logging.getLogger(name).setLevel(logging.CRITICAL)
            if not Path(self._local).parent.is_dir():
                raise UserError(f"there is no folder {Path(self._local).parent} for the file that --nearest names")
            if os.path.lexists(self._local) and not (Path(self._local).is_file() or Path(self._local).is_dir()):
                raise UserError(f"--nearest takes a file of milvus-lite, and {self._local} is not one")
            if not os.path.lexists(self._local):
                Path(self._local).mkdir(OWN)  # its "file" is a folder
        with self._one_line_errors():
            self._client = self._milvus.MilvusClient(self._uri, timeout=_SECONDS)
        _opened[self._local] += 1
        self._kind = "FLAT" if len(vectors) < approximate_from else "AUTOINDEX"
        digest = hashlib.sha256(f"{vectors.dtype} {vectors.shape}".encode())
        digest.update(np.ascontiguousarray(vectors).data if vectors.size else b"")
        self.collection = f"galm_{digest.hexdigest()[:24]}_{self._kind.lower()}"
        with self._one_line_errors():
            if len(vectors) and not self._complete():
                self._fill()

    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """The rows that Milvus finds; more than ``count`` while the last one ties."""
        most, wanted = min(len(self.vectors), _MOST), count
        while True:
            wanted = min(2 * wanted, most)
            settings = {**_METRIC, "params": {"ef": max(2 * wanted, 64)}} if self._kind == "AUTOINDEX" else _METRIC
            with self._one_line_errors():
                (hits,) = self._client.search(
                    self.collection,
                    [query],
                    limit=wanted,
                    anns_field="vector",
                    output_fields=["row"],
                    search_params=settings,
                    timeout=_SECONDS,
                )
            scores = [hit["distance"] for hit in hits]
            if len(hits) < wanted or wanted == most or scores[-1] < scores[min(count, wanted) - 1] - SLACK:
                return np.sort(np.array([hit["row"] for hit in hits], np.int64))

    def close(self) -> None:
        """Close the connection and, with the last user of a file, its port."""
        super().close()
        self._client.close()
        _opened[self._local] -= 1
        if self._local and not _opened[self._local]:
            extra("milvus_lite.server_manager", "--nearest=FILE.db").server_manager_instance.release_server(self._local)

    def _complete(self) -> bool:
        """Whether the collection exists with all rows and an index, which is created last."""
        client = self._client
        if not client.has_collection(self.collection, timeout=_SECONDS):
            return False
        if client.list_indexes(self.collection):
            client.load_collection(self.collection, timeout=_SECONDS)
            (row,) = client.query(self.collection, filter="", output_fields=["count(*)"], timeout=_SECONDS)
            if row["count(*)"] == len(self.vectors):
                return True
        client.drop_collection(self.collection, timeout=_SECONDS)
        return False

    def _fill(self) -> None:
        kind, client = self._milvus.DataType, self._client
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("row", kind.INT64, is_primary=True)
        schema.add_field("vector", kind.FLOAT_VECTOR, dim=self.vectors.shape[1])
        client.create_collection(self.collection, schema=schema, timeout=_SECONDS)
        for start in range(0, len(self.vectors), _SENT):
            block = self.vectors[start : start + _SENT].astype(np.float32)
            rows = [{"row": start + number, "vector": vector} for number, vector in enumerate(block)]
            client.insert(self.collection, rows, timeout=_SECONDS)
        client.flush(self.collection)  # before the index is created, which otherwise lacks these rows
        index = client.prepare_index_params()
        index.add_index("vector", index_type=self._kind, **_METRIC)
        client.create_index(self.collection, index)
        client.load_collection(self.collection)

    @contextmanager
    def _one_line_errors(self) -> Iterator[None]:
        """Raise errors of Milvus as one line, without a password that the URI may contain."""
        try:
            yield
        except (self._milvus.MilvusException, OSError) as error:
            where = re.sub(r"//[^/@]*@", "//", self._uri)
            hint = " (does another process have it open, or is it not a file of milvus-lite?)" if self._local else ""
            raise UserError(f"Milvus at {where} cannot be used: {getattr(error, 'message', error)}{hint}") from error
