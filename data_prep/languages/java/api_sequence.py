"""The API sequence of a method: a class word and a method word for each call, in the order of execution as written.

The rules are those of DeepCS (Gu, Zhang and Kim, "Deep Code Search", ICSE 2018, section 3.2, and its data):

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

from data_prep.languages.java.scopes import NOTED_KINDS, SCOPES, Scopes
from data_prep.languages.java.types import TYPE_BODIES, JavaFileTypes, JavaType, erased, is_primitive, text

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
        method = text(node.child_by_field_name("name"))
        receiver = node.child_by_field_name("object")
        if receiver is None:
            result = self._unqualified(method)
        else:
            on_interface = receiver.type == "identifier" and any(c.type == "super" for c in node.named_children[1:2])
            type_name = text(receiver) if on_interface else self.scopes.type_of(receiver)
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
            self.write(type_name, text(parts[-1]) if named else "new")


_WRITE: Final[dict[str, Callable[[_Calls, Node], None]]] = {
    "method_invocation": _Calls.invocation,
    "object_creation_expression": _Calls.creation,
    "cast_expression": _Calls.cast,
    "method_reference": _Calls.reference,
}
LEFT_KINDS: Final = NOTED_KINDS | _WRITE.keys()
"""Kinds of nodes that ``api_sequence`` also needs when they are left."""
