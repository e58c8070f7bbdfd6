"""CodeSearchNet in each of its forms, made of real methods of the JDK."""

import gzip
import json
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from data_prep.pipeline.java_extraction import methods_of
from data_prep.records import SPLITS, Method, SourceFile, SplitName

Rows = Mapping[SplitName, Sequence[dict[str, Any]]]

ON_HUB = {
    "repo": "repository_name",
    "path": "func_path_in_repository",
    "func_name": "func_name",
    "original_string": "whole_func_string",
    "language": "language",
    "code": "func_code_string",
    "code_tokens": "func_code_tokens",
    "docstring": "func_documentation_string",
    "docstring_tokens": "func_documentation_tokens",
    "partition": "split_name",
    "url": "func_code_url",
}
"""The data set card's names of the fields of a line."""


def row_of(method: Method, split: SplitName) -> dict[str, Any]:
    """A line as CodeSearchNet writes it: the comment without its marks, lines in the address."""
    comment = method.documentation.removeprefix("/**").removesuffix("*/").splitlines()
    docstring = "\n".join(line.strip().removeprefix("*").removeprefix(" ") for line in comment).strip()
    place = f"blob/0123abc/{method.path}#L{method.start_line}-L{method.end_line}"
    return {
        "repo": "openjdk/jdk",
        "path": method.path,
        "func_name": f"{method.type_name.rpartition('.')[2]}.{method.name}",
        "original_string": method.source,
        "language": "java",
        "code": method.source,
        "code_tokens": method.source.split(),
        "docstring": docstring,
        "docstring_tokens": docstring.partition(".")[0].split(),
        "sha": "0123abc",
        "url": f"https://example.org/openjdk/jdk/{place}",
        "partition": split,
    }


def documented_methods(java_folder: Path, pattern: str = "C*.java", most: int = 50) -> dict[SplitName, list[Method]]:
    """Documented methods of a few files, no file in two splits."""
    found: dict[SplitName, list[Method]] = {name: [] for name in SPLITS}
    for place, file in enumerate(sorted(java_folder.rglob(pattern))):
        split = SPLITS[(0, 0, 1, 2)[place % 4]]
        java = SourceFile("jdk", file.relative_to(java_folder).as_posix(), file.read_bytes())
        found[split] += [each for each in methods_of(java, documented_only=True) if "." not in each.type_name]
    assert all(len(each) > 20 for each in found.values())
    return {split: each[:most] for split, each in found.items()}


def lines_of(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def write_tree(folder: Path, rows: Rows) -> Path:
    """The official tree: training in two numbered files, of which 10 must come after 2."""
    for split, each in rows.items():
        numbers = {2: each[: len(each) // 2], 10: each[len(each) // 2 :]} if split == "train" else {0: each}
        for number, part in numbers.items():
            file = folder / "java" / "final" / "jsonl" / split / f"java_{split}_{number}.jsonl.gz"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(gzip.compress(lines_of(part)))
    return folder


def write_zip(folder: Path, rows: Rows) -> Path:
    write_tree(folder / "unpacked", rows)
    with zipfile.ZipFile(folder / "java.zip", "w") as archive:
        for file in sorted((folder / "unpacked").rglob("*.gz")):
            archive.write(file, file.relative_to(folder / "unpacked"))
        archive.writestr("java_licenses.pkl", b"never read")
    shutil.rmtree(folder / "unpacked")
    return folder / "java.zip"


def write_parquet(folder: Path, rows: Rows) -> Path:
    """The Hub's files, whose rows are in the order of file names as texts: 10 before 2."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs requirements-parquet.txt")
    import pyarrow as pa

    (folder / "java").mkdir(parents=True, exist_ok=True)
    for split, each in rows.items():
        half = len(each) // 2
        ordered = [*each[half:], *each[:half]] if split == "train" else each
        renamed = [{name: row[field] for field, name in ON_HUB.items()} for row in ordered]
        name = "validation" if split == "valid" else split
        table = pa.Table.from_pylist(renamed)
        parquet.write_table(table, folder / "java" / f"{name}-00000-of-00001.parquet", row_group_size=20)
    return folder
