"""Queries and code as subwords of a pretrained model's tokenizer: each side alone, or both joined to one sequence.

Alone, each side is truncated to its maximum length. Texts that a model joins itself are read without special tokens: a
text and a code are ``<s> text </s> code </s>``, for every tokenizer. If a pair is too long, the last token of the
longer side is removed repeatedly until it fits (Diera et al., GenBench 2023; their released code).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import torch
from jaxtyping import Int64
from torch import Tensor

from data_prep.errors import UserError
from data_prep.files.access import read_whole, reason
from data_prep.files.json_text import parse_json
from data_prep.files.writing import write_atomically
from data_prep.store.arrays import Ragged
from data_prep.store.batching import Words
from data_prep.store.split import Split, TokenizedPairs
from modeling.read_texts import texts_read
from modeling.transformers.pretrained import extra, load_pretrained

SPECIAL: Final = 3  # the start, the separator and the end
Lengths = Int64[Tensor, " pairs"]
Own = TypeVar("Own", bound="SubwordTokenizer")
CHARACTERS_PER_TOKEN: Final = 64
"""A text is cut to this many characters per token before it is tokenized: it may have megabytes."""
_AT_ONCE: Final = 1024
"""Texts tokenized per call."""
_KEYS: Final = ("architecture", "tokenizer")
_MARKS: Final = ("start", "separator")
_KINDS: Final = frozenset(("albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta"))
"""Supported architectures: they can be built from a run's own file, and a base must have one of them."""
_TEXTS: Final = frozenset(("activation", "hidden_act", "model_type", "position_embedding_type"))
"""Settings with string values; others could name code, kernels or other files, and are dropped."""
_MOST_LAYERS: Final = 256
_LARGEST: Final = 1 << 20
"""Limit of all integers of an architecture, such as vocabulary size and widths."""


@dataclass(frozen=True, slots=True)
class Subwords:
    """A tokenizer as its library serialises it, and the architecture of its model."""

    tokenizer: str  # JSON of the tokenizers library
    architecture: Mapping[str, Any]  # of transformers: model_type, sizes, padding
    start: int | None = None  # id of the token before a text, None if there is none
    separator: int | None = None  # id of the token between two texts and after the last

    @property
    def padding(self) -> int:
        """The padding id, from which some models count positions."""
        return int(self.architecture.get("pad_token_id") or 0)

    @property
    def marks(self) -> tuple[int, int, int]:
        """The ids of start, separator and padding.

        Raises:
            UserError: the tokenizer lacks one of them.
        """
        ids = (self.start, self.separator, self.architecture.get("pad_token_id"))
        if None in ids:
            raise UserError("a cross-encoder needs a tokenizer with a start, a separator and padding: take an encoder")
        return ids  # type: ignore[return-value]

    def build(self, kind: str, **settings: Any) -> Any:
        """A model of this architecture with random weights.

        Args:
            kind: a class of transformers that has ``from_config``.
            settings: additional settings of the architecture.

        Raises:
            UserError: the library is missing, or it does not support the architecture.
        """
        library, own = extra("transformers"), dict(self.architecture)
        try:
            return getattr(library, kind).from_config(
                library.AutoConfig.for_model(own.pop("model_type"), **{**own, **settings})
            )
        except (ArithmeticError, AttributeError, ImportError, LookupError, TypeError) as error:
            raise UserError(f"transformers cannot build this architecture: {error}") from error


