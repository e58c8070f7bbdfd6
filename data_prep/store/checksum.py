"""What a split holds, as one number: the same for the same pairs, whatever else changed since they were prepared."""

import hashlib
from typing import Final

from data_prep.store.prepared_data import Split

_FIELDS: Final = ("query", "name", "tokens", "api", "ast")
"""Those that are always there, so that the same pairs have one number with and without their statement trees."""


def words_sha256(split: Split) -> str:
    """The sha256 of the words of a split's pairs, in their order, statement trees apart."""
    digest = hashlib.sha256()
    for row in range(len(split)):
        fields = (" ".join(split.word_list(field, row)) for field in _FIELDS)
        digest.update("\t".join(fields).encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()
