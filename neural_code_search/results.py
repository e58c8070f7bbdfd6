"""The saved results of the experiments as data."""

from evaluation.result_store import SavedRun
from experiments.recipes.results_folder import load_results

__all__ = ["SavedRun", "load_results"]
