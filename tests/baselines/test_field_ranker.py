"""What CARLCS, TabCS and FcarCS have in common: fields, pads in each reading, and what the board shows of them."""

import math
from collections.abc import Callable

import pytest
import torch
from word_lists import CODES, LENGTHS, QUERIES, VOCABULARIES, codes, queries, randomised, scores_of

from baselines.carlcs import Carlcs, CarlcsConfig
from baselines.fcarcs import Fcarcs, FcarcsConfig
from baselines.tabcs import Tabcs, TabcsConfig
from baselines.word_model import FieldRanker
from data_prep.store.tokenizing import FIRST_UNKNOWN, PAD

Build = Callable[..., FieldRanker]
FIELDS = ("name", "api", "tokens")


def fields_of(build: Build, *, structure: bool = True) -> tuple[str, ...]:
    """The fields that a model reads with and without one of the syntax tree."""
    return (*FIELDS, "statements" if build is fcarcs else "ast") if structure else FIELDS


def carlcs(**choices: object) -> FieldRanker:
    return Carlcs(CarlcsConfig(**{"dim": 4, "filters": 4, "ast": True, **LENGTHS, **choices}), VOCABULARIES)  # type: ignore[arg-type]


def fcarcs(ast: bool = True, **choices: object) -> FieldRanker:
    options = {"dim": 4, "filters": 4, "structure": "statements" if ast else "none", **LENGTHS, **choices}
    return Fcarcs(FcarcsConfig(**options), VOCABULARIES)  # type: ignore[arg-type]


def tabcs(**choices: object) -> FieldRanker:
    return Tabcs(TabcsConfig(**{"dim": 4, **LENGTHS, **choices}), VOCABULARIES)  # type: ignore[arg-type]


each_model = pytest.mark.parametrize("build", [carlcs, fcarcs, tabcs], ids=lambda build: build.__name__)


def built(build: Build, **choices: object) -> FieldRanker:
    model = build(**choices)
    randomised(model)
    return model


@each_model
@pytest.mark.parametrize("ast", [False, True])
def test_a_method_is_its_fields_one_after_the_other(build: Build, ast: bool) -> None:
    model = built(build, ast=ast)
    assert model.code_fields == fields_of(build, structure=ast)
    whole, parts = model.encode_code(codes()), [model.encode_field(codes(), field) for field in model.code_fields]
    assert torch.equal(whole.states, torch.cat([each.states for each in parts], 1))
    assert torch.equal(whole.mask, torch.cat([each.mask for each in parts], 1))
    assert torch.equal(model.encode_query(queries()).states, model.encode_field(queries(), "query").states)
    assert list(model.word_vectors()) == [f"{field} words" for field in (*model.code_fields, "query")]


@each_model
@pytest.mark.parametrize("release_compatible", [False, True])
def test_the_vector_of_pads_counts_in_parity_alone(build: Build, release_compatible: bool) -> None:
    model = built(build, release_compatible=release_compatible)
    before = scores_of(model, queries(), codes())
    for table in model.words.tables.values():
        table.weight.data[PAD] += 1
    assert torch.equal(scores_of(model, queries(), codes()), before) != release_compatible


@each_model
@pytest.mark.parametrize("release_compatible", [False, True])
def test_an_unknown_word_is_a_pad_in_parity_alone(build: Build, release_compatible: bool) -> None:
    model = built(build, release_compatible=release_compatible)
    states = [model.encode_query(queries([[2, each, 3]])).states for each in (PAD, FIRST_UNKNOWN)]
    assert torch.equal(*states) == release_compatible


@torch.no_grad()
@pytest.mark.parametrize("ast", [False, True])
@pytest.mark.parametrize("build", [fcarcs, tabcs])
def test_what_the_board_shows_is_the_affinity_of_the_score(build: Build, ast: bool) -> None:
    model = built(build, ast=ast)
    asked, read = model.encode_query(queries()), model.encode_code(codes())
    weight = model.affinity if isinstance(model, Fcarcs) else model.co_attention.weight
    found = model.alignment(asked, read)
    assert found is not None
    for pair in range(len(QUERIES)):
        for i, asked_word in enumerate(asked.states[pair]):
            for j, word in enumerate(read.states[pair]):
                expected = math.tanh(float(word @ weight @ asked_word))
                assert found[pair, i, j].item() == pytest.approx(expected, abs=1e-12)


@torch.no_grad()
@each_model
def test_the_board_has_a_row_a_query_word_and_a_column_a_code_word(build: Build) -> None:
    model = built(build)
    asked, read = model.encode_query(queries()), model.encode_code(codes())
    found = model.alignment(asked, read)
    assert found is not None
    for pair, query in enumerate(QUERIES):
        shown = found[pair][asked.shown[pair]][:, read.shown[pair]]
        assert shown.shape == (len(query), sum(len(CODES[field][pair]) for field in fields_of(build)))
        assert (shown != 0).all()
