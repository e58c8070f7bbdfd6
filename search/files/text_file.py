"""A source file of a language whose methods are not read: one unit, the file itself."""

from typing import Final

from data_prep.languages.identifiers import split_identifier
from data_prep.languages.java.code_fields import LONGEST
from data_prep.records import JavaFile, Method, Pair
from search.files.file_words import LONGEST_WORD, file_words
from search.files.languages import Unit, Units

_SHOWN: Final = 40
"""Lines of a file that its unit shows."""


def read_text(file: JavaFile) -> Units:
    """``file`` as one unit with the words of its name and of the names that it defines; nothing if it is empty."""
    text = file.data.decode("utf-8", "replace")
    lines = text.splitlines()
    if not text.strip():
        return Units([])
    name = file.path.rpartition("/")[2].split(".")[0]
    defined = dict.fromkeys(word for each in file_words(file.path, file.data).names for word in split_identifier(each))
    fields = {
        "name": split_identifier(name[:LONGEST_WORD])[:LONGEST],
        "tokens": tuple(word for word in defined if len(word) > 1)[:LONGEST],
        "api": (),
    }
    source = "\n".join(lines[:_SHOWN]).strip()
    method = Method(file.origin, file.path, 1, max(1, len(lines)), "", name, "file", source, "", fields)
    return Units([Unit(Pair(method, "", ()), asks=False)])
