"""The example of the paper Scotch on the shipped light pair: what stands above decides what is loaded from a file.

The functions are real ones, of packages that this project needs.
"""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

from data_prep.languages.identifiers import query_words
from search.cursor import words_above
from search.index.build import refresh
from search.index.code_index import UNIT_KINDS
from search.index.vector_encoding import update_vectors
from search.opening import opened

FILES = {
    "fsspec": ("config.py", "implementations/cache_metadata.py"),
    "torch": (
        "_inductor/analysis/profile_analysis.py",
        "_inductor/aoti_eager.py",
        "_inductor/cache.py",
        "_inductor/fuzzer.py",
        "_inductor/fx_passes/profile_guided_estimation.py",
        "_inductor/package/package.py",
        "_inductor/runtime/proton_utils.py",
        "_inductor/standalone_compile.py",
        "cuda/_annotate_cuda_graph_trace.py",
        "cuda/_memory_viz.py",
        "distributed/_tools/memory_tracker.py",
        "distributed/checkpoint/filesystem.py",
        "distributed/flight_recorder/components/loader.py",
        "profiler/_cupti_monitor_trace.py",
        "profiler/_trace_validator.py",
    ),
}
"""Package -> files with functions that load by json or by pickle, among others that do neither."""


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """The index and the retriever over all functions of the files, and the rows of these."""
    folder = tmp_path_factory.mktemp("loading")
    for package, files in FILES.items():
        origin = Path(importlib.util.find_spec(package).origin).parent
        for name in files:
            (folder / "tree" / package / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(origin / name, folder / "tree" / package / name)
    refresh(folder / "tree", folder / "index", processes=0, tell=lambda *_: None)
    update_vectors("", folder / "index", lambda *_: None)
    index, retriever = opened(folder / "index", "exact")
    return index, retriever, np.flatnonzero(index.kinds == UNIT_KINDS.index("method"))


def first(searched, query, context):
    """The source of the function that is nearest to a query under a context."""
    index, retriever, rows = searched
    similarity = retriever.scores(query_words(query), rows, words_above(context, "python"))
    return index.split.text(int(rows[np.argmax(similarity)])).source


def test_there_are_functions_of_both_kinds_and_others(searched):
    index, _, rows = searched
    sources = [index.split.text(int(row)).source for row in rows]
    assert sum("json.load" in source for source in sources) >= 10
    assert sum("pickle.load" in source for source in sources) >= 8
    assert len(sources) > 300


@pytest.mark.parametrize(
    "query", ["load data from file", "load data from a file", "load an object from a file", "load from file"]
)
def test_one_question_under_two_contexts_has_two_first_answers(searched, query):
    assert "pickle.load" in first(searched, query, "import pickle\n")
    assert "json.load" in first(searched, query, "import json\n")
