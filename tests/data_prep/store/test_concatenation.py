"""Two splits as one read like all their pairs in one list, whatever numbers their words had."""

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from data_prep.records import CODE_FIELDS, WORD_FIELDS, Method, Pair
from data_prep.store.prepared_data import open_prepared, write_prepared
from data_prep.store.split import Split, joined
from data_prep.store.tokenizing import WordsConfig, WordTokenizer

WORDS = st.lists(st.sampled_from(["a", "b", "get", "ä", "Map", "\ud800", "z", "<unk>"]), max_size=4).map(tuple)
ROWS = st.lists(st.tuples(WORDS, st.fixed_dictionaries(dict.fromkeys(CODE_FIELDS, WORDS))), max_size=6)
"""Query and code fields of each pair."""


def pairs_of(rows: list[tuple[tuple[str, ...], dict[str, tuple[str, ...]]]]) -> list[Pair]:
    pairs = []
    for query, fields in rows:
        place = ("o", "größe/A.java", 3, 4, "T", "".join(fields["name"]))
        pairs.append(Pair(Method(*place, "method", "x\u2028\n" * len(query), "", fields), " ".join(query), query))
    return pairs


def same(*words: str) -> list[Pair]:
    """A pair that asks for ``words``, which every field holds."""
    return pairs_of([(words, dict.fromkeys(CODE_FIELDS, words))])


def read(split: Split) -> list[tuple]:
    """Every pair as a person would read it."""
    rows = range(len(split))
    return [(split.text(row), *(split.word_list(field, row) for field in WORD_FIELDS)) for row in rows]


@settings(max_examples=30)
@given(ROWS, ROWS)
def test_joined_is_all_pairs_in_order(first, second) -> None:
    first, second = pairs_of(first), pairs_of(second)
    both = joined(Split.of("train", first), Split.of("valid", second))
    assert both.name == "train"
    assert read(both) == read(Split.of("train", [*first, *second]))
    assert list(both.lexicon) == sorted(set(both.lexicon))
    assert all(len(both.words[field]) == len(both) for field in WORD_FIELDS)


@settings(max_examples=30)
@given(ROWS, ROWS, st.data())
def test_of_chosen_rows_only_these_are_joined(first, second, data) -> None:
    splits, expected = [], []
    for pairs in (pairs_of(first), pairs_of(second)):
        rows = data.draw(st.lists(st.sampled_from(range(len(pairs))), max_size=8)) if pairs else []
        splits.append(Split.of("train", pairs).take(np.array(rows, np.int64)))
        expected += [pairs[row] for row in rows]
    both = joined(*splits)
    assert read(both) == read(Split.of("train", expected))
    assert read(both.take(np.arange(len(both))[::-1])) == read(Split.of("train", expected[::-1]))


def test_three_in_a_row_and_stores_on_disk(tmp_path: Path) -> None:
    parts = [same(word, "go") * 2 for word in ("c", "a", "b")]
    splits = []
    for number, pairs in enumerate(parts):
        write_prepared(tmp_path / str(number), {"train": pairs}, {})
        splits.append(open_prepared(tmp_path / str(number)).splits["train"])
    both = joined(joined(splits[0], splits[1]), splits[2])
    assert read(both) == read(Split.of("train", [each for pairs in parts for each in pairs]))
    assert list(both.lexicon) == ["a", "b", "c", "go"]


def test_vocabularies_count_the_words_of_both() -> None:
    first, second = same("close", "file"), same("open", "file") * 3
    config = WordsConfig(min_count=3)
    apart = WordTokenizer.build(Split.of("train", [*first, *second]), config)
    together = joined(Split.of("train", first), Split.of("train", second))
    assert WordTokenizer.build(together, config).vocabularies == apart.vocabularies
    assert apart.vocabularies.query.words == ("file", "open")
    ids, expected = (
        WordTokenizer.build(together, config).encode(together),
        apart.encode(Split.of("train", [*first, *second])),
    )
    assert all((ids.fields[field].values == expected.fields[field].values).all() for field in WORD_FIELDS)
