"""The registry of data sets by name. A new one needs a file in ``data_prep/datasets`` and a line here.

Light to import: every command line is checked by it.
"""

import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from data_prep.config import DEFAULT_LANGUAGE
from data_prep.errors import UserError

if TYPE_CHECKING:
    from data_prep.config import DataConfig
    from data_prep.pipeline.stages import MadePairs

DATASETS: Final[dict[str, str]] = {
    "jdk": "data_prep.datasets.jdk:Jdk",
    "folder": "data_prep.datasets.java_sources:Folder",
    "project": "data_prep.datasets.project:Project",
    "csn": "data_prep.datasets.csn:Csn",
    "csn_filtered": "data_prep.datasets.csn_published:CsnFiltered",
    "csn_1000": "data_prep.datasets.csn_published:Csn1000",
    "csn_99": "data_prep.datasets.csn_published:Csn99",
    "csn_tabcs": "data_prep.datasets.tabcs:CsnTabcs",
    "jcg_tabcs": "data_prep.datasets.tabcs:JcgTabcs",
    "debian_sample": "data_prep.datasets.java_sources:DebianSample",
    "open_java": "data_prep.datasets.open_java:OpenJava",
    "deepcs_java": "data_prep.datasets.paper_releases:DeepcsJava",
    "tlcodesum": "data_prep.datasets.paper_releases:TlCodeSum",
    "r252": "data_prep.datasets.paper_releases:R252",
    "pairs": "data_prep.datasets.pairs:Pairs",
    "repositories": "data_prep.datasets.source_trees:Repositories",
    "seven_languages": "data_prep.datasets.source_trees:SevenLanguages",
    "installed": "data_prep.datasets.source_trees:Installed",
}
"""Name -> class, constructed with a DataConfig."""


@runtime_checkable
class DataSet(Protocol):
    """The interface of data sets."""

    cache_name: str
    """Name of the folder of its prepared pairs."""

    def inputs(self) -> list[Path]:
        """All files and folders that its pairs are made from, downloaded if possible."""
        ...

    def origin(self) -> str:
        """Name and version of the raw data; called after ``inputs``."""
        ...

    def make(self, progress: bool) -> "MadePairs":
        """Build its pairs, with a progress bar on the terminal if ``progress``."""
        ...


@runtime_checkable
class OfLanguages(Protocol):
    """The interface of data sets that have pairs of several languages."""

    languages: tuple[str, ...]
    """Those of its pairs."""


def data_set(name: str, config: "DataConfig") -> DataSet:
    """The data set ``name`` under ``config``.

    Raises:
        UserError: there is no such data set, or it is not available with this configuration.
    """
    if name not in DATASETS:
        raise UserError(f"there is no data set {name!r}; there are {', '.join(DATASETS)}")
    found: DataSet = pkgutil.resolve_name(DATASETS[name])(config)
    if config.language != DEFAULT_LANGUAGE and not isinstance(found, OfLanguages):
        raise UserError(f"{name} has Java only, not --data.language={config.language}")
    return found
