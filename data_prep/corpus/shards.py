"""A shard: the functions of one source tree in a file, gzip-compressed JSON Lines, the same bytes for the same tree.

The first line describes the tree, with counts and the program that made it; then follows one line per file.
"""

import gzip
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from data_prep.corpus.records import CODE_FIELDS, CorpusFile, CorpusFunction
from data_prep.errors import UserError
from data_prep.files.json_lines import json_lines

FORMAT: Final = "corpus-shard-1"
_LEVEL: Final = 4


def shard_bytes(head: Mapping[str, Any], files: Iterable[CorpusFile]) -> bytes:
    """A shard; ``files`` is read before ``head``, which may be filled meanwhile."""
    lines = io.BytesIO()
    with gzip.GzipFile("", "wb", _LEVEL, lines, mtime=0) as packed:
        for file in files:
            packed.write(_line(_as_json(file)))
    first = io.BytesIO()
    with gzip.GzipFile("", "wb", _LEVEL, first, mtime=0) as packed:
        packed.write(_line({"format": FORMAT, **head}))
    return first.getvalue() + lines.getvalue()


def read_head(path: Path) -> dict[str, Any]:
    """The description of a shard's tree.

    Raises:
        UserError: the file is damaged or no shard.
        OSError: it cannot be read.
    """
    for _, head in json_lines(path):
        if head.get("format") == FORMAT:
            return head
        break
    raise UserError(f"{path} is no shard of a corpus: remove it, and it is made again")


def read_files(path: Path, languages: Sequence[str] = ()) -> Iterator[CorpusFile]:
    """The files of a shard, of all languages or some.

    Raises:
        UserError: the shard is damaged.
        OSError: it cannot be read.
    """
    for number, row in json_lines(path):
        if number > 1 and (not languages or row.get("language") in languages):
            try:
                yield _file(row)
            except (TypeError, ValueError, KeyError, IndexError) as error:
                raise UserError(f"{path}:{number} is damaged: remove the file, and it is made again") from error


def _line(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _as_json(file: CorpusFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "language": file.language,
        "licence": file.licence,
        "text": file.text.decode(),
        "comments": [place for span in file.comments for place in span],
        "functions": [_of_function(function) for function in file.functions],
    }


def _of_function(function: CorpusFunction) -> list[Any]:
    each = function
    fields = [" ".join(each.fields[name]) for name in CODE_FIELDS] if each.fields else []
    place = [each.start, each.end, each.start_line, each.end_line, *(each.docstring or ())]
    return [
        each.name,
        each.type_name,
        each.kind,
        place,
        each.doc,
        each.query,
        list(each.annotations),
        each.reason,
        fields,
    ]


def _file(row: Mapping[str, Any]) -> CorpusFile:
    places = row["comments"]
    spans = list(zip(places[::2], places[1::2], strict=True))
    functions = [_function(each) for each in row["functions"]]
    return CorpusFile(row["path"], row["language"], row["licence"], row["text"].encode(), spans, functions)


def _function(row: Sequence[Any]) -> CorpusFunction:
    name, type_name, kind, (start, end, start_line, end_line, *docstring), doc, query, annotations, reason, fields = row
    words = {field: tuple(text.split(" ")) if text else () for field, text in zip(CODE_FIELDS, fields, strict=False)}
    inside = (docstring[0], docstring[1]) if docstring else None
    return CorpusFunction(
        name, type_name, kind, start, end, start_line, end_line, doc, query, inside, annotations, reason, words
    )
