"""Nearest-neighbour search by Milvus (optional): a local file (milvus-lite), or a cluster given by its URI.

The vectors are uploaded once, to a collection named by a hash of their content, and reused for the same vectors. An
incomplete collection is built again. Old collections are not deleted; use Milvus to drop them.

A cluster's URI is the only thing in the search that opens a connection to another machine. A file is served by a thread
of this process, on a free port of 127.0.0.1 without a password, until :meth:`MilvusVectors.close`; only one process at
a time can open it.
"""

import hashlib
import logging
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from jaxtyping import Float, Float32, Int64

from data_prep.errors import UserError
from data_prep.files.access import OWN, named_path
from search.retrieval.exact import SLACK, VectorIndex, extra
from search.retrieval.faiss_index import WORTH_IT

REMOTE: Final = re.compile(r"(https?|tcp)://", re.IGNORECASE)
"""Prefix of a cluster's URI."""
_SENT: Final = 2000
"""Rows uploaded at a time."""
_MOST: Final = 16_384
"""Most rows that Milvus returns."""
_SECONDS: Final = 30.0
"""Timeout of a request."""
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
