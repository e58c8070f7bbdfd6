"""The code fields of a method, `jcg` profile: exactly as in the Java-GitHub data set of TabCS and FcarCS.

The papers call them methodname, tokens, apiseq and sbt. The release's API sequence consists of the values of the
syntax tree's nodes, not of calls.
"""

import re
from collections.abc import Iterator, Mapping
from string import ascii_letters
from typing import Final, Literal

from javalang.ast import Node
from javalang.tree import StatementExpression

from data_prep.errors import UserError
from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import kept_if_short
from data_prep.languages.java.declarations import FoundMethod
from data_prep.languages.java.functions import clean_fields
from data_prep.languages.java.javalang_trees import PLACEHOLDERS, PublishedMethod, parse_published, statement_trees

_STOP_WORDS: Final = """
; { [ . STR_ NUM_ BOOL_ null
boolean byte char double float int short
break continue do for if return switch synchronized throw try while
Class File List Object Set String Dfp AABB END By A1 A2 A3 B2 T3
and args by can doc field go id ie in is java lang name of of$ ok set st str type val value
a1 b1 base64 cv fd hi o2 pp v1 v2 vs x1 x2 xx y1 y2 yy zz
aabb ca th vp
"""
API_STOP: Final = frozenset(ascii_letters) | frozenset(_STOP_WORDS.split())
"""Values of nodes that are not words of the API field.

Found by elimination on the 10,000 test methods. Between two values of the released vocabulary, the release has as many
zeros as there are out-of-vocabulary values that are words of the field. If it has none, all of these values are stop
words; if it has as many as values, none is; each word decided this way decides others, until a fixed point. This proves
all entries but six. ``aabb ca th vp`` are the fewest words that explain the remaining spans. ``J`` and ``Q`` never
occur there, and are included because the vocabulary has none of the 52 letters. No entry is in the vocabulary;
``long``, the only primitive type that is missing here, is.
"""

_WORD_END: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CUT: Final = re.compile(r"(?<=[^A-Z])(?=[^a-z])|(?<=[A-Z])(?=[^a-z][^A-Z])")
_OPERATOR: Final = re.compile(r"[^\w$]+")


def profile_fields(
    found: FoundMethod, profile: Literal["clean", "jcg"]
) -> tuple[Mapping[str, tuple[str, ...]] | None, str]:
    """The fields of a method with its statement trees, and javalang's parse error, "" if there is none.

    A method that it cannot parse has no statement trees in the profile ``clean``, and None as fields in ``jcg``.
    """
    try:
        method = parse_published(found.source)
    except UserError as error:
        return (clean_fields(found) if profile == "clean" else None), str(error)
    fields = clean_fields(found) if profile == "clean" else fields_of(method)
    whole = {**fields, "statements": statement_trees(method)}
    return {field: words[:LONGEST] for field, words in whole.items()}, ""


def fields_of(method: PublishedMethod) -> dict[str, tuple[str, ...]]:
    """The four fields of a method.

    - name: the words of its name.
    - tokens: the words of every token, signature, keywords and punctuation included, in order.
    - api: the values of its nodes except stop words, parents before children; not split, case preserved.
    - ast: its nodes as ``( Type children ) Type``.
    """
    return {
        "name": name_words(method.tree.name),
        "tokens": tuple(word for token in method.tokens for word in token_words(token)),
        "api": tuple(value for value in node_values(method) if value not in API_STOP),
        "ast": ast_words(method.tree),
    }


def name_words(name: str) -> tuple[str, ...]:
    """Lower-case words of a method's name: split at ``_`` and before a capital that does not follow a capital."""
    return tuple(word.lower() for word in _WORD_END.sub("_", name).split("_") if word)


@kept_if_short(40, 1 << 16)
def token_words(token: str) -> tuple[str, ...]:
    """Lower-case words of a token, split as in the data: ``m_group`` -> m, _group; ``START_JUMP`` -> star, t_, jump.

    Split before a character that is not lower-case, if the previous one is not a capital, or the next one exists and
    is not a capital. Placeholders and operators are not split.
    """
    if token in PLACEHOLDERS or _OPERATOR.fullmatch(token):
        return (token.lower(),)
    return tuple(_CUT.sub(" ", token).lower().split(" "))


def node_values(method: PublishedMethod) -> Iterator[str]:
    """The values of nodes, parents before children, from which the API field is taken.

    A node's value is its name; else its value; else the token at which it begins, with each following ``.word``.
    Expression statements, labelled statements and nodes without such a value have none. The release had values for
    more nodes (``this``, ``super.m``, ``None``), but dropped them again.
    """
    for node in _nodes(method.tree):
        if isinstance(node, StatementExpression) or getattr(node, "label", None):
            continue
        for attribute in ("name", "value"):
            if hasattr(node, attribute):
                value = getattr(node, attribute)
                break
        else:
            value = None if node.position is None else _chain(method.tokens, node.position)
        if isinstance(value, str):
            yield value


def _chain(tokens: tuple[str, ...], place: int) -> str:
    """The token at ``place`` with the following dotted words: ``System . out`` -> System.out."""
    end = place + 1
    while end + 1 < len(tokens) and tokens[end] == ".":
        end += 2
    return "".join(tokens[place:end])


def ast_words(tree: Node) -> tuple[str, ...]:
    """The kinds of nodes as ``( Type children ) Type``."""
    words: list[str] = []
    todo: list[object] = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, Node):
            words += ("(", type(item).__name__)
            todo.append(type(item))  # marks its end
            todo += reversed(item.children)
        elif isinstance(item, type):
            words += (")", item.__name__)
        elif isinstance(item, list | tuple):
            todo += reversed(item)
    return tuple(words)


def _nodes(tree: Node) -> Iterator[Node]:
    """Every node, parents before children; iterative, since long sums are deep trees."""
    todo: list[object] = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, Node):
            yield item
            todo += reversed(item.children)
        elif isinstance(item, list | tuple):
            todo += reversed(item)
