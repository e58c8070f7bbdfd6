"""Small clones of the repositories of DeepCS, TL-CodeSum, R252 and TabCS, in the form in which they are published."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_prep.config import DataConfig
from data_prep.datasets.paper_releases import PaperRelease
from data_prep.datasets.tabcs import CsnTabcs, JcgTabcs
from data_prep.records import UNKNOWN, Pair, SplitName
from data_prep.sources.tabcs_release import FILE_FIELDS

Rows = Sequence[dict[str, Any]]
"""Rows with the lists ``query``, ``name``, ``tokens`` and ``api``, and the texts ``code``, ``repo`` and ``file``."""


def row(number: int) -> dict[str, Any]:
    """One of 26 x 26 rows that differ in a word."""
    name = ["read", "the", f"{chr(97 + number % 26)}{chr(97 + number // 26)}", "file"]
    camel = name[0] + "".join(word.capitalize() for word in name[1:])
    body = f'String text = "a  b" ; return file . open{number} ( text ) ;'
    return {
        "query": ["reads", *name[1:], "into", "memory"],
        "name": name,
        "tokens": [*name, "buffer"],
        "api": ["file.open", f"List{number}", "add"],
        "code": f"public String {camel} ( File file ) {{ {body} }}",
        "repo": "1_me_Lists",
        "file": "src/main/java/Reader.java",
    }


ROWS: Rows = [row(number) for number in range(60)]


def made(
    kind: Callable[[DataConfig], PaperRelease], place: Path
) -> tuple[Mapping[SplitName, Sequence[Pair]], PaperRelease]:
    """The pairs of the release in a folder, whose files are all there."""
    found = kind(DataConfig(path=str(place)))
    assert all(path.is_file() for path in found.inputs())
    return found.pairs(), found


def write_lines(path: Path, lines: Sequence[str], end: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}{end}" for line in lines).encode())


def deepcs(root: Path, rows: Rows, *, train: Rows | None = None) -> Path:
    """DeepCS's example; its training files are its test files unless there are others."""
    data = root / "deep-code-search" / "keras" / "data"
    files = {"query": "desc", "name": "methname", "tokens": "tokens", "api": "apiseq"}
    for part, own in (("test", rows), ("train", rows if train is None else train)):
        for field, name in files.items():
            write_lines(data / "example" / f"{part}.{name}.txt", [" ".join(row[field]) for row in own], "\r\n")
    write_lines(data / "github" / "test.rawcode.txt", [f"{row['code']} " for row in rows], "\r\n")
    places = (f"D:\\Code\\Repos\\_1\\{row['repo']}\\" + row["file"].replace("/", "\\") for row in rows)
    write_lines(data / "example" / "test.meta.txt", [f"1|||{place}|||4|||5" for place in places], "\r\n")
    return data


def tlcodesum(root: Path, split: str, rows: Rows) -> Path:
    folder = root / "TL-CodeSum" / "data" / split
    write_lines(folder / f"{split}.token.code", [f"{number}\t{row['code']} " for number, row in enumerate(rows, 7)])
    write_lines(folder / f"{split}.token.nl", [f"{n}\t{' '.join(row['query'])}" for n, row in enumerate(rows, 7)])
    write_lines(root / "TL-CodeSum" / "data_pre" / split / f"{split}.token.nl", ["1\tanother"])
    return folder


def r252(root: Path, folder: str, rows: Rows) -> Path:
    files = {"query": "javadoc", "name": "method-names", "tokens": "method-tokens", "api": "method-apis"}
    place = root / "r252-deep-code-search" / folder
    for field, name in files.items():
        write_lines(place / f"{name}.txt", [" ".join(row[field]) for row in rows])
    return place


def tabcs(root: Path, *, csn: Rows = (), jcg: Rows = ()) -> None:
    """The tests of TabCS, each of its rows and one that is like no other; the sources of jcg are ``code``."""
    other = {
        "query": ["quite", "another", "thing"],
        "name": ["zzz"],
        "tokens": ["q"],
        "api": ["Q"],
        "code": "void zzz ( )",
    }
    for kind, rows in ((CsnTabcs, csn), (JcgTabcs, jcg)):
        folder = root / "TabCS" / kind.folder_in_release
        folder.mkdir(parents=True)
        for field, name in FILE_FIELDS.items():
            ids = {UNKNOWN: 0}
            lists = [[ids.setdefault(word, len(ids)) for word in row.get(field, ("Type",))] for row in (*rows, other)]
            del ids[UNKNOWN]
            (folder / f"test.{name}.pkl").write_bytes(pickle.dumps(lists, 3))
            (folder / f"vocab.{name}.pkl").write_bytes(pickle.dumps(ids, 3))
        if kind.has_sources:
            write_lines(folder / "test_source.txt", [row["code"] for row in (*rows, other)])
