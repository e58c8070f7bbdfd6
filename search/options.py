"""Options of ``index``, ``search``, ``related`` and ``serve``. Light to import, for the help."""

from dataclasses import dataclass, fields
from typing import Final, Literal

from data_prep.errors import WORKERS, UserError, check_bounds, shown, whole

EXPECTED: Final = 'bash run.sh search "QUESTION" DIR'
"""The command, for messages."""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of ``index``."""

    list: str = ""
    """File that lists repositories, one a line (docs/company.md), of which each gets an index of its own."""
    out: str = ""
    """File of the index; empty: one in the user's cache folder, named by the indexed folder."""
    processes: int = 0
    """Processes that read files; 0: one per CPU core."""
    vectors: str = ""
    """Folder of a run of a bi-encoder, such as unif or minilm, or of a model of sentence-transformers, that encodes
    every row as a vector; empty: the model of the existing vectors, or the shipped one; none: no vectors."""
    documents: Literal["", "true", "false"] = ""
    """true: texts and configuration (Markdown, reStructuredText, txt, TOML, YAML, JSON, properties, Gradle, XML) are
    indexed too, each as a whole file; empty: as in the existing index, else false."""
    submodules: Literal["", "true", "false"] = ""
    """true: the git submodules of the folder are indexed too; empty: as for the existing index, else false."""
    everything: Literal["", "true", "false"] = ""
    """true: hidden folders, and those of packages, built files and caches (node_modules, .venv, build, vendor), are
    indexed too; ignore files still count; empty: as in the existing index, else false."""
    json: bool = False
    """Print one JSON object: what is indexed, by language and kind, what is left out and why, and how long it took."""

    def __post_init__(self) -> None:
        check_bounds(self, {"processes": WORKERS})


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options of ``search`` and ``related``."""

    top: int = 10
    """Number of hits."""
    path: str = ""
    """Folder, file or pattern that the paths of hits must match, such as src/ or src/*; empty: all. As filters in the
    question: path:src/ type:class|function|method|constant|test|file lang:python test:no|only|yes ext:py, each but
    test also with a minus."""
    language: str = ""
    """Languages that hits must be in, such as python,go; empty: all, with --at that of its file."""
    changed: bool = False
    """Only files that git calls changed: modified, added or untracked."""
    json: bool = False
    """Print one JSON object."""
    files: bool = False
    """Print the path of each file with an answer, the best first, one on a line."""
    vimgrep: bool = False
    """Print path:line:column:text for each hit, for an editor's list of places."""
    explain: bool = False
    """Show scores, licences and where copies are; for a question also what each of its words is aligned with, and which
    stage determined a hit's rank."""
    nearest: str = ""
    """How the vectors beside an index are searched: exact, faiss, a file NAME.db or the URI of a Milvus; none: not at
    all; empty: exact or, from 250,000 rows on if it is installed, faiss."""

    def __post_init__(self) -> None:
        check_bounds(self, {"top": whole(1, 100_000)})
        forms = [name for name in ("json", "files", "vimgrep") if getattr(self, name)]
        if len(forms) > 1:
            raise UserError(f"--{forms[0]} and --{forms[1]} are two forms of one answer: leave one out")
        if self.language:
            from search.files.languages import chosen_languages

            chosen_languages(self.language)


@dataclass(frozen=True, slots=True)
class SearchOptions(AnswerOptions):
    """Options of ``search``."""

    list: str = ""
    """File that lists repositories, as for index; all are searched together."""
    index: str = ""
    """File of an index; empty: that of DIR, or of this folder or the nearest one above it in its repository, which is
    made if there is none, in the user's cache folder."""
    model: str = ""
    """Folder of a run or of a packed model; empty: the shipped model; none: BM25 alone."""
    at: str = ""
    """FILE:LINE of a cursor: the text above it is part of the question, which may also stand in a comment on the line,
    such as # search: retry with backoff; the index is that of the file's folder or of the nearest one above it."""
    by: str = "method"
    """method: every function, method, type, constant or file; file: the best hit of each file."""
    regex: str = ""
    """Regular expression (RE2) that the text of hits must match, with a question or without; (?i) ignores case."""
    usages: bool = False
    """Show who calls or mentions a name: --usages NAME, Type.method or module.function; --top is then the number of
    usages, 50 if it is not given."""
    snippet: str = ""
    """File with code or a stack trace that is the question; - in place of the question: from standard input."""

    def __post_init__(self) -> None:
        AnswerOptions.__post_init__(self)
        if self.by not in ("method", "file"):
            raise UserError(f"--by takes method or file, not {self.by!r}")
        if self.list and (self.index or self.nearest not in ("", "none")):
            raise UserError(
                "--list names the indexes, each searched with its own vectors: leave out --index, --nearest"
            )


@dataclass(frozen=True, slots=True)
class RelatedOptions(AnswerOptions):
    """Options of ``related``."""

    index: str = ""
    """File of the index; empty: that of the file's folder or of the nearest one above it, in the user's cache
    folder."""
    model: str = ""
    """none: without vectors."""

    def __post_init__(self) -> None:
        AnswerOptions.__post_init__(self)
        if self.model not in ("", "none"):
            raise UserError(f"--model takes none or nothing here, since no model scores code, not {self.model!r}")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options of ``serve``."""

    port: int = 8765
    """Port; 0: any free one."""
    list: str = ""
    """File that lists repositories, as for index; all are searched together."""
    shared: bool = False
    """Answer several users, whom an authenticating proxy names, each from those repositories of --list that the list
    permits; nothing is stored (docs/company.md)."""
    host: str = "127.0.0.1"
    """With --shared: the address to listen at, such as that of an inner network."""
    secret: str = ""
    """With --shared: a file with the secret that the proxy sends as the header X-Search-Secret."""
    user_header: str = "X-Forwarded-User"
    """With --shared: the header by which the proxy names the user."""
    groups_header: str = "X-Forwarded-Groups"
    """With --shared: the header by which the proxy names the user's groups, separated by commas."""
    feedback: str = ""
    """Address (https) of a form for what users think of answers, which answers to editors name; empty: none."""
    index: str = ""
    """File of the index; empty: that of this folder or of the nearest one above it, in the user's cache folder."""
    posts: str = ""
    """Folder of an index of posts (bash run.sh posts index); empty: this program's data/posts-index, if it exists;
    none: none."""
    folder: str = ""
    """The indexed folder, whose files the page shows; empty: this one, or the nearest above it that has the index."""
    model: str = ""
    """Folder of a run or of a packed model; empty: the shipped model; none: BM25 alone."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise UserError(f"--port takes a whole number from 0 to 65535, not {shown(self.port)}")
        if self.list and (self.index or self.folder):
            raise UserError("--list names the folders and their indexes: leave out --index and --folder")
        if self.feedback and not self.feedback.startswith("https://"):
            raise UserError(f"--feedback takes an address that begins https://, not {shown(self.feedback)}")
        if self.shared:
            self._check_shared()
        defaults = {each.name: each.default for each in fields(self)}
        for name in ("host", "secret", "user_header", "groups_header"):
            if not self.shared and getattr(self, name) != defaults[name]:
                raise UserError(f"--{name} is for --shared: without it the server is for this machine only")

    def _check_shared(self) -> None:
        """A shared server needs what tells its users apart."""
        if not self.list or not self.secret:
            raise UserError(
                "--shared needs --list=FILE, which says who may see what, and --secret=FILE, by which the proxy that "
                "authenticates users is known"
            )
        if self.posts not in ("", "none"):
            raise UserError("--posts is not for --shared: who may see posts is not known")
