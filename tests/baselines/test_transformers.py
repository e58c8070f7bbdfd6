"""Scotch's transformers: what they read, two encoders from one start, inner products."""

from pathlib import Path

import pytest
import torch

from baselines.scotch_transformer import (
    CONTEXT_PROMPT,
    Scotch,
    ScotchConfig,
    ScotchTokenizer,
    code_prompt,
    context_prompt,
    joined_tokens,
    query_prompt,
)
from data_prep.pipeline.contexts import asked_under
from data_prep.records import Method, Pair
from data_prep.store.split import PairText, Split
from data_prep.store.tokenizing import WordsConfig
from modeling.transformers.subword_pairs import plain_tokens, subwords_of
from tests.tiny_models import tiny_bert, tiny_roberta
from training.state import seed_everything

CODE = 'def load(path):\n    # a comment\n    with open(path) as file:\n        return "#1"\n'


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("tiny") / "base", dropout=0.0)


def made_split() -> Split:
    fields = {"name": ("load",), "tokens": ("open", "path"), "api": ()}
    methods = [Method("a@1", f"{n}.py", 1, 4, "Store", "load", "method", CODE, "", fields) for n in range(4)]
    return Split.of(
        "train", [Pair(method, f"read a file {n}", ("read", "a", "file")) for n, method in enumerate(methods)]
    )


@pytest.fixture
def split() -> Split:
    return made_split()


def model_of(base: Path, **options: object) -> tuple[Scotch, ScotchTokenizer]:
    config = ScotchConfig(base=str(base), **{"length": 48, **options})
    seed_everything(0)
    model = Scotch(config, subwords_of(config.base))
    tokenizer = Scotch.tokenizer(made_split(), WordsConfig(), config)
    model.start_from(tokenizer.encode(made_split()))
    return model.eval(), tokenizer


def test_both_sides_read_their_prompts():
    text = PairText("a@1", "src/store.py", 1, 4, "Store", "load", "read a file", CODE)
    assert query_prompt(text) == "Language: python Query: read a file"
    plain = 'def load(path):     with open(path) as file:         return "#1"'
    assert code_prompt(text) == f"Function Identifier: Store.load\nFunction Definition:\n{plain}"
    unnamed = PairText("a@1", "src/store.go", 1, 1, "", "", "", "func() {}")
    assert code_prompt(unnamed).startswith("Function Identifier: None\n")
    assert query_prompt(PairText("a@1", "notes", 1, 1, "", "", "q", "")) == "Language: None Query: q"


def test_a_context_is_one_line_of_its_end():
    assert context_prompt(["import json", "x = 1"], 1000) == "import json x = 1\n"
    assert context_prompt(["import json", "x = 1"], 5) == "x = 1\n"
    assert context_prompt(["y" * 100], 5) == "yyyyy\n"
    assert context_prompt([], 5) == ""


@pytest.mark.parametrize("room", range(1, 14))
def test_the_context_is_cut_from_the_left_and_the_query_never(room):
    prompt, context, query = [1, 2], [10, 11, 12, 13, 14], [20, 21, 22]
    found = joined_tokens(prompt, context, query, room)
    assert len(found) <= room
    if room >= 5:
        kept = min(5, room - 5)
        assert found == [*prompt, *context[5 - kept :], *query]
    else:
        assert found == query[:room]  # no room for the prompt; a query that is too long loses its end


def test_a_query_without_room_for_a_context_has_none():
    assert joined_tokens([1, 2], [10, 11], [20, 21, 22], 5) == [1, 2, 20, 21, 22]
    assert joined_tokens([1, 2], [], [20], 9) == [1, 2, 20]


def test_tokens_are_prompt_context_and_query(base, split):
    _, tokenizer = model_of(base)
    asked = asked_under(split, ["open list\n" * 50, "sum\n", "", "tree"], longest=5, lines=True)
    ids = tokenizer.encode(asked)
    asked_words = [tokenizer.words("query", ids.fields["query"][row].tolist()) for row in range(4)]
    plain = ScotchTokenizer(tokenizer.vocabulary, 48, 48, context=False).encode(split)
    bare = [tokenizer.words("query", plain.fields["query"][row].tolist()) for row in range(4)]
    (prompt,) = (tokenizer.words("query", ids) for ids in plain_tokens(tokenizer.vocabulary, [CONTEXT_PROMPT]))
    for found, query in zip(asked_words, bare, strict=True):
        assert found[: 1 + len(prompt)] == ["[CLS]", *prompt]
        assert found[-len(query) + 1 :] == query[1:]  # to the separator
    lengths = [len(found) - len(prompt) - len(query) for found, query in zip(asked_words, bare, strict=True)]
    assert (len(asked_words[0]), lengths[1:]) == (48, [1, 0, 1])


def test_a_query_longer_than_a_side_is_cut_as_without_context(base, split):
    _, tokenizer = model_of(base, length=16)
    asked = asked_under(split, ["open list"] * 4, longest=5, lines=True)
    plain = ScotchTokenizer(tokenizer.vocabulary, 16, 16, context=False)
    for row in range(4):
        assert (
            tokenizer.encode(asked).fields["query"][row].tolist() == plain.encode(split).fields["query"][row].tolist()
        )


def test_two_encoders_start_equal_and_learn_apart(base, split):
    model, tokenizer = model_of(base)
    query, code = (dict(model.encoders[side].named_parameters()) for side in ("query", "code"))
    assert all(torch.equal(query[name], code[name]) and query[name] is not code[name] for name in query)
    ids = tokenizer.encode(split)
    model.query_vectors(ids.queries([0, 1])).sum().backward()
    assert any(weight.grad is not None for weight in query.values())
    assert all(weight.grad is None for weight in code.values())


@pytest.mark.parametrize("vector", ["pooled", "first", "mean"])
def test_scores_are_inner_products_of_the_chosen_vectors(base, split, vector):
    model, tokenizer = model_of(base, vector=vector)
    ids = tokenizer.encode(split)
    with torch.no_grad():
        scores = model.score_matrix(model.encode_query(ids.queries([0, 1])), model.encode_code(ids.codes([2, 3])))
        words = ids.queries([0])["query"]
        found = model.encoders["query"](input_ids=words.ids, attention_mask=words.mask.long())
        of = {
            "pooled": found.pooler_output,
            "first": found.last_hidden_state[:, 0],
            "mean": found.last_hidden_state.mean(1),
        }
        code = model.code_vectors(ids.codes([3]))
    torch.testing.assert_close(scores[0, 1], (of[vector] * code).sum(), rtol=1e-4, atol=1e-4)


def test_bases_are_named_and_refused_in_one_line(base, split, monkeypatch, tmp_path):
    model, _ = model_of(tiny_roberta(tmp_path / "roberta"), length=16)
    assert model.encoders["query"].config.model_type == "roberta"
    with pytest.raises(ValueError, match=r"--model\.length=65 takes 64 tokens at most"):
        model_of(base, length=65)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ValueError, match=r"microsoft/codebert-base is not a folder.*HF_HUB_OFFLINE=0") as error:
        Scotch.tokenizer(split, WordsConfig(), ScotchConfig(base="microsoft/codebert-base"))
    assert "\n" not in str(error.value)
