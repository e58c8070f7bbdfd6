"""What of a tree is not read: files of other kinds, by number, and folders of packages, built files and caches.

Folders that never have a project's own sources are left out (``node_modules``, ``site-packages``, environments).
Others may have some (a Python package called ``build``): they are read if git tracks something in them, if they are
packages, or if they are below a folder of sources and no project's description is beside them. Without git they are
also read if they are projects of their own that people wrote: they have a description such as ``package.json`` or a
Makefile, and none of their first sources looks built, by its text, by what lies beside it, or since a source outside is
called so.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from data_prep.errors import one_line
from data_prep.files.access import raise_if_passing, read_regular
from data_prep.languages.registry import language_of, language_of_name, language_of_script
from search.files.languages import DOCUMENTS, LANGUAGES

DOCUMENT_KIND: Final = "documents"
"""The kind of texts and configuration that were not asked for."""
_NONE: Final = "without suffix"
_LINE: Final = 256
"""Bytes of the first line of a script that are read."""
_OTHERS: Final = frozenset((
    "node_modules", "bower_components", "jspm_packages", "web_modules", "site-packages", "dist-packages",
    "__pypackages__", "__pycache__", "venv", "virtualenv", "Pods", "Carthage", "DerivedData", "htmlcov", "elm-stuff",
    "CMakeFiles", "cmake-build-debug", "cmake-build-release", "_build", "dist-newstyle", "lua_modules", "packrat",
    "zig-out", "zig-cache", "lcov-report", "storybook-static",
))  # fmt: skip
"""Names of folders of others' code and of caches."""
_ENDINGS: Final = (".egg-info", ".dist-info", ".egg")
_DOUBTFUL: Final = frozenset((
    "build", "dist", "target", "vendor", "third_party", "third-party", "thirdparty", "3rdparty", "3rd_party",
))  # fmt: skip
"""Names of folders that have the same, or sources of the project."""
_BESIDE: Final = {
    "deps": ("mix.exs", "rebar.config"),
    "library": ("activate.R",),
    **dict.fromkeys(("bin", "obj"), (".csproj", ".fsproj", ".vbproj")),
}
"""Other such names -> ends of the names of files beside them, without which they have sources of the project."""
_SOURCES: Final = frozenset(("src", "java", "kotlin", "internal", "pkg", "cmd"))
"""Folders below which all is sources, packages named like :data:`_DOUBTFUL` too."""
PROJECT: Final = frozenset((
    "package.json", "pom.xml", "build.gradle", "build.gradle.kts", "Cargo.toml", "go.mod", "pyproject.toml",
    "setup.py", "setup.cfg", "CMakeLists.txt", "Makefile", "composer.json", "Gemfile", "tsconfig.json", "build.sbt",
))  # fmt: skip
"""Files that describe a project."""
_READ_HIDDEN: Final = frozenset((
    ".github", ".gitlab", ".storybook", ".circleci", ".buildkite", ".husky", ".vscode", ".devcontainer", ".vitepress",
    ".vuepress", ".docusaurus", ".ci", ".config", ".changeset",
))  # fmt: skip
"""Hidden folders in which projects have scripts and settings of their own."""
_OF_GIT: Final = frozenset((".git", ".hg", ".svn", ".jj"))
_NO_SCRIPTS: Final = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|bmp|tiff?|pdf|zip|gz|tgz|xz|bz2|7z|tar|jar|war|class|o|a|so|dylib|dll|exe|pyc"
    r"|pyo|woff2?|ttf|otf|eot|mp[34]|wav|ogg|mov|avi|csv|tsv|html?|s?css|less|sass|lock|sum|mod|map|log|bin|dat|db"
    r"|sqlite3?|parquet|npy|npz|pem|crt|key|po|pot|mo|snap|golden|proto|graphql|s|asm|m|mm|jl|erl|dart|nim|ml|mli"
    r"|clj|cljs|f90|out|patch|diff|tmpl|tpl|ejs|hbs|j2|jinja2?|mdx|adoc|tex|gitkeep|editorconfig)",
    re.IGNORECASE,
)
"""Suffixes of files that begin with no ``#!`` of a language that is read, so that they need not be opened."""


