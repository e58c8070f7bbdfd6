"""What is read of declarations by rules that no language has to itself: code fields, comments, what they are in.

The fields name, tokens, api and ast are those of ``data_prep.languages.java.functions``, with calls as they are
written, since types are not known.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from data_prep.languages.identifiers import compiled_later, split_identifier
from data_prep.languages.language import Declaration, Language, words
from data_prep.languages.nodes import is_docstring, node_text, part_of
from data_prep.languages.own_tree import Node

LONGEST: Final = 1000
"""Maximum words of a field."""
_LONGEST_WORD: Final = 200  # characters of an identifier
_MOST_NODES: Final = 20_000  # that are visited
_GAP: Final = compiled_later(rb"[ \t\f\r]*(?:\n[ \t\f\r]*)?")
"""What may be between a comment and what it documents: no blank line."""
_BLANKS: Final = compiled_later(rb"\s*")
_OF_FILE: Final = compiled_later(rb"(?i)/\*\*\*|@(?:callback|event|file|module|package|typedef)|copyright|licen[cs]e")
"""What a ``/**`` has that documents nothing behind a blank line."""
_SHOWN: Final = 10
"""Lines that are named."""
_OTHER_QUALIFIERS: Final = words("atom base module_id predefined_type self self_expression super this this_expression")
Parts = tuple[Node, Node | None, Node | None]
"""The node of a declaration, of its body, and of the docstring inside."""


def code_fields(name: str, type_name: str, parts: Parts, language: Language) -> dict[str, tuple[str, ...]]:
    """The fields of a function.

    - name: the words of its name, in order.
    - tokens: the words of the identifiers in its body, in order of first occurrence; single characters, keywords,
      literals and comments are excluded.
    - api: for each call the last name before its dot, if there is one, and the called name, in order of evaluation;
      the name of the class stands for ``self`` and ``this``.
    - ast: the kinds of the nodes of the declaration, parents before children.
    """
    whole, body, docstring = parts
    names: dict[bytes | None, None] = {}
    calls: list[str] = []
    shape: list[str] = []
    owner = type_name.rpartition(".")[2]
    start = whole.end_byte if body is None else body.start_byte
    bare_calls = language.bare_calls(whole)
    skipped = docstring.id if docstring is not None else None
    identifiers, comments, called = language.identifiers, language.comments, language.calls
    todo: list[Node | tuple[Node]] = [whole]  # or a call to be left
    visited = 0
    while todo and visited < _MOST_NODES:
        node, visited = todo.pop(), visited + 1
        if isinstance(node, tuple):
            calls += _call(node[0], language, owner)
            continue
        kind = node.type
        if kind in comments or (skipped is not None and node.id == skipped):
            continue
        shape.append(kind)
        if bare_calls and node.id in bare_calls:
            calls.append(_word(node.text))
        if kind in identifiers and node.start_byte >= start:
            names[node.text] = None
        if kind in called and language.is_one(node, "call"):
            todo.append((node,))
        if node.child_count:  # most nodes are leaves, of which reading none takes as long
            todo += node.named_children[::-1]
    return {
        "name": split_identifier(name)[:LONGEST],
        "tokens": _tokens(names, language),
        "api": tuple(calls[:LONGEST]),
        "ast": tuple(shape[:LONGEST]),
    }


def type_fields(name: str, parts: Parts, language: Language) -> dict[str, tuple[str, ...]]:
    """The fields of a type: the words of its name, and those of what it declares, without the bodies inside.

    Args:
        name: of the type.
        parts: of its declaration.
        language: its language, whose functions and types inside are without their bodies.
    """
    whole, own_body, docstring = parts
    inner = language.functions | language.types | language.other_types
    skipped = {node.id for node in (docstring,) if node is not None}
    names: dict[bytes | None, None] = {}
    todo = [whole]
    for _ in range(_MOST_NODES):
        if not todo:
            break
        node = todo.pop()
        kind = node.type
        if kind in language.comments or node.id in skipped:
            continue
        body = language.body(node) if kind in inner else None
        if body is not None and (own_body is None or body.id != own_body.id):
            skipped.add(body.id)
        if kind in language.identifiers:
            names[node.text] = None
        if node.named_child_count:
            todo += node.named_children[::-1]
    return {"name": split_identifier(name)[:LONGEST], "tokens": _tokens(names, language), "api": ()}


def merged(clauses: Sequence[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """The fields of a function with several clauses: theirs one after the other, tokens once."""
    found = {field: tuple(chain.from_iterable(each[field] for each in clauses))[:LONGEST] for field in clauses[0]}
    return {**found, "tokens": tuple(dict.fromkeys(found["tokens"]))}


def distinct_words(names: Iterable[str]) -> tuple[str, ...]:
    """The words of identifiers in order of first occurrence, without single characters."""
    words = dict.fromkeys(chain.from_iterable(map(split_identifier, names)))
    return tuple(word for word in words if len(word) > 1)


def _call(node: Node, language: Language, owner: str) -> list[str]:
    places = language.calls[node.type]
    called = (part_of(node, place) for place in (places if isinstance(places, tuple) else (places,)))
    words = [word for each in called if each is not None for word in _names(each, language)]
    words = [*words[-1:], "new"] if words and node.type in language.creations else words
    return [*filter(None, (owner if word in language.self_names else word for word in words))]


def _names(node: Node, language: Language) -> list[str]:
    """The called name after the last name of its qualifier."""
    if node.type in language.identifiers or node.type == "predefined_type":
        return [_word(node.text)]
    if node.type not in language.members:
        return []
    qualifier, name = _member(node, language)
    while name is not None and name.type in language.members:
        inner, name = _member(name, language)
        qualifier = inner or qualifier
    while qualifier is not None and qualifier.type in language.members:
        qualifier = _member(qualifier, language)[1]
    if qualifier is not None and qualifier.type not in language.identifiers and qualifier.type not in _OTHER_QUALIFIERS:
        qualifier = None
    return [word for each in (qualifier, name) if each is not None and (word := _word(each.text))]


def _member(node: Node, language: Language) -> tuple[Node | None, Node | None]:
    """The qualifier of a qualified name, if there is one, and its name."""
    qualifier, name = language.members[node.type]
    return part_of(node, qualifier) if qualifier else None, part_of(node, name)


def _tokens(names: Iterable[bytes | None], language: Language) -> tuple[str, ...]:
    return distinct_words(word for name in names if (word := _word(name)) not in language.self_names)[:LONGEST]


def _word(name: bytes | None) -> str:
    return (name or b"")[:_LONGEST_WORD].decode(errors="replace").lstrip("#@:\\").removeprefix("this@")


def bodiless(language: Language, root: Node) -> Iterator[Declaration]:
    """What a file declares without a body; ``root``: of the file."""
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type in language.signatures:
            declaration = language.signature(node) if language.body(node) is None else None
            if declaration is not None and declaration.name:
                yield replace(declaration, kind="abstract")
        elif node is root or node.type in language.signatures_in:
            todo += reversed(node.named_children)


def types_around(language: Language, node: Node) -> str:
    """The types that a declaration is in, dotted; "" if it is in none."""
    names, around = list[str](), node.parent
    while around is not None:
        if around.type in language.types and language.is_one(around, "type"):
            names.append(language.scope_name(around))
        around = around.parent
    return ".".join(filter(None, names[::-1]))


def without_comments(whole: Node, column: int, comments: frozenset[str]) -> Node:
    """What a declaration ends with: itself, or what is before comments at its end that are of the next one.

    Grammars of languages without braces put such comments into the block before. ``column``: of the declaration.
    """
    end, last = whole, whole
    while children := last.named_children:
        behind = children[-1].end_byte - last.start_byte
        if children[-1].end_byte < last.end_byte and (last.text or b"")[behind:].strip():
            break  # something closes it
        while len(children) > 1 and children[-1].type in comments and children[-1].start_point[1] <= column:
            children.pop()
            end = children[-1]
        last = children[-1]
    return end


def docstring_of(language: Language, function: Node) -> Node | None:
    """The string that documents a function, at the start of its body."""
    body = language.body(function)
    first = next((child for child in body.named_children if child.type != "comment"), None) if body else None
    return first if first is not None and is_docstring(first) else None


def first_part(declared: Declaration, kinds: frozenset[str]) -> Node:
    """What a declaration begins with: the first of the siblings of some kinds directly before it, else itself.

    Comments among them are passed over. What the declaration states comes before that.
    """
    first = declared.first or declared.whole
    before = first.prev_named_sibling if kinds and declared.first is None else None
    while before is not None and (before.type in kinds or before.type.endswith("comment")):
        first, before = before if before.type in kinds else first, before.prev_named_sibling
    return first


def last_line(data: bytes, node: Node) -> int:
    """The last line of a node, from 1, without the white space that some grammars end it with."""
    if not data[node.end_byte - 1 : node.end_byte].isspace():
        return node.end_point[0] + 1
    end = node.start_byte + len(data[node.start_byte : node.end_byte].rstrip())
    return node.end_point[0] + 1 - data.count(b"\n", end, node.end_byte)


def left_out_lines(lines: Sequence[int]) -> str:
    """That functions are left out that begin in some lines of a text which does not parse; "" if there are none."""
    shown = ", ".join(f"{line}" for line in sorted(lines)[:_SHOWN])
    more = f" and {len(lines) - _SHOWN:,} more" if len(lines) > _SHOWN else ""
    one = len(lines) == 1
    what = f"1 function from line {shown} on is" if one else f"{len(lines):,} functions from lines {shown}{more} on are"
    return f"{what} left out" if lines else ""


class Comments:
    """The comments of a file."""

    def __init__(self, data: bytes, nodes: Sequence[Node], block: tuple[str, str] | None) -> None:
        """``block``: what begins and ends a block comment."""
        self.data = data
        self._block = block[0] if block else "\0"
        self.nodes = sorted(nodes, key=lambda node: node.start_byte)
        self._ends = [self._end(node) for node in self.nodes]

    def before(self, start: int) -> str:
        """The comment directly before ``start``: one block comment, or a run of line comments."""
        place = bisect_right(self._ends, start) - 1
        if place < 0 or not _BLANKS.fullmatch(self.data, self._ends[place], start):
            return ""  # as of most, which is seen soon
        if not self._documents(self.nodes[place], start):
            return ""
        raw = node_text(self.nodes[place])
        if raw.startswith(self._block):
            return raw
        lines = [raw]
        for earlier in range(place - 1, -1, -1):
            text, end = node_text(self.nodes[earlier]), self.nodes[earlier + 1].start_byte
            if text.startswith(self._block) or not self._documents(self.nodes[earlier], end):
                break
            lines.append(text)
        return "\n".join(line.rstrip("\n") for line in reversed(lines))

    def are_last_of(self, node: Node) -> bool:
        """Whether a comment is the last of a node, but for white space."""
        place = bisect_right(self._ends, node.end_byte) - 1
        end = self._ends[place] if place >= 0 else 0
        return end > node.start_byte and _BLANKS.fullmatch(self.data, end, node.end_byte) is not None

    def _end(self, comment: Node) -> int:
        """The end of a comment, without the line break that some grammars count in."""
        return comment.end_byte - self.data.endswith(b"\n", comment.start_byte, comment.end_byte)

    def _documents(self, comment: Node, start: int) -> bool:
        """Whether nothing is between a comment and ``start``, and no code on its line before one that is no ``/**``."""
        first, end, is_doc = comment.start_byte, self._end(comment), self.data.startswith(b"/**", comment.start_byte)
        before = self.data[self.data.rfind(b"\n", 0, first) + 1 : first].strip(b" \t\f\r\xef\xbb\xbf")
        if (before and not is_doc) or (not first and self.data.startswith(b"#!")):
            return False
        if _GAP.fullmatch(self.data, end, start):
            return True
        blank = first > 0 and start < end + 99 and not self.data[end:start].strip()
        return is_doc and blank and not _OF_FILE.search(comment.text or b"")
