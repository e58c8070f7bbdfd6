"""The functions of a source tree, file by file, with their licences and counts. Light to import: no torch, no numpy."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.languages.language import FoundFunction, Language, ParsedSource
from data_prep.languages.registry import language as language_named
from data_prep.languages.registry import language_of
from data_prep.licences.licences import TreeLicences, states_licence
from data_prep.licences.permissive import permitted
from data_prep.pipeline.filters import IDENTICAL, LARGEST_FILE, function_reason, is_generated, path_reason, text_reason
from data_prep.pipeline.shards import CorpusFile, CorpusFunction, alphanumeric_runs
from data_prep.sources.source_tree import Entry, SourceTree
from data_prep.worker_pool import LimitedCalls
from data_prep.worker_process import EndedByItemError, limited

UNKNOWN_LICENCE: Final = "licence not recognised"
OTHER_LICENCE: Final = "licence not permitted"
COSTLY: Final = "too costly to parse"
_EXTRACT: Final = f"{__name__}:extract_file"


@dataclass(slots=True)
class Counts:
    """What a tree has of a language."""

    files: Counter[str] = field(default_factory=Counter)  # reason -> files; "": with functions that are kept or indexed
    functions: Counter[str] = field(default_factory=Counter)  # reason -> functions; "": of pairs
    licences: Counter[str] = field(default_factory=Counter)  # SPDX -> functions of pairs
    bytes: int = 0  # of files that were parsed
    broken: int = 0  # functions left out with broken text

    def add(self, other: "Counts") -> None:
        """Count what the other has counted too."""
        self.files.update(other.files)
        self.functions.update(other.functions)
        self.licences.update(other.licences)
        self.bytes += other.bytes
        self.broken += other.broken

    def as_dict(self) -> dict[str, Any]:
        """For a shard's first line."""
        counters = {name: dict(sorted(getattr(self, name).items())) for name in ("files", "functions", "licences")}
        return {**counters, "bytes": self.bytes, "broken": self.broken}


def extract_tree(
    tree: SourceTree, languages: Sequence[str], counts: dict[str, Counts], apart: LimitedCalls | None = None
) -> Iterator[CorpusFile]:
    """The files with functions of a tree in ``languages``, sorted by path.

    Args:
        tree: the tree.
        languages: their names.
        counts: is filled.
        apart: parses each file, and leaves out what costs too much; None: this process parses, which a file ends that
            costs more than its limits, if it has any.
    """
    counts.update({name: Counts() for name in sorted(languages)})
    entries = tree.entries()
    licences = TreeLicences(dict(tree.read([each.path for each in entries if _states_licence(each)])))
    wanted: dict[str, Language] = {}
    for entry in entries:
        language = language_of(entry.path)
        if language is not None and language.name in counts:
            reason = entry.reason or path_reason(entry.path, language, published=tree.published)
            reason = reason or ("too large" if entry.size > LARGEST_FILE else "")
            if reason:
                counts[language.name].files[reason] += 1
            else:
                wanted[entry.path] = language
    for path, data in tree.read([*wanted]):
        found, counted = _extracted(path, data, wanted[path], licences.of(path, data), apart)
        counts[wanted[path].name].add(counted)
        if found is not None:
            yield found


def _extracted(
    path: str, data: bytes, language: Language, stated: str, apart: LimitedCalls | None
) -> tuple[CorpusFile | None, Counts]:
    if apart is None:
        with limited(len(data)):
            return extract_file(path, data, language.name, stated)
    try:
        found: tuple[CorpusFile | None, Counts] = apart.call(_EXTRACT, path, data, language.name, stated)
    except EndedByItemError:
        return None, Counts(Counter({COSTLY: 1}))
    return found


def _states_licence(entry: Entry) -> bool:
    return not entry.reason and entry.size <= LARGEST_FILE and states_licence(entry.path)


def extract_file(path: str, data: bytes, language_name: str, stated: str) -> tuple[CorpusFile | None, Counts]:
    """The functions of a file, None if it is left out or has none; and what was counted.

    Args:
        path: in its tree.
        data: the file.
        language_name: as in ``--data.language``.
        stated: its licence, as the tree states it.
    """
    language, counts = language_named(language_name), Counts()
    data = data.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf")
    licence = permitted(stated)
    reason = text_reason(data) or ("" if licence else OTHER_LICENCE if stated else UNKNOWN_LICENCE)
    if reason:
        counts.files[reason] += 1
        return None, counts
    try:
        parsed = language.parse(data, path)
    except UserError:
        counts.files["not parsed"] += 1
        return None, counts
    counts.bytes += len(data)
    counts.broken += parsed.left_out
    if is_generated(data, parsed.code_start, of_corpus=True):
        counts.files["generated"] += 1
        return None, counts
    file = CorpusFile(path, language.name, licence, data, disjoint(parsed.comments), ())
    functions = _functions(file, parsed, language)
    counts.files["" if functions else "without functions"] += 1
    counts.functions.update(function.reason for function in functions)
    counts.licences += Counter({licence: sum(not function.reason for function in functions)})
    return replace(file, functions=functions) if functions else None, counts


def _functions(file: CorpusFile, parsed: ParsedSource, language: Language) -> list[CorpusFunction]:
    """The functions of a file with the reasons to leave them out."""
    reasons, seen = [], Counter[bytes]()
    codes = [file.stripped(found.start, found.end) for found in parsed.functions]
    for found, code in zip(parsed.functions, codes, strict=True):
        reasons.append(function_reason(found, language, len(code.splitlines())))
        seen[alphanumeric_runs(code)] += not reasons[-1]
    if max(seen.values(), default=0) > 1:
        reasons = [reason or IDENTICAL for reason in reasons]
    return [_function(found, reason) for found, reason in zip(parsed.functions, reasons, strict=True)]


def _function(found: FoundFunction, reason: str) -> CorpusFunction:
    fields: Mapping[str, Sequence[str]] = {} if reason else found.fields()
    return CorpusFunction(
        found.name, found.type_name, found.kind, found.start, found.end, found.start_line, found.end_line,
        found.doc, found.query, found.docstring, tuple(found.annotations), reason, fields,
    )  # fmt: skip


def disjoint(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans without those inside of others."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def plain_code(text: str, language_name: str) -> str:
    """``text`` without comments, docstrings and blank lines; text that the parser refuses is returned as it is.

    Args:
        text: of any length; it may be broken, and end anywhere.
        language_name: as in ``--data.language``.

    Raises:
        UserError: there is no such language.
    """
    found, data = language_named(language_name), text.encode("utf-8", "replace").replace(b"\r\n", b"\n")
    try:
        comments = disjoint(found.parse(data, f"context{found.suffixes[0]}").comments)
    except UserError:  # larger than any source file
        return text
    return CorpusFile("", language_name, "", data, comments, ()).stripped(0, len(data)).decode("utf-8", "replace")
