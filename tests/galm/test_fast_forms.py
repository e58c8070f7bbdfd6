"""Every value of every choice, and pairs of them: the fast forms give the scores and gradients of the plain equations.

The choices are read from the type hints of ``GalmConfig``, so that a new value, or a new choice, is walked as soon as
it exists. Where it is in a list of a fast form, that form is compared; where not, the plain form is used.
"""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import torch
from test_model import CODES, VOCABULARIES, words

from data_prep.errors import UserError
from data_prep.store.arrays import Ragged
from data_prep.store.batching import Words
from data_prep.store.tokenizing import Vocabularies
from galm.config import GalmConfig
from galm.fast import kernels
from galm.fast.all_pairs import is_fast
from galm.fast.kernel_functions import torch_kernels
from galm.fast.kernels import KERNEL_FORM, not_computed, one_thread_kernels
from galm.fast.query_scorer import QUERY_FORM, QueryScorer, shapes
from galm.model import Galm
from modeling.base import NeuralRanker

needs_kernels = pytest.mark.skipif(torch_kernels() is None, reason="there is no C compiler here (cc)")

SMALL = {"dim": 32, "num_blocks": 16, "gcn_dim": 16, "init": "uniform"}
BASES: dict[str, dict[str, Any]] = {
    "galm": {**SMALL, "layers": 2, "code_tables": "one"},
    "galm_plus": {
        **SMALL, "layers": 1, "code_tables": "offsets", "nodes": "query_and_name", "readout": "weighted",
    },
}  # fmt: skip
PAIRS = 30
JOINT = Vocabularies(VOCABULARIES.code, VOCABULARIES.code, VOCABULARIES.code, VOCABULARIES.ast)
QUERIES = {"query": words(7, 1, 9, 61, seed=1)}


def choices() -> dict[str, tuple[Any, ...]]:
    """Option -> its values, of every option that has a few, and of the number of layers."""
    found: dict[str, tuple[Any, ...]] = {"layers": (0, 1, 2, 3)}
    for name, hint in get_type_hints(GalmConfig).items():
        if hint is bool or get_origin(hint) is Literal:
            found[name] = (False, True) if hint is bool else get_args(hint)
    return found


