"""What an index has and how it was made, as a line or as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from search.files.languages import language_name
from search.index.build import Refreshed
from search.index.code_index import UNIT_KINDS, Index, rows_of_files
from search.index.index_file import open_index


@dataclass(frozen=True, slots=True)
class Made:
    """How an index was made or updated."""

    done: Refreshed
    seconds: float
    told: Sequence[tuple[str, str]]  # paths, and what is wrong with them

    def line(self, path: Path) -> str:
        """What was done, in words; ``path``: of the index."""
        what = f"read {self.done.read:,} files" if self.done.written else "nothing has changed"
        return f"{rows_of_files(self.done.rows, self.done.files)} in {path}: {what}, {self.seconds:.2f} s"


def as_json(root: Path, path: Path, made: Made, vectors: Sequence[str]) -> str:
    """One JSON object about an index.

    Args:
        root: the indexed folder.
        path: the file of the index.
        made: how it was made.
        vectors: what was done for those beside it, in words; empty: there are none.

    Raises:
        ValueError: the index cannot be opened.
    """
    index = open_index(path, mapped=True)
    left_out = {file.path: file.trouble for file in index.files if file.trouble}
    left_out |= {where: what for where, what in made.told if where not in left_out}
    found = {
        "folder": str(root),
        "index": str(path),
        "documents": index.documents,
        "files": len(index.files),
        "rows": len(index),
        "languages": contents(index),
        "left_out": [{"path": where, "reason": what} for where, what in left_out.items()],
        "files_read": made.done.read,
        "changed": made.done.written,
        "seconds": round(made.seconds, 3),
        "vectors": vectors[-1] if vectors else None,
    }
    return json.dumps(found, indent=1)


def contents(index: Index) -> dict[str, dict[str, Any]]:
    """For each language the number of its files, and of its rows by kind."""
    names = [language_name(file.path) for file in index.files]
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    of_file = np.array([numbers[name] for name in names], np.int64)
    counts = np.zeros((len(numbers), len(UNIT_KINDS)), np.int64)
    np.add.at(counts, (np.repeat(of_file, np.diff(index.file_edges)), index.kinds.astype(np.int64)), 1)
    return {
        name: {
            "files": names.count(name),
            "rows": {kind: count for kind, count in zip(UNIT_KINDS, counts[number].tolist(), strict=True) if count},
        }
        for name, number in numbers.items()
    }
