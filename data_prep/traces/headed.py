"""Stack traces that state an error before its frames, of which the first is the innermost: all but Python's.

A language is a record, :class:`HeadedForm`. Whatever stands before an error in its line, such as what a logger prints,
is no part of it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from data_prep.languages.identifiers import compiled
from data_prep.traces.trace import MOST_TOLD, RECORD, STRONG, TOP, Frame, Reading, Relation, TracedError, begins, number

Groups = Mapping[str, str]
"""The named groups of a frame, "" for those that did not match, and ``call``, what the line before it says."""
NEVER: Final = r"(?!)"
NAME: Final = re.compile(r"Error|Exception|Throwable|Failure|Panic|panic|fatal error|runtime")
"""What the name of an error has."""
STATED: Final = re.compile(
    rf"(?<![\w.$/\\'\"(-])(?P<error>(?:[\w$]+\.)*(?:[A-Z][\w$]*)?{STRONG})(?: \[\w+\])?(?:: ?(?P<message>.*)|\s*$)"
)
"""An error behind what a logger or a console prints before it."""
NOT_TOLD: Final = re.compile(r"\s*(?:(?:>\s*)?\d+\s*[|│]|[|│]|❯|[-=_⎯─~^]{3,}|[\])}]*\s*$)")
"""Lines behind a message that are none of it: code frames, rules."""


@dataclass(frozen=True, slots=True)
class HeadedForm:
    """How a language prints its traces; all expressions are of whole lines."""

    frames: Sequence[str]
    """Lines with a frame: groups such as ``path``, ``line``, ``name``, ``place``."""
    frame: Callable[[Groups], Frame | None]
    """The frame of the groups; None: it is none."""
    looks: str
    error: str = NEVER
    """A line that states an error: groups ``error``, ``message`` and ``relation``."""
    places: Sequence[str] = ()
    """Lines that state an error with its place: also the groups of a frame. What follows a message is none of it."""
    place_repeats: bool = False
    """Whether the place of an error is that of one of its frames too."""
    named_by_next: bool = False
    """Whether a frame says which function is called there: that of the frame before it."""
    placed_first: bool = False
    """Whether frames without a file are none beside others that have one; of those alone the first raises the error."""
    follows: Relation = ""
    """What an error with a place is to the one whose frames the line before it ends."""
    at_path: str = NEVER
    near: str = NEVER
    relations: Mapping[str, Relation] = field(default_factory=dict)
    """Text of ``relation`` -> what it says."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Names of errors that are the start of a message -> the name of the error."""
    more: str = NEVER
    """A line that counts frames (group 1)."""
    skipped: str = NEVER
    """A line that looks like a frame, but is none."""
    call: str = NEVER
    """A line with the function (``name``) whose place is in the next one."""
    behind: str = NEVER
    """A line with the function (``name``) and ``code`` of the place before it."""
    starts: str = NEVER
    """A line that begins an error without a name; group ``message``, if it states one."""
    outermost_first: str = NEVER
    """A line behind which frames are the other way round."""
    turned: str = NEVER
    """The same behind a message."""
    message_end: str = NEVER
    """A line behind a message that is none of it, as all that follows."""
    inner_end: str = NEVER
    """A line that ends an error inside of the one that was stated before it, whose frames follow."""
    part: str = NEVER
    """A line that begins other frames of the same failure, those of a thread in a state (group 1)."""
    members: str = NEVER
    """A line behind which the errors of a group are."""
    members_end: str = NEVER

    def read(self, lines: Sequence[str]) -> Reading | None:
        """The errors of lines that have no prefix; None if there is no frame."""
        looks = re.compile(begins([self]))
        if not any(map(looks.search, lines)):
            return None
        reader = _Reader(self, looks)
        for place, line in enumerate(lines):
            if reader.is_frame(line) or reader.is_count(line):
                reader.read.add(place)
            elif not reader.is_head(line):
                reader.text(line)
            elif looks.search(line) and (not compiled(self.starts).fullmatch(line) or _first(self.places, line)):
                reader.read.add(place)
        return reader.reading()


def _first(patterns: Sequence[str], line: str) -> re.Match[str] | None:
    """What the first of some patterns finds that all of a line is."""
    return next(filter(None, (compiled(each).fullmatch(line) for each in patterns)), None)


