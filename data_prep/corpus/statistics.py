"""Counts of a corpus from the first lines of its shards: functions a language, licence and reason for leaving out."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from data_prep.corpus.shards import read_head
from data_prep.languages.registry import LANGUAGES


def statistics(shards: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Of each language: source trees, bytes, files and functions by reason ("" kept), licences of kept functions."""
    heads = [read_head(path) for path in shards]
    return {
        name: _of_language([head["languages"][name] for head in heads if name in head["languages"]])
        for name in LANGUAGES
    }


def _of_language(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"trees": 0, "trees_with_pairs": 0, "bytes": 0, "broken_functions": 0}
    totals: dict[str, Counter[str]] = {name: Counter() for name in ("files", "functions", "licences")}
    for each in counts:
        found["trees"] += 1
        found["trees_with_pairs"] += bool(each["functions"].get(""))
        found["bytes"] += each["bytes"]
        found["broken_functions"] += each["broken"]
        for name, total in totals.items():
            total.update(each[name])
    return {**found, **{name: dict(total.most_common()) for name, total in totals.items()}}
