"""Lengths, masks, pads and unknown words in both readings."""

import pytest
import torch
from word_lists import CODES, LENGTHS, VOCABULARIES, words

from baselines.word_model import BaselineConfig, WordVectors
from data_prep.store.tokenizing import FIRST_UNKNOWN, PAD, Vocabularies, Vocabulary

FIELDS = ("name", "ast", "query")


def build(*, fixed: bool = False, vocabularies: Vocabularies = VOCABULARIES, **choices: object) -> WordVectors:
    torch.manual_seed(0)
    return WordVectors(BaselineConfig(dim=6, **LENGTHS, **choices), vocabularies, FIELDS, fixed=fixed).eval()  # type: ignore[arg-type]


def test_each_field_has_a_table_of_its_vocabulary_that_starts_as_keras_does() -> None:
    tables = build().tables
    assert {field: tuple(table.weight.shape) for field, table in tables.items()} == {
        "name": (21, 6),
        "ast": (9, 6),
        "query": (13, 6),
    }
    start = torch.cat([table.weight.flatten() for table in tables.values()])
    assert start.abs().max() <= 0.05
    assert start.std().item() == pytest.approx(0.1 / 12**0.5, rel=0.1)
    assert all(table.weight[PAD].abs().min() > 0 for table in tables.values())  # a pad's vector is like a word's


def test_by_default_vectors_are_rows_of_the_table_and_masks_stay() -> None:
    vectors, batch = build(), words(CODES["name"])
    states, mask = vectors("name", batch)
    assert torch.equal(mask, batch.mask)
    assert torch.equal(states, vectors.tables["name"].weight[batch.ids])
    assert not torch.equal(states[1, 2], vectors.tables["name"].weight[PAD])  # an unknown word
    longer = words([[2, 3, 4, 5, 6, 7, 8]])
    assert vectors("name", longer)[0].shape == (1, 7, 6)


@pytest.mark.parametrize("release_compatible", [False, True])
def test_fixed_lengths_pad_and_cut(release_compatible: bool) -> None:
    vectors = build(fixed=True, release_compatible=release_compatible)
    table = vectors.tables["name"].weight
    for row in ([2], [2, 3, 4], [2, 3, 4, 5, 6]):
        states, mask = vectors("name", words([row]))
        expected = [*row, PAD, PAD][:3]
        assert torch.equal(states[0], table[torch.tensor(expected)])
        assert mask[0].tolist() == [release_compatible or each != PAD for each in expected]


def test_parity_reads_every_unknown_word_as_a_pad_and_masks_nothing() -> None:
    buckets = Vocabulary(("x", "y"), unknown_buckets=3)
    vectors = build(release_compatible=True, vocabularies=Vocabularies(buckets, buckets, buckets))
    table = vectors.tables["query"].weight
    assert len(table) == 6
    states, mask = vectors("query", words([[1, 4], [2, 3, 5]]))
    assert mask.all()
    assert torch.equal(states[0], table[[PAD, 4, PAD, PAD]])
    assert torch.equal(states[1], table[[PAD, PAD, 5, PAD]])


def test_a_pads_vector_learns_in_parity_only() -> None:
    for release_compatible in (False, True):
        vectors = build(release_compatible=release_compatible)
        states, mask = vectors("name", words([[2]], width=3))
        (states * mask[:, :, None]).sum().backward()
        gradient = vectors.tables["name"].weight.grad
        assert gradient is not None
        assert (gradient[PAD].abs().sum() > 0) == release_compatible
        assert gradient[2].abs().sum() > 0


def test_dropout_is_for_training_alone() -> None:
    vectors, batch = build(dropout=0.5), words([[2, 3, 4]] * 50)
    table = vectors.tables["name"].weight[batch.ids]
    assert torch.equal(vectors("name", batch)[0], table)
    dropped = vectors.train()("name", batch)[0]
    assert (dropped == 0).double().mean().item() == pytest.approx(0.5, abs=0.06)
    kept = dropped != 0
    assert torch.allclose(dropped[kept], 2 * table[kept])


def test_known_words_stand_beside_their_vectors() -> None:
    vectors = build()
    known = vectors.known_words()
    assert set(known) == {"name words", "ast words", "query words"}
    for field in FIELDS:
        table, names = known[f"{field} words"]
        assert len(table) == len(names) == len(VOCABULARIES.of(field)) - 2
        assert torch.equal(table[3], vectors.tables[field].weight[VOCABULARIES.of(field).id(names[3])])
    nothing = Vocabulary(())
    assert len(build(vocabularies=Vocabularies(nothing, nothing, nothing)).known_words()["name words"][0]) == 0


def test_the_unknown_id_is_the_first_after_the_pad() -> None:
    assert VOCABULARIES.query.id("never seen") == FIRST_UNKNOWN == PAD + 1


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"dropout": 1.0}, "--model.dropout takes a number of 0 or more and below 1, not 1.0"),
        ({"dropout": -0.1}, "--model.dropout"),
        ({"dim": 0}, "--model.dim takes a whole number from 1 to 4,096, not 0"),
        ({"api_length": 0}, "--model.api_length"),
    ],
)
def test_mistakes_are_named(choices: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BaselineConfig(**choices)  # type: ignore[arg-type]


def test_a_shared_start_gives_equal_words_of_both_sides_one_vector() -> None:
    """Query words are at ids 2 and up, and so are code words; "set" stands in both, at other places."""
    side = {"query": Vocabulary(("set", "the")), "code": Vocabulary(("get", "set")), "ast": Vocabulary(("if", "set"))}
    config = BaselineConfig(dim=6, init="shared")
    vectors = WordVectors(config, Vocabularies(**side), ("name", "api", "ast", "query"), fixed=False)
    weight = {field: table.weight.detach() for field, table in vectors.tables.items()}
    for field in ("name", "api"):
        assert torch.equal(weight[field][3], weight["query"][2])
        assert not torch.equal(weight[field][2], weight["query"][3])
    assert torch.equal(weight["name"], weight["api"])
    assert not torch.isin(weight["ast"], weight["query"]).any()
    assert weight["name"].data_ptr() != weight["api"].data_ptr()  # apart once training begins
