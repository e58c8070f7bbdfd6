"""The rows of an index that the frames of a stack trace lie in. Nothing of a trace is run or opened.

The file of a frame is the one whose path shares most of the frame's last folders, all of the shorter path at least. Of
a package that is installed elsewhere (``site-packages/shop/cart.py``, here ``src/shop/cart.py``) one folder is enough,
if a function of the frame's name contains its line of code.
Its row is the innermost one at the frame's line, if that has the frame's name, with its types if these are printed, and
contains its line of code, if that is. If it does not, the lines have moved, and it is the nearest row of the same file
that does. Where there is none, the last part of the name or the line of code is enough. What has neither is at its line
only if its path says enough: it shares a folder, is relative, or begins as that of another frame that was found.
Where several files fit equally (``src/main.rs`` of each example), none does, unless the module of the frame tells.

And a file and a line as a person types them.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final
from urllib.parse import unquote

from data_prep.traces.trace import TOP, Frame
from search.index.code_index import Index

_FILES: Final = 20
"""Files with an equally good path that are looked at."""


@dataclass(frozen=True, slots=True)
class Located:
    """A frame and its row."""

    frame: Frame
    row: int | None  # None: it does not lie in the index
    moved: bool = False  # whether the row is not at the frame's line
    several: int = 0  # files that it may equally lie in, so that it has no row


class FrameLocator:
    """Finds the rows of frames."""

    def __init__(self, index: Index) -> None:
        """``index``: whose rows are found."""
        self._index = index

    def located(self, frames: Sequence[Frame]) -> list[Located]:
        """The row of each frame, in the order of the trace."""
        found = {frame: self._by_name_or_code(frame) for frame in dict.fromkeys(frames)}
        roots = {self._root(frame, each.row) for frame, each in found.items() if each and each.row is not None}
        places = {frame: each or self._by_line(frame, roots) for frame, each in found.items()}
        return [places[frame] for frame in frames]

    def _by_name_or_code(self, frame: Frame) -> Located | None:
        near = [file for _, file in self._files_of(frame.path)]
        for agrees in (self._has_all, self._has_some):
            at_line = [row for file in near if (row := self._row_of(file, frame)) is not None and agrees(row, frame)]
            if at_line:
                return self._one_of([Located(frame, row) for row in at_line])
            others = ([row for row in self._index.rows_of(file) if agrees(row, frame)] for file in near)
            if moved := [self._nearest(rows, frame) for rows in others if rows]:
                return self._one_of(moved)
        installed = self._installed(frame.path) if frame.code else []
        rows = [row for file in installed for row in self._index.rows_of(file) if self._has_all(row, frame)]
        if not (frame.path or frame.line) and len(called := self._called.get(frame.name, ())) == 1:
            rows = [*called]  # no file is printed, as by R
        return self._nearest(rows, frame) if rows else None

    def _one_of(self, found: Sequence[Located]) -> Located:
        """The one of several files that a frame lies in; without a row, if nothing tells which it is.

        Its path is as printed, or has the module of the frame; or all of them have the same text.
        """
        frame, paths = found[0].frame, [self._path_of(each) for each in found]
        module = frame.package.replace("-", "_").split(".")
        for fitting in (
            [each for each, path in zip(found, paths, strict=True) if path == "/".join(_parts(frame.path))],
            [each for each, path in zip(found, paths, strict=True) if _is_of(path, module)],
            found,
        ):
            if len({self._index.split.text(each.row).source for each in fitting if each.row is not None}) == 1:
                return fitting[0]
        return Located(frame, None, several=len(found))

    def _path_of(self, located: Located) -> str:
        return "" if located.row is None else self._index.file(located.row).path

    def _nearest(self, rows: Sequence[int], frame: Frame) -> Located:
        best = min(self._inner(rows), key=lambda row: (self._distance(row, frame), -row))
        return Located(frame, best, moved=frame.line > 0 and self._distance(best, frame)[1] > 0)

    def _inner(self, rows: Sequence[int]) -> list[int]:
        """The rows that contain no other one of these: a type has the code and the names of its functions."""
        texts = {row: self._index.split.text(row) for row in rows[:_FILES]}
        around = {
            row
            for row, outer in texts.items()
            for other, inner in texts.items()
            if other > row and outer.path == inner.path and inner.end_line <= outer.end_line
        }
        return [row for row in rows if row not in around]

    def _by_line(self, frame: Frame, roots: Collection[str]) -> Located:
        """The frame at its line, whatever is there, if its path is certain."""
        found = []
        for shared, file in self._files_of(frame.path):
            row = self._row_of(file, frame)
            relative = shared == len(_parts(frame.path))
            if row is not None and (shared > 1 or relative or self._root(frame, row) in roots):
                found.append(Located(frame, row))
        return self._one_of(found) if found else Located(frame, None)

    def _root(self, frame: Frame, row: int | None) -> str:
        """The part of a frame's path before that of its row's file."""
        return frame.path.removesuffix(self._index.file(row).path) if row is not None else ""

    def _row_of(self, file: int, frame: Frame) -> int | None:
        """The row of a file at a frame's line: the file as a whole, if that is a row, for its top level."""
        rows = self._index.rows_of(file)
        if frame.name == TOP and rows and self._index.is_whole_file(rows[0]):
            return rows[0]
        return self.row_at(file, frame.line)

    def _files_of(self, path: str) -> list[tuple[int, int]]:
        """How many last parts of their paths are those of ``path``, and the numbers, of the files that it can be."""
        paths = [path, *filter(None, (_in_package(path),))]
        return _best([(shared, file) for each in paths for shared, file, whole in self._sharing(each) if whole])

    def _installed(self, path: str) -> list[int]:
        """The files that share a folder of a path that leads elsewhere, where a package is installed."""
        return [file for _, file in _best([(shared, file) for shared, file, _ in self._sharing(path) if shared > 1])]

    def _sharing(self, path: str) -> Iterator[tuple[int, int, bool]]:
        """How many last parts each file of that name shares with a path, its number, and whether one has no more."""
        parts = _parts(path)
        for file in self._by_name.get(parts[-1] if parts else "", ()):
            own = _parts(self._index.files[file].path)
            shared = next(
                (place for place, (a, b) in enumerate(zip(parts[::-1], own[::-1], strict=False)) if a != b),
                min(len(parts), len(own)),
            )
            yield shared, file, shared in (len(parts), len(own))

    def row_at(self, file: int, line: int) -> int | None:
        """The innermost row of a file at a line."""
        around = [(end - start, -row) for row, start, end in self._places(file) if start <= line <= end]
        return -min(around)[1] if around else None

    def _has_all(self, row: int, frame: Frame) -> bool:
        """Whether a row has a frame's name, with its types if these are printed, and contains its line of code."""
        return self._is_named(row, frame) and frame.code in self._index.split.text(row).source

    def _is_named(self, row: int, frame: Frame) -> bool:
        """Whether a row has a frame's name; of types around them, either may have more, such as namespaces."""
        own, name = f".{self._index.names[row]}", f".{frame.name}"
        return frame.name != "" and (own.endswith(name) or (own.count(".") > 1 and name.endswith(own)))

    def _has_some(self, row: int, frame: Frame) -> bool:
        """Whether it has the last part of the name, or contains the line of code; a file's top level has neither."""
        last = frame.name.rpartition(".")[2]
        if last == TOP:
            return False
        if last and self._index.names[row].rpartition(".")[2] == last:
            return True
        return bool(frame.code) and frame.code in self._index.split.text(row).source

    def _places(self, file: int) -> Iterator[tuple[int, int, int]]:
        for row in self._index.rows_of(file):
            text = self._index.split.text(row)
            yield row, text.start_line, text.end_line

    def _distance(self, row: int, frame: Frame) -> tuple[bool, int]:
        """Whether a row has another name than a frame with its types, and the lines between them."""
        text, line = self._index.split.text(row), frame.line
        return not self._is_named(row, frame), max(text.start_line - line, line - text.end_line, 0)

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        """Name without folders -> files."""
        found: dict[str, list[int]] = {}
        for number, file in enumerate(self._index.files):
            found.setdefault(file.path.rpartition("/")[2], []).append(number)
        return found

    @cached_property
    def _called(self) -> dict[str, list[int]]:
        """Name, with the types around it -> rows of what is no file."""
        found: dict[str, list[int]] = {}
        for row, name in enumerate(self._index.names):
            if not self._index.is_whole_file(row):
                found.setdefault(name, []).append(row)
        return found