class _Reader:
    """The errors of the lines so far."""

    def __init__(self, form: HeadedForm, looks: re.Pattern[str]) -> None:
        self.read: set[int] = set()
        self._form, self._looks = form, looks
        self._errors: list[TracedError] = []
        self._head: TracedError | None = None
        self._told: list[str] = []  # lines of the message behind the first
        self._place: Frame | None = None  # of the error, where its line states that
        self._frames: list[Frame] = []
        self._at: int | None = None  # the number of the error, if that stands already
        self._outer: list[int] = []  # numbers of the errors whose frames follow those of an inner one
        self._is_last = False  # whether the line before this was a frame
        self._reversed = False  # whether the outermost frame is the first
        self._left_out = 0
        self._call = ""  # the function that a place may follow
        self._line = self._said = ""  # the last line that is no frame, and the one before it
        self._full = False  # whether no line goes on with the message
        self._next: Relation = ""  # of the next error, where that is a line of its own
        self._grouped = False  # whether errors are those of a group

    def is_frame(self, line: str) -> bool:
        """Add the frame of a line, if it has one."""
        form = self._form
        if compiled(form.skipped).fullmatch(line):
            return True
        for pattern in form.frames:
            if (found := compiled(pattern).fullmatch(line)) and (
                frame := form.frame({"call": self._call, **found.groupdict(default="")})
            ):
                self._state_said()
                if self._call and not self._frames and self._told and self._told[-1].startswith(self._call):
                    self._told.pop()  # the line that names the function is none of the message
                self._frames.append(frame)
                self._call, self._is_last = "", True
                return True
        if self._frames and not self._frames[-1].name and (found := compiled(form.behind).fullmatch(line)):
            named = form.frame({"call": found["name"], "path": "", "line": "", "name": ""})
            self._frames[-1] = replace(self._frames[-1], name=named.name if named else "", code=found["code"].strip())
            return True
        return False

    def _state_said(self) -> None:
        """Begin an error without a name, whose message is above the function of the first frame."""
        is_first = self._call and not (self._head or self._frames or self._errors)
        if is_first and self._said[:1].strip() and not RECORD.match(self._said):
            self._begin("", self._said, "")

    def is_count(self, line: str) -> bool:
        """Add frames that are only counted."""
        if not (found := compiled(self._form.more).fullmatch(line)):
            return False
        if self._head or self._frames:
            self._left_out += number(found[1]) if found[1].isdigit() else 1
        return True

    def is_head(self, line: str) -> bool:
        """Begin an error, if a line states one."""
        form = self._form
        if found := _first(form.places, line):
            return self._state_placed({"call": "", **found.groupdict(default="")})
        if self._is_beginning(line):
            return True
        if found := compiled(form.error).fullmatch(line):
            return self._state(found, form.relations.get(found.groupdict("").get("relation", "").strip(), ""))
        if self._told_begun or not (found := STATED.search(line)):
            return False
        before = line[: found.start()].strip()
        return self._state(found, next((said for sign, said in form.relations.items() if before.endswith(sign)), ""))

    def _state_placed(self, groups: Groups) -> bool:
        """Begin an error whose line states its place."""
        form = self._form
        relation = form.relations.get(groups.get("relation", "").strip(), form.follows if self._is_last else "")
        place, error = form.frame(groups), groups.get("error", "")
        self._begin(form.kinds.get(error, error), groups.get("message", ""), relation)
        self._place, self._full = place, bool(groups.get("message"))
        return True

    def _is_beginning(self, line: str) -> bool:
        """Begin what has no error in its own line: an error that the next one states, other frames, a group."""
        form = self._form
        if self._is_turn(line):
            pass
        elif found := compiled(form.part).fullmatch(line):
            self._call, self._full = "", True
            if self._frames:
                self._begin("goroutine", found[1], "grouped")
        elif found := compiled(form.starts).fullmatch(line):
            self._begin("", found["message"] or "", "")
        elif line.strip() in form.relations:
            self._next = form.relations[line.strip()]
        elif compiled(form.members).fullmatch(line):
            self._close(even_empty=True)
            self._grouped = True
        elif compiled(form.members_end).fullmatch(line):
            self._grouped = False
        else:
            return False
        return True

    def _is_turn(self, line: str) -> bool:
        """Whether a line ends a message or an inner error, or begins frames in the other order."""
        form = self._form
        if compiled(form.outermost_first).fullmatch(line):
            if self._frames or not self._place:
                self._close()
                self._head = None
            self._reversed = True
        elif compiled(form.turned).fullmatch(line):
            self._reversed = True
        elif compiled(form.inner_end).fullmatch(line):
            self._end_inner()
        elif not compiled(form.message_end).fullmatch(line):
            return False
        self._full = True
        return True

    @property
    def _told_begun(self) -> bool:
        """Whether an error is stated, and its frames have not begun."""
        begun = self._head is not None and not self._frames
        return begun and (self._place is not None or bool(NAME.search(self._head.error if self._head else "")))

    def _state(self, found: re.Match[str], relation: Relation) -> bool:
        """Begin an error; what is not as certainly one as that before it is a part of its message."""
        error, message = found["error"], found["message"] or ""
        if error in self._form.kinds:
            error, message = self._form.kinds[error], f"{error}: {message}"
        begun = self._told_begun or (self._head and not self._head.error and self._told)
        if begun and not (relation or self._next or NAME.search(error)):
            return False
        self._begin(error, message, relation or self._next or ("grouped" if self._grouped else ""))
        return True

    def _begin(self, error: str, message: str, relation: Relation) -> None:
        if relation and self._told_begun and self._form.inner_end != NEVER:
            self._outer.append(len(self._errors))
        if not (self._reversed and self._frames and not self._head):  # else the frames before are those of this error
            self._close(even_empty=bool(self._outer) and self._outer[-1] == len(self._errors))
        self._head, self._told, self._next = TracedError(error, message.strip(), (), relation), [], ""
        self._full, self._at = error == "goroutine", None

    def _end_inner(self) -> None:
        """Go on with the error that has the inner one which ends."""
        self._close()
        self._at = self._outer.pop() if self._outer else None
        self._head = self._errors[self._at] if self._at is not None else TracedError("", "", ())

    def text(self, line: str) -> None:
        """Another line: it names a function, or, behind a head, it goes on with the message."""
        self._is_last = False
        self._said, self._line = self._line, line
        if found := compiled(self._form.call).fullmatch(line):
            self._call = found["name"]
        elif self._frames and self._form.call != NEVER and line[:1].strip() and not RECORD.match(line):
            self._begin("", line, "")  # the message of the next error
            return
        if line.strip() and not line.strip("^~ "):
            del self._told[-1:]  # the code that is underlined
            return
        ended = self._full or self._frames or self._left_out
        goes_on = self._head and not ended and len(self._told) < MOST_TOLD
        if goes_on and not NOT_TOLD.match(line) and not self._looks.search(line):
            self._told.append(line.strip())

    def reading(self) -> Reading | None:
        """The errors, if there was a frame."""
        self._close()
        if not any(error.frames for error in self._errors):
            return None
        first, *others = self._errors
        return Reading((replace(first, relation=""), *others), innermost_last=False, lines=self.read)

    def _close(self, *, even_empty: bool = False) -> None:
        frames = self._placed_frames()
        if frames or self._left_out or (even_empty and self._head):
            head = self._head or TracedError("", "", ())
            message = " ".join(filter(None, (head.message, *self._told)))
            error = replace(head, message=message, frames=tuple(frames), left_out=self._left_out)
            at = len(self._errors) if self._at is None else self._at
            self._errors[at : at + 1] = [error]
            self._head, self._told, self._frames, self._left_out = None, [], [], 0
            self._place, self._reversed, self._at = None, False, None

    def _placed_frames(self) -> Sequence[Frame]:
        """The frames, the innermost first, with the place of the error, each with its function."""
        frames, place, form = self._frames[:: -1 if self._reversed else 1], self._place, self._form
        if form.placed_first and not any(frame.path for frame in (*frames, *filter(None, [place]))):
            return frames[1:] or [*filter(None, [place])]
        if form.placed_first:
            frames, place = [frame for frame in frames if frame.path], place if place and place.path else None
        if place:
            end, line = place.path.removeprefix("./"), place.line
            same = any(frame.line == line and frame.path.endswith(end) for frame in frames)
            frames = frames if form.place_repeats and same else [place, *frames]
        if not (form.named_by_next and frames):
            return frames
        called = [*(frame.name for frame in frames[1:]), ""]
        return [replace(frame, name=name) for frame, name in zip(frames, called, strict=True) if frame.name != TOP]
