"""The code fields from javalang's syntax tree: the `jcg` profile, and the statement trees of `clean`."""

from collections.abc import Mapping
from typing import Literal

from data_prep.errors import UserError
from data_prep.languages.java.code_fields import LONGEST, clean_fields
from data_prep.languages.java.declarations import FoundMethod
from data_prep.languages.java.jcg_fields import fields_of
from data_prep.languages.java.jcg_syntax import parse_published
from data_prep.languages.java.statement_trees import statement_trees
from data_prep.languages.java.types import text


def profile_fields(
    found: FoundMethod, profile: Literal["clean", "jcg"]
) -> tuple[Mapping[str, tuple[str, ...]] | None, str]:
    """The fields of a method with its statement trees, and javalang's parse error, "" if there is none.

    A method that it cannot parse has no statement trees in the profile ``clean``, and None as fields in ``jcg``.
    """
    try:
        method = parse_published(text(found.node))
    except UserError as error:
        return (clean_fields(found) if profile == "clean" else None), str(error)
    fields = clean_fields(found) if profile == "clean" else fields_of(method)
    whole = {**fields, "statements": statement_trees(method)}
    return {field: words[:LONGEST] for field, words in whole.items()}, ""