@dataclass(frozen=True, slots=True)
class SubwordTokenizer:
    """Tokenizes the query's sentence and the method's source."""

    vocabulary: Subwords
    query_length: int  # maximum tokens
    code_length: int
    special: bool = True  # add special tokens around each side; else texts that spell one are plain text

    @classmethod
    def load(cls: type[Own], path: Path, query_length: int, code_length: int, *, special: bool = True) -> Own:
        """Load what :meth:`save` wrote.

        Raises:
            UserError: the file is missing or is not such a file.
        """
        try:
            content = parse_json(read_whole(path))
            if not isinstance(content, dict) or not all(isinstance(content.get(key), dict) for key in _KEYS):
                raise UserError(f"expected {' and '.join(_KEYS)}")
            architecture = checked_architecture(content["architecture"])
            marks = {name: content.get(name) for name in _MARKS}
            for name, token in marks.items():
                if token is not None and not (type(token) is int and 0 <= token < architecture.get("vocab_size", 0)):
                    raise UserError(f"{name} is {token!r:.20}, no token of {architecture.get('vocab_size', 0):,}")
            subwords = Subwords(json.dumps(content["tokenizer"]), architecture, **marks)
            found = cls(subwords, query_length, code_length, special)
            found._reader(query_length)
        except (OSError, ValueError) as error:
            raise UserError(f"expected a run's tokenizer in {path}, but it cannot be read: {reason(error)}") from error
        return found

    def save(self, path: Path) -> None:
        """Write tokenizer and architecture as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        content = {
            "architecture": dict(self.vocabulary.architecture),
            "tokenizer": json.loads(self.vocabulary.tokenizer),
            **{name: getattr(self.vocabulary, name) for name in _MARKS},
        }
        write_atomically(path, json.dumps(content, ensure_ascii=False))

    def check(self) -> None:
        """Does nothing: subwords can represent every word."""

    def words(self, field: str, ids: Sequence[int]) -> list[str]:  # noqa: ARG002
        """The subwords that ``ids`` stand for."""
        reader = self._reader(self.code_length)
        return [reader.id_to_token(number) or "" for number in ids]

    def encode(self, split: Split) -> TokenizedPairs:
        """``split`` as subword ids; pairs with equal ids are equal to the model."""
        texts = texts_read(split)
        return self.read([text.query_text for text in texts], [text.source for text in texts])

    def read(self, queries: Sequence[str], codes: Sequence[str]) -> TokenizedPairs:
        """Queries and codes as ids, with surrounding white space stripped."""
        fields = {"query": self._ids(queries, self.query_length), "code": self._ids(codes, self.code_length)}
        return TokenizedPairs(fields, code_fields=("code",), key_fields=("code",))

    def _ids(self, texts: Sequence[str], length: int) -> Ragged:
        return Ragged.of(_in_batches(self._reader(length), [text.strip() for text in texts], special=self.special))

    def _reader(self, length: int) -> Any:
        """The library's tokenizer, truncating to ``length`` and without padding.

        Raises:
            UserError: the library is missing, or it cannot read the tokenizer.
        """
        library = extra("tokenizers")
        try:
            reader = library.Tokenizer.from_str(self.vocabulary.tokenizer)
        except Exception as error:  # the library raises Exception itself
            raise UserError(f"no tokenizer: {error}") from error
        except BaseException as error:  # a Rust panic inside it, which is not an Exception
            if type(error).__name__ != "PanicException":
                raise
            raise UserError("no tokenizer: the library failed on it") from error
        reader.no_padding()
        reader.enable_truncation(length)
        reader.encode_special_tokens = not self.special
        return reader


def checked_architecture(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers, booleans and known names of an architecture; everything else is dropped.

    Raises:
        UserError: it is not supported, or larger than any supported one.
    """
    kind = settings.get("model_type")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise UserError(f"expected one of {', '.join(sorted(_KINDS))}, not {kind!r:.40}")
    for name, value in settings.items():
        most = _MOST_LAYERS if name in ("num_hidden_layers", "n_layers") else _LARGEST
        if isinstance(value, int | float) and not -most <= value <= most:
            raise UserError(f"{name}={value!r:.20} is larger than of any architecture known here")
    plain = {name: value for name, value in settings.items() if isinstance(value, bool | int | float)}
    return plain | {name: settings[name] for name in sorted(_TEXTS & {*settings}) if isinstance(settings[name], str)}


def subwords_of(name: str) -> Subwords:
    """The tokenizer and architecture of the pretrained model ``name``: a folder, a package or a name on the Hub.

    Raises:
        UserError: the libraries or the model are missing, or its tokenizer is not from the tokenizers library.
    """
    library = extra("transformers")

    def load(place: str, local: bool) -> Subwords:
        tokenizer = library.AutoTokenizer.from_pretrained(place, local_files_only=local)
        config = library.AutoConfig.from_pretrained(place, local_files_only=local)
        architecture = checked_architecture(json.loads(config.to_json_string(use_diff=False)))
        return replace(subwords_in(tokenizer), architecture=architecture)

    return load_pretrained(name, load)


