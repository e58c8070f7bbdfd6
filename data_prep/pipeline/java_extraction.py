"""Java files -> methods that pass the filters, with their fields and queries. Light to import: no torch, no numpy."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.languages.comments import javadoc_sentence
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import query_words, split_identifier
from data_prep.languages.java.declarations import FoundMethod, LeftOut, find_methods, parse_java
from data_prep.languages.java.functions import clean_fields
from data_prep.pipeline.filters import NOT_PARSED, Candidate, is_generated, reason_to_drop
from data_prep.pipeline.stages import Extracted, chunked, collected
from data_prep.records import Excerpt, Method, Pair, SourceFile, SplitName
from data_prep.worker_pool import Guard
from data_prep.worker_process import PAIRS, limited

COSTLY: Final = "takes too much processor time or memory to parse"
LINE: Final = re.compile(r"#L(\d+)")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*")
_EXTRACT: Final = f"{__name__}:extract"
_CHUNK_BYTES: Final = 1 << 20
"""Of files that a process reads at once, for balanced work."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Files to process together, and the configuration."""

    files: Sequence[SourceFile]
    config: DataConfig

    def divided(self) -> "list[Chunk]":
        """One chunk a file."""
        return [Chunk([file], self.config) for file in self.files]

    def refused(self) -> Extracted:
        """The result where the files cost too much to parse."""
        return Extracted(files=len(self.files), broken=[(file.path, COSTLY) for file in self.files])


_FILES_GUARD: Final = Guard(Chunk.divided, Extracted.joined, Chunk.refused, PAIRS)


def extract_all(files: Iterable[SourceFile], config: DataConfig, function: str = _EXTRACT) -> Extracted:
    """What the function ``module:name`` extracts of chunks of files; by default the pairs that pass the filters.

    Duplicates are included.
    """
    chunks = (Chunk(each, config) for each in chunked(files, lambda file: len(file.data), _CHUNK_BYTES))
    return collected(function, chunks, config, _FILES_GUARD, unit="files")


def extract(chunk: Chunk, read: Callable[[SourceFile, DataConfig, Extracted], None] | None = None) -> Extracted:
    """What ``read`` adds for each of a chunk's files, else their pairs; broken files are recorded and skipped."""
    found = Extracted()
    for file in chunk.files:
        found.files += 1
        with limited(len(file.data)):
            (read or _extract_file)(file, chunk.config, found)
    return found


def _extract_file(file: SourceFile, config: DataConfig, found: Extracted) -> None:
    try:
        parsed = parse_java(file.data)
    except UserError as error:
        found.broken.append((file.path, str(error)))
        return
    generated, left_out = is_generated(file.data, parsed.code_start), LeftOut()
    for method in find_methods(parsed, left_out=left_out):
        if file.excerpt is not None and "." in method.type_name:
            continue  # nested inside the excerpt's method
        found.methods += 1
        candidate = candidate_of(file.path, method, generated=generated)
        reason = reason_to_drop(candidate, config)
        if reason is None:
            _keep(file, method, candidate, config, found)
        else:
            found.dropped[reason] += 1
    if trouble := parsed.trouble():
        found.broken.append((file.path, ": ".join(filter(None, (trouble, left_out.not_parsed())))))
    if left_out.declarations:
        found.broken.append((file.path, str(left_out)))


def _keep(file: SourceFile, method: FoundMethod, candidate: Candidate, config: DataConfig, found: Extracted) -> None:
    """Add the pair of a method, if the profile has fields for it."""
    fields, trouble = method_fields(method, config)
    if trouble:
        found.not_parsed.append((f"{file.path}:{method.start_line}", trouble))
    if fields is None:
        found.dropped[NOT_PARSED] += 1
    else:
        found.pairs.append(Pair(record(file, method, fields), candidate.query_text, candidate.query))


def method_fields(method: FoundMethod, config: DataConfig) -> tuple[Mapping[str, tuple[str, ...]] | None, str]:
    """The fields of a method, None if the profile has none for it, and what its parser says then."""
    if not config.has_statements:
        return clean_fields(method), ""
    from data_prep.languages.java.jcg_fields import profile_fields  # by javalang, which others need not load

    return profile_fields(method, config.profile)


