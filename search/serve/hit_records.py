"""What a page or an editor shows of a hit beside the fields of search/engine/show.py: a preview, and what is coloured.

Comments, texts, keywords and the like are coloured, by the parsers that read the index. A page marks pieces of plain
text by their positions, so that no code becomes markup. Tree-sitter parses what is broken or cut out of its file too:
the pieces are those of its leaves. An index has the first lines of long types and files, which may end in a text.
"""

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np

from data_prep.errors import UserError
from data_prep.languages.identifiers import split_identifier
from data_prep.languages.language import Language
from data_prep.languages.nodes import node_text
from data_prep.languages.own_tree import Node, Tree
from data_prep.languages.parsing import syntax_tree
from data_prep.languages.registry import language_of
from data_prep.store.arrays import Int64
from search.engine.engine import Engine
from search.engine.filters import Question
from search.engine.line_scores import KEPT, rarities
from search.engine.messages import line_of
from search.engine.question import asked_words, parted
from search.engine.show import preview, result
from search.engine.signals import Hit
from search.files.embedded import scripts_alone
from search.index.code_index import Index

Kind = Literal["comment", "string", "keyword", "number", "type", "annotation"]
Span = tuple[int, int, str]
"""Start and end in characters from 0, and the kind or the word there."""

_COLOURS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("true", "false", "null", "null_literal", "none", "nil", "this", "super"), "keyword"),
    **dict.fromkeys(("integer", "float", "number", "int_literal", "float_literal"), "number"),
    "type_identifier": "type",
}
"""Leaves with a name of their own, in most grammars; a language has others in its ``colours``."""
_BEFORE_NAMES: Final = (".", ":", "@", "$", "&", "'")
"""What is before a name that is no keyword, such as that of a member."""
_QUOTES: Final = frozenset(('"', "'", "`", '"""'))
_STRINGS: Final = ("string", "escape_sequence", "regex")
_TYPE: Final = re.compile(r"[A-Z][0-9_$]*(?:[a-z]|\Z)")
"""What a type is called, by custom, in most languages."""
_TOKENS: Final = re.compile(
    rb'("""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\'|/\*(?s:.*?)\*/|//[^\n]*|#[^\n]*'
    rb'|"(?!"")(?:\\.|[^"\\\n])*"|\'(?!\'\')(?:\\.|[^\'\\\n])*\')|("""|\'\'\'|/\*)'
)
"""Comments and texts of most languages, or what begins one of several lines that does not end."""


