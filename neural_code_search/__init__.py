"""Neural code search from Python: score pairs, rank a pool, search a folder, read saved results (docs/python-api.md).

Names are imported on first use, so that importing this package loads no model library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from neural_code_search.folder_index import CodeIndex, SearchHit, index_folder, open_index
    from neural_code_search.results import SavedRun, load_results
    from neural_code_search.scoring import CodeModel, CodePool, RankedCodes, load_model

__all__ = [
    "CodeIndex",
    "CodeModel",
    "CodePool",
    "RankedCodes",
    "SavedRun",
    "SearchHit",
    "index_folder",
    "load_model",
    "load_results",
    "open_index",
]

_MODULES: Final = {
    **dict.fromkeys(("CodeIndex", "SearchHit", "index_folder", "open_index"), "folder_index"),
    **dict.fromkeys(("SavedRun", "load_results"), "results"),
}
"""Name -> its module, if it is not scoring."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'scoring')}"), name)


def __dir__() -> list[str]:
    return __all__
