"""What every neural model in the registry keeps; a new one is tested by being registered."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.nn.functional import pad

from data_prep.records import CODE_FIELDS
from data_prep.store.batching import Batch, Words
from data_prep.store.split import TokenizedPairs
from data_prep.store.tokenizing import PAD
from experiments.recipes.config import Configuration, resolve
from experiments.recipes.models import MODELS, class_of, is_trained
from modeling.base import Encoded, NeuralRanker, PairTokenizer
from tests.tiny_models import smaller
from training.checkpoint import load_weights, save_weights
from training.state import seed_everything
from training.task import Loss, negatives_mask

NEURAL = [name for name in MODELS if is_trained(name)]
PAIRS = 32


@dataclass(frozen=True)
class Built:
    plan: Configuration
    tokenizer: PairTokenizer
    ids: TokenizedPairs
    model: NeuralRanker

    def scores(self, queries: Batch, codes: Batch) -> torch.Tensor:
        self.model.eval()
        with torch.no_grad():
            return self.model.score_matrix(self.model.encode_query(queries), self.model.encode_code(codes))


def build(plan: Configuration, tokenizer: PairTokenizer, ids: TokenizedPairs, seed: int = 0) -> NeuralRanker:
    seed_everything(seed)
    model = class_of(plan.model_name)(plan.model, tokenizer.vocabulary)
    model.start_from(ids)
    return model


@pytest.fixture(scope="module", params=NEURAL)
def built(request, data_with_statements, tmp_path_factory) -> Built:
    plan = resolve("folder", request.param, smaller(request.param, tmp_path_factory))
    train = data_with_statements.splits["train"]
    tokenizer = class_of(plan.model_name).tokenizer(train, plan.words, plan.model)
    ids = tokenizer.encode(train)
    return Built(plan, tokenizer, ids, build(plan, tokenizer, ids))


@pytest.fixture(scope="module")
def rows(data_with_statements) -> np.ndarray:
    return np.random.default_rng(0).choice(len(data_with_statements.splits["train"]), PAIRS, replace=False)


def wider(batch: Batch, more: int) -> Batch:
    return {
        field: Words(pad(words.ids, (0, more), value=PAD), pad(words.mask, (0, more), value=False))
        for field, words in batch.items()
    }


def without_words(batch: Batch, *fields: str) -> Batch:
    empty = {
        field: Words(torch.full_like(batch[field].ids, PAD), torch.zeros_like(batch[field].mask)) for field in fields
    }
    return {**batch, **empty}


def test_padding_never_changes_a_score(built, rows):
    queries, codes = built.ids.queries(rows), built.ids.codes(rows)
    plain = built.scores(queries, codes)
    torch.testing.assert_close(built.scores(wider(queries, 3), codes), plain, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(built.scores(queries, wider(codes, 7)), plain, rtol=1e-4, atol=1e-5)


def test_a_pair_scores_the_same_alone_and_in_any_batch(built, rows):
    together = built.scores(built.ids.queries(rows), built.ids.codes(rows))
    for row in range(0, PAIRS, 7):
        alone = built.scores(built.ids.queries(rows[[row]]), built.ids.codes(rows[[row]]))
        torch.testing.assert_close(alone[0, 0], together[row, row], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pairs_per_block", [1, 50, 4096])
def test_the_matrix_holds_the_scores_of_pairs(built, rows, pairs_per_block):
    model = built.model.eval()
    with torch.no_grad():
        queries = model.encode_query(built.ids.queries(rows[:9]))
        codes = model.encode_code(built.ids.codes(rows[:16]))
        matrix = model.score_matrix(queries, codes, pairs_per_block=pairs_per_block)
        for column in range(0, 16, 3):
            same = codes.rows(torch.full((9,), column))
            torch.testing.assert_close(model.score_pairs(queries, same), matrix[:, column], rtol=1e-4, atol=1e-5)
    assert matrix.shape == (9, 16)
    assert matrix.std() > 0


def test_the_size_of_blocks_changes_no_score_by_more_than_rounding(built, rows):
    model = built.model.eval()
    with torch.no_grad():
        queries, codes = model.encode_query(built.ids.queries(rows[:12])), model.encode_code(built.ids.codes(rows[:16]))
        whole = model.score_matrix(queries, codes)
        for size in (1, 7, 64, 150):
            in_blocks = model.score_matrix(queries, codes, pairs_per_block=size)
            assert (in_blocks - whole).abs().max() < 1e-5


def test_scoring_by_bfloat16_products_moves_scores_little(built, rows):
    model = built.model.eval()
    with torch.no_grad():
        queries, codes = (model.encode_query(built.ids.queries(rows)), model.encode_code(built.ids.codes(rows)))
        exact = model.score_matrix(queries, codes)
        with torch.autocast("cpu", torch.bfloat16):
            rounded = model.score_matrix(queries, codes)
    scale = exact.abs().max()
    if built.plan.model_name == "cross_encoder":  # its new head gives scores near 0 of a state whose numbers are near 1
        scale = scale.clamp(min=1)
    assert (rounded.float() - exact).abs().max() <= 0.02 * scale


def test_gradients_of_the_matrix_are_those_of_pairs(built, rows):
    model = built.model.eval()

    def gradients(whole: bool) -> list[torch.Tensor]:
        model.zero_grad()
        queries = model.encode_query(built.ids.queries(rows[:5]))
        codes = model.encode_code(built.ids.codes(rows[:6]))
        left, right = torch.arange(5).repeat_interleave(6), torch.arange(6).repeat(5)
        pairs = lambda: model.score_pairs(queries.rows(left), codes.rows(right)).view(5, 6)  # noqa: E731
        scores = model.score_matrix(queries, codes) if whole else pairs()
        (scores * torch.linspace(-1, 1, 30).view(5, 6)).sum().backward()
        return [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]

    for by_matrix, by_pairs in zip(gradients(True), gradients(False), strict=True):
        torch.testing.assert_close(by_matrix, by_pairs, rtol=1e-3, atol=1e-5)
    model.zero_grad()


def test_permuting_candidates_permutes_the_scores(built, rows):
    order = np.random.default_rng(1).permutation(PAIRS)
    queries = built.ids.queries(rows)
    plain = built.scores(queries, built.ids.codes(rows))
    permuted = built.scores(queries, built.ids.codes(rows[order]))
    torch.testing.assert_close(permuted, plain[:, torch.from_numpy(order)], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fields", [("name",), ("tokens",), ("api",), ("ast",), ("statements",), CODE_FIELDS])
def test_empty_code_fields_have_finite_scores(built, rows, fields):
    read = [field for field in fields if field in built.ids.code_fields] or built.ids.code_fields
    scores = built.scores(built.ids.queries(rows), without_words(built.ids.codes(rows), *read))
    assert torch.isfinite(scores).all()


def test_an_empty_query_has_finite_scores_and_gradients(built, rows):
    model = built.model.train()
    queries = model.encode_query(without_words(built.ids.queries(rows), "query"))
    codes = model.encode_code(without_words(built.ids.codes(rows), *built.ids.code_fields))
    scores = model.score_matrix(queries, codes)
    assert torch.isfinite(scores).all()
    if scores.requires_grad:
        scores.sum().backward()
        assert all(torch.isfinite(weight.grad).all() for weight in model.parameters() if weight.grad is not None)
        model.zero_grad()


def test_it_overfits_a_few_pairs(built, rows):
    subwords = built.model.reads == "subwords"  # whose steps are slow: fewer pairs
    rows = rows[: 10 if subwords else 16]
    queries, codes, keys = built.ids.queries(rows), built.ids.codes(rows), (built.ids.query_keys, built.ids.code_keys)
    negatives = torch.from_numpy(negatives_mask(*(each[rows] for each in (*keys, *keys))))
    loss = Loss(built.plan.loss)

    def all_first(model: NeuralRanker) -> bool:
        scores = Built(built.plan, built.tokenizer, built.ids, model).scores(queries, codes)
        return bool((scores.masked_fill(~negatives, -torch.inf).amax(1) < scores.diagonal()).all())

    rates = (1e-2, 2e-3)  # inner products without a temperature need the lower one
    for rate in reversed(rates) if subwords else rates:
        model = build(built.plan, built.tokenizer, built.ids)
        optimiser = torch.optim.Adam(model.parameters(), lr=rate)
        assert not all_first(model)
        for step in range(150):
            model.train()
            scores = model.score_matrix(model.encode_query(queries), model.encode_code(codes))
            optimiser.zero_grad()
            loss(scores, negatives, step / 40).backward()
            optimiser.step()
            if step % 10 == 9 and all_first(model):
                return
    pytest.fail("150 steps did not bring every gold to the first rank")


def test_weights_come_back_to_the_last_bit(built, rows, tmp_path):
    save_weights(built.model, tmp_path / "weights.safetensors")
    other = build(built.plan, built.tokenizer, built.ids)
    with torch.no_grad():
        for weight in other.parameters():
            weight += torch.randn_like(weight)
    again = Built(built.plan, built.tokenizer, built.ids, other)
    queries, codes = built.ids.queries(rows), built.ids.codes(rows)
    assert not torch.equal(again.scores(queries, codes), built.scores(queries, codes))
    load_weights(other, tmp_path / "weights.safetensors")
    assert torch.equal(again.scores(queries, codes), built.scores(queries, codes))


def test_its_tokenizer_comes_back_and_reads_the_same(built, rows, data_with_statements, tmp_path):
    built.tokenizer.save(tmp_path / "vocabulary.json")
    plan = built.plan
    again = class_of(plan.model_name).saved_tokenizer(tmp_path / "vocabulary.json", plan.words, plan.model)
    assert again == built.tokenizer
    ids = again.encode(data_with_statements.splits["train"].take(rows))
    for name, lists in ids.fields.items():
        assert np.array_equal(lists.values, built.ids.fields[name].take(rows).values)
    assert all(again.words("query", ids.fields["query"].values.tolist()[:20]))


def test_another_tokenizer_is_refused(built, tmp_path):
    path, plan = tmp_path / "vocabulary.json", built.plan
    for content in ("", "[]", '{"query": 1}', '{"architecture": {}, "tokenizer": {}}'):
        path.write_text(content)
        with pytest.raises(ValueError, match="cannot be read"):
            class_of(plan.model_name).saved_tokenizer(path, plan.words, plan.model)


def test_the_seed_decides_the_start(built):
    same, other = (build(built.plan, built.tokenizer, built.ids, seed) for seed in (0, 1))
    states = [model.state_dict() for model in (built.model, same, other)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    differs = {name for name in states[0] if not torch.equal(states[0][name], states[2][name])}
    if built.model.reads == "words":
        assert differs
    else:  # all but what a model adds and the last layers of a classifier is pretrained
        added = {id(weight) for weight in built.model.new_weights()}
        new = {name for name, weight in built.model.named_parameters() if id(weight) in added}
        assert differs <= new | {name for name in states[0] if "classifier.classifier." in name or ".pooler." in name}


def test_diagnostics_are_finite_and_named_by_their_part(built, rows):
    model = built.model.eval()
    found = model.diagnostics(built.ids.queries(rows), built.ids.codes(rows))
    assert all("/" in name and np.isfinite(value) for name, value in found.items())
    assert isinstance(model.collapse_warning(found), str)
    assert bool(found) == built.plan.model_name.startswith("galm")


def test_encoded_sides_are_as_long_as_their_batch(built, rows):
    for encoded in (
        built.model.encode_query(built.ids.queries(rows)),
        built.model.encode_code(built.ids.codes(rows)),
    ):
        assert isinstance(encoded, Encoded)
        assert len(encoded) == len(encoded.mask) == PAIRS
