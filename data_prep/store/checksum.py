"""What a split holds, as one number: the same for the same pairs, whatever else changed since they were prepared."""

import hashlib

from data_prep.records import WORD_FIELDS
from data_prep.store.prepared_data import Split


def words_sha256(split: Split) -> str:
    """The sha256 of all words of all fields of a split's pairs, in their order."""
    digest = hashlib.sha256()
    for row in range(len(split)):
        fields = (" ".join(split.word_list(field, row)) for field in WORD_FIELDS)
        digest.update("\t".join(fields).encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()
