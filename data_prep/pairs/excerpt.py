"""A single method with its comment as a Java file, so that it is read like any other."""

import re
from collections.abc import Mapping
from typing import Final

from data_prep.records import Excerpt, SourceFile, SplitName

_LINE: Final = re.compile(r"#L(\d+)")


def wrap(row: Mapping[str, str], split: SplitName, origin: str) -> SourceFile:
    """The method of ``row`` below its comment in a separate class.

    Args:
        row: ``repo``, ``path``, ``func_name`` (Type.method), ``code``, ``docstring`` without comment marks, and
            optionally ``url`` with the line, ``...#L12-L20``.
        split: of the method.
        origin: of the method.
    """
    type_name = re.sub(r"\W", "_", row["func_name"].rpartition(".")[0]) or "_"
    head = f"class {type_name} {{ /**\n{row['docstring'].replace('*/', '* /')}\n*/\n"
    place = _LINE.search(row.get("url", ""))
    before = (int(place[1]) if place else 1) - head.count("\n") - 1
    data = f"{head}{row['code']}\n}}\n".encode(errors="replace")
    return SourceFile(origin, f"{row['repo']}/{row['path']}", data, Excerpt(split, before))
