"""Subwords of texts that a model joins itself: without special tokens, and then between them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor

from data_prep.store.batching import Words
from data_prep.store.ragged_lists import Ragged
from modeling.transformers.pretrained import extra, load_pretrained
from modeling.transformers.subword_pairs import Subwords

CHARACTERS_PER_TOKEN: Final = 64
"""A text is cut to this many characters per token before it is tokenized: it may have megabytes."""
_AT_ONCE: Final = 512


def plain_tokens(vocabulary: Subwords, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without special ones: a text that spells one is plain text.

    Raises:
        ValueError: the library is missing.
    """
    reader = extra("tokenizers").Tokenizer.from_str(vocabulary.tokenizer)
    reader.no_padding()
    reader.no_truncation()
    reader.encode_special_tokens = True
    found: list[list[int]] = []
    for at in range(0, len(texts), _AT_ONCE):
        found += [list(each.ids) for each in reader.encode_batch(texts[at : at + _AT_ONCE], add_special_tokens=False)]
    return found


def between_marks(vocabulary: Subwords, lists: Iterable[Sequence[int]]) -> Ragged:
    """Each list between the first token and the separator of the model.

    Raises:
        ValueError: the tokenizer has none.
    """
    start, separator, _ = vocabulary.marks
    return Ragged.of([[start, *tokens, separator] for tokens in lists])


def pretrained_weights(base: str) -> Mapping[str, Tensor]:
    """The weights of the pretrained encoder ``base``, in float32.

    Raises:
        ValueError: it could not be loaded.
    """
    library = extra("transformers")

    def load(place: str, local: bool) -> Any:
        return library.AutoModel.from_pretrained(place, local_files_only=local, dtype=torch.float32)

    found: Mapping[str, Tensor] = load_pretrained(base, load).state_dict()
    return found


def mean_state(states: Float[Tensor, "batch words dim"], words: Words) -> Float[Tensor, "batch dim"]:
    """The mean of the states of each text's words; zero for a text without any."""
    shown = words.mask[:, :, None]
    mean: Tensor = (states * shown).sum(1) / shown.sum(1).clamp(min=1)
    return mean
