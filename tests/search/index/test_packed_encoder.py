"""A packed unif gives torch's vectors."""

import numpy as np
import pytest
import torch

from experiments.recipes.config import resolve
from experiments.recipes.models import class_of
from search.index.packed_encoder import PackedEncoder, is_packed_unif
from search.index.torch_encoder import TorchEncoder
from search.index.vector_encoding import row_encoder
from search.models.folder import DEFAULT_BI_ENCODER
from search.models.packed_model import pack
from training.checkpoint import save_weights
from training.state import seed_everything

QUERIES = ("read all lines of a file", "zzzz qqqq", "close", "")


@pytest.fixture(scope="module", params=["tokens", "all"])
def packed(request, index, tmp_path_factory):
    """A unif with random weights, in fewer words than it has learnt."""
    plan = resolve("folder", "unif", {"model.dim": "24", "model.fields": request.param, "words.joint": "true"})
    kind = class_of("unif")
    tokenizer = kind.tokenizer(index.split, plan.words, plan.model)
    seed_everything(0)
    model = kind(plan.model, tokenizer.vocabularies)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1 + 0.3 * torch.randn_like(weight))
    folder = tmp_path_factory.mktemp("unif")
    (folder / "run").mkdir()
    plan.save(folder / "run/config.json")
    tokenizer.save(folder / "run/vocabulary.json")
    save_weights(model, folder / "run/weights.safetensors")
    pack(folder / "run", folder / "packed", words=300, offset_words=0)
    return folder / "packed"


def test_vectors_are_those_of_torch_and_of_no_other_row(packed, odd_rows):
    ours, theirs = PackedEncoder(packed), TorchEncoder(packed)
    assert (ours.model, ours.dim, ours.run) == (theirs.model, theirs.dim, theirs.run)
    for query in QUERIES:
        np.testing.assert_allclose(ours.query(query.split()), theirs.query(query.split()), atol=1e-6)
    ids, rows = ours.ids(odd_rows), np.arange(100)
    together = ours.vectors(ids, rows)
    np.testing.assert_allclose(together.astype(np.float32), theirs.vectors(ids, rows).astype(np.float32), atol=1e-3)
    assert not together[0].any()  # no words
    apart = np.concatenate([ours.vectors(ids, rows[start : start + 7]) for start in range(0, 100, 7)])
    assert (apart == together).all()


def test_it_is_taken_for_a_packed_unif_alone(packed):
    assert is_packed_unif(packed)
    assert isinstance(row_encoder(packed), PackedEncoder)
    with pytest.raises(ValueError, match="cannot be used: "):
        PackedEncoder(DEFAULT_BI_ENCODER)
