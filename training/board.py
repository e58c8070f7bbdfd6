"""TensorBoard events of a run: curves, samples, figures and word vectors."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jaxtyping import Float
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.summary import hparams

from data_prep.errors import UserError
from data_prep.files.writing import naming, write_atomically
from training.drawing import Figure, pixels

EVERY: Final = 25
"""Optimiser steps between two points of the training curves."""

_EVENTS: Final = "tensorboard.summary.writer.event_file_writer"
_LINES: Final = 12  # of a method shown in a sample
_LINE: Final = 110  # characters of a line in a sample


@dataclass(frozen=True, slots=True)
class Sample:
    """A query with its method and the method's rank, for display."""

    query: str
    code: str
    rank: int
    first: str = ""  # source of the method at rank 1, "" if that is the query's own method


class Board:
    """Writes a run's events, each at the number of pairs trained on, by which runs of any batch size compare."""

    def __init__(self, folder: Path) -> None:
        """Set the folder; nothing is written before :meth:`open` or the first entry."""
        self.folder = folder
        self.pairs = 0  # trained on so far
        self._timed = (0, 0.0)  # the pairs at the latest point of the curves, and the seconds since
        self._opened: SummaryWriter | None = None

    def open(self, pairs: int) -> None:
        """Start writing, or continue after so many pairs: later events of an interrupted run are hidden."""
        self.pairs, self._timed = pairs, (pairs, 0.0)
        threading.excepthook = _without_events(threading.excepthook)
        with naming(self.folder):
            self._opened = SummaryWriter(str(self.folder), purge_step=pairs + 1 if pairs else 0)

    def training(
        self, step: int, pairs: int, loss: float, learning_rate: float, gradient_norm: float, seconds: float
    ) -> None:
        """Add a step of training, after ``pairs`` in all; the first and every ``EVERY``-th are written.

        The speed is the mean since the latest point; at the first step, which also warms up, there is none.
        """
        before, taken = self._timed
        self.pairs, self._timed = pairs, (before, taken + seconds)
        if step == 1 or step % EVERY == 0:
            values = {"loss": loss, "learning_rate": learning_rate, "gradient_norm": gradient_norm}
            speed = {} if step == 1 else {"pairs_per_second": (pairs - before) / (taken + seconds)}
            self._scalars("train", values | speed)
            self._timed = (pairs, 0.0)

    def validation(self, measures: Mapping[str, float]) -> None:
        """Add the measures on the validation pairs."""
        self._scalars("valid", measures)

    def samples(self, name: str, samples: Sequence[Sample]) -> None:
        """Add queries with their methods and ranks, as a table: the misses first, and of them the worst."""
        worst_first = sorted(samples, key=lambda each: -each.rank)
        rows = [(_cell(f"rank {each.rank}\n{each.query}"), _cell(each.code), _cell(each.first)) for each in worst_first]
        head = ("query", "its code", "code at rank 1 instead")
        lines = [" | ".join(row) for row in (head, ("---",) * len(head), *rows)]
        with self._writing() as writer:
            writer.add_text(name, "\n".join(f"| {line} |" for line in lines), self.pairs)

    def picture(self, name: str, figure: Figure) -> None:
        """Add a figure, under a name such as ``alignment/3``."""
        with self._writing() as writer:
            writer.add_image(name, pixels(figure), self.pairs, dataformats="HWC")

    def word_vectors(self, tables: Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]) -> None:
        """Write vectors with their words, by table name, for the projector; replaces an earlier set."""
        entries = []
        for name, (vectors, words) in tables.items():
            if len(vectors) != len(words):
                raise UserError(f"expected a word for each of {len(vectors)} vectors of {name}, but got {len(words)}")
            values = ["\t".join(f"{value:.5g}" for value in row) for row in vectors.detach().cpu().tolist()]
            folder = self.folder / "vectors"
            folder.mkdir(exist_ok=True)
            write_atomically(folder / f"{name}-vectors.tsv", "\n".join(values) + "\n")
            labels = [re.sub(r"\s", " ", word) or '""' for word in words]  # the format's cells and lines
            write_atomically(folder / f"{name}-words.tsv", "\n".join(labels) + "\n")
            paths = f'tensor_path: "vectors/{name}-vectors.tsv" metadata_path: "vectors/{name}-words.tsv"'
            entries.append(f'embeddings {{ tensor_name: "{name}" {paths} }}\n')
        write_atomically(self.folder / "projector_config.pbtxt", "".join(entries))

    def results(
        self,
        settings: Mapping[str, bool | int | float | str],
        results: Mapping[str, float],
        chosen: Mapping[str, float],
    ) -> None:
        """Add the hyper-parameters with the results, in the same run as the curves.

        ``chosen`` is the validation of the epoch whose weights are kept, by which settings are chosen. No list
        of all is written: TensorBoard makes one of the runs shown, which begins with what differs among them.
        """
        plain = {name: str(value) if isinstance(value, bool) else value for name, value in settings.items()}
        with self._writing() as writer:
            for summary in hparams(plain, {})[1:]:
                writer._get_file_writer().add_summary(summary, self.pairs)  # add_hparams would open another run
        self._scalars("valid_kept", chosen)
        self._scalars("test", results)
        self.flush()

    def flush(self) -> None:
        """Flush all events to disk."""
        with self._writing() as writer:
            writer.flush()

    def close(self) -> None:
        """Flush and close the event file."""
        if self._opened:
            with naming(self.folder):
                self._opened.close()

    @contextmanager
    def _writing(self) -> Iterator[SummaryWriter]:
        if self._opened is None:
            self.open(self.pairs)
        assert self._opened
        with naming(self.folder):
            yield self._opened

    def _scalars(self, group: str, values: Mapping[str, float]) -> None:
        with self._writing() as writer:
            for name, value in values.items():
                writer.add_scalar(f"{group}/{name}", value, self.pairs)


def _without_events(hook: Callable[[threading.ExceptHookArgs], object]) -> Callable[[threading.ExceptHookArgs], object]:
    """``hook``, except for OSErrors of the event writer's thread: the next entry raises those."""

    def filtered(found: threading.ExceptHookArgs) -> None:
        if not (type(found.thread).__module__ == _EVENTS and isinstance(found.exc_value, OSError)):
            hook(found)

    return filtered


def _cell(text: str) -> str:
    """``text`` as a cell of a Markdown table, escaped so that it is not read as markup."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    shown = [*lines[:_LINES], "…"] if len(lines) > _LINES else lines
    return "<br>".join(re.sub(r"[^\w ,;:=/…]|_|^ +|(?<= ) ", _entities, line[:_LINE]) for line in shown)


def _entities(found: re.Match[str]) -> str:
    return "".join("&nbsp;" if letter == " " else f"&#{ord(letter)};" for letter in found[0])
