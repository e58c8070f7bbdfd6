"""The light pair of Scotch: contexts as a field of the query, the same model without them."""

import numpy as np
import pytest
import torch

from baselines.scotch_light import ContextTokenizer, ScotchLight, ScotchLightConfig
from data_prep.pipeline.contexts import asked_with_context, context_words, document_counts, shuffled_contexts
from data_prep.records import CONTEXT_FIELD, Method, Pair
from data_prep.store.arrays import Ragged
from data_prep.store.split import Split
from experiments.recipes.config import resolve
from training.state import seed_everything

FORMATS = ("json", "pickle")


def with_words(split: Split, contexts: list[list[str]]) -> Split:
    place = {word: number for number, word in enumerate(split.lexicon)}
    lists = Ragged.of([[place[word] for word in words] for words in contexts])
    return Split(split.name, split.lexicon, {**split.words, CONTEXT_FIELD: lists}, split.texts)


@pytest.fixture
def split() -> Split:
    """Functions that load a file: one query for all, told apart by what stands above."""
    pairs = []
    for number in range(8):
        form = FORMATS[number % 2]
        fields = {"name": ("load", "it"), "tokens": (form, "read", "file"), "api": ()}
        method = Method("a@1", f"{number}.py", 1, 3, "", "load_it", "method", "", "", fields)
        pairs.append(Pair(method, "load data from file", ("load", "data", "from", "file")))
    made = Split.of("train", pairs)
    return with_words(made, [["file", FORMATS[number % 2]] for number in range(8)])


@pytest.fixture
def tokenizer(split) -> ContextTokenizer:
    words = resolve("folder", "scotch_light", {"words.min_count": "1"}).words
    return ScotchLight.tokenizer(split, words, ScotchLightConfig())


def test_two_vocabularies_are_refused(split):
    words = resolve("folder", "scotch_light", {"words.joint": "false"}).words
    with pytest.raises(ValueError, match=r"words\.joint=true"):
        ScotchLight.tokenizer(split, words, ScotchLightConfig())


def test_words_start_with_their_inverse_document_frequencies(split, tokenizer):
    model, ids = model_of(tokenizer), tokenizer.encode(split)
    model.start_from(ids)
    words = tokenizer.vocabulary.code
    weights = model.words.table("tokens").weight[:, 0]
    common, half = words.id("file"), words.id("json")  # of 8 pairs: 8 and 4
    rarity = {n: np.log1p((8 - n + 0.5) / (n + 0.5)) for n in (4, 8)}
    assert (weights[half] / weights[common]).item() == pytest.approx((rarity[4] / rarity[8]) ** 0.75, rel=1e-5)


def test_a_vector_is_the_weighted_sum_by_its_definition(split, tokenizer):
    model = model_of(tokenizer, dim=16).eval()
    model.start_from(tokenizer.encode(split))
    batch = tokenizer.encode(split).queries([0])
    table, unit = model.words.table("shared").weight, torch.nn.functional.normalize

    def summed(field: str) -> torch.Tensor:
        ids = batch[field].ids[0]
        return sum(model.words.table(field).weight[number, 0] * table[number] for number in ids)

    expected = unit(summed("query"), dim=0) + model.context_gain * unit(summed("context"), dim=0)
    torch.testing.assert_close(model.query_vectors(batch)[0], expected)


def test_contexts_are_left_out_in_training_only(split, tokenizer):
    model, ids = model_of(tokenizer, context_dropout=0.999, dropout=0.0), tokenizer.encode(split)
    batch = ids.queries(range(8))
    bare = {"query": batch["query"]}
    torch.testing.assert_close(model.train().query_vectors(batch), model.query_vectors(bare))
    assert not torch.allclose(model.eval().query_vectors(batch), model.query_vectors(bare))


def model_of(tokenizer: ContextTokenizer, **options: float) -> ScotchLight:
    seed_everything(3)
    return ScotchLight(ScotchLightConfig(**options), tokenizer.vocabulary)


def test_the_nearest_distinct_words_are_a_context():
    text = "import jsonReader\nread_file = 1\nclass Reader:\n"
    assert context_words(text, 100)[-3:] == ("file", "class", "reader")
    assert context_words(text, 2) == ("class", "reader")
    assert context_words("", 5) == ()


def test_both_forms_have_the_same_initial_state(tokenizer):
    context, plain = model_of(tokenizer).state_dict(), model_of(tokenizer, context_words=0).state_dict()
    assert {*context} - {*plain} == {"context_gain", "words.tables.context.weight"}
    assert all(torch.equal(context[name], weight) for name, weight in plain.items())


def test_the_form_without_context_does_not_read_it(split, tokenizer):
    model = model_of(tokenizer, context_words=0).eval()
    batch = tokenizer.encode(split).queries([0, 1])
    assert torch.equal(*model.query_vectors(batch))
    assert not torch.equal(*model_of(tokenizer).eval().query_vectors(batch))


def test_a_query_without_context_is_its_own_words(split, tokenizer):
    bare = Split(split.name, split.lexicon, {k: v for k, v in split.words.items() if k != CONTEXT_FIELD}, split.texts)
    model, plain = model_of(tokenizer).eval(), model_of(tokenizer, context_words=0).eval()
    assert torch.equal(
        model.query_vectors(tokenizer.encode(bare).queries([0])),
        plain.query_vectors(tokenizer.encode(bare).queries([0])),
    )


def test_an_empty_context_has_finite_gradients(split, tokenizer):
    model, ids = model_of(tokenizer), tokenizer.encode(with_words(split, [[]] * 7 + [["json"]]))
    model.query_vectors(ids.queries(range(8))).sum().backward()
    assert all(torch.isfinite(each.grad).all() for each in model.parameters() if each.grad is not None)


def test_one_query_finds_json_below_json_and_pickle_below_pickle(split, tokenizer):
    model, ids = model_of(tokenizer, dim=16), tokenizer.encode(split)
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    rows, model = [0, 1], model.train()
    for _ in range(60):
        scores = model.score_matrix(model.encode_query(ids.queries(rows)), model.encode_code(ids.codes(rows)))
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(scores / 0.1, torch.arange(2)).backward()
        optimiser.step()
    model.eval()
    scores = model.score_matrix(model.encode_query(ids.queries([2, 3])), model.encode_code(ids.codes([2, 3])))
    assert scores.argmax(1).tolist() == [0, 1]


def test_shuffled_contexts_are_all_those_of_another_row(split):
    places = with_words(split, [[split.lexicon[row % len(split.lexicon)]] for row in range(8)])
    before = [places.words[CONTEXT_FIELD][row].tolist() for row in range(8)]
    found = shuffled_contexts(places, 1)
    after = [found.words[CONTEXT_FIELD][row].tolist() for row in range(8)]
    assert sorted(before) == sorted(after)
    assert len({*map(tuple, before)}) == 8
    assert all(own != given for own, given in zip(before, after, strict=True))
    with pytest.raises(ValueError, match="two or more"):
        shuffled_contexts(split.take(np.array([0])), 1)


def test_bm25_reads_the_rarest_context_words_of_the_pool(split):
    counts = document_counts(split)
    asked = asked_with_context(split, rarest=1, counts=counts)
    assert asked.word_list("query", 0) == ["load", "data", "from", "file", "json"]
    assert counts[split.lexicon.index("data")] == 0
