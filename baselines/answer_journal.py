"""Append-only journal of paid answers as JSON Lines, one line per answer."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path

from data_prep.errors import UserError
from data_prep.files.atomic import naming
from data_prep.files.folder_lock import sole_user
from data_prep.files.reading import append_regular


@dataclass(frozen=True, slots=True)
class AnswerJournal:
    """Answers by key, in memory and in a file."""

    path: Path
    _answers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> "AnswerJournal":
        """Read the journal if it exists; an incomplete last line, left by a killed process, is removed.

        Raises:
            UserError: another line is damaged.
            OSError: the file or its folder cannot be read or written, or it is not a regular file.
        """
        journal = cls(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Locked: a line that another process is writing would look incomplete.
        with append_regular(path) as file, sole_user(file.fileno()):
            file.seek(0)
            whole = 0  # bytes
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    file.truncate(whole)
                    break
                journal._take(line, number)
                whole += len(line)
        return journal

    def add(self, key: str, record: Mapping[str, str | int]) -> None:
        """Save an answer: ``record["answer"]`` and its metadata.

        Raises:
            OSError: the file cannot be written.
        """
        line = json.dumps({"key": key, **record}, ensure_ascii=False) + "\n"
        with naming(self.path), append_regular(self.path) as file, sole_user(file.fileno()):
            whole = os.fstat(file.fileno()).st_size
            try:
                _write(file.raw, line.encode())
                os.fsync(file.fileno())
            except OSError:
                file.truncate(whole)
                raise
        self._answers[key] = str(record["answer"])

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __getitem__(self, key: str) -> str:
        return self._answers[key]

    def __len__(self) -> int:
        return len(self._answers)

    def _take(self, line: bytes, number: int) -> None:
        try:
            record = json.loads(line)
            key, answer = record["key"], record["answer"]
        except (ValueError, LookupError, TypeError, RecursionError):
            key = answer = None
        if not isinstance(key, str) or not isinstance(answer, str):
            raise UserError(
                f"{self.path}, line {number}: expected a saved answer; fix the line or name another journal"
            )
        self._answers[key] = answer


def _write(file: RawIOBase, data: bytes) -> None:
    """Write all of ``data``: on a full disk, a partial write is not an error yet."""
    while data:
        data = data[file.write(data) or 0 :]
