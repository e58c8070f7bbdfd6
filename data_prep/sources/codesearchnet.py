"""Where CodeSearchNet can be fetched from: docs/data.md has the evidence of each place.

The archives' own address, ``s3.amazonaws.com/code-search-net``, has refused since April 2023. Zenodo and an early
revision of the data set on the Hugging Face Hub have the same archives; the Hub's present revision has the same rows as
Parquet files.
"""

from typing import Final

from data_prep.sources.download import Remote
from data_prep.sources.places import Place

_ZENODO: Final = "https://zenodo.org/records/7857872/files"
_HUB: Final = "https://huggingface.co/datasets/code-search-net/code_search_net/resolve"
_REVISION_WITH_ARCHIVES: Final = "fdc6a9e39575768c27eb8a2a5f702bf846eb4759"
_PARQUET: Final = {"pyarrow": "requirements-parquet.txt"}
_PARQUET_SPLITS: Final = ("train", "validation", "test")

JAVA_BYTES: Final = 1_060_569_153
JAVA_SHA256: Final = "05f9204b1808413fab30f0e69229e298f6de4ad468279d53a2aa5797e3a78c17"
"""Of the original java.zip, by the ``datasets`` library's loader (code_search_net/dataset_infos.json)."""

JAVA_ROWS: Final = {"train": 454_451, "valid": 15_328, "test": 26_909}
"""Rows of each split, from the same file."""


def places(mirror: str = "") -> list[Place]:
    """The places that have the Java part, in order; only ``mirror`` if it is given, an address with the same files."""
    if mirror:
        base = mirror.rstrip("/")
        return [
            Place(f"{base}/java.zip", {"java.zip": Remote(f"{base}/java.zip")}),
            Place(f"{base}/java/*.parquet", _parquet_files(base), _PARQUET),
        ]
    archived = f"{_HUB}/{_REVISION_WITH_ARCHIVES}/data/java.zip"
    return [
        Place("Zenodo", {"java.zip": Remote(f"{_ZENODO}/java.zip", JAVA_BYTES, JAVA_SHA256)}),
        Place("the Hugging Face Hub (java.zip)", {"java.zip": Remote(archived, JAVA_BYTES, JAVA_SHA256)}),
        Place("the Hugging Face Hub (Parquet)", _parquet_files(f"{_HUB}/main"), _PARQUET),
    ]


def _parquet_files(base: str) -> dict[str, Remote]:
    names = [f"java/{split}-00000-of-00001.parquet" for split in _PARQUET_SPLITS]
    return {name: Remote(f"{base}/{name}") for name in names}
