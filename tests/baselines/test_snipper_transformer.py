"""The transformer's tokens and vectors, with a tiny base drawn at random."""

import pytest
import torch

from baselines.snipper_encoder import DOCUMENT, QUERY, SnippetSubwords, TransformerSnippetEncoder
from baselines.snipper_texts import QueryText, SnipperTransformerConfig
from data_prep.store.batching import pad
from tests.tiny_models import tiny_bert, tiny_roberta


@pytest.fixture(scope="module", params=[tiny_bert, tiny_roberta])
def config(request, tmp_path_factory):
    base = request.param(tmp_path_factory.mktemp("base") / "base")
    return SnipperTransformerConfig(base=str(base), query_length=8, document_length=8)


def encoder(config):
    torch.manual_seed(0)
    tokenizer = SnippetSubwords.of(config)
    model = TransformerSnippetEncoder(config, tokenizer.vocabulary)
    model.initialize(tokenizer)
    return model.eval(), tokenizer


def test_a_query_keeps_both_ends_between_the_special_tokens(config):
    _, tokenizer = encoder(config)
    start, separator, _ = tokenizer.vocabulary.marks
    code = tokenizer.queries([QueryText("abcdefgh", "")])[0].tolist()
    both = tokenizer.queries([QueryText("read file open", "close list tree sum of path")])[0].tolist()
    assert (both[0], both[-1], len(both)) == (start, separator, 8)
    assert code[0] == start
    first = tokenizer.documents(["read file open"])[0].tolist()
    last = tokenizer.queries([QueryText("", "sum of path")])[0].tolist()
    assert both[1:4] == first[1:4]
    assert both[-4:-1] == last[-4:-1]


def test_the_vector_is_the_first_tokens_state(config):
    model, tokenizer = encoder(config)
    words = pad(tokenizer.documents(["read the file"]))
    states = model.towers[0](input_ids=words.ids, attention_mask=words.mask.long()).last_hidden_state
    torch.testing.assert_close(model.vectors(words, DOCUMENT), states[:, 0])
    codes = model.encode_code({"code": words}).states
    torch.testing.assert_close(codes[:, 0], states[:, 0])  # not scaled: the score is a dot product


def test_more_padding_changes_no_vector(config):
    model, tokenizer = encoder(config)
    alone, padded = (pad(tokenizer.documents(texts)) for texts in (["of"], ["of", "read write open close file list"]))
    torch.testing.assert_close(model.vectors(alone, QUERY)[0], model.vectors(padded, QUERY)[0], atol=1e-5, rtol=1e-4)


def test_texts_that_spell_special_tokens_are_plain(config):
    _, tokenizer = encoder(config)
    start, separator, _ = tokenizer.vocabulary.marks
    ids = tokenizer.documents(["[CLS] [SEP] <s> </s>"])[0].tolist()
    assert ids.count(start) == 1
    assert ids.count(separator) == 1


def test_megabytes_take_both_ends(config):
    _, tokenizer = encoder(config)
    huge = QueryText("read " * 400_000, "path " * 400_000)
    assert len(tokenizer.queries([huge])[0]) == 8


def test_saved_tokenizer_reads_alike_and_long_lengths_are_refused(config, tmp_path):
    _, tokenizer = encoder(config)
    tokenizer.save(tmp_path / "tokenizer.json")
    again = SnippetSubwords.load(tmp_path / "tokenizer.json", config)
    assert again.documents(["read a file"])[0].tolist() == tokenizer.documents(["read a file"])[0].tolist()
    with pytest.raises(ValueError, match="take 64 tokens at most"):
        encoder(SnipperTransformerConfig(base=config.base, query_length=128))
