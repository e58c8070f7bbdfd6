"""The interface of neural models: encode each side once, then score pairs.

The trainer, the evaluator and the search depend on these classes, not on a particular model. Rankers that are not
trained here only implement :mod:`modeling.ranker`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import normalize

from data_prep.store.batching import Batch
from data_prep.store.split import Split, TokenizedPairs
from data_prep.store.tokenizing import Vocabularies, WordsConfig, WordTokenizer

Side = TypeVar("Side", bound="Encoded")


@dataclass(frozen=True, slots=True)
class Encoded:
    """One side of a batch, encoded independently of the other side, so an index may store it.

    A model that needs more adds tensors in a subclass; the first axis of each is the batch.
    """

    states: Float[Tensor, "batch words dim"]
    mask: Bool[Tensor, "batch words"]

    def __len__(self) -> int:
        return self.states.shape[0]

    @property
    def nbytes(self) -> int:
        """Total size of all tensors in bytes."""
        return sum(getattr(self, each.name).nbytes for each in fields(self))

    @property
    def shown(self) -> Bool[Tensor, "batch words"]:
        """Mask of the words in :meth:`NeuralRanker.alignment` and :meth:`NeuralRanker.edges`."""
        return self.mask

    def rows(self: Side, rows: slice | Int[Tensor, " rows"]) -> Side:
        """A subset of the batch, by slice or by row numbers (which may repeat)."""
        return replace(self, **{each.name: getattr(self, each.name)[rows] for each in fields(self)})


def concatenated(parts: Sequence[Side]) -> Side:
    """The rows of all parts, one after the other, each axis padded to its widest."""
    found = {}
    for each in fields(parts[0]):
        tensors = [getattr(part, each.name) for part in parts]
        sizes = [max(sizes) for sizes in zip(*(tensor.shape[1:] for tensor in tensors), strict=True)]
        found[each.name] = torch.cat([widened(tensor, sizes) for tensor in tensors])
    return replace(parts[0], **found)


def widened(tensor: Tensor, sizes: Sequence[int]) -> Tensor:
    """``tensor`` padded at the ends of its axes after the first, which get these sizes."""
    padding: list[int] = []
    for size, own in zip(reversed(sizes), reversed(tensor.shape[1:]), strict=True):  # torch's pad: the last axis first
        padding += [0, size - own]
    return nn.functional.pad(tensor, padding)


@runtime_checkable
class PairTokenizer(Protocol):
    """Converts the pairs of any split to word or subword ids."""

    @property
    def vocabulary(self) -> Any:
        """The vocabulary that a model is built for."""

    def encode(self, split: Split) -> TokenizedPairs:
        """``split`` as ids, each field truncated to its configured length."""

    def words(self, field: str, ids: Sequence[int]) -> list[str]:
        """The words that the ids of a field stand for, for display."""

    def check(self) -> None:
        """Reject settings that no model could learn with.

        Raises:
            ValueError: the message names the option.
        """

    def save(self, path: Path) -> None:
        """Write everything needed to tokenize pairs in the same way to one file.

        Raises:
            OSError: the file cannot be written.
        """


class NeuralRanker(nn.Module, ABC):
    """A neural model that scores queries against codes; higher is better."""

    config_type: ClassVar[type]
    """The frozen dataclass that ``__init__`` takes: the ``model`` section of the configuration."""
    reads: ClassVar[Literal["words", "subwords"]] = "words"
    """The kind of tokens that the model reads."""
    natural_threshold: ClassVar[float | None] = None
    """The score from which a pair counts as a match; None if training only compares codes and so fixes no threshold."""

    def __init__(self, config: Any, vocabularies: Any) -> None:
        """Build the model; ``config`` is a ``config_type``. Uses torch's global random state.

        Args:
            config: the ``model`` section of the configuration.
            vocabularies: the ``vocabulary`` of the tokenizer that the model is used with.
        """
        super().__init__()
        self.config = config
        self.vocabularies = vocabularies

    @classmethod
    def get_ready(cls) -> None:
        """Begin, in another process, what the first batch would wait for, such as compiling; by default nothing."""

    @classmethod
    def tokenizer(cls, train: Split, words: WordsConfig, config: Any) -> PairTokenizer:  # noqa: ARG003
        """The tokenizer of a new model; here a word tokenizer with vocabularies built from ``train`` only.

        Raises:
            ValueError: it is not available.
        """
        return WordTokenizer.build(train, words)

    @classmethod
    def saved_tokenizer(cls, path: Path, words: WordsConfig, config: Any) -> PairTokenizer:  # noqa: ARG003
        """The tokenizer of a saved run, loaded from the file that :meth:`PairTokenizer.save` wrote.

        Raises:
            ValueError: the file is missing or damaged.
        """
        return cls.word_tokenizer(Vocabularies.load(path), words)

    @classmethod
    def word_tokenizer(cls, vocabularies: Vocabularies, words: WordsConfig) -> WordTokenizer:
        """The tokenizer of a word model with known vocabularies."""
        return WordTokenizer(vocabularies, words)

    @property
    def code_fields(self) -> tuple[str, ...]:
        """The code fields that are read, in the order of their words in :meth:`alignment`."""
        return "name", "tokens", "api"

    @property
    def pairs_at_once(self) -> int | None:
        """Pairs to score together, for a model that reads a pair as one; None: sides are worth encoding once."""
        return None

    @property
    def expensive_scoring(self) -> bool:
        """Whether training is faster if a loss that reads few scores has only these computed with their gradients."""
        return False

    def start_from(self, train: TokenizedPairs) -> None:
        """Initialise weights from statistics of the training split; by default this does nothing."""

    def new_weights(self) -> Sequence[nn.Parameter]:
        """Weights that start at random beside pretrained ones: ``--train.new_weights_rate`` is theirs; else none."""
        return ()

    def moved(self, batch: Batch) -> Batch:
        """``batch`` on the device of the weights."""
        device = next(self.parameters()).device
        return {field: words.to(device) for field, words in batch.items()}

    @abstractmethod
    def encode_query(self, queries: Batch) -> Encoded:
        """Encode queries, ``{"query": Words}``."""

    @abstractmethod
    def encode_code(self, codes: Batch) -> Encoded:
        """Encode methods, ``{"name": Words, "tokens": Words, "api": Words, "ast": Words}``."""

    @abstractmethod
    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """Score query i against code i."""

    def alignment(
        self,
        queries: Encoded,  # noqa: ARG002
        codes: Encoded,  # noqa: ARG002
    ) -> Float[Tensor, "pairs querywords codewords"] | None:
        """How strongly each query word aligns to each code word, for display; None if the model has no alignment."""
        return None

    def edges(self, queries: Encoded) -> Float[Tensor, "queries words words"] | None:  # noqa: ARG002
        """Weights of the edges between a query's words, for display; None if the model has none."""
        return None

    def diagnostics(self, queries: Batch, codes: Batch) -> Mapping[str, float]:  # noqa: ARG002
        """Numbers about the inner parts while query i is scored against code i, as ``part/name``; none by default."""
        return {}

    def collapse_warning(self, found: Mapping[str, float]) -> str:  # noqa: ARG002
        """One line on what :meth:`diagnostics` show to do nothing; "" where all is well."""
        return ""

    def word_vectors(self) -> Mapping[str, tuple[Float[Tensor, "words dim"], Sequence[str]]]:
        """Tables of word vectors with their words, most frequent first; empty if the model has none."""
        return {}

    def score_matrix(
        self, queries: Encoded, codes: Encoded, *, pairs_per_block: int = 4096
    ) -> Float[Tensor, "queries codes"]:
        """Score every query against every code, at most ``pairs_per_block`` pairs at a time.

        A model overrides this only if it has a faster implementation with the same result.
        """
        blocks = []
        pairs_per_block = min(pairs_per_block, self.pairs_at_once or pairs_per_block)
        step = max(1, pairs_per_block // max(1, len(codes)))  # queries per block
        columns = torch.arange(len(codes), device=codes.mask.device)
        for start in range(0, len(queries), step):
            rows = torch.arange(start, min(start + step, len(queries)), device=queries.mask.device)
            left, right = rows.repeat_interleave(len(codes)), columns.repeat(len(rows))
            scores = [
                self.score_pairs(
                    queries.rows(left[at : at + pairs_per_block]), codes.rows(right[at : at + pairs_per_block])
                )
                for at in range(0, len(left), pairs_per_block)
            ]
            blocks.append(torch.cat(scores).view(len(rows), len(codes)))
        return torch.cat(blocks)


class BiEncoder(NeuralRanker):
    """A model with ``query_vectors`` and ``code_vectors``; a zero vector scores 0 against everything."""

    @abstractmethod
    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """One vector per query, of any length."""

    @abstractmethod
    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """One vector per method, of any length."""

    def encode_query(self, queries: Batch) -> Encoded:
        """The queries' vectors, scaled to length 1, as the state of a single word."""
        return one_word(normalize(self.query_vectors(queries), dim=-1))

    def encode_code(self, codes: Batch) -> Encoded:
        """The methods' vectors, scaled to length 1, as the state of a single word."""
        return one_word(normalize(self.code_vectors(codes), dim=-1))

    def score_pairs(self, queries: Encoded, codes: Encoded) -> Float[Tensor, " pairs"]:
        """The cosine of query i with code i."""
        return (queries.states * codes.states).sum((1, 2))

    def score_matrix(
        self,
        queries: Encoded,
        codes: Encoded,
        *,
        pairs_per_block: int = 4096,  # noqa: ARG002 - nothing is stored per pair but its score
    ) -> Float[Tensor, "queries codes"]:
        """The cosine of every query with every code, as one matrix product."""
        return queries.states.squeeze(1) @ codes.states.squeeze(1).T


def one_word(vectors: Float[Tensor, "batch dim"]) -> Encoded:
    """Each vector as the state of a single word."""
    states = vectors[:, None]  # [batch, 1, dim]
    return Encoded(states, torch.ones_like(states[..., 0], dtype=torch.bool))
