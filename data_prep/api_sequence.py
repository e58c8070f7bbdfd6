"""The API sequence of a method: for each call, in the order of execution as written, a class word and a method word.

The rules are those of DeepCS (Gu, Zhang and Kim, "Deep Code Search", ICSE 2018, section 3.2, and its data):

- ``new C()`` gives ``C new``; ``o.m()`` the declared type of ``o``, then ``m``; ``C.m()`` ``C m``; ``m()`` the enclosing
  class, then ``m``; a cast ``C cast``.
- The calls among a call's receiver and arguments come before the call. Condition, then-branch and else-branch follow
  each other; the condition and body of a loop are given once.
- A call on an expression whose type the file does not tell is left out; calls in its arguments stay.

Departures from DeepCS, which resolved types with a compiler over whole projects:

- Only the file itself is read: locals, parameters, fields, results of methods of the file, literals, static imports.
- Type arguments are erased: ``Map containsKey``, not ``Map < Integer , Integer > containsKey``.
- ``super.m()`` gives the superclass as written, and ``C::m`` is read like a call; ``instanceof`` gives nothing.
"""

from collections.abc import Callable, Iterable
from typing import Final

from tree_sitter import Node

from data_prep.java_types import TYPE_BODIES, JavaFileTypes, JavaType, declared, erased, is_primitive, text, type_parameters

_OBJECT_METHODS: Final = {"getClass": "Class", "toString": "String", "hashCode": "int", "equals": "boolean"}
"""Results that ``java.lang.Object`` fixes for every receiver."""

_SCOPES: Final = frozenset((
    "block", "constructor_body", "for_statement", "enhanced_for_statement", "lambda_expression", "catch_clause",
    "try_with_resources_statement", "switch_block", "class_body",
))  # fmt: skip
_LITERALS: Final = {"string_literal": "String", "text_block": "String", "class_literal": "Class"}

Step = tuple[Node, str, bool]
"""A named node, its kind, and whether it is being left (else entered)."""


def api_sequence(steps: Iterable[Step], enclosing: JavaType | None, method: Node | None = None) -> tuple[str, ...]:
    """Class word and method word of each call.

    Args:
        steps: every named node of the declaration as entered, those of LEFT_KINDS also as left, in source order.
        enclosing: the type that declares the method.
        method: the declaration, for its type parameters.
    """
    calls = _Calls(enclosing or JavaType(method or next(iter(steps))[0], "", None, JavaFileTypes()), method)
    for node, kind, leaving in steps:
        calls.step(node, kind, leaving)
    return tuple(calls.words)


