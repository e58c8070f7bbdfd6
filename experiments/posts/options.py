"""Options of the commands about posts that have no sections. Light to import."""

from dataclasses import dataclass
from typing import Final

SAMPLE_SIZE: Final = 3000
"""Questions of the synthetic sample, without duplicates."""
SAMPLE_SEED: Final = 0


@dataclass(frozen=True, slots=True)
class TrackerOptions:
    """Options of ``posts_from_tracker``."""

    out: str = ""
    """Folder for Posts.xml and PostLinks.xml; it is replaced."""
    links: str = ""
    """JSON Lines of weak links, each with query and original; they become links of type 1."""
    site: str = ""
    """Name of the tracker; empty: the name of the folder."""
    question_url: str = ""
    """Address of a ticket, with {id} for its number."""
    licence: str = ""
    """Licence of its texts, shown with each result; empty: not known."""
