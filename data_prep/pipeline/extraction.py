"""Source tree -> shard: its functions, file by file, with their licences and counts. Light to import: no numpy."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

from data_prep.errors import UserError
from data_prep.files.access import raise_if_passing
from data_prep.installation import program_sha256
from data_prep.languages.fields import left_out_lines
from data_prep.languages.language import FoundFunction, Function, Language, ParsedSource
from data_prep.languages.registry import language as language_named
from data_prep.languages.registry import language_of, languages
from data_prep.pipeline.filters import IDENTICAL, LARGEST_FILE, function_reason, is_generated, path_reason, text_reason
from data_prep.pipeline.shards import CorpusFile, CorpusFunction, TreeName, alphanumeric_runs, shard_bytes
from data_prep.pipeline.stages import Sums
from data_prep.sources.git_repository import bare_repository, fetched_commit
from data_prep.sources.licences import TreeLicences, permitted, states_licence
from data_prep.sources.own_git import GitError
from data_prep.sources.source_tree import GitTree, PackageTree, SourceTree
from data_prep.worker_pool import LimitedCalls
from data_prep.worker_process import FILE, EndedByItemError, limited

UNKNOWN_LICENCE: Final = "licence not recognised"
OTHER_LICENCE: Final = "licence not permitted"
COSTLY: Final = "too costly to parse"
_EXTRACT: Final = f"{__name__}:extract_file"


@dataclass(frozen=True, slots=True)
class TreeTask:
    """A source tree to extract."""

    tree: TreeName
    languages: Sequence[str]
    kind: Literal["clone", "fetch", "archive"]
    place: str  # the folder of a clone, the address to fetch from, or an archive
    program: str = ""  # checksum of the program that extracts, for the shard
    apart: bool = False  # whether each file is parsed in a process of its own, for a tree that has ended the common one


@dataclass(frozen=True, slots=True)
class MadeShard:
    """The shard of a tree."""

    data: bytes  # b"" with a trouble
    trouble: str = ""  # why there is none


@dataclass(slots=True)
class Counts(Sums):
    """What a tree has of a language."""

    files: Counter[str] = field(default_factory=Counter)  # reason -> files; "": with functions that are kept or indexed
    functions: Counter[str] = field(default_factory=Counter)  # reason -> functions; "": of pairs
    licences: Counter[str] = field(default_factory=Counter)  # SPDX -> functions of pairs
    bytes: int = 0  # of files that were parsed
    broken: int = 0  # functions left out with broken text
    broken_files: list[tuple[str, str]] = field(default_factory=list)  # path, which functions these are

    def as_dict(self) -> dict[str, Any]:
        """For a shard's first line."""
        counters = {name: dict(sorted(getattr(self, name).items())) for name in ("files", "functions", "licences")}
        files = {"broken_files": self.broken_files} if self.broken_files else {}
        return {**counters, "bytes": self.bytes, "broken": self.broken, **files}


@lru_cache(maxsize=64)
def extraction_program(names: tuple[str, ...]) -> str:
    """Checksum of the program that extracts functions of some languages, with the versions of their grammars."""
    read = [each for each in languages() if each.in_corpora or each.name in names]
    grammars = " ".join(f"{each.distribution}={version(each.distribution)}" for each in read if each.distribution)
    return hashlib.sha256(f"{program_sha256(__name__)} {grammars}".encode()).hexdigest()


def make_shard(task: TreeTask) -> MadeShard:
    """Extract a source tree; one that cannot be read has no shard, and the reason."""
    try:
        if task.kind == "fetch":
            with fetched_commit(task.place, task.tree.revision) as repository:
                return _made(task, GitTree(repository, task.tree.revision))
        return _made(task, _tree(task))
    except (GitError, UserError, OSError) as error:
        raise_if_passing(error)
        return MadeShard(b"", " ".join(str(error).split()) or type(error).__name__)


def _tree(task: TreeTask) -> SourceTree:
    if task.kind == "archive":
        wanted = (*(suffix for name in task.languages for suffix in language_named(name).suffixes), "debian/copyright")
        return PackageTree(Path(task.place), lambda path: path.endswith(wanted) or states_licence(path))
    repository = bare_repository(Path(task.place))
    if repository is None:
        raise GitError(f"{task.place} is no clone")
    return GitTree(repository, task.tree.revision)


def _made(task: TreeTask, tree: SourceTree) -> MadeShard:
    counts: dict[str, Counts] = {}
    head: dict[str, Any] = {"tree": asdict(task.tree), "program": task.program}
    apart = LimitedCalls(FILE, 1) if task.apart else None
    try:
        files = list(extract_tree(tree, task.languages, counts, apart))
    finally:
        if apart:
            apart.close()
    head["languages"] = {name: each.as_dict() for name, each in counts.items()}
    return MadeShard(shard_bytes(head, files))


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
    read = [each for each in entries if not each.reason and each.size <= LARGEST_FILE]
    licences = TreeLicences(dict(tree.read([each.path for each in read if states_licence(each.path)])))
    wanted: dict[str, Language] = {}
    for entry in entries:
        language = language_of(entry.path)
        if language is not None and language.name in counts and entry.path.endswith(language.suffixes):
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
    lines = [*parsed.broken_lines, *(each.start_line for each in parsed.damaged())] if parsed.broken_line else []
    if which := left_out_lines(lines):
        counts.broken_files.append((path, f"does not parse at line {parsed.broken_line}: {which}"))
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
    same = {each.name: getattr(found, each.name) for each in fields(Function)}
    return CorpusFunction(**same, reason=reason, fields={} if reason else found.fields())


def disjoint(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans without those inside of others."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def begins_comment(text: str, path: str, line: int) -> bool:
    """Whether a comment begins a line, by the parser: one in a string or in markup does not; a broken text may.

    Args:
        text: a whole file.
        path: its name, whose suffix tells the language.
        line: from 1.

    Raises:
        UserError: it is too long to be parsed.
    """
    language = language_of(path)
    lines = text.encode("utf-8", "replace").split(b"\n")
    start = sum(map(len, lines[: line - 1])) + line - 1
    start += len(lines[line - 1]) - len(lines[line - 1].lstrip())
    parsed = language.parse(b"\n".join(lines), path) if language else None
    return parsed is None or bool(parsed.broken_line) or any(first == start for first, _ in parsed.comments)


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
