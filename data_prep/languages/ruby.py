"""Ruby: methods, of the class itself too, and blocks that define one; classes, modules and constants."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, Language, resolved, words
from data_prep.languages.nodes import above, kind_of, name_of, names_in, node_text, part_of, statements

if TYPE_CHECKING:
    from tree_sitter import Node

_CONSTANTS, _PATTERNS = words("constant"), words("left_assignment_list destructured_left_assignment rest_assignment")
_MODULES: Final = words("module")
_DEFINING: Final = words("define_method define_singleton_method scope task")
_STRUCTS: Final = frozenset(("Struct.new", "Data.define", "Class.new", "Module.new"))
_OF_TOOLS: Final = compiled_later(
    r"(?m)^(?:(?:rubocop|steep|reek|standard|typed|frozen_string_literal|encoding|coding|warn_indent) ?:.*|-\*-.*"
    r"|:(?:nodoc|doc|startdoc|stopdoc|notnew|yields?|args?):.*|:(?=[ (]).*|@rbs\b.*|@!.*)$\n?"
)
"""Lines for tools: what a linter passes over, magic comments, marks of RDoc, types of RBS, directives of YARD."""
_CALLS: Final = compiled_later(r"(?m)^:?call-seq:.*(?:\n[^\S\n]*\S.*)*")
"""The ways to call a method, in RDoc: all lines up to a blank one."""
_METHODS: Final = words("method singleton_method")
_GIVEN: Final = frozenset(b"it _1 _2 _3 _4 _5 _6 _7 _8 _9".split())
"""Parameters of a block that need not be declared."""
_NAMES: Final = """
[(call method: (identifier) @other) (method name: (identifier) @other) (singleton_method name: (identifier) @other)
 (alias (identifier) @other) (undef (identifier) @other)
 (assignment left: (identifier) @bound) (operator_assignment left: (identifier) @bound)
 (left_assignment_list (identifier) @bound) (destructured_left_assignment (identifier) @bound)
 (rest_assignment (identifier) @bound) (exception_variable (identifier) @bound) (for pattern: (identifier) @bound)
 (method_parameters (identifier) @bound) (block_parameters (identifier) @bound)
 (lambda_parameters (identifier) @bound) (destructured_parameter (identifier) @bound)
 (optional_parameter name: (identifier) @bound) (keyword_parameter name: (identifier) @bound)
 (splat_parameter name: (identifier) @bound) (hash_splat_parameter name: (identifier) @bound)
 (block_parameter name: (identifier) @bound) (keyword_pattern key: (hash_key_symbol) @bound)
 (keyword_pattern value: (identifier) @bound) (array_pattern (identifier) @bound) (find_pattern (identifier) @bound)
 (as_pattern name: (identifier) @bound) (in_clause pattern: (identifier) @bound)
 (match_pattern pattern: (identifier) @bound) (call method: (super) @other) (identifier) @read (super) @read]
