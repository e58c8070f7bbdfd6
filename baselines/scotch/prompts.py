"""What Scotch's transformers read (rows of the released scripts): prompts, and which tokens are cut.

With B the longest input and two special tokens, the code side is the first B - 2 tokens of

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
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_prep.languages.registry import language_of
from data_prep.pipeline.contexts import CONTEXT_LINES
from data_prep.pipeline.extraction import plain_code
from data_prep.store.prepared_data import PairText, Split
from data_prep.store.tokenizing import TokenizedPairs
from modeling.transformers.joined_pairs import CHARACTERS_PER_TOKEN, between_marks, plain_tokens
from modeling.transformers.subword_pairs import Subwords, SubwordTokenizer

CONTEXT_PROMPT: Final = "Code Context: "
_MARKS: Final = 2  # the first token and the separator


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


@dataclass(frozen=True)
class ScotchTokenizer:
    """Tokenizes both sides with their prompts; a split without contexts is read as one of empty contexts."""

    vocabulary: Subwords
    length: int  # most tokens of a side, special ones included
    context: bool  # whether contexts are read

    @classmethod
    def load(cls, path: Path, length: int, *, context: bool) -> "ScotchTokenizer":
        """Load what :meth:`save` wrote.

        Raises:
            ValueError: the file is missing or is not such a file.
        """
        return cls(SubwordTokenizer.load(path, length, length).vocabulary, length, context)

    def save(self, path: Path) -> None:
        """Write tokenizer and architecture as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        self._plain.save(path)

    def check(self) -> None:
        """Does nothing: subwords can represent every word."""

    def words(self, field: str, ids: Sequence[int]) -> list[str]:
        """The subwords that ``ids`` stand for."""
        return self._plain.words(field, ids)

    def encode(self, split: Split) -> TokenizedPairs:
        """``split`` as subword ids: queries with what they are asked under, and codes."""
        texts, room = [split.text(row) for row in range(len(split))], self.length - _MARKS
        codes = plain_tokens(self.vocabulary, [self._shortened(code_prompt(text)) for text in texts])
        queries = plain_tokens(self.vocabulary, [self._shortened(query_prompt(text)) for text in texts])
        asked = self._under_contexts(split, queries, room) if self.context else [query[:room] for query in queries]
        fields = {
            "query": between_marks(self.vocabulary, asked),
            "code": between_marks(self.vocabulary, [code[:room] for code in codes]),
        }
        return TokenizedPairs(fields, code_fields=("code",), key_fields=("code",))

    def _under_contexts(self, split: Split, queries: Sequence[Sequence[int]], room: int) -> list[list[int]]:
        lists, most = split.words.get(CONTEXT_LINES), self.length * CHARACTERS_PER_TOKEN
        rows = range(len(queries))
        lines = [[split.lexicon[number] for number in lists[row].tolist()] if lists else [] for row in rows]
        (prompt,) = plain_tokens(self.vocabulary, [CONTEXT_PROMPT])
        contexts = plain_tokens(self.vocabulary, [context_prompt(each, most) for each in lines])
        return [joined_tokens(prompt, *each, room) for each in zip(contexts, queries, strict=True)]

    def _shortened(self, text: str) -> str:
        return text[: self.length * CHARACTERS_PER_TOKEN]

    @property
    def _plain(self) -> SubwordTokenizer:
        return SubwordTokenizer(self.vocabulary, self.length, self.length)
