"""Options of the commands ``index``, ``search``, ``serve`` and ``quality``. Light to import, for the help."""

from dataclasses import dataclass
from typing import Literal

from data_prep.bounds import COUNT, SEED, WORKERS, check_bounds, shown, whole
from search.engine.settings import RankingSettings


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of ``index``."""

    out: str = ""
    """File of the index; empty: one in the user's cache folder, by the folder that it is of."""
    processes: int = 0
    """Processes that read files; 0: one per processor."""
    vectors: str = ""
    """Folder of a run of a bi-encoder, such as unif, that makes a vector of every row beside the index; empty: the
    model that made those that are there, or the one that comes with this program; none: none."""

    def __post_init__(self) -> None:
        check_bounds(self, {"processes": WORKERS})


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options of ``search``."""

    index: str = ""
    """File of the index; empty: that of this folder or of the nearest one above it, in the user's cache folder."""
    model: str = ""
    """Folder of a run or of a packed model; empty: the one that comes with this program; none: BM25 alone."""
    top: int = 10
    """Hits."""
    path: str = ""
    """Pattern that the paths of hits match, such as src/*; empty: all."""
    by: str = "method"
    """method: every method or type; file: the best one of each file."""
    json: bool = False
    """Print one JSON object."""
    explain: bool = False
    """Show what each query word aligned with, and which stage put a hit where it stands."""
    nearest: str = ""
    """How the vectors beside an index are asked: exact, faiss, a file NAME.db or the URI of a Milvus; none: not;
    empty: exact or, from 250,000 rows on and where it is installed, faiss."""

    def __post_init__(self) -> None:
        check_bounds(self, {"top": whole(1, 100_000)})
        if self.by not in ("method", "file"):
            raise ValueError(f"--by takes method or file, not {self.by!r}")


@dataclass(frozen=True, slots=True)
class QualityOptions(RankingSettings):
    """Options of ``quality``: those of the ranking, and what is asked of what."""

    model: str = ""
    """Folder of a run or of a packed model; empty: the one that comes with this program."""
    against: str = ""
    """Another one beside it; also a sentence-transformers model (search/engine/sentence_reranker.py)."""
    queries: int = 1000
    """Queries at most, drawn at random; 0: all that there are."""
    seed: int = 0
    """Seed of the draw."""
    vectors: str = ""
    """Folder of a run of a bi-encoder whose vectors widen the shortlist; empty: the one that comes with this program;
    none: none."""
    ask: Literal["comment", "return", "member", "name"] = "comment"
    """Queries: first sentences of comments, or (member) the type's name and that, comments hidden; what @return says,
    or names, comments shown."""

    def __post_init__(self) -> None:
        RankingSettings.__post_init__(self)
        check_bounds(self, {"queries": COUNT, "seed": SEED})
        if self.ask not in ("comment", "return", "member", "name"):
            raise ValueError(f"--ask takes comment, return, member or name, not {self.ask!r}")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options of ``serve``."""

    port: int = 8765
    """Port on 127.0.0.1; 0: any free one."""
    index: str = ""
    """File of the index; empty: that of this folder or of the nearest one above it, in the user's cache folder."""
    model: str = ""
    """Folder of a run or of a packed model; empty: the one that comes with this program; none: BM25 alone."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ValueError(f"--port takes a whole number from 0 to 65535, not {shown(self.port)}")
