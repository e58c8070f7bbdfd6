"""The releases of DeepCS, TL-CodeSum and R252 as published: text files of a line a row, in clones of the repositories.

- ``guxd/deep-code-search`` has its example data as ``{train,test}.{desc,methname,tokens,apiseq}.txt``, the methods as
  ``test.rawcode.txt`` and their places as ``test.meta.txt``; what it trained on is in other files
  (:mod:`data_prep.sources.deepcs_release`).
- ``xing-hu/TL-CodeSum`` has ``{train,valid,test}.token.{nl,code}``; each line begins with the number of its row.
- ``tejaskannan/r252-deep-code-search`` has ``javadoc.txt``, ``method-names.txt``, ``method-tokens.txt`` and
  ``method-apis.txt`` in ``train_data`` and ``validation_data``.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.reading import open_regular
from data_prep.files.text_rows import utf8_lines

CLONES: Final = {
    "deepcs_example": "guxd/deep-code-search",
    "tlcodesum": "xing-hu/TL-CodeSum",
    "r252": "tejaskannan/r252-deep-code-search",
}
"""Release -> its repository on GitHub."""
TEXTS: Final = frozenset(("code", "repo", "file", "meta"))
"""The fields that are texts; all others are lists of words."""
_LONGEST: Final = 1 << 24  # bytes of a line
_CHECKED: Final = 100  # rows whose code has to have their name
_NO_LETTER: Final = re.compile(r"[\W_]+")
_META: Final = "|||"


@dataclass(frozen=True, slots=True)
class Part:
    """Files of a release that belong together, line by line."""

    name: str  # release/part
    files: Mapping[str, str]  # field -> the end of the file's path
    is_numbered: bool = False

    @property
    def release(self) -> str:
        """One of CLONES."""
        return self.name.partition("/")[0]

    def found(self, files: Sequence[Path]) -> dict[str, Path]:
        """The first file of each field among ``files``; none unless all are there."""
        ends = {field: f"/{end}" for field, end in self.files.items()}
        first = {field: next((each for each in files if each.as_posix().endswith(end)), None) for field, end in
                 ends.items()}  # fmt: skip
        return {field: path for field, path in first.items() if path} if all(first.values()) else {}

    def rows(self, paths: Mapping[str, Path]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and fields of each row.

        Raises:
            UserError: the files do not belong together; the message names one.
            OSError: a file cannot be read, or is not a regular file.
        """
        strange = 0
        for number, row in _aligned(paths, is_numbered=self.is_numbered):
            texts = {field: text.strip() if field in TEXTS else text.split() for field, text in row.items()}
            if self.release == "deepcs_example":
                texts |= _place(row["meta"], f"{paths['meta']}:{number}") if "meta" in row else {}
                strange += number <= _CHECKED and not _has_name(texts)
                if strange > _CHECKED // 2:
                    raise UserError(f"{paths['code']} has not the methods of {paths['name']}: take both of one release")
            yield number, texts


def _deepcs(part: str, *, has_code: bool) -> dict[str, str]:
    fields = {"query": "desc", "name": "methname", "tokens": "tokens", "api": "apiseq"}
    fields |= {"code": "rawcode", "meta": "meta"} if has_code else {}
    return {field: f"{part}.{name}.txt" for field, name in fields.items()}


def _r252(folder: str) -> dict[str, str]:
    names = {"query": "javadoc", "name": "method-names", "tokens": "method-tokens", "api": "method-apis"}
    return {field: f"{folder}/{name}.txt" for field, name in names.items()}


def _tlcodesum(split: str) -> Part:
    files = {"query": f"{split}.token.nl", "code": f"{split}.token.code"}
    return Part(f"tlcodesum/{split}", {field: f"{split}/{name}" for field, name in files.items()}, is_numbered=True)


PARTS: Final = {
    part.name: part
    for part in (
        Part("deepcs_example/pairs", _deepcs("test", has_code=True)),
        Part("deepcs_example/train", _deepcs("train", has_code=False)),
        Part("deepcs_example/test", _deepcs("test", has_code=False)),
        _tlcodesum("train"),
        _tlcodesum("valid"),
        _tlcodesum("test"),
        Part("r252/train", _r252("train_data")),
        Part("r252/valid", _r252("validation_data")),
    )
}


def where_to_get(releases: Sequence[str]) -> str:
    """What to do about missing releases."""
    clones = " and ".join(f"https://github.com/{CLONES[name]}" for name in releases)
    return f"git clone {clones} there, into data/raw/papers or into the folder of --data.path= (docs/datasets.md)"


def files_below(place: Path) -> list[Path]:
    """All files at or below a folder, sorted, but those of git; links are not followed."""
    found = list[Path]()
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name != ".git"]
        found.extend(Path(folder, name) for name in names)
    return sorted(found)


def _aligned(paths: Mapping[str, Path], *, is_numbered: bool) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of several files with as many lines, side by side."""
    with ExitStack() as opened:
        lines = [_lines(path, opened) for path in paths.values()]
        for number, row in enumerate(zip_longest(*lines), 1):
            if None in row:
                short, *_ = (path for path, line in zip(paths.values(), row, strict=True) if line is None)
                raise UserError(f"{short} has {number - 1:,} lines, but others of its release have more: get it again")
            cells = dict(zip(paths, row, strict=True))
            yield number, _without_numbers(cells, paths, number) if is_numbered else cells


def _lines(path: Path, opened: ExitStack) -> Iterator[str]:
    file = opened.enter_context(open_regular(path))
    for number, line in enumerate(utf8_lines(file, _LONGEST), 1):
        if len(line) >= _LONGEST:
            raise UserError(f"{path}:{number} is refused: no line has {_LONGEST:,} bytes or more")
        yield line.decode(errors="replace").strip("\r\n")


def _without_numbers(row: Mapping[str, str], paths: Mapping[str, Path], number: int) -> dict[str, str]:
    told = {field: text.partition("\t") for field, text in row.items()}
    if len({first for first, _, _ in told.values()}) > 1:
        files = " and ".join(map(str, paths.values()))
        raise UserError(f"{files} have other rows in line {number}: take both of one release")
    return {field: rest for field, (_, _, rest) in told.items()}


def _place(text: str, where: str) -> dict[str, str]:
    r"""Repository and path, of ``7|||D:\Code\Repos\_2011\7_a_b\src\A.java|||404|||412``."""
    parts = text.split(_META)
    folders = parts[1].split("\\") if len(parts) > 1 else []
    if len(folders) < 6:
        raise UserError(f"{where} names no file: expected a number, a path and two lines, with {_META} between")
    return {"repo": folders[4], "file": "/".join(folders[5:])}


def _has_name(row: Mapping[str, Any]) -> bool:
    return "code" not in row or "".join(row["name"]) in _NO_LETTER.sub("", row["code"]).lower()
