"""Mistakes of a person, apart from faults: options out of their bounds, and how untrusted text is shown in messages.

A value outside its bounds raises a one-line error that names the option and the accepted values. Saved configurations
are read by the names that options had earlier; whoever types one is told the new. An option is renamed in one place
beside its own: a line here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, ClassVar, Final, get_type_hints

NOTHING_FOUND: Final = 1
"""Exit code of a search without a hit."""
MISTAKE: Final = 2
"""Exit code after a mistake of a person or in a file, and after a full disk or memory."""
FAULT: Final = 70
"""Exit code after a fault of the program (``EX_SOFTWARE`` of sysexits.h)."""
_MARK: Final = "\ufffd"
_UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # escape sequences begin with one of these
    r"\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    r"\ud800-\udfff]"  # surrogates: bytes of file names that are not UTF-8
)


class UserError(ValueError):
    """A mistake of the caller or in a file; its message says what was expected, what came and what to do.

    Every other exception is a fault of this program, or of a model that somebody wrote, and ends with its traceback.
    """


def printable(text: str) -> str:
    """``text`` with unprintable characters replaced by a mark; line breaks and tabs remain."""
    return _UNSEEN.sub(_MARK, text)


def one_line(text: str) -> str:
    """:func:`printable` with line breaks also replaced."""
    return printable(text.replace("\n", _MARK))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers from ``least`` to ``most``; anything else, including NaN and strings, is outside."""

    least: int | float
    most: int | float
    whole: bool = False
    above: bool = False
    """Whether ``least`` itself is outside."""
    below: bool = False
    """Whether ``most`` itself is outside."""
    zero: str = ""
    """The meaning of 0, if it is special."""

    def hold(self, value: object) -> bool:
        """Whether ``value`` is inside."""
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            return False
        number: Any = value
        low = self.least < number if self.above else self.least <= number
        return bool(low and (number < self.most if self.below else number <= self.most))

    def __str__(self) -> str:
        """A description of the accepted values."""
        kind = "a whole number" if self.whole else "a number"
        if self.zero:
            return f"0 ({self.zero}) or {kind} up to {self.most:,}"
        if self.above or self.below:
            low = f"above {self.least:,}" if self.above else f"of {self.least:,} or more"
            return f"{kind} {low} and {f'below {self.most:,}' if self.below else f'at most {self.most:,}'}"
        return f"{kind} from {self.least:,} to {self.most:,}"


def whole(least: int, most: int, *, zero: str = "") -> Bounds:
    """Integers from ``least`` to ``most``."""
    return Bounds(least, most, whole=True, zero=zero)


def real(least: int | float, most: int | float, *, above: bool = False, below: bool = False) -> Bounds:
    """Numbers from ``least`` to ``most``; ``above`` excludes ``least``, ``below`` excludes ``most``."""
    return Bounds(least, most, above=above, below=below)


SEED: Final = whole(0, 2**32 - 1)
"""A seed that Python, numpy and torch all accept."""
THREADS: Final = whole(0, 1024)
PROCESSES: Final = whole(1, 256)
WORKERS: Final = whole(0, 256, zero="one per processor")
"""Processes that read files."""
COUNT: Final = whole(0, 1_000_000_000, zero="all")
"""Number of pairs, queries or methods to use."""
WIDTH: Final = whole(1, 4096)
"""Width of vectors; a table of 60,000 words at the maximum takes a gigabyte."""
LENGTH: Final = whole(1, 1000)
"""Words of a field; at most this many are prepared (data_prep.languages.fields.LONGEST)."""
SHARE: Final = real(0, 1, below=True)

RENAMED: Final[Mapping[str, str]] = {
    "data.apart": "data.exclude_overlap_with",
    "data.drop_blank": "data.drop_empty",
    "data.extra": "data.extra_train_sets",
    "evaluate.also": "evaluate.extra_tests",
    "evaluate.mix": "evaluate.fuse_with",
    "evaluate.mix_on": "evaluate.fuse_tuned_on",
    "evaluate.products": "evaluate.matmul_precision",
    "evaluate.resamples": "evaluate.bootstrap_samples",
    "model.blocks": "model.num_blocks",
    "model.graph_width": "model.gcn_dim",
    "model.parity": "model.release_compatible",
    "model.start": "model.init",
    "model.start_range": "model.init_range",
    "train.late_rate": "train.final_learning_rate",
    "train.lazy_rows": "train.lazy_embedding_updates",
    "train.neighbours": "train.same_file_negatives",
    "mentioned": "mention_boost",
    "named": "exact_name_boost",
    "near": "vector_weight",
}
"""``section.old``, or ``old`` of a command without sections, -> today's name."""

_SHOWN: Final = 60
"""Characters of a value that a message shows."""


class Bounded:
    """A dataclass of options whose bounds are beside their types: ``Annotated[int, whole(1, 9)]``.

    ``class MyConfig(Bounded, section="model")``; without a section for the options of a command.
    """

    __slots__ = ()
    _section: ClassVar[str] = ""

    def __init_subclass__(cls, section: str = "") -> None:
        super().__init_subclass__()
        if section:  # with slots a dataclass is made twice, the second time without it
            cls._section = section

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            UserError: an option is outside, as of :func:`check_bounds`.
        """
        own: Any = type(self)
        check_bounds(self, _bounds_of(own), self._section)


@lru_cache
def _bounds_of(kind: Any) -> Mapping[str, Bounds]:
    hints = get_type_hints(kind, include_extras=True)
    found = ((name, each) for name, hint in hints.items() for each in getattr(hint, "__metadata__", ()))
    return {name: each for name, each in found if isinstance(each, Bounds)}


def check_bounds(options: object, bounds: Mapping[str, Bounds], section: str = "") -> None:
    """Check that all options are within their bounds.

    Args:
        options: a dataclass of options.
        bounds: field -> accepted values.
        section: of the options, as in the command line; empty: no section.

    Raises:
        UserError: one is outside; the message names the first such option and the accepted values.
    """
    for name, allowed in bounds.items():
        value = getattr(options, name)
        if not allowed.hold(value):
            flag = f"--{section}.{name}" if section else f"--{name}"
            raise UserError(f"{flag} takes {allowed}, not {shown(value)}")


def shown(value: object) -> str:
    """``value`` for a message; a long one is truncated."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def shortened(text: str, most: int) -> str:
    """``text`` of a file in one line for a message; of more than ``most`` characters only the first."""
    line = printable(" ".join(text[: 4 * most].split()))
    return line if len(line) <= most else f"{line[:most]}..."


def reason_and_file(error: Exception) -> str:
    """The message of an error, of one of the system with the file and without its number."""
    said, file = getattr(error, "strerror", None), getattr(error, "filename", None)
    return f"{said}: {file}" if said and file else str(error)


def unexpected(wanted: str, words: Sequence[str]) -> UserError:
    """The error for a command line with other words than those ``wanted``, with what came."""
    return UserError(f"expected {wanted}; got {shortened(' '.join(words), _SHOWN) or 'nothing'}")


def with_current_names(sections: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of a saved configuration, ``{"train": {"epochs": 6}}``, with the names that options have today."""
    return {
        name: {RENAMED.get(f"{name}.{field}", field).rpartition(".")[2]: value for field, value in part.items()}
        if isinstance(part, Mapping)
        else part
        for name, part in sections.items()
    }


def meant(typed: str, known: Iterable[str]) -> str:
    """The end of a message that names the one of ``known`` that is nearest to what was typed; "" if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(typed.lower(), [*known], n=1)
    return f" (did you mean {near[0]}?)" if near else ""
