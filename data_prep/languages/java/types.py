"""The types that a Java file declares: their fields, the result types of their methods, and enclosing types.

Only the file itself is read: declarations of other files are unknown, and type arguments are erased.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from tree_sitter import Node

from data_prep.languages.nodes import name_of, node_text, part_of

TYPE_BODIES: Final = frozenset(
    ("class_body", "interface_body", "enum_body", "annotation_type_body", "enum_body_declarations")
)
_FIELDS: Final = frozenset(("field_declaration", "constant_declaration", "local_variable_declaration"))
_METHODS: Final = frozenset(("method_declaration", "annotation_type_element_declaration"))
_PRIMITIVES: Final = frozenset(("integral_type", "floating_point_type", "boolean_type", "void_type"))
_PARAMETERS: Final = frozenset(("formal_parameter", "spread_parameter"))


def is_primitive(type_name: str) -> bool:
    """Whether a type has no methods: ``int``, ``boolean``, ``void`` and so on."""
    return type_name.islower() and type_name in (
        "int", "long", "short", "byte", "char", "float", "double", "boolean", "void"
    )  # fmt: skip


def erased(node: Node | None) -> str | None:
    """A type as one word, without package, outer types, annotations and type arguments; None for ``var``.

    ``java.util.Map.Entry<K, V>[]`` becomes ``Entry[]``.
    """
    arrays = 0
    while node is not None:
        kind = node.type
        if kind == "type_identifier" or kind in _PRIMITIVES:
            word = node_text(node)
            return None if word == "var" else word + "[]" * arrays
        if kind == "array_type":
            arrays += node_text(node.child_by_field_name("dimensions")).count("[")
            node = node.child_by_field_name("element")
        elif kind == "generic_type":
            node = node.named_child(0)
        elif kind in ("scoped_type_identifier", "annotated_type", "catch_type"):
            place = 0 if kind == "catch_type" else node.named_child_count - 1
            node = node.named_child(place)
        else:
            return None
    return None


def declared(node: Node) -> Iterator[tuple[str, str | None]]:
    """Names and erased types that a field, local variable or parameter declaration introduces."""
    type_node = node.child_by_field_name("type")
    if type_node is None:  # a spread parameter names no field for its type
        type_node = next((child for child in node.named_children if child.type.endswith(("_type", "identifier"))), None)
    base = erased(type_node)
    extra = "[]" if node.type == "spread_parameter" else ""
    declarators = [child for child in node.named_children if child.type == "variable_declarator"] or [node]
    for declarator in declarators:
        arrays = "[]" * node_text(declarator.child_by_field_name("dimensions")).count("[")
        yield name_of(declarator), base + extra + arrays if base else None


def type_parameters(node: Node) -> dict[str, str | None]:
    """Type parameters of a type or method, each with its erasure: its first bound, else ``Object``."""
    found: dict[str, str | None] = {}
    parameters = node.child_by_field_name("type_parameters")
    for parameter in parameters.named_children if parameters is not None else ():
        name = next((node_text(child) for child in parameter.named_children if child.type == "type_identifier"), "")
        bound = next((child for child in parameter.named_children if child.type == "type_bound"), None)
        found[name] = erased(part_of(bound, "0")) or "Object"
    return found


@dataclass(frozen=True)
class JavaFileTypes:
    """The static imports of a file, and its types by simple name."""

    static_imports: dict[str, str] = field(default_factory=dict)  # method -> the class it is imported from
    types: dict[str, "JavaType"] = field(default_factory=dict)

    def add_import(self, node: Node) -> None:
        """Add ``import static a.B.c``; other imports are ignored."""
        words = node_text(node).rstrip(";").split()
        if len(words) == 3 and words[1] == "static":
            parts = words[2].split(".")
            if len(parts) > 1 and parts[-1] != "*":
                self.static_imports[parts[-1]] = parts[-2]


@dataclass(frozen=True, eq=False)
class JavaType:
    """A type declared in the file, named or anonymous."""

    node: Node  # its declaration, or the expression that creates an anonymous class, or a file without a class
    name: str  # its simple name, "" of a file; an anonymous class has the name of the type it extends
    outer: "JavaType | None"
    file: JavaFileTypes

    @property
    def dotted(self) -> str:
        """The name qualified by the enclosing types: ``Outer.Inner``."""
        names, inner = [self.name], self.outer
        while inner is not None:
            names.append(inner.name)
            inner = inner.outer
        return ".".join(reversed(names))

    @cached_property
    def parent(self) -> str:
        """The superclass as one word; ``Object`` if none is declared."""
        if not self.node.type.endswith("_declaration"):
            return self.name  # an anonymous class
        return erased(part_of(self.node, "superclass", "0")) or "Object"

    @cached_property
    def parameters(self) -> dict[str, str | None]:
        """Type parameters and their erasures."""
        return type_parameters(self.node)

    @cached_property
    def _members(self) -> list[Node]:
        inside = (child for child in self.node.named_children if child.type in TYPE_BODIES)
        body = part_of(self.node, "body") or next(inside, None)
        members = list((body or self.node).named_children) if body or self.node.type == "program" else []
        for member in list(members):
            if member.type == "enum_body_declarations":
                members += member.named_children
        return members

    @cached_property
    def fields(self) -> dict[str, str | None]:
        """Fields, record components and enum constants with their erased types."""
        found: dict[str, str | None] = {}
        components = self.node.child_by_field_name("parameters")  # of a record
        for component in components.named_children if components is not None else ():
            if component.type in _PARAMETERS:
                found.update(declared(component))
        for member in self._members:
            if member.type in _FIELDS:
                found.update(declared(member))
            elif member.type == "enum_constant":
                found[name_of(member)] = self.name
        return {name: self.erase(type_name) for name, type_name in found.items()}

    @cached_property
    def methods(self) -> dict[str, str | None]:
        """Declared methods with their erased result types; None if overloads differ."""
        found: dict[str, str | None] = {}
        for member in self._members:
            if member.type in _METHODS:
                name = name_of(member)
                result = self.erase(erased(member.child_by_field_name("type")), type_parameters(member))
                found[name] = result if found.get(name, result) == result else None
        if self.node.type == "record_declaration":
            found = {**self.fields, **found}
        return found

    def erase(self, type_name: str | None, own: dict[str, str | None] | None = None) -> str | None:
        """``type_name``, or its erasure if it is a type parameter in scope."""
        if type_name is None:
            return None
        base = type_name.rstrip("[]")
        here: JavaType | None = self
        bound = (own or {}).get(base)
        while bound is None and here is not None:
            bound = here.parameters.get(base)
            here = here.outer
        return type_name if bound is None else bound + type_name[len(base) :]

    def field(self, name: str) -> tuple[bool, str | None]:
        """Whether this type or an enclosing one declares a field ``name``, and the field's type."""
        here: JavaType | None = self
        while here is not None:
            if name in here.fields:
                return True, here.fields[name]
            here = here.outer
        return False, None

    def declarer(self, method: str) -> "JavaType | None":
        """The nearest type, from this one outward, that declares ``method``."""
        here: JavaType | None = self
        while here is not None and method not in here.methods:
            here = here.outer
        return here


class OpenTypes:
    """The types around a place in a file, queried in source order."""

    def __init__(self, imports: list[Node]) -> None:
        self.file = JavaFileTypes()
        self.open: list[tuple[int, JavaType]] = []  # end, type
        for node in imports:
            self.file.add_import(node)

    def around(self, start: int) -> JavaType | None:
        """The innermost type that encloses ``start``."""
        while self.open and self.open[-1][0] <= start:
            self.open.pop()
        return self.open[-1][1] if self.open else None

    def enter(self, node: Node, end: int, enclosing: JavaType | None) -> None:
        """Add a type's declaration, or a class body of an expression or an enum constant."""
        if node.type == "enum_constant":
            name = enclosing.name if enclosing is not None else ""
        elif node.type == "object_creation_expression":
            name = erased(node.child_by_field_name("type")) or ""
        else:
            name = name_of(node)
        found = JavaType(node, name, enclosing, self.file)
        if node.type.endswith("_declaration"):
            self.file.types.setdefault(name, found)
        self.open.append((end, found))
