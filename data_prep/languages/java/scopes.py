"""Types of the names in scope and of visited expressions, while a method is walked in source order."""

from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from data_prep.languages.java.types import TYPE_BODIES, JavaType, declared, erased, type_parameters
from data_prep.languages.nodes import above, name_of, node_text

SCOPES: Final = TYPE_BODIES | {
    "block", "constructor_body", "for_statement", "enhanced_for_statement", "lambda_expression", "catch_clause",
    "try_with_resources_statement", "switch_block",
}  # fmt: skip
"""Kinds of nodes that end the scope of the names declared inside."""

_LOCAL: Final = "local_variable_declaration"
_MOST_BEFORE: Final = 200
"""Statements of a block in which variables are looked for that a class inside sees."""
_LITERALS: Final = {"string_literal": "String", "text_block": "String", "class_literal": "Class"}
_STREAMS: Final = {("System", "out"): "PrintStream", ("System", "err"): "PrintStream", ("System", "in"): "InputStream"}


class Scopes:
    """Type information at each place of a method, inferred only from the method's own file."""

    def __init__(self, enclosing: JavaType, method: Node) -> None:
        self.here = enclosing  # the innermost type, anonymous and local ones included
        self.types: dict[int, str | None] = {}  # expression -> its type
        self._own = type_parameters(method)
        self._names: dict[str, str | None] = {}
        self._hidden: list[list[tuple[str, bool, str | None]]] = [[]]  # per scope: name, was it known, its type
        for name, type_name in _around(method):
            self._declare(name, type_name)

    def enter(self, node: Node, kind: str) -> None:
        """Process the start of a node."""
        if kind in SCOPES:
            self._hidden.append([])
            if kind in TYPE_BODIES and kind != "enum_body_declarations":
                self._enter_type(node)
            if (note := _ENTER.get(kind)) is not None:
                note(self, node)

    def leave(self, node: Node, kind: str) -> None:
        """Process the end of a node."""
        if kind in SCOPES:
            for name, known, before in reversed(self._hidden.pop()):
                if known:
                    self._names[name] = before
                else:
                    self._names.pop(name, None)
            if kind in TYPE_BODIES and self.here.outer is not None and node.parent == self.here.node:
                self.here = self.here.outer
        elif (note := _LEAVE.get(kind)) is not None:
            note(self, node)

    def type_of(self, node: Node | None) -> str | None:
        """The erased type of a visited expression; None if it cannot be inferred from the file."""
        if node is None:
            return None
        kind = node.type
        if kind == "identifier":
            return self._name_type(node_text(node))
        if kind == "this":
            return self.here.name
        if kind == "super":
            return self.here.parent
        return _LITERALS.get(kind) or self.types.get(node.id)

    def erase(self, type_node: Node | None) -> str | None:
        """The written type, with type parameters replaced by their bounds."""
        return self.here.erase(erased(type_node), self._own)

    def in_file(self, type_name: str | None) -> JavaType | None:
        """The type of that name, if this file declares it."""
        if type_name is None:
            return None
        return self.here if type_name == self.here.name else self.here.file.types.get(type_name)

    def _declare(self, name: str, type_name: str | None) -> None:
        self._hidden[-1].append((name, name in self._names, self._names.get(name)))
        self._names[name] = self.here.erase(type_name, self._own)

    def _name_type(self, name: str) -> str | None:
        if name in self._names:
            return self._names[name]
        known, type_name = self.here.field(name)
        if known:
            return type_name
        return name if names_a_type(name) else None

    def _enter_type(self, body: Node) -> None:
        owner = body.parent
        if owner is None:
            return
        name_node = owner.child_by_field_name("type" if owner.type == "object_creation_expression" else "name")
        name = self.here.name if owner.type == "enum_constant" else erased(name_node) or node_text(name_node)
        self.here = JavaType(owner, name, self.here, self.here.file)

    # declarations

    def _parameters(self, node: Node) -> None:
        for name, type_name in declared(node):
            self._declare(name, type_name)

    def _variable(self, node: Node) -> None:
        """A local variable, declared after its initialiser, whose type ``var`` takes."""
        declaration = above(node, _LOCAL)
        if declaration is None:
            return
        type_name = erased(declaration.child_by_field_name("type"))
        if type_name is None:
            type_name = self.type_of(node.child_by_field_name("value"))
        else:
            type_name += "[]" * node_text(node.child_by_field_name("dimensions")).count("[")
        self._declare(name_of(node), type_name)

    def _caught(self, node: Node) -> None:
        types = next((child for child in node.named_children if child.type == "catch_type"), None)
        single = types is not None and types.named_child_count == 1
        self._declare(name_of(node), erased(types) if single else "Exception")

    def _resource(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            type_name = erased(node.child_by_field_name("type"))
            self._declare(node_text(name), type_name or self.type_of(node.child_by_field_name("value")))

    def _pattern(self, node: Node) -> None:
        """``Foo f`` in a switch label or a record pattern."""
        if node.named_child_count >= 2:
            self._declare(node_text(node.named_children[-1]), erased(node.named_children[-2]))

    def _tested(self, node: Node) -> None:
        """``o instanceof Foo f``."""
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(node_text(name), erased(node.child_by_field_name("right")))

    def _each(self, node: Node) -> None:
        type_name = erased(node.child_by_field_name("type"))
        if type_name is None:
            type_name = _element(self.type_of(node.child_by_field_name("value")))
        self._declare(name_of(node), type_name)

    def _lambda_names(self, node: Node) -> None:
        parameters = node.child_by_field_name("parameters")
        if parameters is not None and parameters.type == "identifier":
            self._declare(node_text(parameters), None)
        elif parameters is not None and parameters.type == "inferred_parameters":
            for name in parameters.named_children:
                self._declare(node_text(name), None)

    # expressions

    def _field_access(self, node: Node) -> None:
        target, name = node.child_by_field_name("object"), node.child_by_field_name("field")
        if name is None or target is None:
            return
        word = node_text(name)
        if name.type == "this":  # Outer.this
            self.types[node.id] = node_text(target)
            return
        owner = self.here if target.type == "this" else self.in_file(self.type_of(target))
        known, type_name = owner.field(word) if owner is not None else (False, None)
        if known:
            self.types[node.id] = type_name
        elif names_a_type(word) and not word.isupper():
            self.types[node.id] = word
        else:
            self.types[node.id] = _STREAMS.get((node_text(target), word))

    def _array_access(self, node: Node) -> None:
        self.types[node.id] = _element(self.type_of(node.child_by_field_name("array")))

    def _new_array(self, node: Node) -> None:
        element = self.erase(node.child_by_field_name("type"))
        sizes = [child for child in node.named_children if child.type.startswith("dimensions")]
        brackets = sum(1 if child.type == "dimensions_expr" else node_text(child).count("[") for child in sizes)
        self.types[node.id] = element + "[]" * brackets if element is not None else None

    def _same(self, node: Node) -> None:
        self.types[node.id] = self.type_of(node.named_child(0))

    def _choice(self, node: Node) -> None:
        first = self.type_of(node.child_by_field_name("consequence"))
        self.types[node.id] = first or self.type_of(node.child_by_field_name("alternative"))

    def _joined(self, node: Node) -> None:
        if node_text(node.child_by_field_name("operator")) == "+":
            sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            self.types[node.id] = "String" if "String" in map(self.type_of, sides) else None


def names_a_type(name: str) -> bool:
    """Whether a name that the file does not declare looks like a type: Math or URI, not list or MAX_SIZE."""
    return name[:1].isupper() and not ("_" in name and name.isupper())


def _element(type_name: str | None) -> str | None:
    return type_name[:-2] if type_name is not None and type_name.endswith("[]") else None


def _around(method: Node) -> list[tuple[str, str | None]]:
    """Parameters and local variables of the methods that a method of a class inside of them sees, outer ones first."""
    found: list[tuple[str, str | None]] = []
    at = method.parent
    while at is not None and (around := at.parent) is not None:
        if around.type == "block" or around.type == "constructor_body":
            before = [each for each in around.named_children[:_MOST_BEFORE] if each.end_byte <= at.start_byte]
            found += [name for each in reversed(before) if each.type == _LOCAL for name in declared(each)]
        elif (parameters := around.child_by_field_name("parameters")) is not None:
            found += [name for each in parameters.named_children for name in declared(each)]
        at = around
    return found[::-1]


_ENTER: Final[dict[str, Callable[[Scopes, Node], None]]] = {
    "enhanced_for_statement": Scopes._each,
    "lambda_expression": Scopes._lambda_names,
}
_LEAVE: Final[dict[str, Callable[[Scopes, Node], None]]] = {
    "formal_parameter": Scopes._parameters,
    "spread_parameter": Scopes._parameters,
    "variable_declarator": Scopes._variable,
    "catch_formal_parameter": Scopes._caught,
    "resource": Scopes._resource,
    "type_pattern": Scopes._pattern,
    "record_pattern_component": Scopes._pattern,
    "instanceof_expression": Scopes._tested,
    "field_access": Scopes._field_access,
    "array_access": Scopes._array_access,
    "array_creation_expression": Scopes._new_array,
    "parenthesized_expression": Scopes._same,
    "assignment_expression": Scopes._same,
    "ternary_expression": Scopes._choice,
    "binary_expression": Scopes._joined,
}
NOTED_KINDS: Final = SCOPES | _LEAVE.keys()
"""Kinds of nodes that ``Scopes`` also needs when they are left."""
