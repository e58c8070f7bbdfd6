"""Code without comments, docstrings and blank lines, cut from text that is at hand: an editor's buffer, a function."""

from data_prep.corpus.extraction import disjoint
from data_prep.corpus.records import CorpusFile
from data_prep.errors import UserError
from data_prep.languages.registry import language


def plain_code(text: str, language_name: str) -> str:
    """``text`` without comments, docstrings and blank lines; text that the parser refuses is returned as it is.

    Args:
        text: of any length; it may be broken, and end anywhere.
        language_name: as in ``--data.language``.

    Raises:
        ValueError: there is no such language.
    """
    found, data = language(language_name), text.encode("utf-8", "replace").replace(b"\r\n", b"\n")
    try:
        comments = disjoint(found.parse(data, f"context{found.suffixes[0]}").comments)
    except UserError:  # larger than any source file
        return text
    return CorpusFile("", language_name, "", data, comments, ()).stripped(0, len(data)).decode("utf-8", "replace")