"""
"""Names that are bound to something, those of methods, and all."""
_VISIBLE: Final = compiled_later(r"\A\s*(?:Public|Internal|Private|Deprecated): +")
"""What TomDoc begins with."""


def _plain_doc(doc: str) -> str:
    return _VISIBLE.sub("", _OF_TOOLS.sub("", _CALLS.sub("", doc)).strip())


def _declaration(node: "Node") -> Declaration:
    """A method; ``private def x`` with its modifier, and its types of Sorbet, ``sig { void }``, before it."""
    arguments = above(node, "argument_list")
    call = arguments.parent if arguments is not None else None
    name, kind = name_of(node), "constructor" if node.type == "method" and name_of(node) == "initialize" else ""
    before = (call or node).prev_named_sibling
    types = before if kind_of(before) == "call" and _called(before) == ".sig" else None
    return Declaration(name, node, kind=kind, first=types or call)


def _defined(block: "Node") -> Declaration | None:
    """A method that a call defines by a block, ``define_method(:name) { }``, a scope, or a task of Rake."""
    block_of = above(block, "lambda", "argument_list") or block
    call = block_of.parent
    if kind_of(call) != "call" or node_text(part_of(call, "method")) not in _DEFINING:
        return None
    first = part_of(call, "arguments", "0")
    first = part_of(first, "key") if kind_of(first) == "pair" else first
    if call is None or kind_of(first) not in ("simple_symbol", "string", "hash_key_symbol"):
        return None
    return Declaration(node_text(first).strip(":'\""), call, body=block)


def _is_stub(body: "Node") -> bool:
    """Whether its first statement raises."""
    first = next((child for child in body.named_children if child.type != "comment"), None)
    raised = body if body.type == "call" else first
    return raised is None or (
        raised.type in ("call", "identifier") and re.match(r"raise\b", node_text(raised)) is not None
    )


def _type_declaration(node: "Node") -> Declaration | None:
    """A class or module, or a constant that is given one; ``class << self`` only qualifies what is inside."""
    return Declaration(name, node) if (name := _scope_name(node)) and node.type != "singleton_class" else None


def _scope_name(node: "Node") -> str:
    """``Request`` of ``class Rack::Request``, and of ``Request = Struct.new(:env) do``."""
    if node.type != "assignment":
        return name_of(node).replace("::", ".")
    left, right = part_of(node, "left"), part_of(node, "right")
    is_made = kind_of(left) == "constant" and kind_of(right) == "call" and _called(right) in _STRUCTS
    return node_text(left) if is_made else ""


def _called(call: "Node | None") -> str:
    return ".".join(node_text(part_of(call, field)) for field in ("receiver", "method"))


def _bare_calls(declaration: "Node") -> "frozenset[int]":
    """The nodes of names that are read and no variables: ``connect`` of ``connect if ready``."""
    return _read_in(_whole(declaration))


def _whole(node: "Node") -> "Node":
    """The method around, or the file: where variables are known."""
    while node.type not in _METHODS and node.parent is not None:
        node = node.parent
    return node


@lru_cache(maxsize=8)
def _read_in(whole: "Node") -> "frozenset[int]":
    grammar = resolved("data_prep.languages.parsing:loaded_grammar")(LANGUAGE.grammar)
    found: dict[str, list[Node]] = resolved("tree_sitter:QueryCursor")(_names(grammar)).captures(whole)
    others = [*found.get("bound", ()), *found.get("other", ())]
    bound = {each.text for each in found.get("bound", ())} | _GIVEN
    calls = {each.id for each in found.get("read", ()) if each.text not in bound}
    return frozenset(calls.difference(each.id for each in others))


@lru_cache(maxsize=1)
def _names(grammar: object) -> object:
    return resolved("tree_sitter:Query")(grammar, _NAMES)


def _constants(root: "Node") -> Iterator[Declaration]:
    """The constants of a file, and of the modules that are around all of it."""
    for each in statements(root, _MODULES):
        assigned: Node | None = each
        while assigned is not None and assigned.type == "assignment":
            if not _scope_name(assigned):
                found = names_in(part_of(assigned, "left"), _CONSTANTS, _PATTERNS)
                yield from (Declaration(name, each, more=_here(each)) for name in found)
            assigned = part_of(assigned, "right")


def _here(assignment: "Node") -> "list[Node]":
    """The texts of ``<<~TEXT`` in it, which are behind it."""
    found: list[Node] = []
    after = assignment.next_named_sibling
    while after is not None and after.type == "heredoc_body":
        found.append(after)
        after = after.next_named_sibling
    return found


LANGUAGE: Final = Language(
    name="ruby",
    title="Ruby",
    editor_names=("ruby", "erb"),
    suffixes=(".rb",),
    other_suffixes=(".rake", ".gemspec", ".ru", ".rbw", ".podspec"),
    file_names=words(
        "Rakefile Gemfile Guardfile Capfile Podfile Fastfile Appfile Vagrantfile Brewfile Dangerfile Thorfile"
    ),
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
    stray='((identifier) @stray (#eq? @stray "end"))',
    grammar="tree_sitter_ruby:language",
    handlers=words("block do_block"),
    handler=_defined,
    functions=_METHODS,
    types=words("class module singleton_class assignment"),
    nested=False,
    plain_doc=_plain_doc,
    is_stub=_is_stub,
    declaration=_declaration,
    type_declaration=_type_declaration,
    scope_name=_scope_name,
    body=lambda node: part_of(node, "right" if node.type == "assignment" else "body"),
    constants=_constants,
    identifiers=words("identifier constant instance_variable class_variable global_variable"),
    calls={"call": ""},
    bare_calls=_bare_calls,
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
