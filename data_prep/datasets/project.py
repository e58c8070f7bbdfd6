"""One whole project as a pool, of any language that is read: a directory, zip, jar or tar at ``--data.path=``.

All of its functions are candidates, and those that are documented are queries: a test of any run, by
``--evaluate.extra_tests=project:PATH``. Files of tests, copies of other projects and generated files are left out, as
in a corpus; no licence is asked for, since nothing is published.
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.datasets.java_sources import Folder
from data_prep.errors import UserError
from data_prep.languages.identifiers import query_words
from data_prep.languages.language import FoundFunction, Function, Language
from data_prep.languages.registry import LANGUAGES, language, language_of
from data_prep.pipeline.extraction import disjoint
from data_prep.pipeline.filters import (
    CORPUS_FILTERS,
    Candidate,
    function_reason,
    is_generated,
    path_reason,
    reason_to_drop,
    text_reason,
)
from data_prep.pipeline.java_extraction import Chunk, extract
from data_prep.pipeline.shards import CorpusFile, CorpusFunction
from data_prep.pipeline.stages import Extracted, MadePairs, Stopwatch, chunked, collected, listed
from data_prep.records import Method, Pair, SourceFile
from data_prep.sources.archives import read_archive
from data_prep.worker_pool import Guard
from data_prep.worker_process import PAIRS

_READ: Final = f"{__name__}:read_chunk"
_CHUNK_BYTES: Final = 1 << 20
_GUARD: Final = Guard(Chunk.divided, Extracted.joined, Chunk.refused, PAIRS)
_ANY: Final = ("java", "all")
"""Languages that mean every one: the default, and all."""


class Project(Folder):
    """All functions of a project of any language as candidates, those documented as queries; a test alone."""

    name = "project"
    languages = tuple(LANGUAGES)

    def __init__(self, config: DataConfig) -> None:
        """Resolve ``config.path``.

        Raises:
            UserError: it is empty or cannot be resolved, or there is no such language.
        """
        super().__init__(config)
        self._read = set(LANGUAGES) if config.language in _ANY else {language(config.language).name}
        if config.language not in _ANY:
            self.cache_name += f"-{config.language}"

    def make(self, progress: bool) -> MadePairs:
        """Read the functions, in the order of the files.

        Raises:
            UserError: the place cannot be read, or no function of it is documented.
            OSError: a file cannot be read, or a process was killed.
        """
        watch = Stopwatch()
        chunks = (
            Chunk(each, self._config) for each in chunked(self._files(), lambda file: len(file.data), _CHUNK_BYTES)
        )
        found = collected(_READ, chunks, self._config, _GUARD, unit="files", progress=progress)
        watch.stage("read")
        queries = sum(bool(pair.query) for pair in found.pairs)
        if not queries:
            raise UserError(
                f"{self.origin()} has {len(found.pairs):,} functions in {found.files:,} files, none of which is "
                "documented in three words or more: name another project, or another --data.language"
            )
        counts: dict[str, Any] = {
            "files": found.files,
            "functions": len(found.pairs),
            "queries": queries,
            "no query": dict(found.dropped.most_common()),
            "pairs": len(found.pairs),
        }
        manifest = {
            "counts": counts,
            "broken_files": listed([*found.broken, *self.left_out]),
            "test_reading": {"candidates_without_query": True},
        }
        source = f"{len(found.pairs):,} functions in {found.files:,} files, {queries:,} of them documented"
        return MadePairs({"train": [], "valid": [], "test": found.pairs}, manifest, source, watch.seconds)

    def _files(self) -> Iterator[SourceFile]:
        self.left_out.clear()

        def wanted(path: str) -> bool:
            known = language_of(path)
            return known is not None and known.name in self._read and not path_reason(path, known)

        (place,) = self.inputs()
        for path, data in read_archive(place, wanted, lambda path, reason: self.left_out.append((path, reason))):
            yield SourceFile(self.origin(), path, data)


def read_chunk(chunk: Chunk) -> Extracted:
    """The functions of a chunk's files, each with its query, "" if it has none; broken files are recorded."""
    return extract(chunk, _read)


def _read(file: SourceFile, config: DataConfig, found: Extracted) -> None:
    known = language_of(file.path)
    assert known is not None
    data = file.data.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf")
    if reason := text_reason(data):
        found.broken.append((file.path, reason))
        return
    try:
        parsed = known.parse(data, file.path)
    except UserError as error:
        found.broken.append((file.path, str(error)))
        return
    if is_generated(data, parsed.code_start, of_corpus=True):
        found.broken.append((file.path, "generated"))
        return
    whole = CorpusFile(file.path, known.name, "", data, disjoint(parsed.comments), ())
    for function in filter(lambda each: each.name, parsed.functions):
        pair = _pair(file.origin, whole, function, known, config, found)
        if any(pair.method.fields.values()):
            found.pairs.append(pair)


def _pair(
    origin: str, file: CorpusFile, found: FoundFunction, known: Language, config: DataConfig, counts: Extracted
) -> Pair:
    """A function with its query, or without one if the rules of a corpus leave it out."""
    code = file.stripped(found.start, found.end)
    lines, query = len(code.splitlines()), query_words(found.query)
    candidate = Candidate(
        file.path, found.name, "method", lines, found.annotations, found.doc, found.query, query, generated_file=False
    )
    reason = function_reason(found, known, lines) or reason_to_drop(candidate, config, CORPUS_FILTERS) or ""
    if reason:
        counts.dropped[reason] += 1
    same = {each.name: getattr(found, each.name) for each in fields(Function)}
    method = Method(
        origin, file.path, found.start_line, found.end_line, found.type_name, found.name, "method",
        file.source(CorpusFunction(**same, reason=reason)), found.doc, found.fields(),
    )  # fmt: skip
    return Pair(method, "" if reason else found.query, () if reason else query)
