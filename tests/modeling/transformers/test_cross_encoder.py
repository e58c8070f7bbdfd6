import numpy as np
import pytest
import torch

from modeling.pool_ranker import PoolRanker
from modeling.ranker import Ranker
from modeling.transformers.cross_encoder import (
    CrossEncoder,
    CrossEncoderConfig,
    both_logits_ranks,
    gold_logit_scores,
    load_classifier,
    load_cross_encoder,
    load_tokenizer,
    save_tokenizer,
)
from modeling.transformers.subword_pairs import joined, kept_lengths, subwords_in
from tests.raw_pairs import read
from tests.tiny_models import WORDS, library, tiny_bert, tiny_classifier, tiny_roberta

transformers = library("transformers")
TEXTS = (" read the file ", "sum of a list", "open tree", "write " * 70, "close")
CODES = (
    " open ( path ) . read ( )",
    "sum ( list )",
    "",
    "list . value " * 30,
    "x = a . index ( key )",
    "close ( file )",
)
EVERYTHING = np.tile(np.arange(len(CODES)), (len(TEXTS), 1))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    torch.manual_seed(0)
    return tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    torch.manual_seed(0)
    return tiny_roberta(tmp_path_factory.mktemp("roberta"))


@pytest.fixture(scope="module")
def trained(bert, tmp_path_factory):
    torch.manual_seed(0)
    return tiny_classifier(tmp_path_factory.mktemp("trained"), bert)


def classifier_of(tokenizer, folder, max_length: int) -> PoolRanker:
    """The model of a folder, with a head drawn at random where it has none."""
    config = CrossEncoderConfig(str(folder), max_length=max_length)
    model = CrossEncoder(config, subwords_in(tokenizer), load_classifier(str(folder), new_head=True))
    return PoolRanker(model, config.tokenizer(model.vocabularies))


def batch_of(encoder: PoolRanker, texts: list[str], codes: list[str]) -> dict[str, torch.Tensor]:
    """The sequences of text i and code i."""
    ids, rows = encoder.tokenizer.read(texts, codes), np.arange(len(texts))
    return joined(ids.queries(rows)["query"], ids.codes(rows)["code"], encoder.model._joining)


