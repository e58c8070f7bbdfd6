"""Making and updating the index of a folder and the vectors beside it, by one process at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from data_prep.files.folder_lock import sole_holder
from search.index.vector_file import up_to_date


@contextmanager
def sole_maker(index: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other process makes the file ``index``: else the vectors could be of the other index's rows."""
    lock, waiting = index.with_name(f".{index.name}.lock"), f"waiting for another process that makes {index}"
    with sole_holder(lock, lambda: say(waiting), private=True):
        yield


def update_vectors(run: str, index: Path, tell: Callable[[str, str], None]) -> str:
    """Make or update the vectors beside the file ``index``; returns what was done, "" for nothing.

    Args:
        run: folder of the bi-encoder; "": the shipped one.
        index: the file.
        tell: called with a path and what is wrong with it.

    Raises:
        ValueError: the model or the index cannot be used.
        OSError: the vectors cannot be written; the older ones are left unchanged.
    """
    if up_to_date(index, run):
        return ""
    from search.index.dense_retriever import lay_clusters
    from search.index.vector_encoding import refresh_vectors, row_encoder

    done = refresh_vectors(row_encoder(Path(run) if run else None), index, tell)
    lay_clusters(index)
    return f"read {done.read:,} of {done.rows:,} rows"
