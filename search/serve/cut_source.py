"""The syntax tree of a source that may be cut: an index has the first lines of long types and files."""

import re
from typing import Final

from data_prep.languages.own_tree import Tree
from data_prep.languages.parsing import syntax_tree

_TOKENS: Final = re.compile(
    rb'("""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\'|/\*(?s:.*?)\*/|//[^\n]*|#[^\n]*'
    rb'|"(?!"")(?:\\.|[^"\\\n])*"|\'(?!\'\')(?:\\.|[^\'\\\n])*\')|("""|\'\'\'|/\*)'
)
"""Comments and texts of most languages, or what begins one of several lines that does not end."""


def tree_of(grammar: str, data: bytes) -> Tree:
    """The tree of a source by the grammar "module:function"; a text or comment that it is cut in ends where it ends.

    Nodes at the end may then have ends behind that of ``data``.
    """
    tree = syntax_tree(grammar, data)
    if not tree.root_node.has_error:
        return tree
    opened = next((token[2] for token in _TOKENS.finditer(data) if token[2]), b"")
    return syntax_tree(grammar, data + opened[::-1]) if opened else tree
