"""Java: methods and constructors with a body and their Javadoc, with the fields of this project's other Java data."""

from data_prep.languages.comments import plain_comment
from data_prep.languages.java.code_fields import clean_fields
from data_prep.languages.java.declarations import FoundMethod, LeftOut, find_methods, parse_java
from data_prep.languages.java.javadoc import first_sentence
from data_prep.languages.language import FoundFunction, Language, ParsedSource


def parse(_: Language, data: bytes, __: str) -> ParsedSource:
    """The methods and constructors of a file, in source order.

    Raises:
        UserError: it is longer than ``LARGEST_FILE``.
    """
    parsed, left_out = parse_java(data), LeftOut()
    functions = [_function(found) for found in find_methods(parsed, documented_only=False, left_out=left_out)]
    nodes = (node for kind in ("comment", "line_comment") for node in parsed.captures.get(kind, []))
    comments = [(node.start_byte, node.end_byte) for node in nodes]
    return ParsedSource(functions, sorted(comments), parsed.code_start, left_out.declarations)


def _function(found: FoundMethod) -> FoundFunction:
    node = found.node
    return FoundFunction(
        name=found.name,
        type_name=found.type_name,
        kind=found.kind,
        start=node.start_byte,
        end=node.end_byte,
        start_line=found.start_line,
        end_line=found.end_line,
        doc=plain_comment(found.javadoc) if found.javadoc else "",
        query=first_sentence(found.javadoc),
        docstring=None,
        is_stub=False,
        annotations=found.annotations,
        fields=lambda: clean_fields(found),
    )
