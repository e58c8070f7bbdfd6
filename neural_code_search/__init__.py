"""Neural code search from Python: score pairs, rank a pool, search a folder, read saved results (docs/python-api.md).

Names are imported on first use, so that importing this package loads no model library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from evaluation.result_store import SavedRun
    from experiments.recipes.results_folder import load_results
    from neural_code_search.folder_index import CodeIndex, SearchHit, index_folder, open_index
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
    **dict.fromkeys(("CodeIndex", "SearchHit", "index_folder", "open_index"), "neural_code_search.folder_index"),
    "SavedRun": "evaluation.result_store",
    "load_results": "experiments.recipes.results_folder",
}
"""Name -> its module, if it is not scoring."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_MODULES.get(name, "neural_code_search.scoring")), name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{name} needs {error.name}: bash run.sh install train", name=error.name, path=error.path
        ) from error


def __dir__() -> list[str]:
    return __all__
