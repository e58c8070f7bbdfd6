"""Options of all answers in a terminal: which hits, and in which form. Light to import, for the help."""

from dataclasses import dataclass

from data_prep.bounds import check_bounds, whole
from data_prep.errors import UserError


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
