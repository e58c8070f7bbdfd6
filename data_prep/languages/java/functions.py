"""The functions of a Java file, and their code fields in the profile ``clean``: name, tokens, api and ast.

The papers call the fields methodname, tokens, apiseq and sbt. The field ``statements`` is from ``jcg_fields``.

The API sequence is a class word and a method word for each call, in the order of execution as written. Its rules are
those of DeepCS (Gu, Zhang and Kim, "Deep Code Search", ICSE 2018, section 3.2, and its data):

- ``new C()`` gives ``C new``; ``o.m()`` the declared type of ``o``, then ``m``; ``C.m()`` gives ``C m``; ``m()`` the
  enclosing class, then ``m``; a cast gives ``C cast``.
- The calls among a call's receiver and arguments come before the call. Condition, then-branch and else-branch are
  concatenated; the condition and body of a loop are included once.
- A call on an expression whose type cannot be inferred from the file is skipped, but not the calls in its arguments.

Departures from DeepCS, which resolved types with a compiler over whole projects:

- Only the file itself is read: locals, parameters, fields, results of methods of the file, literals, static imports.
- Type arguments are erased: ``Map containsKey``, not ``Map < Integer , Integer > containsKey``.
- ``super.m()`` gives the superclass as written, and ``C::m`` is read like a call; ``instanceof`` gives nothing.
"""

from collections.abc import Callable, Iterable
from typing import Final

from tree_sitter import Node

from data_prep.languages.comments import javadoc_sentence, plain_comment
from data_prep.languages.fields import LONGEST, distinct_words
from data_prep.languages.identifiers import split_identifier
from data_prep.languages.java.declarations import FoundMethod, LeftOut, find_methods, parse_java
from data_prep.languages.java.scopes import NOTED_KINDS, SCOPES, Scopes
from data_prep.languages.java.types import TYPE_BODIES, JavaFileTypes, JavaType, erased, is_primitive
from data_prep.languages.language import FoundFunction, Language, ParsedSource
from data_prep.languages.nodes import name_of, node_text

_OBJECT_METHODS: Final = {"getClass": "Class", "toString": "String"}
"""Result types of methods of ``java.lang.Object``, for every receiver."""

Step = tuple[Node, str, bool]
"""A named node, its kind, and whether it is being left (else entered)."""


def api_sequence(method: Node, steps: Iterable[Step], enclosing: JavaType | None) -> tuple[str, ...]:
    """Class word and method word of each call of a method.

    Args:
        method: the declaration.
        steps: every named node when entered, and those of LEFT_KINDS also when left, in source order.
        enclosing: the type that declares it; None if unknown.
    """
    calls = _Calls(Scopes(enclosing or JavaType(method, "", None, JavaFileTypes()), method))
    for node, kind, leaving in steps:
        if leaving:
            calls.scopes.leave(node, kind)
            if (write := _WRITE.get(kind)) is not None:
                write(calls, node)
        elif kind in SCOPES:
            if kind in TYPE_BODIES:
                calls.anonymous(node)
            calls.scopes.enter(node, kind)
    return tuple(calls.words)