def candidate_of(path: str, found: FoundMethod, *, generated: bool) -> Candidate:
    """The properties of a declaration in the file ``path`` that the filters use."""
    sentence = javadoc_sentence(found.javadoc)
    return Candidate(
        path=path,
        name=found.name,
        kind=found.kind,
        lines=found.end_line - found.start_line + 1,
        annotations=found.annotations,
        javadoc=found.javadoc,
        query_text=sentence,
        query=query_words(sentence),
        generated_file=generated,
    )


def methods_of(file: SourceFile, *, documented_only: bool = False) -> Iterator[Method]:
    """All methods of a file with their fields, unfiltered.

    Raises:
        UserError: the file is too long to be parsed.
    """
    for found in find_methods(parse_java(file.data), documented_only=documented_only):
        yield record(file, found, clean_fields(found))


def record(file: SourceFile, found: FoundMethod, fields: Mapping[str, tuple[str, ...]]) -> Method:
    """The record of a method found in ``file``."""
    before = file.excerpt.lines_before if file.excerpt is not None else 0
    return Method(
        origin=file.origin,
        path=file.path,
        start_line=before + found.start_line,
        end_line=before + found.end_line,
        type_name=found.type_name,
        name=found.name,
        kind=found.kind,
        source=found.source,
        documentation=found.javadoc,
        fields=fields,
        split=file.excerpt.split if file.excerpt is not None else None,
    )


def wrap(row: Mapping[str, str], split: SplitName, origin: str) -> SourceFile:
    """The method of ``row`` below its comment in a separate class, so that it is read like any other file.

    Args:
        row: ``repo``, ``path``, ``func_name`` (Type.method), ``code``, ``docstring`` without comment marks, and
            optionally ``url`` with the line, ``...#L12-L20``.
        split: of the method.
        origin: of the method.
    """
    type_name = re.sub(r"\W", "_", row["func_name"].rpartition(".")[0]) or "_"
    head = f"class {type_name} {{ /**\n{row['docstring'].replace('*/', '* /')}\n*/\n"
    place = LINE.search(row.get("url", ""))
    before = (int(place[1]) if place else 1) - head.count("\n") - 1
    data = f"{head}{row['code']}\n}}\n".encode(errors="replace")
    return SourceFile(origin, f"{row['repo']}/{row['path']}", data, Excerpt(split, before))


def java_method(
    fields: Mapping[str, str], split: SplitName, origin: str, config: DataConfig | None
) -> tuple[Method, bool]:
    """The method of a row of a published data set, and whether it could be parsed; without ``config`` it is not."""
    file = wrap(fields, split, origin)
    with limited(len(file.data)):
        method = _parsed(file, config) if config else None
    return method or _spelled(file, fields, split), method is not None


def _parsed(file: SourceFile, config: DataConfig) -> Method | None:
    """The method of ``file``; None if it cannot be parsed."""
    try:
        found = next(find_methods(parse_java(file.data), documented_only=False), None)
    except UserError:
        return None
    known = None if found is None else method_fields(found, config)[0]
    return None if found is None or known is None else record(file, found, known)


def _spelled(file: SourceFile, row: Mapping[str, str], split: SplitName) -> Method:
    """A method whose words are those of its identifiers."""
    type_name, _, name = row["func_name"].rpartition(".")
    code = row["code"]
    words = (word for identifier in _IDENTIFIER.findall(code) for word in split_identifier(identifier))
    fields = {"name": tuple(split_identifier(name)[:LONGEST]), "tokens": tuple(dict.fromkeys(words))[:LONGEST]}
    before = file.data[: file.data.index(b"\n*/\n")].count(b"\n") + 2  # lines of the class and the comment
    line = before + 1 + (file.excerpt.lines_before if file.excerpt else 0)
    place = (file.origin, file.path, line, line + code.count("\n"), type_name, name)
    return Method(*place, kind="method", source=code, documentation="", fields=fields, split=split)