@dataclass(slots=True)
class Unread:
    """What of a tree is not read; filled by a walk."""

    everything: bool = False  # whether hidden folders, and those of others' code, are read
    _kinds: Counter[str] = field(default_factory=Counter)
    _later: list[Callable[[], Iterable[str]]] = field(default_factory=list)  # give files that are not read
    folders: list[str] = field(default_factory=list)  # paths of those that were not looked into
    repositories: dict[str, bool] = field(default_factory=dict)  # the same of git repositories: whether a submodule

    def count(self, path: str, *, link: bool = False) -> None:
        """Count a file that is not read."""
        self._kinds["links" if link else kind_of(suffix_of(path))] += 1

    def count_later(self, paths: Callable[[], Iterable[str]]) -> None:
        """Count the files that ``paths`` gives when somebody asks: a walk that only looks for changes need not."""
        self._later.append(paths)

    @property
    def kinds(self) -> Mapping[str, int]:
        """Suffix, or in words what a file is -> number of files."""
        while self._later:
            self._kinds.update(map(kind_of, map(suffix_of, self._later.pop()())))
        return self._kinds

    def is_of_others(self, path: str) -> bool:
        """Whether a folder is hidden, or by its name never one of a project's own sources."""
        name = path.rpartition("/")[2]
        if self.everything or name in _OF_GIT:
            return name in _OF_GIT
        if name.startswith("."):
            return name not in _READ_HIDDEN
        return name in _OTHERS or name.endswith(_ENDINGS)

    def is_doubtful(self, path: str, beside: Collection[str]) -> bool:
        """Whether a folder is called like one of built files or copies; ``beside``: the names of files beside it."""
        *above, name = path.split("/")
        if self.everything:
            return False
        if name not in _DOUBTFUL:
            ends = _BESIDE.get(name, ())
            return bool(ends) and any(each.endswith(ends) for each in beside)
        return _SOURCES.isdisjoint(above) or not PROJECT.isdisjoint(beside)

    def is_foreign(self, path: str, inside: Collection[str]) -> bool:
        """Whether a folder is an environment of Python, or Go's copies of modules, by the names of what is in it."""
        if self.everything or not path:
            return False
        return "pyvenv.cfg" in inside or ("modules.txt" in inside and path.rpartition("/")[2] == "vendor")


_LOOKED_AT: Final = 300
"""Files of a folder."""
_READ: Final = 8
"""Sources of these that are read."""
_HEAD: Final = 4096
"""Bytes of each."""
_LONG_LINE: Final = 1000
_TOOLS: Final = re.compile(
    r"CMakeCache\.txt|CMakeFiles|\.rustc_info\.json|CACHEDIR\.TAG|\.fingerprint|maven-status|.*\.(?:map|class|o|obj|pyc"
    r"|rlib|rmeta|tsbuildinfo|min\.[cm]?js|d\.ts|so|dylib|dll|exe|jar|whl)"
)
"""Names of what tools make."""
_MADE: Final = re.compile(
    rb"sourceMappingURL|__esModule|__webpack|@generated|DO NOT EDIT|auto-?generated|generated by|\A\s*!function",
    re.IGNORECASE,
)
"""What made sources have."""


def is_written(folder: Path) -> bool:
    """Whether people wrote the sources of a folder that has a project's description, where git does not say it."""
    paths = [*islice(_below(folder), _LOOKED_AT)]
    if any(_TOOLS.fullmatch(part) for path in paths for part in path.split("/")):
        return False
    sources = [path for path in paths if language_of(path)]
    return bool(sources) and not any(_is_made(folder, path) for path in sources[:_READ])


def _below(folder: Path) -> Iterator[str]:
    """The paths of the files in a folder and below it."""
    for here, folders, files in os.walk(folder):
        folders.sort()
        start = os.path.relpath(here, folder)
        yield from (name if start == "." else f"{start}/{name}" for name in sorted(files))


def _is_made(folder: Path, path: str) -> bool:
    """Whether a source looks built, or one outside of its folder, from which it may be made or copied, is called so."""
    try:
        head, _ = read_regular(folder / path, _HEAD)
    except OSError as error:
        raise_if_passing(error)
        return True
    if _MADE.search(head) or max(map(len, head.split(b"\n"))) > _LONG_LINE:
        return True
    own = PurePosixPath(path)
    places = {own, PurePosixPath(*own.parts[1:]) if len(own.parts) > 1 else own}
    others = (folder.parent / start / place.with_suffix(suffix) for start in ("", "src", "lib") for place in places
              for suffix in {own.suffix, ".ts", ".tsx", ".jsx", ".coffee"})  # fmt: skip
    return any(other.is_file() for other in others)


