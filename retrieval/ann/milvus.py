"""Nearest rows by Milvus, an extra: a file on this machine (milvus-lite), or a cluster named by its URI.

The vectors are sent once, to a collection that is named by their content; who asks for the same vectors later finds it
there. A collection that was left unfinished is made again. Older collections stay: Milvus can drop them.

A cluster's URI is the only thing in the search that opens a connection to another machine. A file is served by a thread
of this process, on a free port of 127.0.0.1 without a password, until :meth:`MilvusVectors.close`; one process at a
time can open it.
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

from data_prep.files.named_paths import named_path
from retrieval.ann.exact import SLACK, Settled, extra
from retrieval.ann.faiss_index import WORTH_IT

REMOTE: Final = re.compile(r"(https?|tcp)://", re.IGNORECASE)
"""How the URI of a cluster begins."""
_SENT: Final = 2000
"""Rows that are sent at a time."""
_MOST: Final = 16_384
"""Rows that Milvus finds at most."""
_SECONDS: Final = 30.0
"""Until an answer has come."""
_METRIC: Final = {"metric_type": "IP"}
_TALKATIVE: Final = ("grpc._server", "milvus_lite")
"""Loggers that print calls which milvus-lite lacks, and whole tracebacks of what is raised besides."""
_opened: Counter[str] = Counter()
"""Files that are open in this process, and how often."""


def is_milvus(where: str) -> bool:
    """Whether ``where`` can name a Milvus: a URI, or a file that ends in .db."""
    return bool(REMOTE.match(where)) or where.endswith(".db")


class MilvusVectors(Settled):
    """A collection of Milvus that holds the rows."""

    def __init__(self, vectors: Float[np.ndarray, "rows dim"], uri: str, *, approximate_from: int = WORTH_IT) -> None:
        """Find or make the collection; from ``approximate_from`` rows on, Milvus chooses the kind of its index.

        Raises:
            ValueError: the extra is not installed, or ``uri`` cannot be used; the vectors are not finite, or longer
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
                raise ValueError(f"there is no folder {Path(self._local).parent} for the file that --nearest names")
            if os.path.lexists(self._local) and not (Path(self._local).is_file() or Path(self._local).is_dir()):
                raise ValueError(f"--nearest takes a file of milvus-lite, and {self._local} is none")
        with self._told():
            self._client = self._milvus.MilvusClient(self._uri, timeout=_SECONDS)
        _opened[self._local] += 1
        self._kind = "FLAT" if len(vectors) < approximate_from else "AUTOINDEX"
        digest = hashlib.sha256(f"{vectors.dtype} {vectors.shape}".encode())
        digest.update(np.ascontiguousarray(vectors).data if vectors.size else b"")
        self.collection = f"galm_{digest.hexdigest()[:24]}_{self._kind.lower()}"
        with self._told():
            if len(vectors) and not self._complete():
                self._fill()

    def candidates(self, query: Float32[np.ndarray, " dim"], count: int) -> Int64[np.ndarray, " some"]:
        """What Milvus finds; more than asked for as long as the last one ties."""
        most, wanted = min(len(self.vectors), _MOST), count
        while True:
            wanted = min(2 * wanted, most)
            settings = {**_METRIC, "params": {"ef": max(2 * wanted, 64)}} if self._kind == "AUTOINDEX" else _METRIC
            with self._told():
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
        """Let go of the connection and, with the last user of a file, of its port."""
        super().close()
        self._client.close()
        _opened[self._local] -= 1
        if self._local and not _opened[self._local]:
            extra("milvus_lite.server_manager", "--nearest=FILE.db").server_manager_instance.release_server(self._local)

    def _complete(self) -> bool:
        """Whether the collection is there, with all rows and an index, which comes last."""
        client = self._client
        if not client.has_collection(self.collection, timeout=_SECONDS):
            return False
        if client.list_indexes(self.collection):
            client.load_collection(self.collection, timeout=_SECONDS)
            (told,) = client.query(self.collection, filter="", output_fields=["count(*)"], timeout=_SECONDS)
            if told["count(*)"] == len(self.vectors):
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
        client.flush(self.collection)  # before the index, which otherwise is not of these rows
        index = client.prepare_index_params()
        index.add_index("vector", index_type=self._kind, **_METRIC)
        client.create_index(self.collection, index)
        client.load_collection(self.collection)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Troubles of Milvus as one line, without a password that the URI may hold."""
        try:
            yield
        except (self._milvus.MilvusException, OSError) as error:
            where = re.sub(r"//[^/@]*@", "//", self._uri)
            hint = " (does another process have it open, or is it no file of milvus-lite?)" if self._local else ""
            raise ValueError(f"Milvus at {where} cannot be used: {getattr(error, 'message', error)}{hint}") from error
