"""The data sets by name: a new one costs a file in ``data_prep/datasets`` and a line here."""

import pkgutil
from typing import Any, Final

from data_prep.config import DataConfig

DATASETS: Final[dict[str, str]] = {
    "jdk": "data_prep.datasets.jdk:Jdk",
    "folder": "data_prep.datasets.folder:Folder",
    "csn": "data_prep.datasets.csn:Csn",
    "csn_tabcs": "data_prep.datasets.published:CsnTabcs",
    "jcg_tabcs": "data_prep.datasets.published:JcgTabcs",
    "debian": "data_prep.datasets.debian:Debian",
    "debian_sample": "data_prep.datasets.debian:DebianSample",
    "open_java": "data_prep.datasets.open_java:OpenJava",
}
"""Name -> class, made with a DataConfig."""


def data_set(name: str, config: DataConfig) -> Any:
    """The data set ``name`` under ``config``.

    Raises:
        ValueError: there is no such data set, or it cannot be had with this configuration.
    """
    if name not in DATASETS:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(DATASETS)}")
    return pkgutil.resolve_name(DATASETS[name])(config)
