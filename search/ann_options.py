"""Options of ``speed ann``. Light to import, for the help."""

from dataclasses import dataclass

from data_prep.bounds import check_bounds, whole
from data_prep.errors import UserError


@dataclass(frozen=True, slots=True)
class AnnSpeedOptions:
    """Options of ``speed ann``."""

    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    """Numbers of vectors."""
    limit: int = 240
    """Seconds after which an engine is given up."""
    index: str = ""
    """File of an index with vectors by the shipped model, which are taken; empty: those of the JDK's java.base."""
    out: str = ""
    """Output folder of ann-speed.json and ann-speed.md; empty: experiments/results."""

    def __post_init__(self) -> None:
        check_bounds(self, {"limit": whole(1, 86_400)})
        if not self.sizes or min(self.sizes) < 20 or max(self.sizes) > 100_000_000:
            raise UserError(
                f"--sizes takes numbers from 20 to 100,000,000, comma-separated, not {','.join(map(str, self.sizes))}"
            )
