"""The functions of a source tree, file by file, with their licences and counts. Light to import: no torch, no numpy."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from data_prep.corpus.filters import IDENTICAL, LARGEST_FILE, function_reason, is_generated, path_reason, text_reason
from data_prep.corpus.records import CorpusFile, CorpusFunction, alphanumeric_runs
from data_prep.languages.registry import language_of
from data_prep.languages.source_language import FoundFunction, ParsedSource, SourceLanguage
from data_prep.licences.licences import TreeLicences, states_licence
from data_prep.licences.permissive import permitted
from data_prep.sources.source_tree import Entry, SourceTree

UNKNOWN_LICENCE: Final = "licence not recognised"
OTHER_LICENCE: Final = "licence not permitted"


@dataclass(slots=True)
class Counts:
    """What a tree has of a language."""

    files: Counter[str] = field(default_factory=Counter)  # reason -> files; "": with functions that are kept or indexed
    functions: Counter[str] = field(default_factory=Counter)  # reason -> functions; "": of pairs
    licences: Counter[str] = field(default_factory=Counter)  # SPDX -> functions of pairs
    bytes: int = 0  # of files that were parsed
    broken: int = 0  # functions left out with broken text

    def as_dict(self) -> dict[str, Any]:
        """For a shard's first line."""
        counters = {name: dict(sorted(getattr(self, name).items())) for name in ("files", "functions", "licences")}
        return {**counters, "bytes": self.bytes, "broken": self.broken}


def extract_tree(tree: SourceTree, languages: Sequence[str], counts: dict[str, Counts]) -> Iterator[CorpusFile]:
    """The files with functions of a tree in ``languages``, sorted by path; ``counts`` is filled."""
    counts.update({name: Counts() for name in sorted(languages)})
    entries = tree.entries()
    licences = TreeLicences(dict(tree.read([each.path for each in entries if _states_licence(each)])))
    wanted: dict[str, SourceLanguage] = {}
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
        found = extract_file(path, data, wanted[path], licences, counts[wanted[path].name])
        if found is not None:
            yield found


def _states_licence(entry: Entry) -> bool:
    return not entry.reason and entry.size <= LARGEST_FILE and states_licence(entry.path)


def extract_file(
    path: str, data: bytes, language: SourceLanguage, licences: TreeLicences, counts: Counts
) -> CorpusFile | None:
    """The functions of a file; None if it is left out or has none."""
    data = data.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf")
    reason, licence = text_reason(data), ""
    if not reason:
        stated = licences.of(path, data)
        licence = permitted(stated)
        reason = "" if licence else OTHER_LICENCE if stated else UNKNOWN_LICENCE
    if reason:
        counts.files[reason] += 1
        return None
    try:
        parsed = language.parse(data, path)
    except ValueError:
        counts.files["not parsed"] += 1
        return None
    counts.bytes += len(data)
    counts.broken += parsed.left_out
    if is_generated(data, parsed.code_start):
        counts.files["generated"] += 1
        return None
    file = CorpusFile(path, language.name, licence, data, disjoint(parsed.comments), ())
    functions = _functions(file, parsed, language)
    counts.files["" if functions else "without functions"] += 1
    counts.functions.update(function.reason for function in functions)
    counts.licences += Counter({licence: sum(not function.reason for function in functions)})
    return replace(file, functions=functions) if functions else None


def _functions(file: CorpusFile, parsed: ParsedSource, language: SourceLanguage) -> list[CorpusFunction]:
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
