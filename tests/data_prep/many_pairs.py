"""Many own pairs, to measure how they are prepared: those of a prepared data set, or documented functions of source
trees, again and again renamed.

    .venv/bin/python -m tests.data_prep.many_pairs FOLDER [FOLDER ...] --rows=1000000 --out=pairs.jsonl

Each time every identifier and every query has another ending, so that no row is a copy of one of another time.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from data_prep.errors import UserError
from data_prep.languages.registry import language_of
from data_prep.store.prepared_data import MANIFEST, open_prepared

_IDENTIFIER = re.compile(r"\b[^\W\d]\w{3,}\b")
_LARGEST = 1 << 18


def documented(folder: Path) -> Iterator[dict[str, Any]]:
    """The pairs of a prepared folder, or the documented functions of a folder's files."""
    if (folder / MANIFEST).exists():
        for split in open_prepared(folder).splits.values():
            texts = (split.text(row) for row in range(len(split)))
            known = ((text, language_of(text.path)) for text in texts)
            yield from (
                {"query": text.query_text, "code": text.source, "language": each.name, "path": Path(text.path).name}
                for text, each in known
                if each
            )
        return
    for path in sorted(folder.rglob("*")):
        language = language_of(path.name)
        if language is None or not path.is_file() or path.stat().st_size > _LARGEST:
            continue
        data = path.read_bytes()
        try:
            functions = language.parse(data, path.name).functions
        except UserError:
            continue
        for each in functions:
            if len(each.query.split()) >= 3:
                code = data[each.start : each.end].decode(errors="replace")
                yield {"query": each.query, "code": code, "language": language.name, "path": f"{path.name}"}


def renamed(row: dict[str, Any], time: int) -> dict[str, Any]:
    """The row with other identifiers."""
    language = language_of(row["path"])
    keywords = language.keywords if language else frozenset()
    ending = "".join(chr(97 + int(digit)) for digit in str(time)) * 2

    def other(found: re.Match[str]) -> str:
        return found[0] if found[0] in keywords else f"{found[0]}_{ending}"

    return {**row, "code": _IDENTIFIER.sub(other, row["code"]), "query": f"{row['query']} {ending}"}


def main(arguments: list[str]) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    rows = [row for folder in options.folders for row in documented(folder)]
    left = options.rows
    with options.out.open("w", encoding="utf-8") as file:
        for time in count():
            for row in rows[:left]:
                file.write(json.dumps(renamed(row, time) if time else row) + "\n")
            left -= len(rows)
            if left <= 0:
                break


if __name__ == "__main__":
    main(sys.argv[1:])
