"""The data sets by name: a new one costs a file in ``data_prep/datasets`` and a line here."""

import pkgutil
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from data_prep.config import DataConfig
from data_prep.pairs.made import MadePairs

DATASETS: Final[dict[str, str]] = {
    "jdk": "data_prep.datasets.jdk:Jdk",
    "folder": "data_prep.datasets.folder:Folder",
    "csn": "data_prep.datasets.csn:Csn",
    "csn_tabcs": "data_prep.datasets.tabcs:CsnTabcs",
    "jcg_tabcs": "data_prep.datasets.tabcs:JcgTabcs",
    "debian": "data_prep.datasets.debian:Debian",
    "debian_sample": "data_prep.datasets.debian:DebianSample",
    "open_java": "data_prep.datasets.open_java:OpenJava",
}
"""Name -> class, made with a DataConfig."""


@runtime_checkable
class DataSet(Protocol):
    """What each of them has."""

    cache_name: str
    """Name of the folder that its prepared pairs lie in."""

    def inputs(self) -> list[Path]:
        """Every file or folder that its pairs are made of, fetched where that can be done."""
        ...

    def origin(self) -> str:
        """Name and version of the raw data; asked after ``inputs``."""
        ...

    def make(self, progress: bool) -> MadePairs:
        """Its pairs, a bar on the terminal beside if there is to be ``progress``."""
        ...


def data_set(name: str, config: DataConfig) -> DataSet:
    """The data set ``name`` under ``config``.

    Raises:
        ValueError: there is no such data set, or it cannot be had with this configuration.
    """
    if name not in DATASETS:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(DATASETS)}")
    found: DataSet = pkgutil.resolve_name(DATASETS[name])(config)
    return found
