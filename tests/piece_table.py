"""The table of pieces' languages: ``python -m tests.piece_table fit|measure FOLDER``, with ``FOLDER/LANGUAGE/PROJECT``.

``fit`` learns ``data_prep/languages/pieces.json`` by logistic regression; ``FOLDER/none`` has projects whose documents
are of no language. ``measure`` guesses the language of 60 random pieces of 3, 8 and 20 lines of each, and saves how
often it is right. Other projects have to be measured than those that were learned from.
"""

import json
import random
import sys
import textwrap
from base64 import b85encode
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from data_prep.errors import UserError
from data_prep.installation import code_version, machine
from data_prep.languages.pieces import PLACE, features
from data_prep.languages.registry import LANGUAGES, languages
from search.files.languages import language_of_file
from search.snippets.code_text import language_of
from tests.conftest import REPOSITORY
from tests.docs_results import FOLDER

_DOCUMENTS: Final = {".md", ".rst", ".txt", ".json", ".yml", ".yaml", ".toml", ".html", ".css", ".xml", ".cfg", ".sql"}
_LARGEST: Final = 200_000
_PIECES: Final = 700
"""Of each language, for learning."""
_RARE: Final = 8
"""Pieces that a feature has at least."""
_FEATURES: Final = 860
_MEASURED, _LENGTHS = 60, (3, 8, 20)
_STEPS, _DECAY = 150, 2e-4


def files(folder: Path, name: str) -> list[list[Path]]:
    """The files of a language, a list of each project."""
    found = []
    for project in sorted((folder / name).iterdir()):
        paths = [path for path in sorted(project.resolve().rglob("*")) if path.is_file() and not path.is_symlink()]
        found.append([path for path in paths if path.stat().st_size < _LARGEST and _is_of(path, name)])
    return [each for each in found if each]


def _is_of(path: Path, name: str) -> bool:
    if name == "none":
        return path.suffix in _DOCUMENTS
    try:
        return bool(path.suffix) and language_of_file(path.name, path.read_bytes()).name == name
    except UserError:
        return False


def pieces(folder: Path, name: str, number: int, lengths: range | list[int], seed: str) -> Iterator[tuple[int, str]]:
    """Consecutive lines of random files, with the number of the project; half of them at least are not blank."""
    draw, projects = random.Random(f"{name} {seed}"), files(folder, name)
    while number:
        project = draw.randrange(len(projects))
        lines = draw.choice(projects[project]).read_text(encoding="utf-8", errors="replace").split("\n")
        length = draw.choice(lengths)
        start = draw.randrange(max(1, len(lines) - length))
        part = lines[start : start + length]
        if len(part) == length and 2 * sum(map(bool, map(str.strip, part))) >= length and len(max(part, key=len)) < 400:
            yield project, textwrap.dedent("\n".join(part)).strip("\n")
            number -= 1


def fit(folder: Path) -> None:
    names = [*LANGUAGES, "none"]
    found = [(label, project, features(text)) for label, name in enumerate(names)
             for project, text in pieces(folder, name, _PIECES, range(1, 26), "fit")]  # fmt: skip
    keywords = {word for each in languages() for word in each.keywords}
    counts, projects = Counter(), {}
    for label, project, each in found:
        counts.update(each.keys())
        for feature in each:
            projects.setdefault(feature, set()).add((label, project))
    known = [each for each, count in counts.items() if count >= _RARE and (len(projects[each]) > 1 or each in keywords)]
    one_hot = np.eye(len(names), dtype=np.float32)[[label for label, *_ in found]]
    shares = {each: np.zeros(len(names)) for each in known}
    for label, _, each in found:
        for feature in each.keys() & shares.keys():
            shares[feature][label] += 1
    known = sorted(known, key=lambda each: -float(np.std(np.sqrt(shares[each] / _PIECES))))[:_FEATURES]
    places = {each: place for place, each in enumerate(known, start=1)}
    rows = np.zeros((len(found), len(known) + 1), np.float32)
    rows[:, 0] = 1
    for row, (*_, each) in enumerate(found):
        for feature in each.keys() & places.keys():
            rows[row, places[feature]] = np.log1p(each[feature])
    weights = _learned(rows, one_hot)
    unit = float(np.abs(weights).max() / 127)
    packed = b85encode(np.rint(weights / unit).astype(np.int8).tobytes()).decode()
    saved = {"languages": [*LANGUAGES, ""], "unit": unit, "features": known, "weights": packed}
    PLACE.write_text(json.dumps(saved, ensure_ascii=False) + "\n", encoding="utf-8")
    right = (np.argmax(rows @ weights, 1) == one_hot.argmax(1)).mean()
    sys.stdout.write(
        f"{len(known)} features, {PLACE.stat().st_size:,} bytes, right of those learned from {right:.3f}\n"
    )


def _learned(rows: np.ndarray, one_hot: np.ndarray) -> np.ndarray:
    """Weights of a multinomial logistic regression, by Adam over all rows."""
    weights = np.zeros((rows.shape[1], one_hot.shape[1]), np.float32)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        scores = rows @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        slope = rows.T @ (odds / odds.sum(axis=1, keepdims=True) - one_hot) / len(rows) + _DECAY * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights -= 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def measure(folder: Path) -> None:
    found: dict[str, dict[str, object]] = {}
    total: Counter[str] = Counter()
    for name in LANGUAGES:
        found[name] = {"projects": sorted(path.name for path in (folder / name).iterdir())}
        for length in _LENGTHS:
            guessed = Counter(language_of(text) for _, text in pieces(folder, name, _MEASURED, [length], f"{length}"))
            found[name][f"{length} lines"] = _shares({"right": guessed[name], "none": guessed[""]}, _MEASURED)
            total.update({f"right of {length} lines": guessed[name], f"none of {length} lines": guessed[""]})
    record = {
        "about": "The guessed language of 60 random pieces of each length and language, of projects that the table of"
        " data_prep/languages/pieces.json was not learned from (python -m tests.piece_table measure).",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "code_version": code_version(REPOSITORY),
        "machine": asdict(machine()),
        "all": _shares(total, _MEASURED * len(LANGUAGES)),
        "languages": found,
    }
    (FOLDER / "piece-languages.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{record['all']}\n")


def _shares(counts: Mapping[str, int], number: int) -> dict[str, float]:
    return {what: round(count / number, 3) for what, count in counts.items()}


if __name__ == "__main__":
    {"fit": fit, "measure": measure}[sys.argv[1]](Path(sys.argv[2]))