def suffix_of(path: str) -> str:
    """The suffix of a file's name as it is written; "" if it has none."""
    stem, dot, end = path.rpartition("/")[2].rpartition(".")
    return f".{end}" if dot and stem and end else ""


@lru_cache(maxsize=1000)
def kind_of(suffix: str) -> str:
    """The kind of a file that is not read, by the suffix of its name."""
    return DOCUMENT_KIND if suffix in DOCUMENTS else (suffix.lower()[:20] or _NONE)


def scripts(root: Path, paths: Sequence[str]) -> Iterator[str]:
    """Those of ``paths``, which no suffix tells to be sources, that are called or begin like one that is read."""
    for path in paths:
        if language_of_name(path) or language_of(path):  # such as Rakefile, MAIN.PY
            yield path
        elif _may_be_script(suffix_of(path)) and not path.startswith(".", path.rfind("/") + 1):
            start = _start_of(f"{root}/{path}")
            if start[:1] in (b"#", b"/") and language_of_script(start) is not None:
                yield path


@lru_cache(maxsize=1000)
def _may_be_script(suffix: str) -> bool:
    return suffix not in DOCUMENTS and suffix not in LANGUAGES and not _NO_SCRIPTS.fullmatch(suffix)


def _start_of(path: str) -> bytes:
    """The first bytes of a file; none of a link, a pipe or what cannot be read. Many are asked, so that it is quick."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise_if_passing(error)
        return b""
    try:
        return os.read(number, _LINE) if stat.S_ISREG(os.fstat(number).st_mode) else b""
    except OSError as error:
        raise_if_passing(error)
        return b""
    finally:
        os.close(number)


def in_words(kinds: Mapping[str, int], most: int = 16) -> str:
    """``12 files: 5 .jl, 3 .dart, 4 documents (--documents=true reads them)``; "" if there are none."""
    if not kinds:
        return ""
    ordered = sorted(kinds.items(), key=lambda each: (-each[1], each[0]))
    hint = " (--documents=true reads them)"
    parts = [f"{count:,} {kind}{hint if kind == DOCUMENT_KIND else ''}" for kind, count in ordered[:most]]
    if rest := sum(count for _, count in ordered[most:]):
        parts.append(f"{rest:,} of other kinds")
    total = sum(kinds.values())
    return f"{total:,} {'file' if total == 1 else 'files'}: {', '.join(parts)}"


def folders_in_words(folders: Sequence[str], most: int = 8) -> str:
    """``5 folders: node_modules (2), .venv, build``, by their names; "" if there are none."""
    if not folders:
        return ""
    names = Counter(folder.rpartition("/")[2] for folder in folders)
    parts = [name if count == 1 else f"{name} ({count:,})" for name, count in names.most_common(most)]
    if len(names) > most:
        parts.append(f"and others ({sum(names.values()) - sum(count for _, count in names.most_common(most)):,})")
    return f"{len(folders):,} {'folder' if len(folders) == 1 else 'folders'}: {', '.join(parts)}"


def repositories_in_words(repositories: Mapping[str, bool], most: int = 3) -> str:
    """``1 submodule (lib) is not looked into: bash run.sh index DIR --submodules=true``; "" if there are none."""
    parts = []
    for submodule, what, how in (
        (True, "submodule", "bash run.sh index DIR --submodules=true includes"),
        (False, "git repository of its own", "bash run.sh search QUESTION THAT-FOLDER asks"),
    ):
        paths = sorted(path for path, is_submodule in repositories.items() if is_submodule == submodule)
        if paths:
            one = len(paths) == 1
            name = what if one else what.replace("repository of its", "repositories of their").replace("ule", "ules")
            named = ", ".join(map(one_line, paths[:most])) + (", ..." if len(paths) > most else "")
            parts.append(f"not looked into: {len(paths):,} {name} ({named}): {how} {'it' if one else 'them'}")
    return "; ".join(parts)
