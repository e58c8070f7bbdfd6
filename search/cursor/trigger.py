"""The comment by which a programmer asks for code: ``# search: retry with backoff``. Light to import."""

import re

from data_prep.languages.registry import language as language_named


def query_of(line: str, language: str) -> str:
    """The query of a line that is a comment whose text begins with ``search:``; "" for any other line.

    Case and spaces do not matter. A comment after code is no such line, nor is one without a query.

    Args:
        line: as it is in the file, with or without its end.
        language: one of those that are indexed.

    Raises:
        UserError: there is no such language.
    """
    mark = re.escape(language_named(language).line_comment)
    match = re.fullmatch(rf"[ \t]*{mark}[ \t]*search[ \t]*:[ \t]*(\S.*)", line.rstrip(), re.IGNORECASE)
    return match[1] if match else ""


def example(language: str) -> str:
    """Such a comment."""
    return f"{language_named(language).line_comment} search: retry with backoff"
