"""The released pairs found beside the repository."""

import gzip
import json
from functools import lru_cache
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[4] / "shared" / "data"


@lru_cache(maxsize=3)
def rows(name: str) -> list[dict[str, str]]:
    """The rows of ``name``, "statcodesearch/test_70" or "cosqa/gencsn_mrr_test"."""
    path = SHARED / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"needs the released pairs {name}.jsonl.gz beside the repository, in ../shared/data")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
