"""Any directory, zip, jar or tar of Java sources, at ``--data.path=``."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.pipeline.java_pairs import pairs_of_java
from data_prep.pipeline.stages import MadePairs
from data_prep.records import SourceFile
from data_prep.sources.archives import read_java_files


class Folder:
    """Any directory, zip, jar or tar of Java under ``--data.path=``; each path has a separate prepared folder."""

    def __init__(self, config: DataConfig) -> None:
        """Resolve ``config.path``.

        Raises:
            UserError: it is empty or cannot be resolved.
        """
        self._config = config
        if not config.path:
            raise UserError("data set folder needs --data.path=, a directory, zip, jar or tar of Java sources")
        try:
            self._path = named_path(config.path).resolve()
        except RuntimeError as error:  # pathlib's error for a loop of links
            raise UserError(
                f"--data.path={config.path} is a loop of links: expected a directory, zip, jar or tar of Java sources"
            ) from error
        slug = re.sub(r"[^a-z0-9]+", "-", self._path.name.lower()).strip("-")[:40] or "root"
        self.cache_name = f"folder-{slug}-{hashlib.sha256(bytes(self._path)).hexdigest()[:8]}"
        self.left_out: list[tuple[str, str]] = []  # path, why it could not be read

    def inputs(self) -> list[Path]:
        """The directory or archive.

        Raises:
            UserError: the path does not exist, or is a pipe or device.
        """
        if not self._path.exists():
            raise UserError(f"--data.path={self._path} does not exist: expected a directory, zip, jar or tar")
        if not (self._path.is_dir() or self._path.is_file()):
            raise UserError(f"--data.path={self._path} is no file: expected a directory, zip, jar or tar")
        return [self._path]

    def origin(self) -> str:
        """The name of the directory or archive."""
        return self._path.name or "root"

    def java_files(self) -> Iterator[SourceFile]:
        """Every ``*.java`` file, sorted by path."""
        self.left_out.clear()
        return read_java_files(self._path, self.origin(), lambda path, reason: self.left_out.append((path, reason)))

    def make(self, progress: bool) -> MadePairs:
        """Build the pairs."""
        return pairs_of_java(self, self._config, progress=progress)
