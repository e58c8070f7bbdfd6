"""Haskell: functions with all equations of a name and the signature before them; types, classes, instances."""

from typing import TYPE_CHECKING, Final

from data_prep.languages.identifiers import compiled_later
from data_prep.languages.language import Declaration, Language, Quote, words
from data_prep.languages.nodes import above, kind_of, name_of, node_text, part_of

if TYPE_CHECKING:
    from tree_sitter import Node

_EQUATIONS: Final = words("function bind")

_SIMPLE: Final = words("variable constructor qualified")
_LEFT: Final = words("$ $! <$> <$!> =<< <=< <<<")
_RIGHT: Final = words("& >>= <&> >=> >>>")
"""Operators whose left or right operand is called."""
_PATTERNS: Final = words("apply parens tuple list infix as irrefutable strict")
"""What a constructor in a pattern may be inside of."""

_SIGNED: Final = compiled_later(r"[^\s(),]+")


def _name(node: "Node") -> str:
    """The name that an equation or signature is for: ``<+>`` of ``x <+> y = ...``."""
    if named := name_of(node):
        return named
    infix = next((child for child in node.named_children if child.type == "infix"), None)
    if infix is None or part_of(node, "expression") == infix:
        return ""
    return node_text(part_of(infix, "operator")).strip("`")


def _beside(node: "Node", *, before: bool) -> "Node | None":
    """The declaration beside one, without comments."""
    found = node.prev_named_sibling if before else node.next_named_sibling
    while found is not None and found.type in ("comment", "haddock", "pragma"):
        found = found.prev_named_sibling if before else found.next_named_sibling
    return found


def _declaration(node: "Node") -> Declaration | None:
    """All equations that follow each other, with the signature before the first; None for a further one."""
    name, before = _name(node), _beside(node, before=True)
    if not name or (before is not None and before.type in _EQUATIONS and _name(before) == name):
        return None
    signed = (
        before is not None
        and before.type == "signature"
        and name in _SIGNED.findall(node_text(before).partition("::")[0])
    )
    more, after = [], _beside(node, before=False)
    while after is not None and after.type in _EQUATIONS and _name(after) == name:
        more.append(after)
        after = _beside(after, before=False)
    return Declaration(name, node, first=before if signed else None, more=more)


def _signature(node: "Node") -> Declaration | None:
    """``area`` of a class, or what is imported from another language; the signature of an equation belongs to that."""
    imported = above(node, "foreign_import")
    first = node_text(node).partition("::")[0].split(",")[0].strip(" ()\n")
    return Declaration(first, imported or node) if imported or above(node, "class_declarations") else None


def _called(node: "Node") -> "Node | None":
    """What an operator calls: ``f`` of ``f $ x`` and ``x & f``, ``g`` of ``f . g``."""
    operator = part_of(node, "operator") or part_of(node, "0")
    if kind_of(operator) in ("", "infix_id"):
        return part_of(operator, "0")
    text, left, right = node_text(operator), _named(node, "left_operand"), _named(node, "right_operand")
    if text in _RIGHT and kind_of(after := part_of(node, "right_operand")) == "infix":
        return _named(after, "left_operand")
    return left if text in _LEFT else right if text in _RIGHT else (right or left) if text == "." else None


def _composed(node: "Node") -> "Node | None":
    """``f`` of ``f . g``, if both are names."""
    both = node_text(part_of(node, "operator")) == "." and _named(node, "right_operand") is not None
    return _named(node, "left_operand") if both else None


def _named(node: "Node | None", side: str) -> "Node | None":
    found = part_of(node, side)
    return found if kind_of(found) in _SIMPLE else None


def _is_call(node: "Node") -> bool:
    """Whether an application is none of a pattern, which only a constructor can begin."""
    called = part_of(node, "function")
    called = part_of(called, "id") if kind_of(called) == "qualified" else called
    if kind_of(called) != "constructor":
        return True
    around: Node | None = node
    while around is not None and around.type in _PATTERNS:
        inner, around = around, around.parent
        if around is not None and around.type != "parens" and part_of(around, "pattern") == inner:
            return False
    return around is None or around.type != "patterns"


def _type_declaration(node: "Node") -> Declaration | None:
    """A type or class; an instance only qualifies what is inside."""
    return None if node.type == "instance" else Declaration(name_of(node), node)


LANGUAGE: Final = Language(
    name="haskell",
    title="Haskell",
    editor_names=("haskell",),
    suffixes=(".hs",),
    other_suffixes=(".hsc",),
    interpreters=words("runhaskell runghc stack cabal"),
    line_comment="--",
    block_comment=("{-", "-}"),
    quotes=(Quote('"'),),
    keywords=words(
        "as case class data default deriving do else family forall foreign hiding if import in infix infixl infixr "
        "instance let module newtype of qualified then type where pattern mdo rec otherwise"
    ),
    typical=r"\w+ +:: |\bwhere\s*$|<- |->.*->|\bimport qualified\b|^\s*(?:data|newtype|instance|module) [A-Z]"
    r"|<\$>|\$ do\b"
    r"|\{-#|^--|^\s*(?:let|in|case .* of)\b|^\s*[|,] |\w \. \w|^\w+ .*[^=]= ",
    doubt=0.25,
    body_mark="=",
    flat=True,
    closing="",
    grammar="tree_sitter_haskell:language",
    functions=_EQUATIONS,
    types=words("class instance"),
    other_types=words("data_type newtype type_synonym type_family data_family"),
    comments=words("comment haddock"),
    nested=False,
    is_one=lambda node, mark: mark != "call" or _is_call(node),
    declaration=_declaration,
    type_declaration=_type_declaration,
    body=lambda node: part_of(node, "match") or part_of(node, "declarations"),
    plain_doc=lambda doc: doc.lstrip("|^* "),
    signatures=words("signature"),
    signatures_in=words("declarations class class_declarations foreign_import"),
    signature=_signature,
    identifiers=words("variable constructor name field_name"),
    calls={
        "apply": "function",
        "infix": (_composed, _called),
        "left_section": _called,
        "right_section": _called,
    },
    members={"qualified": ("module", "id"), "module": ("", "-1")},
    definitions=words("function bind data_type newtype class"),
    test_words=words("test tests spec benchmarks bench"),
    traces="data_prep.traces.compiled:HASKELL",
    keyword_names=True,
    colours={
        "operator": "keyword",
        "name": "type",
        "constructor": "type",
        "pragma": "annotation",
        "haddock": "comment",
    },
)