class _Calls:
    """The calls seen so far."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.words: list[str] = []

    def write(self, type_name: str | None, method: str) -> None:
        if type_name and method and not is_primitive(type_name):
            self.words += (type_name, method)

    def invocation(self, node: Node) -> None:
        method = name_of(node)
        receiver = node.child_by_field_name("object")
        if receiver is None:
            result = self._unqualified(method)
        else:
            on_interface = receiver.type == "identifier" and any(c.type == "super" for c in node.named_children[1:2])
            type_name = node_text(receiver) if on_interface else self.scopes.type_of(receiver)
            self.write(type_name, method)
            known = self.scopes.in_file(type_name)
            result = known.methods.get(method) if known is not None else None
            if type_name is not None and type_name.endswith("[]") and method == "clone":
                result = type_name
        self.scopes.types[node.id] = result or _OBJECT_METHODS.get(method)

    def _unqualified(self, method: str) -> str | None:
        """Write ``m()`` with the enclosing type that declares it, else its static import, else the innermost type."""
        here = self.scopes.here
        owner = here.declarer(method)
        if owner is not None:
            self.write(owner.name, method)
            return owner.methods[method]
        self.write(here.file.static_imports.get(method) or here.name, method)
        return None

    def anonymous(self, body: Node) -> None:
        """``new C() { ... }``: the constructor runs before anything inside the braces."""
        if body.parent is not None and body.parent.type == "object_creation_expression":
            self.write(erased(body.parent.child_by_field_name("type")), "new")

    def creation(self, node: Node) -> None:
        type_name = erased(node.child_by_field_name("type"))
        self.scopes.types[node.id] = type_name
        if not any(child.type == "class_body" for child in node.named_children[-1:]):
            self.write(type_name, "new")

    def cast(self, node: Node) -> None:
        type_name = self.scopes.erase(node.child_by_field_name("type"))
        self.scopes.types[node.id] = type_name
        self.write(type_name, "cast")

    def reference(self, node: Node) -> None:
        """``Foo::bar`` and ``Foo::new``."""
        parts = node.named_children
        if parts:
            type_name = self.scopes.erase(parts[0]) or self.scopes.type_of(parts[0])
            named = len(parts) > 1 and parts[-1].type == "identifier"
            self.write(type_name, node_text(parts[-1]) if named else "new")


_WRITE: Final[dict[str, Callable[[_Calls, Node], None]]] = {
    "method_invocation": _Calls.invocation,
    "object_creation_expression": _Calls.creation,
    "cast_expression": _Calls.cast,
    "method_reference": _Calls.reference,
}
LEFT_KINDS: Final = NOTED_KINDS | _WRITE.keys()
"""Kinds of nodes that ``api_sequence`` also needs when they are left."""


_IDENTIFIERS: Final = frozenset(("identifier", "type_identifier"))
_ANNOTATIONS: Final = frozenset(("annotation", "marker_annotation"))
_COMMENTS: Final = frozenset(("block_comment", "line_comment"))
_OF_WORDS: Final = _IDENTIFIERS | _ANNOTATIONS | SCOPES
"""Kinds of nodes that the fields of words need when they are entered."""


def clean_fields(found: FoundMethod) -> dict[str, tuple[str, ...]]:
    """The fields of a method: those of :func:`word_fields`, and its syntax tree.

    - ast: the kinds of the nodes of the declaration, parents before children.
    """
    steps = walk(found.node)
    return {**_word_fields(found, steps), "ast": tuple(kind for _, kind, leaving in steps if not leaving)[:LONGEST]}


def word_fields(found: FoundMethod) -> dict[str, tuple[str, ...]]:
    """The fields of a method that are words.

    - name: the words of its name, in order.
    - tokens: the words of the identifiers in its body, in order of first occurrence; single characters,
      keywords, literals, annotations and comments are excluded.
    - api: class word and method word of each call (``api_sequence``).
    """
    return _word_fields(found, walk(found.node, _OF_WORDS))


def _word_fields(found: FoundMethod, steps: list[Step]) -> dict[str, tuple[str, ...]]:
    return {
        "name": split_identifier(found.name)[:LONGEST],
        "tokens": _tokens(found.node.child_by_field_name("body"), steps)[:LONGEST],
        "api": api_sequence(found.node, steps, found.type)[:LONGEST],
    }


def walk(root: Node, kinds: frozenset[str] | None = None) -> list[Step]:
    """Every named node, or those of ``kinds``, when entered, and those of LEFT_KINDS when left, in source order.

    Comments are left out.

    Iterative, so that deeply nested text does not overflow the stack.
    """
    steps: list[Step] = []
    todo: list[Node | Step] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            steps.append(node)
            continue
        kind = node.type
        if kind in _COMMENTS:
            continue
        if kinds is None or kind in kinds:
            steps.append((node, kind, False))
        if kind in LEFT_KINDS:
            todo.append((node, kind, True))
        if kind not in _IDENTIFIERS:
            todo += node.named_children[::-1]
    return steps


def _tokens(body: Node | None, steps: list[Step]) -> tuple[str, ...]:
    if body is None:
        return ()
    start = body.start_byte
    names: dict[bytes | None, None] = {}
    for node, kind, leaving in steps:
        if kind in _IDENTIFIERS:
            if node.start_byte >= start:
                names[node.text] = None
        elif kind in _ANNOTATIONS and not leaving:
            start = max(start, node.end_byte)
    return distinct_words((name or b"").decode(errors="replace") for name in names)


def parse(_: Language, data: bytes, __: str) -> ParsedSource:
    """The methods and constructors of a file, in source order.

    Raises:
        UserError: it is longer than ``LARGEST_SOURCE``.
    """
    parsed, left_out = parse_java(data), LeftOut()
    functions = [_function(found) for found in find_methods(parsed, documented_only=False, left_out=left_out)]
    count, broken = left_out.declarations + len(left_out.broken), sorted(left_out.broken)
    return ParsedSource(
        functions,
        parsed.comments(),
        parsed.code_start,
        count,
        broken_line=parsed.broken_line,
        broken_lines=broken,
    )


def _function(found: FoundMethod) -> FoundFunction:
    node = found.node
    return FoundFunction(
        name=found.name,
        type_name=found.type_name,
        kind=found.kind,
        start=found.text.place(node.start_byte),
        end=found.text.place(node.end_byte),
        start_line=found.start_line,
        end_line=found.end_line,
        doc=plain_comment(found.javadoc) if found.javadoc else "",
        query=javadoc_sentence(found.javadoc),
        docstring=None,
        is_stub=False,
        annotations=found.annotations,
        fields=lambda: clean_fields(found),
    )
