"""Source files -> the contents of an index, as one process reads them. Light to import: no torch."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.reading import raise_if_passing
from data_prep.licences.licences import Licences
from data_prep.records import SourceFile
from data_prep.worker_process import FILE, limited
from search.files.file_words import FileWords, file_words
from search.files.languages import Unit, read_file
from search.files.source import Found, blob_names, read_source
from search.files.text_file import unparsed

_NOT_PARSED: Final = "takes more than {:.0f} s of processor time or too much memory to parse"


@dataclass(frozen=True, slots=True)
class Task:
    """Files of a tree to be read together."""

    root: Path
    files: Sequence[Found]
    parsed: bool = True  # else each is found as a whole file

    def divided(self) -> "list[Task]":
        """One task a file."""
        return [replace(self, files=[each]) for each in self.files]


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
    return [_read(task, found, licences) for found in task.files]


def _read(task: Task, found: Found, licences: Licences) -> ReadFile:
    try:
        data = read_source(task.root, found)
        file = SourceFile("", found.path, data)
        if task.parsed:
            with limited(len(data)):
                found_units = read_file(file)
        else:
            found_units = unparsed(file, _NOT_PARSED.format(FILE.allowed_seconds(len(data))))
    except (OSError, UserError) as error:
        raise_if_passing(error)
        return ReadFile(found, [], "", "", trouble=getattr(error, "strerror", None) or str(error))
    licence, words = licences.of(found.path, data), found_units.words or file_words(data)
    return ReadFile(found, found_units.units, licence, blob_names(data), found_units.left_out, words)
