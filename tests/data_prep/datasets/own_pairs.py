"""Pairs of one's own, as the tests write them: functions that are no copies of each other."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from data_prep.config import DataConfig
from data_prep.prepare import prepare
from data_prep.store.prepared_data import PreparedData

_DEEDS = ("load", "merge", "sort", "print", "count", "split", "send", "parse", "close", "draw")
_THINGS = ("orders", "images", "users", "dates", "lines", "files", "tokens", "colours", "prices", "roads")


def python_rows(count: int) -> list[dict[str, Any]]:
    """Rows with words of their own, so that none is a copy of another."""
    rows = []
    for number in range(count):
        deed, thing = _DEEDS[number % 10], _THINGS[number // 10 % 10]
        own = [f"{thing}_{deed}_{chr(97 + number // 100)}_{letter * 3}" for letter in "pqrstuvwxyz"]
        body = "".join(f"    {name} = {name}_of({deed}_{name})\n" for name in own)
        query = f"{deed} all {thing} of the store {chr(97 + number // 100)}"
        rows.append({"query": query, "code": f"def {deed}_{thing}({own[0]}):\n{body}    return {own[-1]}\n"})
    return rows


def write_lines(path: Path, rows: Sequence[Mapping[str, Any] | str]) -> Path:
    """JSON Lines; texts are written as they are."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    data = "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """CSV, or TSV by the name."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0]], delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
    return path


def prepared(path: Path | str, root: Path, said: list[str] | None = None, **options: Any) -> PreparedData:
    """The data set ``pairs`` of some files, of Python unless told: recognising a language takes seconds."""
    config = DataConfig(path=str(path), root=str(root), processes=1, **{"language": "python", **options})
    say = (lambda _: None) if said is None else said.append
    return prepare("pairs", config, command="the tests", say=say)


def queries(data: PreparedData, split: str) -> list[str]:
    """The texts of the queries of a split."""
    pairs = next(each for name, each in data.splits.items() if name == split)
    return [pairs.text(row).query_text for row in range(len(pairs))]