class _Calls:
    """Types of the names in force and of the expressions seen, while a method is walked."""

    def __init__(self, enclosing: JavaType, method: Node | None) -> None:
        self.words: list[str] = []
        self.here = enclosing
        self.own = type_parameters(method) if method is not None else {}
        self.names: dict[str, str | None] = {}
        self.shadowed: list[list[tuple[str, bool, str | None]]] = [[]]  # a list a scope: name, was known, was
        self.types: dict[int, str | None] = {}  # expression -> its type

    def step(self, node: Node, kind: str, leaving: bool) -> None:
        if leaving:
            if kind in _SCOPES:
                self.close(node, kind)
            leave = _LEAVE.get(kind)
            if leave is not None:
                leave(self, node)
        else:
            if kind in _SCOPES:
                self.shadowed.append([])
            enter = _ENTER.get(kind)
            if enter is not None:
                enter(self, node)

    def close(self, node: Node, kind: str) -> None:
        for name, known, before in reversed(self.shadowed.pop()):
            if known:
                self.names[name] = before
            else:
                self.names.pop(name, None)
        if kind == "class_body" and self.here.outer is not None and _owner(node) == self.here.node:
            self.here = self.here.outer

    def declare(self, name: str, type_name: str | None) -> None:
        self.shadowed[-1].append((name, name in self.names, self.names.get(name)))
        self.names[name] = self.here.erase(type_name, self.own)

    def call(self, type_name: str | None, method: str) -> None:
        if type_name and method:
            self.words += (type_name, method)

    # -- declarations

    def variables(self, node: Node) -> None:
        for name, type_name in declared(node):
            self.declare(name, type_name)

    def variable(self, node: Node) -> None:
        """A local, typed as soon as its initialiser was seen: ``var`` takes the type of that."""
        parent = node.parent
        if parent is None or parent.type != "local_variable_declaration":
            return
        type_name = erased(parent.child_by_field_name("type"))
        if type_name is None:
            type_name = self.type_of(node.child_by_field_name("value"))
        elif node.child_by_field_name("dimensions") is not None:
            type_name += "[]" * text(node.child_by_field_name("dimensions")).count("[")
        self.declare(text(node.child_by_field_name("name")), type_name)

    def caught(self, node: Node) -> None:
        types = [child for child in node.named_children if child.type == "catch_type"]
        single = types and types[0].named_child_count == 1
        self.declare(text(node.child_by_field_name("name")), erased(types[0]) if single else "Exception")

    def resource(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            type_name = erased(node.child_by_field_name("type"))
            self.declare(text(name), type_name or self.type_of(node.child_by_field_name("value")))

    def pattern(self, node: Node) -> None:
        """``Foo f`` in a switch label or a record pattern."""
        if node.named_child_count >= 2:
            self.declare(text(node.named_children[-1]), erased(node.named_children[-2]))

    def tested(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.declare(text(name), erased(node.child_by_field_name("right")))

    def each(self, node: Node) -> None:
        type_name = erased(node.child_by_field_name("type"))
        if type_name is None:
            type_name = _element(self.type_of(node.child_by_field_name("value")))
        self.declare(text(node.child_by_field_name("name")), type_name)

    def lambda_names(self, node: Node) -> None:
        parameters = node.child_by_field_name("parameters")
        if parameters is not None and parameters.type == "identifier":
            self.declare(text(parameters), None)
        elif parameters is not None and parameters.type == "inferred_parameters":
            for name in parameters.named_children:
                self.declare(text(name), None)

    def class_body(self, node: Node) -> None:
        owner = _owner(node)
        if owner is None:
            return
        if owner.type == "object_creation_expression":
            name = erased(owner.child_by_field_name("type")) or ""
            self.call(name, "new")
        else:
            name = text(owner.child_by_field_name("name"))
        self.here = JavaType(owner, name, self.here, self.here.file)

    # -- calls

    def invocation(self, node: Node) -> None:
        method = text(node.child_by_field_name("name"))
        receiver = node.child_by_field_name("object")
        if receiver is None:
            owner = self.here.declarer(method)
            imported = self.here.file.static_imports.get(method) if owner is None else None
            self.call(imported or (owner or self.here).name, method)
            result = owner.methods[method] if owner is not None else None
        else:
            is_super = receiver.type == "super" or any(child.type == "super" for child in node.named_children[:2])
            type_name = text(receiver) if is_super and receiver.type != "super" else self.type_of(receiver)
            type_name = None if type_name is None or is_primitive(type_name) else type_name
            self.call(type_name, method)
            known = self._declared_in_file(type_name)
            result = known.methods.get(method) if known is not None else None
            if type_name is not None and type_name.endswith("[]") and method == "clone":
                result = type_name
        self.types[node.id] = result or _OBJECT_METHODS.get(method)

    def creation(self, node: Node) -> None:
        type_name = erased(node.child_by_field_name("type"))
        self.types[node.id] = type_name
        if not any(child.type == "class_body" for child in node.named_children[-1:]):
            self.call(type_name, "new")

    def cast(self, node: Node) -> None:
        type_name = self.here.erase(erased(node.child_by_field_name("type")), self.own)
        self.types[node.id] = type_name
        if type_name is not None and not is_primitive(type_name):
            self.call(type_name, "cast")

    def reference(self, node: Node) -> None:
        """``Foo::bar`` and ``Foo::new``."""
        parts = node.named_children
        if not parts:
            return
        if len(parts) == 1 or parts[-1].type != "identifier":
            self.call((erased(parts[0]) or self.type_of(parts[0])), "new")
            return
        first = parts[0]
        self.call(self.type_of(first) if erased(first) is None else erased(first), text(parts[-1]))

    # -- types of expressions

    def type_of(self, node: Node | None) -> str | None:
        """The type of an expression already walked; None where the file does not tell."""
        if node is None:
            return None
        kind = node.type
        if kind == "identifier":
            return self.name_type(text(node))
        if kind == "this":
            return self.here.name
        if kind == "super":
            return self.here.parent
        return _LITERALS.get(kind) or self.types.get(node.id)

    def name_type(self, name: str) -> str | None:
        if name in self.names:
            return self.names[name]
        known, type_name = self.here.field(name)
        if known:
            return type_name
        return name if _names_a_type(name) else None

    def field_access(self, node: Node) -> None:
        target, name = node.child_by_field_name("object"), node.child_by_field_name("field")
        if name is None or target is None:
            return
        word = text(name)
        if name.type == "this":
            self.types[node.id] = text(target)
            return
        owner = self.here if target.type == "this" else self._declared_in_file(self.type_of(target))
        if owner is not None and word in owner.fields:
            self.types[node.id] = owner.fields[word]
        elif _names_a_type(word) and not word.isupper():
            self.types[node.id] = word
        elif (text(target), word) in (("System", "out"), ("System", "err")):
            self.types[node.id] = "PrintStream"

    def _declared_in_file(self, type_name: str | None) -> JavaType | None:
        if type_name is None:
            return None
        return self.here if type_name == self.here.name else self.here.file.types.get(type_name)

    def array(self, node: Node) -> None:
        self.types[node.id] = _element(self.type_of(node.child_by_field_name("array")))

    def new_array(self, node: Node) -> None:
        element = erased(node.child_by_field_name("type"))
        if element is not None:
            sizes = [child for child in node.named_children if child.type.startswith("dimensions")]
            brackets = sum(1 if child.type == "dimensions_expr" else text(child).count("[") for child in sizes)
            self.types[node.id] = element + "[]" * brackets

    def same(self, node: Node) -> None:
        self.types[node.id] = self.type_of(node.named_child(0))

    def choice(self, node: Node) -> None:
        first = self.type_of(node.child_by_field_name("consequence"))
        self.types[node.id] = first or self.type_of(node.child_by_field_name("alternative"))

    def joined(self, node: Node) -> None:
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        if "String" in (self.type_of(sides[0]), self.type_of(sides[1])) and text(node.child_by_field_name("operator")) == "+":
            self.types[node.id] = "String"


def _owner(body: Node) -> Node | None:
    """The declaration or expression that a class body inside a method belongs to."""
    return body.parent


def _element(type_name: str | None) -> str | None:
    return type_name[:-2] if type_name is not None and type_name.endswith("[]") else None


def _names_a_type(name: str) -> bool:
    """Whether a name that the file does not declare reads like a type: ``Math``, ``URI``; not ``list``, ``MAX_SIZE``."""
    return name[:1].isupper() and not ("_" in name and name.isupper())


_ENTER: Final[dict[str, Callable[[_Calls, Node], None]]] = {
    "enhanced_for_statement": _Calls.each,
    "lambda_expression": _Calls.lambda_names,
    "class_body": _Calls.class_body,
}
_LEAVE: Final[dict[str, Callable[[_Calls, Node], None]]] = {
    "formal_parameter": _Calls.variables,
    "spread_parameter": _Calls.variables,
    "variable_declarator": _Calls.variable,
    "catch_formal_parameter": _Calls.caught,
    "resource": _Calls.resource,
    "type_pattern": _Calls.pattern,
    "record_pattern_component": _Calls.pattern,
    "instanceof_expression": _Calls.tested,
    "method_invocation": _Calls.invocation,
    "object_creation_expression": _Calls.creation,
    "cast_expression": _Calls.cast,
    "method_reference": _Calls.reference,
    "field_access": _Calls.field_access,
    "array_access": _Calls.array,
    "array_creation_expression": _Calls.new_array,
    "parenthesized_expression": _Calls.same,
    "assignment_expression": _Calls.same,
    "ternary_expression": _Calls.choice,
    "binary_expression": _Calls.joined,
}

LEFT_KINDS: Final = _SCOPES | _LEAVE.keys()
"""Kinds of nodes that ``api_sequence`` must be told when they are left."""