def drawn() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each value alone, beside both bases, then pairs; without the combinations that are refused."""
    options, draw = choices(), random.Random(0)
    alone = [{name: value} for name, values in options.items() for value in values]
    pairs = [{name: draw.choice(options[name]) for name in draw.sample(sorted(options), 2)} for _ in range(PAIRS)]
    for base, settings in BASES.items():
        for changed in [*alone, *pairs]:
            try:
                GalmConfig(**settings | changed)
            except UserError:
                continue
            yield base, changed


CASES = list(drawn())


def test_every_value_of_every_choice_is_walked() -> None:
    walked = {(name, value) for _, changed in CASES if len(changed) == 1 for name, value in changed.items()}
    assert walked == {(name, value) for name, values in choices().items() for value in values}


def build(base: str, changed: dict[str, Any]) -> Galm:
    torch.manual_seed(0)
    model = Galm(GalmConfig(**BASES[base] | changed), JOINT)
    with torch.no_grad():
        for weights in model.parameters():  # of which none is 0, as biases are in the beginning
            weights.uniform_(-0.4, 0.4)
    return model


def assert_alike(model: Galm) -> None:
    """The scores and gradients of all pairs are those of one pair after the other."""
    results = []
    for form in (Galm.score_matrix, NeuralRanker.score_matrix):
        model.zero_grad()
        scores = form(model, model.encode_query(QUERIES), model.encode_code(CODES))
        (scores * torch.linspace(-1, 1, scores.numel()).view_as(scores)).sum().backward()
        results.append((scores.detach(), [each.grad for each in model.parameters()]))
    (fast, fast_gradients), (plain, plain_gradients) = results
    assert torch.allclose(fast, plain, rtol=1e-5, atol=2e-6)
    for one, other in zip(fast_gradients, plain_gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert (one - other).norm() <= 1e-3 * other.norm() + 1e-5


def lists(given: Words) -> list[list[int]]:
    return [ids[mask].tolist() for ids, mask in zip(given.ids, given.mask, strict=True)]


class _Table:
    def __init__(self, weight: torch.Tensor) -> None:
        self.rows = weight.numpy().__getitem__


def assert_scored_without_torch(model: Galm) -> None:
    """The scores of each query by numpy are those of one pair after the other."""
    weights = {name: each.numpy() for name, each in model.state_dict().items()}
    tables = {name: _Table(each.weight.detach()) for name, each in model.words.tables.items()}
    assert shapes(model.config, len(JOINT.code)) == {name: each.shape for name, each in weights.items()}
    scorer = QueryScorer(model.config, weights, tables)
    codes = scorer.codes({field: Ragged.of(lists(CODES[field])) for field in model.code_fields})
    found = [
        scorer.scores(scorer.query(ids), codes, np.arange(len(codes.words.offsets) - 1))
        for ids in lists(QUERIES["query"])
    ]
    with torch.no_grad():
        plain = NeuralRanker.score_matrix(model, model.encode_query(QUERIES), model.encode_code(CODES))
    np.testing.assert_allclose(found, plain.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("base", "changed"), CASES, ids=str)
def test_the_fast_forms_equal_the_plain_equations(
    base: str, changed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build(base, changed)
    assert_alike(model)
    if not not_computed(model.config, QUERY_FORM):
        for kernels_are_there in (True, False):
            monkeypatch.setattr("galm.fast.query_scorer.one_thread_kernels", lambda there=kernels_are_there: there)
            if not kernels_are_there or one_thread_kernels():
                assert_scored_without_torch(model)


@needs_kernels
def test_what_is_in_a_list_is_computed_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [is_fast(GalmConfig(**BASES[base] | changed), torch.ones(1)) for base, changed in CASES]
    assert np.mean(fast) > 0.8
    for layers in (0, 1, 2):
        assert not not_computed(GalmConfig(**BASES["galm_plus"] | {"layers": layers}), QUERY_FORM)
    monkeypatch.setitem(KERNEL_FORM, "layer_input", ("previous", "first"))  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        assert_alike(build("galm", {"layer_input": "first"}))


@needs_kernels
def test_what_is_in_no_list_is_computed_by_the_plain_form_and_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kernels.say_once.cache_clear()
    monkeypatch.setitem(KERNEL_FORM, "activation", ("none",))  # type: ignore[arg-type]
    for _ in range(2):
        assert_alike(build("galm", {}))
    monkeypatch.delitem(KERNEL_FORM, "skip")  # type: ignore[arg-type]
    assert not is_fast(build("galm", {"activation": "none"}).config, torch.ones(1))
    assert [record.getMessage().split(":")[0] for record in caplog.records] == [
        "the C kernels do not compute --model.activation=relu",
        "the C kernels do not compute --model.skip=false",
    ]
    assert is_fast(GalmConfig(), torch.ones(1, dtype=torch.float64)) is False
    assert len(caplog.records) == 2


def test_contexts_and_graphs_are_computed_together_as_alone_also_empty_ones() -> None:
    numbers = np.random.default_rng(0)
    nodes, vectors, below = (numbers.normal(size=size).astype(np.float32) for size in ((3, 32), (9, 32), (2, 9, 4)))
    norms = np.square(nodes).reshape(3, 2, 16).sum(1)
    offsets, places = np.array([0, 0, 4, 5, 5, 9], np.int32), numbers.integers(0, 9, 9).astype(np.int32)
    edges, bias = numbers.random(16 + 1 + 16).astype(np.float32), np.zeros(4, np.float32)
    found = kernels.cosines(nodes, norms, vectors, offsets, places)
    given = kernels.convolved(below, bias, offsets, edge_weights=edges, places=places)
    own = kernels.convolved(below, bias, offsets, states=below)
    for number, (start, end) in enumerate(pairwise(offsets.tolist())):
        alone, cells = np.array([0, end - start], np.int32), slice(*([0, 0, 16, 17, 17, 33][number : number + 2]))
        one = kernels.cosines(nodes, norms, vectors, alone, places[start:end])
        np.testing.assert_allclose(found[number], one[0], rtol=1e-5)
        one = kernels.convolved(below, bias, alone, edge_weights=edges[cells], places=places[start:end])
        np.testing.assert_allclose(given[:, start:end], one, rtol=1e-5)
        one = kernels.convolved(below[:, start:end], bias, alone, states=below[:, start:end])
        np.testing.assert_allclose(own[:, start:end], one, rtol=1e-5)
