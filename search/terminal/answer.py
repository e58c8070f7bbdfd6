"""An answer in the form that was asked for: for people, as JSON, or as a list of files or of places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.terminal import console
from search.engine.certainty import Certainty
from search.engine.engine import Engine
from search.engine.filters import read_question
from search.engine.show import as_json
from search.engine.signals import Hit
from search.options import RelatedOptions, SearchOptions
from search.terminal.hits import View, as_files, as_text, as_vimgrep


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question in words."""

    engine: Engine
    question: str  # as typed
    hits: Sequence[Hit]
    sure: Certainty
    seconds: float
    root: Path | None  # the indexed folder; None: not known
    more: Mapping[str, Any]  # what JSON says besides


def show_answer(answer: Answer, options: SearchOptions) -> None:
    """Print an answer to a question in words."""
    engine, hits, sure = answer.engine, answer.hits, answer.sure
    if options.json:
        console.show(as_json(engine, answer.question, hits, answer.seconds, explain=options.explain, more=answer.more))
        return
    question = read_question(answer.question, engine.index, alone=bool(options.regex)).text
    matched = {hit.row: hit.match_line for hit in hits}
    view = View.of(engine, question, answer.root, explain=options.explain, matched=matched)
    if options.files or options.vimgrep:
        if sure.level != "strong":
            console.complain(sure.line)
        show_list(view, [hit.row for hit in hits] if sure.level != "none" else [], options)
    else:
        console.show(as_text(view, question, hits, sure, answer.seconds), painted=True)


def show_list(view: View, rows: Sequence[int], options: SearchOptions | RelatedOptions) -> None:
    """Print the files or the places of some rows, and nothing if there are none."""
    if rows:
        console.show((as_files if options.files else as_vimgrep)(view, rows))
