"""Neural code search from Python: score pairs, rank a pool, index a folder and search it (docs/python-api.md).

Names are imported on first use, so that importing this package loads no model library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from neural_code_search.folder_index import CodeIndex, SearchHit, index_folder, open_index
    from neural_code_search.scoring import CodeModel, CodePool, RankedCodes, load_model

__all__ = [
    "CodeIndex",
    "CodeModel",
    "CodePool",
    "RankedCodes",
    "SearchHit",
    "index_folder",
    "load_model",
    "open_index",
]

_INDEX: Final = ("CodeIndex", "SearchHit", "index_folder", "open_index")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{'folder_index' if name in _INDEX else 'scoring'}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return __all__
