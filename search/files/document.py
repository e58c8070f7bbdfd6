"""Texts and configuration beside the code: each a unit as a whole file, found by its words and its path."""

from dataclasses import replace
from typing import Final

from data_prep.errors import UserError
from data_prep.records import SourceFile
from search.files.file_words import file_words
from search.files.languages import Units
from search.files.text_file import whole_file

LARGEST: Final = 128 << 10
"""Bytes of the longest document: longer ones are data, such as lists of the versions of packages."""


def read_document(file: SourceFile) -> Units:
    """A document, which defines no names, whatever words are in its text.

    Raises:
        UserError: it is longer than ``LARGEST``.
    """
    if len(file.data) > LARGEST:
        raise UserError(f"a document longer than {LARGEST >> 10} KiB")
    words = replace(file_words(file.data), names=(), defined=())
    return Units(whole_file(file, file.data, words), words=words)