def _best(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that share most."""
    most = max(found, default=(0, 0))[0]
    return [each for each in found if each[0] == most][:_FILES]


_PACKAGE: Final = re.compile(
    r".*(?:^|/)(?:node_modules/(?:@[^/]+/)?(?P<js>[^/@.][^/]*)"
    r"|registry/src/[^/]+/(?P<rust>[^/]+)-\d+\.[^/]*"
    r"|gems/(?P<ruby>[^/]+)-(?:\d+\.|[0-9a-f]{7,40}(?=/))[^/]*"
    r"|pkg/mod/(?:[^/]+/)*?(?P<go>[^/@]+)(?:/v\d+)?@v[^/]+)/(?P<rest>.+)"
)
"""The path of an installed package: its name, without version and scope, and the path inside of it."""


def _in_package(path: str) -> str:
    """The path of a file of an installed package as it is in a repository that has a folder for each; else ""."""
    if not (found := _PACKAGE.fullmatch(path)):
        return ""
    name = found["js"] or found["rust"] or found["ruby"] or found["go"]
    return f"{name}/{found['rest']}"


_SHORTEST: Final = 4
"""Letters of the end of a module's name that may be a folder's."""


def _is_of(path: str, module: Sequence[str]) -> bool:
    """Whether a folder above a file is called as a module, or as the end of one: ``chat`` of ``example_chat``."""
    folders = [part.replace("-", "_") for part in path.split("/")[:-1]]
    return any(
        part == folder or (len(folder) >= _SHORTEST and part.endswith(f"_{folder}"))
        for part in module
        for folder in folders
    )


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".", "~")]


_LINE: Final = re.compile(
    r":L?(\d{1,9})(?:[:,-].*)?"  # file.py:12, :12:5, :12-20, :12: a message
    r"|\((\d{1,9})(?:[ ]?[,:;-][ ]?\d{1,9})*\)(?:[ ]?:.*)?"  # file.ts(12,5): a message
    r"|#L?(\d{1,9})(?:C\d{1,9})?(?:-L?\d{1,9}(?:C\d{1,9})?)?:?"  # file.go#L12-L20
    r"|\"?,?[ ](?:at |on )?lines? (\d{1,9})(?:(?:[ ]?-[ ]?| to )\d{1,9})?(?:,? col(?:umn)? \d{1,9})?",  # a.rb line 12
    re.ASCII | re.DOTALL,
)
_LONGEST_PLACE: Final = 1 << 12
_PLACES: Final = 4
"""Meanings of a place that are tried."""


def named_places(typed: str) -> list[tuple[str, int]]:
    """The files and lines that a place may mean, the shortest path first; none if it names no line.

    Behind the path is ``:LINE``, ``#LLINE``, ``(LINE)`` or ``line LINE``, with or without a column and a last line.
    Behind another colon may be text.
    """
    plain = typed_path(typed)
    starts = (match.start() for match in re.finditer(r"[:(#]|\"?,? (?=(?:at |on )?lines? \d)", plain[:_LONGEST_PLACE]))
    found = ((plain[:start].rstrip(), _LINE.fullmatch(plain, start)) for start in starts)
    lines = ((path, int(next(filter(None, line.groups())))) for path, line in found if path and line)
    return [*islice(lines, _PLACES)]


def typed_path(typed: str) -> str:
    """A path without blanks around it, of an address of a file."""
    typed = typed.strip()
    if not typed.startswith("file://"):
        return typed
    path = unquote(typed.removeprefix("file://").removeprefix("localhost"))
    return path[1:] if re.match(r"/[A-Za-z]:[/\\]", path) else path
