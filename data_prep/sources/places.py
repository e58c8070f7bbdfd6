"""Fetches a data set from the first of several places that has it, and records which one that was.

Those of CodeSearchNet are listed here; docs/data.md has the evidence of each. The archives' own address,
``s3.amazonaws.com/code-search-net``, has refused since April 2023. Zenodo and an early revision of the data set on the
Hugging Face Hub have the same archives; the Hub's present revision has the same rows as Parquet files.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically
from data_prep.files.json_text import parse_json
from data_prep.files.reading import ABSENT, read_whole
from data_prep.sources.download import DownloadError, Remote, download

RECORD: Final = "fetched.json"
"""The file beside the fetched ones that records their place."""
_TRIES: Final = 4

_ZENODO: Final = "https://zenodo.org/records/7857872/files"
_HUB: Final = "https://huggingface.co/datasets/code-search-net/code_search_net/resolve"
_REVISION_WITH_ARCHIVES: Final = "fdc6a9e39575768c27eb8a2a5f702bf846eb4759"
_PARQUET: Final = "pyarrow"
_PARQUET_SPLITS: Final = ("train", "validation", "test")
ARCHIVES: Final[Mapping[str, tuple[int, str]]] = {
    "python": (940_909_997, "7223c6460bebfa85697b586da91e47bc5d64790a4d60bba5917106458ab6b40e"),
    "php": (851_894_048, "c3bbf0d1b10010f88b058faea876f1f5471758399e30d58c11f78ff53660ce00"),
    "ruby": (111_758_028, "67aee5812d0f994df745c771c7791483f2b060561495747d424e307af4b342e6"),
    "go": (487_525_935, "15d23f01dc2796447e1736263e6830079289d5ef41f09988011afdcf8da6b6e5"),
    "javascript": (1_664_713_350, "fdc743f5af27f90c77584a2d29e2b7f8cecdd00c37b433c385b888ee062936dd"),
    "java": (1_060_569_153, "05f9204b1808413fab30f0e69229e298f6de4ad468279d53a2aa5797e3a78c17"),
}
"""Language -> bytes and sha256 of its original archive, by the ``datasets`` library's loader
(code_search_net/dataset_infos.json)."""
ROWS: Final[Mapping[str, Mapping[str, int]]] = {
    "python": {"train": 412_178, "valid": 23_107, "test": 22_176},
    "php": {"train": 523_712, "valid": 26_015, "test": 28_391},
    "ruby": {"train": 48_791, "valid": 2_209, "test": 2_279},
    "go": {"train": 317_832, "valid": 14_242, "test": 14_291},
    "javascript": {"train": 123_889, "valid": 8_253, "test": 6_483},
    "java": {"train": 454_451, "valid": 15_328, "test": 26_909},
}
"""Language -> rows of each split, from the same file."""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere that has a data set."""

    name: str
    files: Mapping[str, Remote]  # path below the folder that they are fetched to -> address
    library: str = ""  # that reads them, if it is one that need not be installed


def fetch_first(places: Sequence[Place], folder: Path, what: str) -> list[Path]:
    """Fetch the files of the first place that has them all, below ``folder``; a line names the place.

    Args:
        places: in the order in which they are asked.
        folder: where the files are put; those that it has already are not fetched again.
        what: the name of the data, for messages.

    Raises:
        DownloadError: no place has them; the message has the reason of each.
        OSError: the disk is not writable or gets full.
    """
    problems = []
    for number, place in enumerate(places, 1):
        try:
            return _fetched(place, folder, what)
        except DownloadError as error:
            problems.append(f"{place.name}: {error}")
            if number < len(places):
                _logger.info("%s is not to be had from %s; next: %s", what, problems[-1], places[number].name)
    raise DownloadError("; ".join(problems))


def _fetched(place: Place, folder: Path, what: str) -> list[Path]:
    if place.library and find_spec(place.library) is None:
        raise DownloadError(f"its files need {place.library}: bash run.sh install parquet")
    _logger.info("fetching %s from %s", what, place.name)
    record: list[dict[str, Any]] = []
    for name, remote in place.files.items():
        target = folder / name
        sha256 = download(remote, target, tries=_TRIES) if not target.is_file() else ""
        record.append({"name": name, "url": remote.url, "bytes": target.stat().st_size, "sha256": sha256})
    now = datetime.now(UTC).isoformat(timespec="seconds")
    content = {"what": what, "place": place.name, "fetched": now, "files": record}
    write_atomically(folder / RECORD, json.dumps(content, indent=1) + "\n")
    _logger.info("%s: fetched from %s to %s", what, place.name, folder)
    return [folder / name for name in place.files]


def place_of(folder: Path) -> str:
    """The place that the files in ``folder`` were fetched from; "" if they were put there in another way."""
    try:
        record = parse_json(read_whole(folder / RECORD))
    except (*ABSENT, UserError):
        return ""
    place = record.get("place") if isinstance(record, dict) else None
    return place if isinstance(place, str) else ""


def places_of_codesearchnet(mirror: str = "", language: str = "java") -> list[Place]:
    """The places that have a language's part, in order; only ``mirror`` if given, an address with the same files."""
    name = f"{language}.zip"
    if mirror:
        base = mirror.rstrip("/")
        return [
            Place(f"{base}/{name}", {name: Remote(f"{base}/{name}")}),
            Place(f"{base}/{language}/*.parquet", _parquet_files(base, language), _PARQUET),
        ]
    archived = f"{_HUB}/{_REVISION_WITH_ARCHIVES}/data/{name}"
    known = ARCHIVES[language]
    return [
        Place("Zenodo", {name: Remote(f"{_ZENODO}/{name}", *known)}),
        Place(f"the Hugging Face Hub ({name})", {name: Remote(archived, *known)}),
        Place("the Hugging Face Hub (Parquet)", _parquet_files(f"{_HUB}/main", language), _PARQUET),
    ]


def _parquet_files(base: str, language: str) -> dict[str, Remote]:
    names = [f"{language}/{split}-00000-of-00001.parquet" for split in _PARQUET_SPLITS]
    return {name: Remote(f"{base}/{name}") for name in names}
