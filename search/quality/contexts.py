"""Contexts for questions made from comments, to measure what the text above a cursor brings.

Two places where the cursor could be: before the function that answers, in its own file (Scotch); and before the first
call of it in another file, where it would have been needed. At the latter, lines that have its name are left out, since
nobody would have written them yet; only functions whose name no other row has are asked for. A context from the same
file also names the file, which the other does not.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
from tqdm import tqdm

from data_prep.errors import UserError
from data_prep.files.reading import read_regular
from data_prep.languages.java.declarations import LARGEST_FILE
from evaluation.metrics import exact
from evaluation.significance import compare
from search.cursor.above import nearest, words_above
from search.engine.engine import Engine
from search.files.languages import language_name
from search.index.code_index import Index
from search.quality.measure import Measured
from search.quality.questions import FEWEST, Questions

Under = Literal["", "file", "call"]
"""No contexts; those of the function's own file; those of its first call in another file."""
_CALL: Final = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]{3,})[ \t]*\(")
"""A call of a function with a name of 4 characters or more, or its declaration."""


@dataclass(frozen=True, eq=False, slots=True)
class Contexts:
    """Questions with the words of a context each."""

    questions: Questions
    words: Sequence[Sequence[str]]  # nearest last

    def exchanged(self, seed: int) -> "Contexts":
        """The same questions, each with the context of another: they are passed on along a random cycle."""
        cycle = np.random.default_rng(seed).permutation(len(self.words)).tolist()
        giver = dict(zip(cycle, [*cycle[-1:], *cycle[:-1]], strict=True))
        return replace(self, words=[self.words[giver[place]] for place in range(len(self.words))])


def with_contexts(questions: Questions, index: Index, root: Path, under: Under) -> Contexts:
    """The questions that have a context of this kind.

    Raises:
        UserError: there are fewer than FEWEST.
        OSError: a file no longer exists.
    """
    texts = [_text(root, file.path) for file in index.files]
    found = _of_own_files(questions, index, texts) if under == "file" else _of_calls(questions, index, texts)
    kept = [place for place in range(len(questions.rows)) if found.get(place)]
    if len(kept) < FEWEST:
        raise UserError(
            f"expected {FEWEST} or more questions whose function has a context, found {len(kept)} of "
            f"{len(questions.rows):,}: too few to measure anything"
        )
    words, typed = [questions.words[place] for place in kept], [questions.texts[place] for place in kept]
    own = replace(questions, rows=questions.rows[kept], words=words, texts=typed)
    return Contexts(own, [found[place] for place in kept])


def _text(root: Path, path: str) -> str:
    return read_regular(root / path, LARGEST_FILE)[0].decode("utf-8", "replace")


def _of_own_files(questions: Questions, index: Index, texts: Sequence[str]) -> Mapping[int, Sequence[str]]:
    """The place of a question -> the words above its function."""
    found = {}
    for place, row in enumerate(questions.rows.tolist()):
        number = int(np.searchsorted(index.file_edges, row, side="right")) - 1
        lines = texts[number].split("\n")[: index.split.text(row).start_line - 1]
        found[place] = _words(lines, index.files[number].path)
    return found


def _of_calls(questions: Questions, index: Index, texts: Sequence[str]) -> Mapping[int, Sequence[str]]:
    """The place of a question -> the words above the first call of its function in another file."""
    borne = Counter(name.rpartition(".")[2] for name in index.names)
    wanted = {}
    for place, row in enumerate(questions.rows.tolist()):
        name = index.names[row].rpartition(".")[2]
        if borne[name] == 1:
            wanted[name] = place, int(np.searchsorted(index.file_edges, row, side="right")) - 1
    found: dict[int, Sequence[str]] = {}
    for number, text in enumerate(texts):
        if index.files[number].test:
            continue
        for match in _CALL.finditer(text):
            place, own = wanted.get(match[1], (-1, -1))
            if place < 0 or own == number or place in found:
                continue
            if language_name(index.files[own].path) != language_name(index.files[number].path):
                continue
            lines = nearest(text[: match.start()]).split("\n")[:-1]
            found[place] = _words([line for line in lines if match[1] not in line], index.files[number].path)
    return found


def _words(lines: Sequence[str], path: str) -> Sequence[str]:
    return words_above("\n".join(lines), language_name(path))


def measure_contexts(engines: Mapping[str, Engine], asked: Contexts, seed: int) -> list[Measured]:
    """Each engine without contexts, with them and with exchanged ones; leads are over the same engine without."""
    found: list[Measured] = []
    nothing = replace(asked, words=[()] * len(asked.words))
    for label, engine in engines.items():
        plain: Measured | None = None
        for name, each in (("", nothing), ("in context", asked), ("in another's", asked.exchanged(seed))):
            ranks = _ranks(engine, each, f"{label} {name}".strip())
            lead = compare(1 / ranks, 1 / plain.ranks) if plain else None
            found.append(Measured(f"{label} {name}".strip(), ranks, exact(ranks), lead, 1.0))
            plain = plain or found[-1]
    return found


def _ranks(engine: Engine, asked: Contexts, name: str) -> np.ndarray:
    questions = asked.questions
    each = zip(questions.words, questions.rows.tolist(), questions.texts, asked.words, strict=True)
    shown = tqdm(each, desc=name, total=len(questions.rows), disable=None)
    return np.array([engine.rank(words, row, text, context) for words, row, text, context in shown])


def context_lines(found: Sequence[Measured], under: Under, pool: int) -> list[str]:
    """The results as text."""
    queries, wide = len(found[0].ranks), max(len(each.name) + 2 for each in found)
    where = "above it in its file" if under == "file" else "above its first call in another file"
    lines = [
        f"{queries:,} functions whose comment became a query under the text {where}, among {pool:,} rows",
        f"{'':<{wide}}{'Top@1':>8}{'Top@10':>8}{'MRR':>8}   MRR - without context (95 % interval)",
    ]
    for each in found:
        lead = each.lead
        gain = f"   {lead.mean:+.3f} ({lead.low:+.3f} to {lead.high:+.3f}), p = {lead.p_value:.4f}" if lead else ""
        numbers = "".join(f"{each.measures[name]:>8.3f}" for name in ("top1", "top10", "mrr"))
        lines.append(f"{each.name:<{wide}}{numbers}{gain}")
    return lines
