"""Options of the data set of questions and answers (section ``data`` of ``bash run.sh posts``). Light to import."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from data_prep.errors import SEED, UserError, check_bounds, real, whole

ErrorRule = Literal["faithful", "strict"]


@dataclass(frozen=True, slots=True)
class PostsConfig:
    """Which questions of a Stack Exchange dump are kept, and how their posts are read and divided."""

    path: tuple[str, ...] = ()
    """Dumps: folders with Posts.xml and PostLinks.xml (plain, .gz, or in .7z archives) or a site's .7z file."""
    tag: str = "python"
    """Keep questions with this tag, or one that continues it after a hyphen (python-3.x); empty: all questions."""
    since: str = ""
    """Keep questions created on this day or later, such as 2014-01-01 (the paper's); empty: no limit."""
    until: str = ""
    """Keep questions created on this day or earlier, such as 2021-12-31 (the paper's); empty: no limit."""
    error_rule: ErrorRule = "faithful"
    """A code block is an error: `faithful`, if it contains "Error" (the paper); `strict`, if it is a traceback."""
    inline: bool = True
    """Whether code inside a sentence counts as a code block (the paper: every code element); false: only blocks."""
    min_chars: int = 0
    """Code elements with fewer characters are only text (the paper: 0)."""
    dev_share: float = 0.05
    """Share of the training questions held out as the same-post development set."""
    dev_queries: int = 2000
    """Most queries of each development set."""
    linked_share: float = 1.0
    """Share of the linked, not duplicate, questions (LinkTypeId 1) that form the duplicate development set; the rest
    are for --loop.pretrain=linked."""
    seed: int = 0
    """Seed of the development sets."""
    root: str = "data"
    """Folder of the prepared data sets."""

    def __post_init__(self) -> None:
        section = "data" if type(self) is PostsConfig else ""  # other commands have the same options without it
        flag = f"--{section}." if section else "--"
        check_bounds(self, _BOUNDS, section)
        for name in ("since", "until"):
            if (day := getattr(self, name)) and not _DAY.fullmatch(day):
                raise UserError(f"{flag}{name} takes a day such as 2014-01-01, not {day:.40}")
        if self.since and self.until and self.since > self.until:
            raise UserError(f"{flag}since={self.since} is after {flag}until={self.until}")
        if not self.root:
            raise UserError(f"{flag}root takes a folder for the prepared data sets, not nothing")

    def has_tag(self, tags: tuple[str, ...]) -> bool:
        """Whether a question with these tags is kept."""
        return not self.tag or self.tag in tags or any(each.startswith(f"{self.tag}-") for each in tags)

    def in_time(self, created: str) -> bool:
        """Whether a question created at this ISO time is kept."""
        return (not self.since or created[:10] >= self.since) and (not self.until or created[:10] <= self.until)


_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_BOUNDS: Final = {
    "min_chars": whole(0, 1_000_000),
    "dev_share": real(0, 0.5),
    "dev_queries": whole(1, 1_000_000),
    "linked_share": real(0, 1),
    "seed": SEED,
}