def subwords_in(tokenizer: Any) -> Subwords:
    """The subwords of a transformers tokenizer; of the architecture only the padding id is known.

    Raises:
        UserError: it is not from the tokenizers library.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UserError("its tokenizer has no fast form")
    padding = {"pad_token_id": tokenizer.pad_token_id}
    return Subwords(json.dumps(json.loads(backend.to_str())), padding, tokenizer.cls_token_id, tokenizer.sep_token_id)


@dataclass(frozen=True, slots=True)
class Joining:
    """How texts and codes become sequences."""

    start: int  # token id
    separator: int
    padding: int
    kinds: int  # token types that the model distinguishes: 2 for BERT, 1 for RoBERTa
    room: int  # maximum tokens of a text and a code together


def kept_lengths(texts: Lengths, codes: Lengths, room: int) -> tuple[Lengths, Lengths]:
    """How many tokens of each text and code remain if both together may have ``room``.

    The last token of the longer side, or of the code if both are equally long, is removed until both fit.
    """
    half = room // 2
    kept_texts = torch.where(codes <= half, texts.minimum(room - codes), texts.clamp(max=room - half))
    kept_codes = torch.where(texts <= room - half, codes.minimum(room - texts), codes.clamp(max=half))
    return kept_texts, kept_codes


def joined_lengths(texts: Lengths, codes: Lengths, room: int) -> Lengths:
    """Length of each sequence in tokens, including special tokens."""
    return torch.stack(kept_lengths(texts, codes, room)).sum(0) + SPECIAL


def joined(texts: Words, codes: Words, how: Joining) -> dict[str, Int64[Tensor, "pairs tokens"]]:
    """Text i and code i as a sequence: ids, mask and, for models with two token types, the types.

    Tokens after the separator have the second type.
    """
    text, code = (each[:, None] for each in kept_lengths(texts.mask.sum(1), codes.mask.sum(1), how.room))  # [pairs, 1]
    last = text + code + 2  # position of the second separator
    places = torch.arange(int(last.max()) + 1, device=last.device)[None]  # [1, tokens]
    of_text, of_code = (places >= 1) & (places <= text), (places > text + 1) & (places < last)
    ids = torch.full(of_text.shape, how.padding, dtype=torch.int64, device=last.device)
    ids[:, 0] = how.start
    ids[(places == text + 1) | (places == last)] = how.separator
    ids = torch.where(of_text, _at(texts.ids, places - 1), ids)
    ids = torch.where(of_code, _at(codes.ids, places - text - 2), ids)
    found = {"input_ids": ids, "attention_mask": (places <= last).long()}
    return found | ({"token_type_ids": ((places > text + 1) & (places <= last)).long()} if how.kinds > 1 else {})


def _at(ids: Int64[Tensor, "pairs words"], places: Int64[Tensor, "some tokens"]) -> Int64[Tensor, "pairs tokens"]:
    """The ids at ``places`` of each row; arbitrary ids where a place is out of range."""
    return ids.gather(1, places.clamp(0, ids.shape[1] - 1).expand(len(ids), -1))


def plain_tokens(vocabulary: Subwords, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without special ones: a text that spells one is plain text.

    Raises:
        ValueError: the library is missing.
    """
    reader = extra("tokenizers").Tokenizer.from_str(vocabulary.tokenizer)
    reader.no_padding()
    reader.no_truncation()
    reader.encode_special_tokens = True
    return _in_batches(reader, texts, special=False)


def _in_batches(reader: Any, texts: Sequence[str], *, special: bool) -> list[list[int]]:
    parts = (texts[at : at + _AT_ONCE] for at in range(0, len(texts), _AT_ONCE))
    return [list(each.ids) for part in parts for each in reader.encode_batch(part, add_special_tokens=special)]


def between_marks(vocabulary: Subwords, lists: Iterable[Sequence[int]]) -> Ragged:
    """Each list between the first token and the separator of the model.

    Raises:
        ValueError: the tokenizer has none.
    """
    start, separator, _ = vocabulary.marks
    return Ragged.of([[start, *tokens, separator] for tokens in lists])
