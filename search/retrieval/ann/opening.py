"""The index of vectors that the option ``--nearest`` names."""

from pathlib import Path

import numpy as np

from data_prep.array_types import Float
from data_prep.errors import UserError
from search.retrieval.ann.exact import ExactVectors, VectorIndex
from search.retrieval.ann.faiss_index import WORTH_IT, clusters_path, installed, kept_faiss
from search.retrieval.ann.milvus import MilvusVectors, is_milvus


def vector_index(vectors: Float[np.ndarray, "rows dim"], name: str, path: Path, how: str) -> VectorIndex:
    """A searchable index of ``vectors``; FAISS's clusters are cached beside the file that holds them.

    Args:
        vectors: of length 1 or less, possibly memory-mapped.
        name: of the vectors: others have another one.
        path: the file that holds them.
        how: ``exact``, ``faiss``, or the file or URI of a Milvus; "": exact, or FAISS for large indexes if installed.

    Raises:
        UserError: ``how`` is something else, or its extra is not installed.
    """
    if how == "faiss" or (how == "" and len(vectors) >= WORTH_IT and installed()):
        return kept_faiss(vectors, name, clusters_path(path))
    if is_milvus(how):
        return MilvusVectors(vectors, how)
    if how not in ("", "exact"):
        raise UserError(
            f"--nearest takes exact, faiss, none, a file NAME.db or a URI http://, https:// or tcp://, not {how!r}"
        )
    return ExactVectors(vectors)
