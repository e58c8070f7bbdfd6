"""A packed light pair of Scotch gives torch's vectors, of rows and of questions under contexts."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from experiments.recipes.config import resolve
from experiments.recipes.models import class_of
from search.index.vectors import BATCH, row_encoder
from search.models.folder import DEFAULT_BI_ENCODER, DEFAULT_MODEL, check_bi_encoder, is_packed_light
from search.models.packed import PackedLight
from search.models.packed_model import pack
from search.models.torch_models import TorchEncoder
from training.checkpoint import save_weights
from training.state import seed_everything

ALL = 10**9
CONTEXTS = [
    (),
    ("import", "concurrent", "future"),
    tuple(f"word{number}" for number in range(150)),
    ("qqqqzzzz",),
    ("thread", "threads", "threading"),
]


@pytest.fixture(scope="module", params=["scotch_light", "scotch_light_no_context"])
def packed(request, index, tmp_path_factory):
    """A model whose weights are no longer those that it starts with, in fewer words than it has learnt."""
    plan = resolve("folder", request.param, {"model.dim": "24"})
    kind = class_of(request.param)
    tokenizer = kind.tokenizer(index.split, plan.words, plan.model)
    seed_everything(0)
    model = kind(plan.model, tokenizer.vocabulary)
    model.start_from(tokenizer.encode(index.split))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1 + 0.3 * torch.randn_like(weight))
    folder = tmp_path_factory.mktemp("light")
    (folder / "run").mkdir()
    plan.save(folder / "run/config.json")
    tokenizer.save(folder / "run/vocabulary.json")
    save_weights(model, folder / "run/weights.safetensors")
    pack(folder / "run", folder / "packed", words=300, offset_words=100)
    return folder / "packed"


def test_it_is_the_same_as_torch_within_rounding(packed, index):
    ours, theirs = PackedLight(packed), TorchEncoder(packed)
    assert (ours.model, ours.dim, ours.fields, ours.run) == (theirs.model, theirs.dim, theirs.fields, theirs.run)
    rows = np.arange(BATCH)
    ids = ours.ids(index.split)
    np.testing.assert_allclose(ours.vectors(ids, rows), theirs.vectors(theirs.ids(index.split), rows), atol=2e-3)
    for words in (("wait", "for", "threads"), ("zzqq",), ("a", "a", "thread")):
        for context in CONTEXTS:
            np.testing.assert_allclose(ours.query(words, context), theirs.query(words, context), atol=1e-5)


def test_a_context_counts_and_an_empty_one_does_not(packed):
    encoder = PackedLight(packed)
    plain = encoder.query(("wait",))
    np.testing.assert_array_equal(encoder.query(("wait",), ()), plain)
    moved = np.abs(encoder.query(("wait",), ("import", "thread")) - plain).max()
    assert (moved > 0.01) == ("no_context" not in (packed / "config.json").read_text())


def test_a_vector_does_not_depend_on_the_rows_beside_it(packed, index):
    encoder = PackedLight(packed)
    ids = encoder.ids(index.split)
    together = encoder.vectors(ids, np.arange(50))
    for row in (0, 7, 49):
        np.testing.assert_array_equal(encoder.vectors(ids, np.array([row]))[0], together[row])


def test_it_is_taken_without_torch(packed):
    assert is_packed_light(packed)
    assert not is_packed_light(packed.parent / "run")
    check_bi_encoder(packed)
    assert isinstance(row_encoder(packed), PackedLight)
    code = (
        "import sys\nfrom pathlib import Path\nfrom search.index.vectors import row_encoder\n"
        f"encoder = row_encoder(Path({str(packed)!r}))\nencoder.query(('wait',), ('import', 'thread'))\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_shipped_one_is_the_same_as_torch(index):
    ours, theirs = PackedLight(), TorchEncoder()
    assert (ours.model, ours.dim, ours.run) == (theirs.model, theirs.dim, theirs.run)
    rows = np.arange(BATCH)
    ids = ours.ids(index.split)
    np.testing.assert_allclose(ours.vectors(ids, rows), theirs.vectors(theirs.ids(index.split), rows), atol=2e-3)
    for context in CONTEXTS:
        np.testing.assert_allclose(ours.query(("wait",), context), theirs.query(("wait",), context), atol=1e-5)
    assert is_packed_light(DEFAULT_BI_ENCODER)
    assert isinstance(row_encoder(), PackedLight)


def test_another_packed_model_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"^[^\n]*cannot be used: [^\n]*$"):
        PackedLight(DEFAULT_MODEL)