def highlighted(source: str, path: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The pieces to colour, ascending and disjoint.

    Args:
        source: a file, or a part of it.
        path: of its file, whose suffix says the language; of another one nothing is coloured.
        start: the first character that is wanted.
        end: the one after the last; None: all.
    """
    found: list[Span] = []
    if (language := language_of(path)) is None:
        return found
    # keywords that are so wherever they stand, though the grammar takes them for names
    always = language.keywords if language.keyword_names else language.keywords & _COLOURS.keys()
    for first, last, kind, text in _leaves(source, path, start, end):
        if kind == "identifier" and text in always:
            kind = "keyword" if source[first - 1 : first] not in _BEFORE_NAMES else ""
        elif kind == "identifier":
            kind = "type" if language.capital_types and _TYPE.match(text) else ""
        if kind and found and found[-1][1:] == (first, kind):
            found[-1] = (found[-1][0], last, kind)
        elif kind:
            found.append((first, last, kind))
    return found


def word_spans(source: str, path: str, words: Collection[str]) -> list[Span]:
    """Where each of ``words`` is in the identifiers of a source, in order; comments, texts and the like are left out.

    ``path`` is that of its file.
    """
    return [
        (first + start, first + end, word)
        for first, _, kind, text in _leaves(source, path, 0, None)
        if kind in ("identifier", "type")
        for start, end, word in _parts(text)
        if word in words
    ]


def _leaves(source: str, path: str, start: int, end: int | None) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, kind and text of each leaf with a kind: a :data:`Kind` or "identifier"."""
    language = language_of(path)
    if language is None or not language.grammar:
        return
    data = scripts_alone(source, path).encode("utf-8", "replace")
    places = _character_places(data)
    first, last = np.searchsorted(places, [start, len(source) if end is None else end]).tolist()
    covered = 0
    annotations = (each for each, colour in language.colours.items() if colour == "annotation")
    whole = {"string_content", *language.comments, *annotations}
    for node in _visited(_tree_of(language.grammar_of(path), data), first, last, whole):
        kind = _kind(node, language)
        begin, stop = node.start_byte, _end_of_name(node) if kind == "annotation" else node.end_byte
        stop = min(stop, len(data))
        if kind and begin >= covered and stop > begin:
            covered = stop
            text = data[begin:stop].decode("utf-8", "replace") if kind in ("identifier", "type") else ""
            yield int(places[begin]), int(places[stop]), kind, text


def _tree_of(grammar: str, data: bytes) -> Tree:
    """The tree of a source by the grammar "module:function"; a text or comment that it is cut in ends where it ends.

    Nodes at the end may then have ends behind that of ``data``.
    """
    tree = syntax_tree(grammar, data)
    if not tree.root_node.has_error:
        return tree
    opened = next((token[2] for token in _TOKENS.finditer(data) if token[2]), b"")
    return syntax_tree(grammar, data + opened[::-1]) if opened else tree


def _visited(tree: Tree, first: int, last: int, whole: Collection[str]) -> Iterator[Node]:
    """The leaves, and nodes of kinds ``whole`` above some of them, that are between two bytes, in order."""
    todo = [tree.root_node]
    while todo:
        node = todo.pop()
        if node.end_byte > first and node.start_byte < last:
            if not node.child_count or node.type in whole:
                yield node
            todo += reversed(node.children)


def _kind(leaf: Node, language: Language) -> str:
    kind = leaf.type
    if not leaf.is_named:
        return _kind_of_sign(leaf)
    if kind in language.comments:
        return "comment"
    if colour := language.colours.get(kind) or _COLOURS.get(kind):
        return colour
    if kind.endswith("comment"):
        return "comment"
    if kind.removesuffix("_keyword") in language.keywords and node_text(leaf) == kind.removesuffix("_keyword"):
        return "keyword"
    if kind.endswith(("identifier", "identifier_pattern")) or kind in language.identifiers:
        return "identifier"
    if kind.endswith(("integer_literal", "point_literal")):
        return "number"
    return "string" if any(each in kind for each in _STRINGS) else ""


def _kind_of_sign(leaf: Node) -> str:
    kind = leaf.type
    if kind == "/" and leaf.parent is not None and leaf.parent.type == "regex":
        return "string"
    is_word = kind.strip("#@?!").replace("_", "").isalpha()
    return "string" if kind in _QUOTES else "keyword" if is_word else ""


def _end_of_name(annotation: Node) -> int:
    """Where the name of an annotation or decorator ends, before its arguments."""
    name = annotation.child_by_field_name("name") or (annotation.named_children or [annotation])[0]
    called = name.child_by_field_name("function") if name.type in ("call", "call_expression") else None
    return (called or name).end_byte


def _character_places(data: bytes) -> Int64[np.ndarray, " bytes"]:
    """The number of characters before each byte, and before the end."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(begins, dtype=np.int64)])


def _parts(identifier: str) -> Iterator[Span]:
    """The words of an identifier and their positions in it."""
    lower = [(letter, place) for place, character in enumerate(identifier) for letter in character.lower()]
    text, places, start = "".join(letter for letter, _ in lower), [place for _, place in lower], 0
    for word in split_identifier(identifier):
        start = text.find(word, start)
        if start < 0:  # a letter whose lower case depends on its neighbours
            return
        end = start + len(word)
        yield places[start], places[end - 1] + 1, word
        start = end


_COLOURED: Final = 20_000
"""Characters of a source up to which its preview is coloured: all before it must be parsed."""
KEPT_FILES: Final = 256
"""Files whose texts are kept."""

_PAUSE: Final = 5e-5
"""Seconds between rows that are prepared, so that a question need not wait."""
_LOOKS: Final = 0.02
"""Seconds between looks whether nobody asks."""

Read = Callable[[Index, int], str]
"""Gives the whole text of a row's file; "" if it cannot be had as it was indexed."""


def previewed(
    engine: Engine,
    words: Sequence[str],
    records: Sequence[dict[str, Any]],
    read: Read = lambda *_: "",
    *,
    coloured: bool = False,
    typed: str = "",
) -> list[dict[str, Any]]:
    """Hits as JSON, each with the lines that show it at a glance.

    Args:
        engine: that has found them.
        words: of the question; none: the first lines are shown.
        records: the hits, each with its ``row``.
        read: of hits that are whole files; the index has only their first lines.
        coloured: whether what is coloured is told, for which each hit is parsed.
        typed: the question as typed, if a line may have its text.
    """
    rarity, asked = rarities(words, engine.index.lexical), parted(typed, engine.index, alone=True)
    shown = (_preview_record(engine.index, each, rarity, read, asked, coloured=coloured) for each in records)
    return [{**each, **more} for each, more in zip(records, shown, strict=True)]


def _preview_record(
    index: Index, hit: Mapping[str, Any], rarity: Mapping[str, float], read: Read, asked: Question, *, coloured: bool
) -> dict[str, Any]:
    row, matched = hit["row"], hit.get("match_line", 0)
    text, name, is_file = index.text(row), index.names[row], index.is_whole_file(row)
    whole = read(index, row) if is_file and (rarity or matched) else ""
    source, begins = (whole, 1) if whole else (text.source, text.start_line)
    name = "" if is_file else name
    matched = 0 if is_file and not whole else matched
    place = 0 if matched else line_of(source, asked.text, quoted=asked.quoted, sentence=text.query_text)
    matched = begins + place - 1 if place else matched
    found = preview(
        source, begins, rarity, path=text.path, name=name, sentence=text.query_text, matched=matched, placed=coloured
    )
    told = {
        "start_line": found.start_line,
        "end_line": found.end_line,
        "best_line": found.best_line,
        "numbered": bool(whole) or not is_file,
        "text": found.text,
        "kinds": _kinds(tuple(found.lines), tuple(found.places), source, text.path)
        if coloured and index.file(row).parsed
        else [],
        "words": found.words,
    }
    return {"preview": told, "indent": 0 if is_file else found.indent}


def prepare(engine: Engine, read: Read, is_current: Callable[[], bool], is_quiet: Callable[[], bool]) -> None:
    """Read what answers show of rows and files, so that those who ask wait less: each as if it were found by its name.

    Args:
        engine: that is asked meanwhile.
        read: as of :func:`previewed`.
        is_current: whether it is still asked; otherwise this ends.
        is_quiet: whether nobody asks just now; otherwise this waits.
    """
    index, files = engine.index, 0
    for row in range(min(len(index), KEPT)):
        while is_current() and not is_quiet():
            time.sleep(_LOOKS)
        if not is_current():
            return
        hit, words = Hit(1, row, 0.0, 0.0, None, None, 0.0, "words"), asked_words(index.names[row])
        with suppress(UserError):  # a damaged row is told of where it is found
            if files < KEPT_FILES or not index.is_whole_file(row):
                previewed(engine, words, [result(engine, "", hit, explain=False)], read)
            if index.is_whole_file(row):
                files += 1
                engine.owners.of(index.file_number(row))
        time.sleep(_PAUSE)


@lru_cache(maxsize=4096)  # of a hit, questions often show the same lines
def _kinds(lines: Sequence[str], places: Sequence[int], source: str, path: str) -> list[Span]:
    """What is coloured in the lines of a preview, which begin at these places of a source."""
    if len(source) > _COLOURED:
        return []
    spans = highlighted(source, path, places[0], places[-1] + len(lines[-1]))
    told: list[Span] = []
    start = 0
    for line, place in zip(lines, places, strict=True):
        inside = ((max(first, place), min(last, place + len(line)), kind) for first, last, kind in spans)
        told += [(first - place + start, last - place + start, kind) for first, last, kind in inside if first < last]
        start += len(line) + 1
    return told
