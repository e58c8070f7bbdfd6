"""Answers that cost money, kept as they come: JSON Lines, a line an answer, added to and never rewritten."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path

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
        """Read the journal if there is one; a last line that was cut off by a kill is removed.

        Raises:
            ValueError: another line is damaged.
            OSError: the file or its folder cannot be read or written, or it is no regular file.
        """
        journal = cls(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with append_regular(path) as file, sole_user(file.fileno()):  # else another process's line looks cut
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
        """Keep an answer: ``record["answer"]`` and what is worth knowing of it.

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
            raise ValueError(
                f"{self.path}, line {number}: expected a kept answer; mend the line or name another journal"
            )
        self._answers[key] = answer


def _write(file: RawIOBase, data: bytes) -> None:
    """Write all of ``data``: where the disk gets full, a part of it is no error yet."""
    while data:
        data = data[file.write(data) or 0 :]
