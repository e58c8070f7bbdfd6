"""Batches and vocabularies, on real documented methods where it matters which words they hold."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from data_prep.languages.identifiers import split_identifier
from data_prep.records import CODE_FIELDS, WORD_FIELDS, Method, Pair
from data_prep.store.arrays import Ragged
from data_prep.store.batching import pad
from data_prep.store.split import Split, TokenizedPairs
from data_prep.store.tokenizing import PAD, Vocabularies, Vocabulary, WordsConfig, WordTokenizer


def pair(query: str, name: str, tokens: str, api: str) -> Pair:
    fields = {
        "name": tuple(name.split()),
        "tokens": tuple(tokens.split()),
        "api": tuple(api.split()),
        "ast": ("block",),
    }
    method = Method("jdk", "A.java", 1, 3, "A", "m", "method", "void m() {}", "/** */", fields)
    return Pair(method, query, tuple(query.split()))


TRAIN = Split.of(
    "train",
    [
        pair("returns the month of year", "get month", "month of", "Month of"),
        pair("returns the number of keys", "size", "keys map", "HashMap containsKey Month of"),
        pair("returns the month names", "get months", "month names", "Month getDisplayName"),
    ],
)
TEST = Split.of("test", [pair("returned the zebra of year", "get zebra", "month zebra", "Zebra of")])


@given(st.lists(st.lists(st.integers(1, 99), max_size=7), min_size=1, max_size=6))
def test_padding_keeps_every_word_in_place(lists: list[list[int]]) -> None:
    words = pad(Ragged.of(lists))
    assert words.ids.shape == (len(lists), max(1, *map(len, lists), 1))
    for row, expected in enumerate(lists):
        assert words.ids[row][words.mask[row]].tolist() == expected
        assert words.mask[row].tolist() == [place < len(expected) for place in range(words.mask.shape[1])]
    assert (words.ids[~words.mask] == PAD).all()


def test_vocabularies_come_from_training_words_alone() -> None:
    tokenizer = WordTokenizer.build(TRAIN, WordsConfig(min_count=1))
    vocabularies = tokenizer.vocabularies
    assert set(vocabularies.query.words) == {"returns", "the", "month", "of", "year", "number", "keys", "names"}
    assert set(vocabularies.code.words) == {
        "get",
        "month",
        "of",
        "Month",
        "size",
        "keys",
        "map",
        "HashMap",
        "containsKey",
        "months",
        "names",
        "getDisplayName",
    }
    test = tokenizer.encode(TEST)
    read = [vocabularies.query.word(int(number)) for number in test.fields["query"][0]]
    assert read == ["<unk>", "the", "<unk>", "of", "year"]


def test_a_joint_vocabulary_counts_both_sides() -> None:
    words = WordsConfig(min_count=2)
    assert "map" not in WordTokenizer.build(TRAIN, words).vocabularies.query.words
    apart, joint = (
        WordTokenizer.build(TRAIN, words).vocabularies,
        WordTokenizer.build(TRAIN, replace(words, joint=True)).vocabularies,
    )
    assert joint.query == joint.code
    assert set(joint.code.words) > set(apart.query.words) | set(apart.code.words)
    assert "keys" in joint.code.words  # once in a query, once in code


def test_rare_words_are_unknown_and_frequent_ones_come_first() -> None:
    vocabulary = WordTokenizer.build(TRAIN, WordsConfig(min_count=2)).vocabularies.query
    assert vocabulary.words[:2] == ("returns", "the")
    assert "year" not in vocabulary.words
    assert WordTokenizer.build(TRAIN, WordsConfig(min_count=1, query_size=2)).vocabularies.query.words == (
        "returns",
        "the",
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("as_is", "HashMap containsKey Month of"),
        ("lower", "hashmap containskey month of"),
        ("split", "hash map contains key month of"),
    ],
)
def test_api_words_are_read_in_the_configured_form(form: str, expected: str) -> None:
    tokenizer = WordTokenizer.build(TRAIN, WordsConfig(min_count=1, api=form))  # type: ignore[arg-type]
    api = tokenizer.encode(TRAIN).fields["api"][1]
    assert " ".join(tokenizer.vocabularies.code.word(int(number)) for number in api) == expected


def test_stems_make_forms_of_a_word_one() -> None:
    tokenizer = WordTokenizer.build(TRAIN, WordsConfig(min_count=1, stem=True))
    train, test = tokenizer.encode(TRAIN), tokenizer.encode(TEST)
    assert train.fields["query"][0][0] == test.fields["query"][0][0]  # returns, returned
    months, month = train.fields["name"][2][1], train.fields["name"][0][1]
    assert months == month


def test_lists_are_cut_to_their_lengths() -> None:
    tokenizer = WordTokenizer.build(TRAIN, WordsConfig(query_length=2, api_length=1))
    ids = tokenizer.encode(TRAIN)
    assert ids.query_lengths.tolist() == [2, 2, 2]
    assert ids.fields["api"].lengths.tolist() == [1, 1, 1]
    assert ids.code_lengths.tolist() == [2 + 2 + 1, 1 + 2 + 1, 2 + 2 + 1]


def test_equal_sides_have_equal_keys() -> None:
    rows = [[1, 2], [1, 2], [2, 1], [1]]
    ids = TokenizedPairs({field: Ragged.of(rows if field == "query" else rows[::-1]) for field in WORD_FIELDS})
    assert (ids.query_keys[:, None] == ids.query_keys).tolist() == np.array(
        [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=bool
    ).tolist()
    assert len(set(ids.code_keys.tolist())) == 3


def test_batches_hold_both_sides_of_their_rows() -> None:
    ids = WordTokenizer.build(TRAIN, WordsConfig(min_count=1)).encode(TRAIN)
    codes = ids.codes([2, 0])
    assert tuple(codes) == CODE_FIELDS
    assert codes["name"].ids[0][codes["name"].mask[0]].tolist() == ids.fields["name"][2].tolist()
    assert ids.queries([1])["query"].ids.dtype == torch.int64


def test_an_unknown_word_has_the_same_bucket_in_every_vocabulary() -> None:
    left, right = Vocabulary(("a", "b"), unknown_buckets=64), Vocabulary(("c",), unknown_buckets=64)
    words = [f"word{number}" for number in range(200)]
    assert left.ids(words).tolist() == right.ids(words).tolist()
    assert left.ids(words).min() >= 1
    assert left.ids(words).max() <= 64
    assert len(set(left.ids(words).tolist())) > 50
    assert left.word(int(left.ids(["nowhere"])[0])) == "<unk>"
    assert (left.word(PAD), left.word(left.id("b")), len(left)) == ("<pad>", "b", 67)


def test_vocabularies_survive_saving_and_refuse_what_is_none(tmp_path) -> None:  # type: ignore[no-untyped-def]
    vocabularies = Vocabularies(Vocabulary(("größe", "b"), 3), Vocabulary(("c",)), Vocabulary(()), Vocabulary(("End",)))
    vocabularies.save(tmp_path / "vocabulary.json")
    assert Vocabularies.load(tmp_path / "vocabulary.json") == vocabularies
    content = json.loads((tmp_path / "vocabulary.json").read_text())
    del content["statements"]  # a file of before that field
    (tmp_path / "vocabulary.json").write_text(json.dumps(content))
    assert Vocabularies.load(tmp_path / "vocabulary.json") == replace(vocabularies, statements=Vocabulary(()))
    for content in ("", "[]", '{"query": 1}', '{"query": {"words": ["a"]}}'):
        (tmp_path / "broken.json").write_text(content)
        with pytest.raises(ValueError, match=r"broken\.json"):
            Vocabularies.load(tmp_path / "broken.json")


@pytest.mark.parametrize("wrong", [{"min_count": 0}, {"unknown_buckets": 0}, {"query_length": -1}], ids=str)
def test_bad_sizes_name_the_flag(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=rf"--words\.{next(iter(wrong))}"):
        WordsConfig(**wrong)  # type: ignore[arg-type]


@given(st.from_regex(r"[A-Za-z_$][A-Za-z0-9_$]{0,20}", fullmatch=True))
def test_splitting_keeps_every_letter_and_digit(identifier: str) -> None:
    parts = split_identifier(identifier)
    assert "".join(parts) == "".join(c for c in identifier.lower() if c.isalnum())
