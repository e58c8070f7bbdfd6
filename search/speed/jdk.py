"""Sources of the JDK, and an index of them, for the measurements."""

import os
from collections.abc import Callable
from pathlib import Path

from data_prep.config import DataConfig
from data_prep.datasets.jdk import Jdk
from data_prep.records import SourceFile
from evaluation.speed import SpeedOptions
from experiments.recipes.config import REPOSITORY
from search.index.build import refresh
from search.index.encoders import row_encoder
from search.index.vector_encoding import refresh_vectors


def write_sources(options: SpeedOptions, folder: Path, is_wanted: Callable[[SourceFile], bool]) -> str:
    """Write the files that are wanted to ``folder``; the release's name."""
    jdk = Jdk(DataConfig(root=str(REPOSITORY / options.root), path=options.path))
    for file in filter(is_wanted, jdk.java_files()):
        place = folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.data)
    return jdk.origin()


def of_java_base(file: SourceFile) -> bool:
    """Whether a file is of the module java.base."""
    return file.path.split("/")[0] == "java.base"


def update_index(sources: Path, path: Path) -> None:
    """Make or update the index of ``sources`` in the file ``path``, without vectors."""
    refresh(sources, path, processes=os.cpu_count() or 1, tell=lambda *_: None)


def update_vectors(path: Path) -> None:
    """Make or update the vectors of the index in the file ``path``."""
    refresh_vectors(row_encoder(), path, lambda *_: None)
