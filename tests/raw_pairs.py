"""Raw texts and codes as a ranker reads them."""

from collections.abc import Sequence

from data_prep.gencodesearchnet.records import Example, as_split
from data_prep.store.split import Split


def read(texts: Sequence[str], codes: Sequence[str]) -> tuple[Split, Split]:
    """The queries and the corpus."""
    return as_split("texts", [Example(text, "") for text in texts]), as_split("codes", [Example("", c) for c in codes])
