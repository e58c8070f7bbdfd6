"""Sources at a place that the user names, Java alone or a whole project of any language; and a sample of Debian.

- ``folder``: any directory, zip, jar or tar of Java, at ``--data.path=``.
- ``project``: the same with files of any language, as a pool. All of its functions are candidates, and those that are
  documented are queries: a test of any run, by ``--evaluate.extra_tests=project:PATH``. Files of tests, copies of other
  projects and generated files are left out, as in a corpus; no licence is asked for, since nothing is published.
- ``debian_sample``: the upstream sources of six large libraries, split by whole projects. ``debian_sample.txt`` lists
  the packages and the project of each. ``--data.path=`` may name a folder of existing source archives
  (``NAME_VERSION.orig.tar.xz``); otherwise apt-get downloads them.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.access import named_path
from data_prep.languages.language import FoundFunction, Language
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
from data_prep.pipeline.java_extraction import Chunk, extract, extract_all
from data_prep.pipeline.pairs import JavaSources
from data_prep.pipeline.shards import CorpusFile
from data_prep.pipeline.splits import SplitRule
from data_prep.pipeline.stages import Extracted, MadePairs, Stopwatch, listed
from data_prep.records import Method, Pair, SourceFile
from data_prep.sources.archives import read_archive, read_java_files
from data_prep.sources.debian_sources import (
    MOST_LEFT_OUT,
    FoundSources,
    SourceArchive,
    archives_in,
    fetched_archives,
    read_list,
)

SAMPLE: Final = Path(__file__).with_name("debian_sample.txt")


class Folder(JavaSources):
    """Any directory, zip, jar or tar of Java under ``--data.path=``; each path has a separate prepared folder."""

    name = "folder"
    rule = SplitRule(named=False)

    def __init__(self, config: DataConfig) -> None:
        """Resolve ``config.path``.

        Raises:
            UserError: it is empty or cannot be resolved.
        """
        super().__init__(config)
        if not config.path:
            raise UserError(f"data set {self.name} needs --data.path=, a directory, zip, jar or tar of sources")
        try:
            self._path = named_path(config.path).resolve()
        except RuntimeError as error:  # pathlib's error for a loop of links
            raise UserError(
                f"--data.path={config.path} is a loop of links: expected a directory, zip, jar or tar of Java sources"
            ) from error
        slug = re.sub(r"[^a-z0-9]+", "-", self._path.name.lower()).strip("-")[:40] or "root"
        self.cache_name = f"{self.name}-{slug}-{hashlib.sha256(bytes(self._path)).hexdigest()[:8]}"

    def inputs(self) -> list[Path]:
        """The directory or archive.

        Raises:
            UserError: the path does not exist, or is a pipe or device.
        """
        if not self._path.exists():
            raise UserError(f"--data.path={self._path} does not exist: expected a directory, zip, jar or tar")
        if not (self._path.is_dir() or self._path.is_file()):
            raise UserError(f"--data.path={self._path} is no file: expected a directory, zip, jar or tar")
        return [self._path]

    def origin(self) -> str:
        """The name of the directory or archive."""
        return self._path.name or "root"

    def java_files(self) -> Iterator[SourceFile]:
        """Every ``*.java`` file, sorted by path."""
        self.left_out.clear()
        return read_java_files(self._path, self.origin(), lambda path, reason: self.left_out.append((path, reason)))


class DebianSample(JavaSources):
    """Java of six of Debian's source packages, large and well documented libraries; 18 MB to fetch."""

    cache_name = "debian_sample"
    packages = SAMPLE
    rule = SplitRule(by="project", test_pairs=10_000, valid_pairs=5_000)

    def __init__(self, config: DataConfig) -> None:
        super().__init__(config)
        self._found: FoundSources | None = None
        self._refused: dict[str, str] = {}  # archive -> why it is not read

    def inputs(self) -> list[Path]:
        """The list of packages and their archives, downloaded if missing.

        Raises:
            UserError: there are none and the download failed.
        """
        return [self.packages, *(archive.path for archive in self._sources().archives)]

    def origin(self) -> str:
        """``debian-`` and the release's name, if known."""
        release = self._sources().release
        return f"debian-{release}" if release else "debian"

    def java_files(self) -> Iterator[SourceFile]:
        """Every source file, sorted by project, package and path; its origin is ``project/package_version``.

        Raises:
            UserError: more than MOST_LEFT_OUT of the archives cannot be read.
        """
        self.left_out.clear()
        self._refused.clear()
        archives = self._sources().archives
        for archive in sorted(archives, key=lambda each: (each.project, each.package, each.version, each.part)):
            yield from self._files_of(archive)
        if len(self._refused) > MOST_LEFT_OUT * len(archives):
            name, reason = next(iter(self._refused.items()))
            raise UserError(f"{len(self._refused):,} of {len(archives):,} archives cannot be read, {name}: {reason}")

    def make(self) -> MadePairs:
        """Build the pairs; the manifest also has release, projects, packages, and skipped packages."""
        made, found = super().make(), self._sources()
        packages = [
            {"project": each.project, "package": each.package, "version": each.version, "archive": each.path.name}
            for each in found.archives
        ]
        made.manifest["about"] = {
            "release": found.release,
            "fetched": found.fetched,
            "projects": len({each.project for each in found.archives}),
            "packages": packages,
            "packages_left_out": dict(sorted(found.left_out.items())),
            "archives_left_out": dict(self._refused),
        }
        return made

    def _files_of(self, archive: SourceArchive) -> Iterator[SourceFile]:
        """An archive's files; a refused or damaged archive is skipped."""
        origin = f"{archive.project}/{archive.package}_{archive.version}"

        def skipped(path: str, reason: str) -> None:
            self.left_out.append((f"{origin}/{path}", reason))

        try:
            for file in read_java_files(archive.path, origin, skipped):
                yield replace(file, path=f"{archive.part}/{file.path}") if archive.part else file
        except UserError as error:
            self._refused[archive.path.name] = str(error)

    def _sources(self) -> FoundSources:
        if self._found is None:
            projects = read_list(self.packages)
            if self._config.path:
                self._found = archives_in(named_path(self._config.path), projects)
            else:
                self._found = fetched_archives(Path(self._config.root) / "raw" / self.cache_name, projects)
        return self._found


_READ: Final = f"{__name__}:read_chunk"
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

    def make(self) -> MadePairs:
        """Read the functions, in the order of the files.

        Raises:
            UserError: the place cannot be read, or no function of it is documented.
            OSError: a file cannot be read, or a process was killed.
        """
        watch = Stopwatch()
        found = extract_all(self._files(), self._config, _READ)
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
    lines = len(code.splitlines())
    candidate = Candidate.of_function(file.path, found, lines)
    reason = function_reason(found, known, lines) or reason_to_drop(candidate, config, CORPUS_FILTERS) or ""
    if reason:
        counts.dropped[reason] += 1
    method = Method(
        origin, file.path, found.start_line, found.end_line, found.type_name, found.name, "method",
        file.source(found), found.doc, found.fields(),
    )  # fmt: skip
    return Pair(method, "" if reason else found.query, () if reason else candidate.query)
