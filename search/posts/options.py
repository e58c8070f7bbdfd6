"""Options of ``posts index`` and ``posts search``. Light to import, for the help."""

from dataclasses import dataclass

from data_prep.bounds import check_bounds, real, whole
from data_prep.posts.config import PostsConfig


@dataclass(frozen=True, slots=True)
class PostsIndexOptions(PostsConfig):
    """Options of ``posts index``: those of reading the dump, and the index's own."""

    out: str = "data/posts-index"
    """Folder of the index; it is replaced."""
    model: str = ""
    """Folder of a stage of training, such as runs/posts/stages/round-2-...; empty: BM25 alone."""
    weight: float = 0.5
    """Weight of the model in its fusion with BM25, such as the one that its test printed."""
    json: bool = False
    """Print one JSON object."""

    def __post_init__(self) -> None:
        PostsConfig.__post_init__(self)
        check_bounds(self, {"weight": real(0, 1)})


@dataclass(frozen=True, slots=True)
class PostsSearchOptions:
    """Options of ``posts search``."""

    index: str = "data/posts-index"
    """Folder of the index."""
    snippet: str = ""
    """File with code, output or both; empty: standard input is read."""
    top: int = 5
    """Number of posts."""
    nearest: str = "exact"
    """How vectors are searched: exact, faiss, a file NAME.db or the URI of a Milvus."""
    json: bool = False
    """Print one JSON object."""

    def __post_init__(self) -> None:
        check_bounds(self, {"top": whole(1, 1000)})
