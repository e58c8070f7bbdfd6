"""What the data sets of several languages have in common: source trees -> shards -> pairs of ``--data.language``."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from data_prep.config import DataConfig
from data_prep.corpus.pairs import languages_of, pairs_of_corpus
from data_prep.corpus.shard_folder import MadeShards, ShardFolder, extraction_program
from data_prep.corpus.statistics import statistics
from data_prep.corpus.worker import TreeTask
from data_prep.errors import UserError
from data_prep.pairs.made import MadePairs

_logger = logging.getLogger(__name__)


class Corpus(ABC):
    """A data set of source trees in several languages."""

    name: ClassVar[str]

    def __init__(self, config: DataConfig) -> None:
        """Check the language.

        Raises:
            UserError: there is no such language, or the profile is Java's.
        """
        if config.has_statements:
            raise UserError(
                f"{self.name} has no statement trees: leave out --data.profile, and for fcarcs give "
                "--data.statements=false --model.structure=ast"
            )
        self.languages = languages_of(config.language)
        self.cache_name = f"{self.name}-{config.language}{'-random' * (config.split == 'random')}"
        self._config = config
        self._made: MadeShards | None = None

    @abstractmethod
    def tasks(self, program: str) -> Sequence[TreeTask]:
        """The source trees."""

    @abstractmethod
    def listed(self) -> Path:
        """The list of the source trees."""

    @property
    def shard_folder(self) -> Path:
        """Where the shards are."""
        return Path(self._config.root) / "raw" / self.name / "shards"

    def inputs(self) -> list[Path]:
        """The list and the shards, extracted if they are missing.

        Raises:
            UserError: none can be had.
        """
        return [self.listed(), *self._shards().paths]

    def origin(self) -> str:
        """The name, and the number of source trees."""
        return f"{self.name} of {len(self._shards().paths)} source trees"

    def make(self, progress: bool) -> MadePairs:
        """Build the pairs, with statistics in the manifest."""
        found = self._shards()
        made = pairs_of_corpus(found.paths, self._config, progress=progress)
        about: dict[str, Any] = {"source_trees_left_out": found.left_out, "statistics": statistics(found.paths)}
        return replace(made, manifest={**made.manifest, **about})

    def _shards(self) -> MadeShards:
        if self._made is None:
            folder = ShardFolder(self.shard_folder, _logger.warning)
            self._made = folder.made(
                self.tasks(extraction_program()), processes=self._config.processes, cluster=self._config.cluster
            )
        return self._made
