"""Source files -> the contents of an index, as one process reads them. Light to import: no torch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from data_prep.licences.licences import Licences
from data_prep.records import SourceFile
from search.files.file_words import FileWords, file_words
from search.files.languages import Unit, read_file
from search.files.links import blob_names
from search.files.tree import Found, read_source


@dataclass(frozen=True, slots=True)
class Task:
    """Files of a tree to be read together."""

    root: Path
    files: Sequence[Found]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The contents of a file."""

    found: Found
    units: Sequence[Unit]
    licence: str  # SPDX, "" if not known
    blobs: str  # hashes that git may have for its content, "" if it was not read
    trouble: str  # why it could not be read, or what was left out of it; "" if it was read completely
    words: FileWords = field(default_factory=FileWords)  # of the whole file


def read_files(task: Task) -> list[ReadFile]:
    """Read files; one that cannot be read has no units, and the reason."""
    licences = Licences(task.root, [each.path for each in task.files])
    return [_read(task.root, found, licences) for found in task.files]


def _read(root: Path, found: Found, licences: Licences) -> ReadFile:
    try:
        data = read_source(root, found)
        found_units = read_file(SourceFile("", found.path, data))
    except (OSError, ValueError) as error:
        return ReadFile(found, [], "", "", trouble=getattr(error, "strerror", None) or str(error))
    licence, words = licences.of(found.path, data), found_units.words or file_words(data)
    return ReadFile(found, found_units.units, licence, blob_names(data), found_units.left_out, words)