def logits_of(scores, queries: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    return scores.of_pairs(queries, candidates, scores.model.pair_logits)


def popped(text: int, code: int, room: int) -> tuple[int, int]:
    """Token by token."""
    while text + code > room:
        if text > code:
            text -= 1
        else:
            code -= 1
    return text, code


@pytest.mark.parametrize("room", [2, 3, 10, 11])
def test_the_longer_one_loses_its_last_token_until_both_fit(room):
    texts, codes = (side.ravel() for side in np.meshgrid(np.arange(30), np.arange(30)))
    found = kept_lengths(torch.from_numpy(texts), torch.from_numpy(codes), room)
    assert list(zip(*(each.tolist() for each in found), strict=True)) == [
        popped(text, code, room) for text, code in zip(texts, codes, strict=True)
    ]


@pytest.mark.parametrize("base", ["bert", "roberta"])
def test_a_pair_is_one_sequence_with_one_separator_in_the_middle(base, request):
    tokenizer = load_tokenizer(str(request.getfixturevalue(base)))
    encoder = classifier_of(tokenizer, request.getfixturevalue(base), 20)
    pairs = np.array([0, 3, 2]), np.array([1, 3, 2])
    kinds = 2 if base == "bert" else 1
    batch = batch_of(encoder, [TEXTS[row] for row in pairs[0]], [CODES[row] for row in pairs[1]])
    expected = []
    for text, code in zip(*pairs, strict=True):
        t = tokenizer(TEXTS[text].strip(), add_special_tokens=False)["input_ids"][:50]
        c = tokenizer(CODES[code].strip(), add_special_tokens=False)["input_ids"]
        kept = popped(len(t), len(c), 17)
        first = [tokenizer.cls_token_id, *t[: kept[0]], tokenizer.sep_token_id]
        expected.append((first, [*c[: kept[1]], tokenizer.sep_token_id]))
    longest = max(len(first) + len(second) for first, second in expected)
    assert batch["input_ids"].shape == (3, longest)
    for row, (first, second) in enumerate(expected):
        length = len(first) + len(second)
        assert batch["input_ids"][row].tolist() == [*first, *second] + [tokenizer.pad_token_id] * (longest - length)
        assert batch["attention_mask"][row].tolist() == [1] * length + [0] * (longest - length)
        if kinds == 2:
            kind = [0] * len(first) + [1] * len(second) + [0] * (longest - length)
            assert batch["token_type_ids"][row].tolist() == kind
    assert ("token_type_ids" in batch) == (kinds == 2)
    assert tokenizer.pad_token_id == (0 if base == "bert" else 1)
    assert batch["attention_mask"].sum(1).tolist() == [len(first) + len(second) for first, second in expected]


def test_of_a_text_the_first_fifty_tokens_are_read(bert):
    tokenizer = load_tokenizer(str(bert))
    ids = CrossEncoderConfig(max_length=64).tokenizer(subwords_in(tokenizer)).read([" ".join(WORDS * 5)], ["read"])
    assert (
        ids.fields["query"][0].tolist() == tokenizer(" ".join((WORDS * 5)[:50]), add_special_tokens=False)["input_ids"]
    )


@pytest.mark.parametrize(("base", "spelled"), [("bert", "[SEP]"), ("roberta", "</s>")])
def test_a_separator_that_a_text_spells_out_is_none(base, spelled, request):
    tokenizer = load_tokenizer(str(request.getfixturevalue(base)))
    encoder = classifier_of(tokenizer, request.getfixturevalue(base), 64)
    batch = batch_of(encoder, [f"read {spelled} file"], [f"{spelled}{spelled}"])
    assert (batch["input_ids"] == tokenizer.sep_token_id).sum() == 2


def test_a_score_is_the_log_odds_of_a_match_of_the_pair_alone(trained):
    encoder = load_cross_encoder(str(trained), max_length=40, batch_size=7)
    assert isinstance(encoder, Ranker)
    scores = encoder.over(*read(TEXTS, CODES))
    found = scores(np.arange(len(TEXTS)), EVERYTHING)
    logits = logits_of(scores, np.arange(len(TEXTS)), EVERYTHING)
    model = transformers.BertForSequenceClassification.from_pretrained(trained).eval()
    for text in range(len(TEXTS)):
        for code in range(len(CODES)):
            batch = batch_of(encoder, [TEXTS[text]], [CODES[code]])
            with torch.no_grad():
                alone = model(**batch).logits[0]
            np.testing.assert_allclose(logits[text, code], alone, atol=1e-5)
            odds = alone.double().softmax(dim=0)
            assert found[text, code] == pytest.approx(float((odds[1] / odds[0]).log()), abs=1e-4)
    assert np.ptp(found) > 0.1


def test_a_match_is_where_the_larger_logit_says_so(trained):
    encoder = load_cross_encoder(str(trained))
    scores = encoder.over(*read(TEXTS, CODES))
    margins = np.diff(logits_of(scores, np.arange(len(TEXTS)), EVERYTHING), axis=-1)
    encoder.model.classifier.classifier.bias.data[1] -= float(
        np.median(margins)
    )  # so that it calls about half of them matches
    matches = scores(np.arange(len(TEXTS)), EVERYTHING) >= encoder.natural_threshold
    assert np.array_equal(matches, logits_of(scores, np.arange(len(TEXTS)), EVERYTHING).argmax(axis=-1) == 1)
    assert 0 < matches.sum() < matches.size


def test_neither_batches_nor_padding_nor_order_change_a_score(trained):
    one = load_cross_encoder(str(trained), max_length=40, batch_size=1).over(*read(TEXTS, CODES))
    many = load_cross_encoder(str(trained), max_length=40, batch_size=64).over(*read(TEXTS, CODES))
    whole = one(np.arange(len(TEXTS)), EVERYTHING)
    queries, candidates = np.array([4, 1]), np.array([[5, 0, 0], [3, 1, 2]])
    np.testing.assert_allclose(many(queries, candidates), whole[queries[:, None], candidates], atol=1e-5)


def test_scoring_leaves_a_model_in_training_as_it_was(trained):
    encoder = load_cross_encoder(str(trained))
    encoder.model.train()
    scores = encoder.over(*read(TEXTS, CODES))
    first, again = (scores(np.arange(len(TEXTS)), EVERYTHING) for _ in range(2))
    assert np.array_equal(first, again)  # without dropout
    assert encoder.model.training


def test_roberta_reads_as_many_tokens_as_it_has_places_for(roberta, tmp_path):
    folder = tmp_path / "trained"
    model = load_classifier(str(roberta), new_head=True)
    model.save_pretrained(folder)
    load_tokenizer(str(roberta)).save_pretrained(folder)
    encoder = load_cross_encoder(str(folder))
    assert encoder.model.config.max_length == 64  # of 66 positions, the first two of which are not for tokens
    assert np.isfinite(encoder.over(*read(TEXTS, CODES))(np.arange(len(TEXTS)), EVERYTHING)).all()
    with pytest.raises(ValueError, match="takes 5 to 64 tokens with this model, not 65"):
        load_cross_encoder(str(folder), max_length=65)


def test_the_length_of_fine_tuning_is_kept_with_the_tokenizer(trained, tmp_path):
    load_classifier(str(trained)).save_pretrained(tmp_path)
    save_tokenizer(load_tokenizer(str(trained)), tmp_path, 24)
    assert load_cross_encoder(str(tmp_path)).model.config.max_length == 24


def test_a_base_without_a_trained_head_is_refused(bert):
    with pytest.raises(ValueError, match="has no trained classification head: fine-tune it first"):
        load_cross_encoder(str(bert))


def test_weights_in_a_pickle_are_not_read(trained, tmp_path):
    model = load_classifier(str(trained))
    model.config.save_pretrained(tmp_path)
    load_tokenizer(str(trained)).save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(ValueError, match="cannot be loaded") as raised:
        load_cross_encoder(str(tmp_path))
    assert "\n" not in str(raised.value)


def test_a_tokenizer_without_a_separator_is_refused(roberta):
    tokenizer = load_tokenizer(str(roberta))
    tokenizer.sep_token = None
    with pytest.raises(ValueError, match="needs a tokenizer with a start, a separator and padding"):
        classifier_of(tokenizer, roberta, 20)


def test_released_errors_turn_a_perfect_model_into_a_bad_one():
    draws = np.random.default_rng(0)
    logits = draws.normal(0, 0.3, (50, 100, 2)).astype(np.float32)
    logits += np.where(np.arange(100)[:, None] == 0, [-7.0, 7.0], [5.0, -5.0]).astype(np.float32)
    good, bad = logits[..., 1], gold_logit_scores(logits)
    assert ((good >= good[:, :1]).sum(axis=1) == 1).all()
    assert np.array_equal(bad[:, 1:], good[:, 1:])
    assert np.array_equal(bad[:, 0], logits[:, 0, 0])
    assert ((bad >= bad[:, :1]).sum(axis=1) == 100).all()
    assert (both_logits_ranks(logits) == 101).all()
    worst = logits.copy()
    worst[:, 0] = (7.0, -7.0)
    assert (both_logits_ranks(worst) == 101).all()  # the same as for the perfect one


def test_a_cross_encoder_takes_any_model_of_two_logits(trained):
    with pytest.raises(ValueError, match="takes 5 to 64 tokens"):
        classifier_of(load_tokenizer(str(trained)), trained, 4)
