"""Contexts as a word field of the query side: the words of the text before a function, nearest last.

Contexts are cut out of the shards when a model asks for them; prepared pairs do not have them, and neither have data
sets without shards.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import Int

from data_prep.corpus.triples import triples
from data_prep.languages.identifiers import split_identifier
from data_prep.records import SPLITS
from data_prep.store.prepared_data import PreparedData, Split
from data_prep.store.ragged_lists import Ragged

CONTEXT_FIELD: Final = "context"
"""The field of ``Split.words`` that has the contexts."""

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")


def context_words(text: str, longest: int) -> tuple[str, ...]:
    """The distinct parts of the identifiers of ``text``, lower-case, by their last occurrence; the last ``longest``."""
    found: dict[str, None] = {}  # from the end
    for identifier in reversed(_IDENTIFIER.findall(text)):
        for part in reversed(split_identifier(identifier)):
            found.setdefault(part)
            if len(found) >= longest:
                return tuple(reversed(found))
    return tuple(reversed(found))


def with_contexts(data: PreparedData, shards: Path, *, longest: int) -> PreparedData:
    """``data`` with the field ``context``.

    Args:
        data: as prepared from ``shards``, limited or not.
        shards: their folder.
        longest: words of a context, at least 1.

    Raises:
        ValueError: a shard is missing, or of another program than the pairs.
    """
    found = {}
    for name in SPLITS:
        words = [context_words(triple.context, longest) for triple in triples(data, name, shards)]
        found[name] = _added(data.splits[name], words)
    return replace(data, splits=found)


def without_contexts(split: Split) -> Split:
    """``split`` whose queries have no contexts."""
    return replace(split, words={field: lists for field, lists in split.words.items() if field != CONTEXT_FIELD})


def shuffled_contexts(split: Split, seed: int) -> Split:
    """``split`` where each query has the context of another row: they are passed on along a random cycle.

    Raises:
        ValueError: it has no contexts, or only one row.
    """
    if CONTEXT_FIELD not in split.words or len(split) < 2:
        raise ValueError(f"contexts of {len(split)} pairs cannot be exchanged: give two or more, with contexts")
    cycle = np.random.default_rng(seed).permutation(len(split))
    giver = np.empty(len(split), np.int64)
    giver[cycle] = np.roll(cycle, 1)
    return replace(split, words={**split.words, CONTEXT_FIELD: split.words[CONTEXT_FIELD].take(giver)})


def asked_with_context(split: Split, *, rarest: int, counts: Int[np.ndarray, " lexicon"]) -> Split:
    """``split`` whose queries also have the ``rarest`` words of their context, as BM25 can read them.

    Args:
        split: with contexts.
        rarest: number of words that are added to a query.
        counts: of each word of its lexicon, how many documents of the pool have it; a word of none is never added.
    """
    lists = []
    for row in range(len(split)):
        known = [number for number in split.words[CONTEXT_FIELD][row].tolist() if counts[number]]
        added = sorted(known, key=lambda number: (counts[number], number))[:rarest]
        lists.append([*split.words["query"][row].tolist(), *added])
    return replace(split, words={**split.words, "query": Ragged.of(lists)})


def document_counts(split: Split) -> Int[np.ndarray, " lexicon"]:
    """Of each word of the lexicon, how many functions have it in their name or tokens."""
    counts = np.zeros(len(split.lexicon), np.int64)
    for row in range(len(split)):
        counts[np.union1d(split.words["name"][row], split.words["tokens"][row])] += 1
    return counts


def _added(split: Split, contexts: Sequence[Sequence[str]]) -> Split:
    """``split`` with ``contexts``, whose new words follow those of its lexicon."""
    lexicon = list(split.lexicon)
    place: dict[str, int] = {word: number for number, word in enumerate(lexicon)}
    lists = []
    for words in contexts:
        for word in words:
            if word not in place:
                place[word] = len(lexicon)
                lexicon.append(word)
        lists.append([place[word] for word in words])
    fields: Mapping[str, Ragged] = {**split.words, CONTEXT_FIELD: Ragged.of(lists)}
    return replace(split, lexicon=lexicon, words=fields)
