"""The published test methods of the Java-GitHub data set, found beside the repository, and their released ids."""

from functools import lru_cache
from pathlib import Path

import pytest

from data_prep.languages.java.javalang_trees import PublishedMethod, parse_published
from data_prep.sources.tabcs_release import load_plain

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "published" / "jcg"
ROWS = 10_000


def _file(name: str) -> Path:
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"needs the published {name} beside the repository, in ../shared/data/published/jcg")
    return path


@lru_cache(maxsize=1)
def lines() -> list[str]:
    """The raw methods."""
    found = _file("test_source.txt").read_text(encoding="utf-8").splitlines()
    assert len(found) == ROWS
    return found


@lru_cache(maxsize=1)
def parsed() -> list[PublishedMethod]:
    """The raw methods, parsed."""
    return [parse_published(line) for line in lines()]


@lru_cache(maxsize=4)
def released(field: str) -> tuple[list[list[int]], dict[str, int]]:
    """Ids of each test method, 0 for a word that is not in the vocabulary; and the vocabulary."""
    rows = load_plain(_file(f"test.{field}.pkl"))
    assert len(rows) == ROWS
    return rows, load_plain(_file(f"vocab.{field}.pkl"))
