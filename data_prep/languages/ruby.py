"""Ruby: methods, of the class itself too, and blocks that define one; classes, modules and constants."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from data_prep.languages.language import Declaration, Language, name_of, node_text, part_of, words

if TYPE_CHECKING:
    from tree_sitter import Node

_STRUCTS: Final = frozenset(("Struct.new", "Data.define", "Class.new", "Module.new"))


def _declaration(node: "Node") -> Declaration:
    """A method; ``private def x`` with its modifier."""
    arguments = node.parent
    call = arguments.parent if arguments is not None and arguments.type == "argument_list" else None
    name, kind = name_of(node), "constructor" if node.type == "method" and name_of(node) == "initialize" else ""
    return Declaration(name, node, kind=kind, first=call)


def _type_declaration(node: "Node") -> Declaration | None:
    """A class or module, or a constant that is given one; ``class << self`` only qualifies what is inside."""
    return Declaration(name, node) if (name := _scope_name(node)) and node.type != "singleton_class" else None


def _scope_name(node: "Node") -> str:
    """``Request`` of ``class Rack::Request``, and of ``Request = Struct.new(:env) do``."""
    if node.type != "assignment":
        return name_of(node).replace("::", ".")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    made = right is not None and right.type == "call" and _called(right) in _STRUCTS
    return node_text(left) if left is not None and left.type == "constant" and made else ""


def _called(call: "Node") -> str:
    return ".".join(node_text(call.child_by_field_name(field)) for field in ("receiver", "method"))


def _body(node: "Node") -> "Node | None":
    if node.type != "assignment":
        return node.child_by_field_name("body")
    return part_of(node, "right")


def _constants(root: "Node") -> Iterator[Declaration]:
    """The constants of a file, and of the modules that are around all of it."""
    todo = [root]
    while todo:
        for each in todo.pop().named_children:
            body = each.child_by_field_name("body") if each.type == "module" else None
            left = each.child_by_field_name("left") if each.type == "assignment" else None
            if body is not None:
                todo.append(body)
            elif left is not None and left.type == "constant" and not _scope_name(each):
                yield Declaration(node_text(left), each)


LANGUAGE: Final = Language(
    name="ruby",
    title="Ruby",
    editor_names=("ruby", "erb"),
    suffixes=(".rb",),
    other_suffixes=(".rake", ".gemspec", ".ru", ".rbw", ".podspec"),
    interpreters=words("ruby jruby rbx macruby rake"),
    line_comment="#",
    block_comment=("=begin", "=end"),
    keywords=words(
        "alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or "
        "redo rescue retry return self super then true undef unless until when while yield require require_relative "
        "attr_reader attr_accessor attr_writer private protected public"
    ),
    typical=r"^\s*(?:end|def [\w.?!=]+|module [A-Z]\w*|require(?:_relative)? ['\"].*|elsif\b.*|unless\b.*)\s*$"
    r"|\bdo \|\w|@\w+\b(?! *\()|\w\.(?:each|nil\?|empty\?)|=> *:?\w|\bputs ",
    doubt=0.25,
    body_mark="",
    closing=r"(?:end\b|[\])}])",
    grammar="tree_sitter_ruby:language",
    functions=words("method singleton_method"),
    types=words("class module singleton_class assignment"),
    nested=False,
    declaration=_declaration,
    type_declaration=_type_declaration,
    scope_name=_scope_name,
    body=_body,
    constants=_constants,
    identifiers=words("identifier constant instance_variable class_variable global_variable"),
    calls={"call": ""},
    members={"call": ("receiver", "method"), "scope_resolution": ("scope", "name")},
    self_names=words("self"),
    definitions=words("method singleton_method class module"),
    test_words=words("test tests spec specs testing fixtures features"),
    common_names=words("to_s inspect hash initialize"),
    built_folders=words("vendor"),
    traces="data_prep.traces.scripts:RUBY",
    keyword_names=True,
    colours={
        "simple_symbol": "string",
        "hash_key_symbol": "string",
        "instance_variable": "type",
        "self": "keyword",
        "heredoc_body": "string",
    },
)
