"""Configuration of the speed measurements (section ``speed``), and parsing of their command line."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from data_prep.bounds import check_bounds, shown, whole
from data_prep.config import DataConfig
from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.recipes import config
from experiments.recipes.results_folder import results_folder
from experiments.terminal.options import options_of, parse, switches_of, unknown

_LARGEST_POOL: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class SpeedConfig:
    """Options of the speed measurements."""

    repeats: int = 5
    """Repetitions of each measurement; fewer for large pools, one from 2,500 methods on."""
    pools: tuple[int, ...] = (1000, 2000, 5000, 10_000)
    """Sizes of the pools on which time and memory are measured."""
    files: int = 150
    """Number of Java files to extract methods from."""
    train: bool = True
    """Whether to train for two epochs, to measure the time to BM25's MRR."""
    out: str = ""
    """Output folder of speed.json, speed.md and speed.png; empty: experiments/results."""

    def __post_init__(self) -> None:
        check_bounds(self, {"repeats": whole(1, 1000), "files": whole(1, 1_000_000)}, "speed")
        if len(set(self.pools)) < 2 or min(self.pools) < 2 or max(self.pools) > _LARGEST_POOL:
            raise UserError(
                f"--speed.pools takes two different sizes or more from 2 to {_LARGEST_POOL:,}, to measure the growth "
                f"of time, not {shown(','.join(map(str, self.pools)))}"
            )


def folder_of(speed: SpeedConfig, data: DataConfig) -> Path:
    """The output folder."""
    parts = (speed, data), resolve_speed({})
    given, default = ({"speed": asdict(one), "data": asdict(other)} for one, other in parts)
    return results_folder([given], [default], speed.out)


SWITCHES: Final = switches_of([*options_of("speed", SpeedConfig).values(), *options_of("data", DataConfig).values()])
"""Options that are true or false."""


def resolve_speed(typed: Mapping[str, str]) -> tuple[SpeedConfig, DataConfig]:
    """The sections ``speed`` and ``data`` from the typed options (option -> text).

    Raises:
        UserError: an option of neither section, or a bad value.
    """
    own = {option.name: option for option in options_of("speed", SpeedConfig).values()}
    data = [option.name for option in options_of("data", DataConfig).values()]
    for name in typed:
        if name not in own and name not in data:
            raise unknown("option of speed", f"--{name}", [f"--{each}" for each in (*own, *data)])
    values = {name.partition(".")[2]: parse(text, own[name]) for name, text in typed.items() if name in own}
    if values.get("out"):
        values["out"] = str(named_path(values["out"]))
    for name in ("data.extra_train_sets", "data.exclude_overlap_with"):
        if typed.get(name):
            raise UserError(f"--{name}={typed[name]} has no effect on the measurements, which are on the JDK alone")
    plan = config.resolve("jdk", "galm", {name: text for name, text in typed.items() if name in data})
    return SpeedConfig(**values), plan.data
