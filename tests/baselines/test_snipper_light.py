"""The light encoder against its equation, and as the contract of all models demands."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from baselines.snipper_encoder import DOCUMENT, QUERY
from baselines.snipper_light import LightEncoder, LightTokenizer, WordTower
from baselines.snipper_texts import LightConfig, QueryText
from data_prep.store.arrays import Ragged
from data_prep.store.batching import pad
from experiments.recipes.config import REPOSITORY

TEXTS = ["open the file", "close the file", "open a socket"]
SMALL = LightConfig(dim=32, buckets=8, min_count=1)


@pytest.fixture
def tokenizer():
    return LightTokenizer.of(TEXTS, SMALL)


def model_of(tokenizer, config=SMALL):
    torch.manual_seed(0)
    model = LightEncoder(config, tokenizer.vocabulary)
    model.initialize(tokenizer)
    return model.eval()


def test_the_vector_is_the_weighted_sum_of_distinct_words(tokenizer):
    model, tower = model_of(tokenizer), model_of(tokenizer).towers[0]
    ids = tokenizer.documents(["open open unheard file"])
    assert len(ids[0]) == 3
    expected = sum(tower.weights.weight[word] * tower.vectors.weight[word] for word in ids[0].tolist())
    torch.testing.assert_close(model.vectors(pad(ids), DOCUMENT)[0], expected)


def test_rare_words_weigh_more_and_unknown_ones_most(tokenizer):
    weight = dict(zip(tokenizer.vocabulary.words, tokenizer.rarity[1 + SMALL.buckets :].tolist(), strict=True))
    assert weight["socket"] > weight["file"] > 0
    assert tokenizer.rarity[1] >= weight["socket"]


def test_both_sides_share_the_encoder_unless_they_are_separate(tokenizer):
    words = pad(tokenizer.documents(TEXTS))
    shared, separate = model_of(tokenizer), model_of(tokenizer, LightConfig(dim=32, buckets=8, separate=True))
    assert torch.equal(shared.vectors(words, QUERY), shared.vectors(words, DOCUMENT))
    assert torch.equal(separate.vectors(words, QUERY), separate.vectors(words, DOCUMENT))  # at the start
    assert len(separate.towers) == 2
    with torch.no_grad():
        separate.towers[1].vectors.weight.mul_(2)
    assert not torch.equal(separate.vectors(words, QUERY), separate.vectors(words, DOCUMENT))


def test_more_padding_changes_no_vector(tokenizer):
    model = model_of(tokenizer)
    alone, padded = (pad(tokenizer.documents(texts)) for texts in (TEXTS[:1], [TEXTS[0], "a b c d e f g h i j"]))
    torch.testing.assert_close(model.vectors(alone, QUERY)[0], model.vectors(padded, QUERY)[0])


@pytest.mark.parametrize("score", ["dot", "cosine"])
def test_matrix_and_pairs_agree(tokenizer, score):
    model = model_of(tokenizer, LightConfig(dim=32, buckets=8, score=score))
    queries = model.encode_query({"query": pad(tokenizer.queries([QueryText(text, "") for text in TEXTS]))})
    codes = model.encode_code({"code": pad(tokenizer.documents(TEXTS))})
    torch.testing.assert_close(model.score_matrix(queries, codes).diagonal(), model.score_pairs(queries, codes))
    if score == "cosine":
        torch.testing.assert_close(model.score_pairs(queries, codes), torch.ones(3))


def test_the_middle_of_a_query_and_the_end_of_a_document_are_cut():
    words = "aa bb cc dd ee ff"
    config = LightConfig(query_length=3, document_length=3, buckets=8, min_count=1)
    tokenizer = LightTokenizer.of([words], config)
    query, document = tokenizer.queries([QueryText("aa bb cc", "dd ee ff")]), tokenizer.documents([words])
    shown = [[tokenizer.vocabulary.word(number) for number in ids.tolist()] for ids in (query[0], document[0])]
    assert shown == [["aa", "bb", "ff"], ["aa", "bb", "cc"]]


def test_equally_frequent_words_have_the_same_ids_in_every_process():
    """A stage of an earlier process is used in a later one, whose sets have another order."""
    texts = ["alpha beta gamma delta", "delta gamma epsilon zeta"]
    program = (
        "from baselines.snipper_light import LightTokenizer as T, LightConfig as C;"
        f"print(*T.of({texts}, C(min_count=1)).vocabulary.words)"
    )
    other = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(REPOSITORY)}
    found = subprocess.run(
        [sys.executable, "-c", program], env=other, capture_output=True, text=True, check=True
    ).stdout
    assert found == "gamma delta alpha beta epsilon zeta\n"
    assert found.split() == [*LightTokenizer.of(texts, LightConfig(min_count=1)).vocabulary.words]


def test_saved_and_loaded(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "words.json")
    again = LightTokenizer.load(tmp_path / "words.json", SMALL)
    assert again.vocabulary == tokenizer.vocabulary
    np.testing.assert_allclose(again.rarity[1:], tokenizer.rarity[1:], atol=1e-4)
    (tmp_path / "words.json").write_text('{"words": ["a"], "buckets": 8, "rarity": []}')
    with pytest.raises(ValueError, match="do not fit"):
        LightTokenizer.load(tmp_path / "words.json", SMALL)


def test_an_empty_text_has_a_zero_vector(tokenizer):
    model = model_of(tokenizer)
    words = pad(Ragged.of([[], [3]]))
    assert not model.vectors(words, QUERY)[0].any()
    assert not model.encode_query({"query": words}).states[0].any()
    assert not model.vectors(pad(Ragged.of([[], []])), QUERY).any()


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_gradients_are_those_of_the_plain_sum(tokenizer, dropout):
    tower = WordTower(len(tokenizer.vocabulary), 4, dropout)
    with torch.no_grad():
        tower.weights.weight.uniform_(0.5, 2.0)
    words, toward = pad(tokenizer.documents([*TEXTS, ""])), torch.randn(4, 4)
    torch.manual_seed(1)
    found = torch.autograd.grad((tower(words) * toward).sum(), [*tower.parameters()])
    torch.manual_seed(1)
    ids, text = words.ids[words.mask], words.mask.nonzero()[:, 0]
    parts = tower.dropout(tower.weights(ids)) * tower.vectors(ids)  # [words of all texts, dim]
    torch.testing.assert_close(found, torch.autograd.grad((parts * toward[text]).sum(), [*tower.parameters()]))
