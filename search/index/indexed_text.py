"""The text of an indexed file, as it was indexed.

An index from elsewhere cannot show files of this machine: a file is read only inside of the indexed folder, through no
link at its end, and only one whose bytes have the hash that the index has is shown.
"""

from pathlib import Path, PurePosixPath

from data_prep.errors import UserError
from data_prep.files.reading import raise_if_passing, read_regular, reason
from data_prep.records import LARGEST_SOURCE
from search.files.encodings import text_of
from search.files.tree import is_blob
from search.index.code_index import WHOLE_FILE, Index, IndexedFile


class ChangedFileError(UserError):
    """A file that cannot be shown as it was indexed; the message says why."""


def read_indexed(root: Path | None, file: IndexedFile) -> str:
    """The text of a file as it was indexed.

    Args:
        root: the indexed folder; None: not known.
        file: as the index has it, which is not trusted.

    Raises:
        ChangedFileError: it cannot be read, or is another one by now.
    """
    if root is None:
        raise ChangedFileError("the indexed folder is not known: start the server in it, or name it by --folder=DIR")
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or "\0" in file.path:
        raise ChangedFileError("its path does not lead into the indexed folder")
    try:
        data, _ = read_regular(root / path, LARGEST_SOURCE + 1)
    except OSError as error:
        raise_if_passing(error)
        raise ChangedFileError(f"it cannot be read: {reason(error)}") from error
    if not is_blob(data, file.blobs):
        raise ChangedFileError("it has changed since it was indexed: bash run.sh index DIR")
    try:
        text = text_of(data).data
    except UserError as error:
        raise ChangedFileError(str(error)) from error
    found = text.decode("utf-8", "replace")
    return found.replace("\r\n", "\n") if "\r" in found else found


def text_at(index: Index, place: int, root: Path | None) -> str:
    """The text of the file at a place of an index of ``root`` as it was indexed; "" if that cannot be had."""
    try:
        return read_indexed(*index.source(place, root))
    except ChangedFileError:
        return ""


def text_or_units(index: Index, place: int, root: Path | None) -> str:
    """The same, or else what the index itself has of the file: its functions and types, each at its lines."""
    if text := text_at(index, place, root):
        return text
    lines: dict[int, str] = {}
    for row in range(*index.file_edges[place : place + 2].tolist()):
        if index.kinds[row] == WHOLE_FILE:
            continue
        unit = index.split.text(row)
        lines |= dict(enumerate(unit.source.split("\n")[: unit.end_line - unit.start_line + 1], unit.start_line))
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
