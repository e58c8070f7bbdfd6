"""A checksum of a split's content, which depends only on its pairs."""

import hashlib
from typing import Final

from data_prep.store.prepared_data import Split

_FIELDS: Final = ("query", "name", "tokens", "api", "ast")
"""Fields that always exist, so that the checksum is the same with and without statement trees."""


def words_sha256(split: Split) -> str:
    """The sha256 of the words of a split's pairs, in order, without statement trees."""
    digest = hashlib.sha256()
    for row in range(len(split)):
        fields = (" ".join(split.word_list(field, row)) for field in _FIELDS)
        digest.update("\t".join(fields).encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()
