"""Options of ``speed serve``. Light to import, for the help."""

from dataclasses import dataclass

from data_prep.bounds import SEED, check_bounds, whole
from data_prep.errors import UserError


@dataclass(frozen=True, slots=True)
class ServeSpeedOptions:
    """Options of ``speed serve``."""

    index: str = ""
    """File of the index; empty: that of DIR in the user's cache folder."""
    list: str = ""
    """File that lists repositories, as for serve, in place of DIR; all are searched together."""
    clients: int = 8
    """Clients that ask at the same time, each its next question as soon as it has an answer."""
    seconds: int = 60
    """How long they ask; before that one client asks alone for a quarter of it."""
    questions: int = 400
    """Questions, made from comments of the index; half of them are asked under the text above their function."""
    seed: int = 0
    """Seed of the questions and of their order."""
    out: str = ""
    """Output folder of serve-speed.json and serve-speed.md; empty: experiments/results."""

    def __post_init__(self) -> None:
        check_bounds(
            self,
            {
                "clients": whole(1, 64),
                "seconds": whole(1, 3600),
                "questions": whole(20, 100_000),
                "seed": SEED,
            },
        )
        if self.list and self.index:
            raise UserError("--list names the folders and their indexes: leave out --index")
