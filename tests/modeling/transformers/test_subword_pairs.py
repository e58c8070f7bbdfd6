"""What a run's file may say of a transformer: a known architecture of plain settings, and nothing that names code."""

import json

import pytest
import torch

from data_prep.store.batching import Words
from modeling.transformers.bi_encoder import TransformerBiEncoder, TransformerConfig
from modeling.transformers.subword_pairs import SubwordTokenizer, checked_architecture, subwords_of
from tests.tiny_models import library, tiny_bert

library("transformers")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The file of a run."""
    folder = tmp_path_factory.mktemp("subwords")
    SubwordTokenizer(subwords_of(str(tiny_bert(folder / "base"))), 16, 48).save(folder / "vocabulary.json")
    return folder / "vocabulary.json"


def changed(saved, tmp_path, **settings):
    content = json.loads(saved.read_text())
    content["architecture"] |= settings
    path = tmp_path / "vocabulary.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    "settings",
    [
        {"model_type": "llama"},
        {"model_type": None},
        {"model_type": ["bert"]},
        {"num_hidden_layers": 10**9},
        {"vocab_size": 10**12},
        {"vocab_size": -1},
        {"vocab_size": 2},
        {"hidden_size": float("inf")},
    ],
    ids=str,
)
def test_an_architecture_that_is_unknown_or_too_large_is_refused(saved, tmp_path, settings):
    with pytest.raises(ValueError, match="cannot be read") as error:
        SubwordTokenizer.load(changed(saved, tmp_path, **settings), 16, 48)
    assert "\n" not in str(error.value)


def test_what_names_code_or_files_is_left_behind(saved, tmp_path):
    named = {
        "auto_map": {"AutoModel": "evil--code.Model"},
        "attn_implementation": "someone/kernel",
        "_attn_implementation": "someone/kernel",
        "quantization_config": {"quant_method": "x"},
        "_name_or_path": "/somewhere",
    }
    found = SubwordTokenizer.load(changed(saved, tmp_path, **named), 16, 48)
    assert not {*named} & {*found.vocabulary.architecture}
    assert found == SubwordTokenizer.load(saved, 16, 48)
    TransformerBiEncoder(TransformerConfig(query_length=16, code_length=48), found.vocabulary)


@pytest.mark.parametrize(
    "settings", [{"num_attention_heads": 0}, {"num_attention_heads": 5}, {"hidden_act": "no such"}]
)
def test_an_architecture_that_cannot_be_built_is_one_line(saved, tmp_path, settings):
    found = SubwordTokenizer.load(changed(saved, tmp_path, **settings), 16, 48)
    with pytest.raises((ValueError, RuntimeError)):  # both become one line where a run is loaded
        TransformerBiEncoder(TransformerConfig(query_length=16, code_length=48), found.vocabulary)


def test_a_checked_architecture_stays_what_it_is(saved):
    architecture = SubwordTokenizer.load(saved, 16, 48).vocabulary.architecture
    assert checked_architecture(architecture) == architecture
    assert architecture["model_type"] == "bert"


def test_training_writes_the_attention_out_with_the_gradients_of_one_kernel(saved):
    """On a CPU the written form is faster; outside of training one kernel is."""
    found = SubwordTokenizer.load(saved, 16, 48)
    model = TransformerBiEncoder(TransformerConfig(query_length=16, code_length=48), found.vocabulary)
    mask = torch.arange(9) < torch.tensor([[9], [4], [1]])
    words = Words(torch.randint(1, 20, (3, 9)), mask)
    gradients = []
    for mode in (True, False):
        assert model.train(mode).training is mode
        assert model.transformer.config._attn_implementation == ("eager" if mode else "sdpa")
        model.zero_grad()
        model.query_vectors({"query": words}).square().sum().backward()
        gradients.append([each.grad for each in model.parameters() if each.grad is not None])
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_dropout_is_that_of_the_configuration_not_of_the_base(saved, dropout):
    found = SubwordTokenizer.load(saved, 16, 48)
    config = TransformerConfig(query_length=16, code_length=48, dropout=dropout)
    model = TransformerBiEncoder(config, found.vocabulary).train()
    words = {"query": Words(torch.arange(1, 9)[None], torch.ones(1, 8, dtype=torch.bool))}
    first, second = (model.query_vectors(words) for _ in range(2))
    assert torch.equal(first, second) is (dropout == 0)
