import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy, normalize

from data_prep.gencodesearchnet.records import as_split
from experiments.gencodesearchnet.fine_tune import WEIGHTS, fine_tune
from experiments.gencodesearchnet.tasks import Validation
from modeling.transformers.codet5p import CodeT5pClassifier
from modeling.transformers.cross_encoder import load_classifier, load_cross_encoder, load_tokenizer
from modeling.transformers.pretrained import SentenceEncoder, SentenceEncoderConfig, load_sentence_model, most_tokens
from tests.experiments.gencodesearchnet.fine_tuning_runs import SMALL, TRAIN, VALID
from tests.local_server import send, serving
from tests.raw_pairs import read
from tests.tiny_models import library
from training.checkpoint import weights_copy

transformers, tokenizers = library("transformers"), library("tokenizers")
library("sentence_transformers")
TEXTS = ("read the file", "sum of a list", " close ", "write " * 90)
CODES = ("open ( path ) . read ( )", "", "read the file")
SIZES = {
    "vocab_size": 320, "d_model": 24, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 3, "dropout_rate": 0.1,
    "relative_attention_num_buckets": 8, "feed_forward_proj": "relu", "pad_token_id": 0, "is_encoder_decoder": False,
}  # fmt: skip
OWN_CODE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
(Path({folder!r}) / "ran").touch()
class Own: pass
"""


def tiny_codet5p(folder: Path, weights: str = "pytorch_model.bin", reader: str = "vocab.json") -> Path:
    """A random model in the layout of the released one, with code of its own that leaves a mark if it is run."""
    folder.mkdir(parents=True, exist_ok=True)
    own = dict.fromkeys(("AutoConfig", "AutoModel", "AutoModelForSequenceClassification"), "own.Own")
    config = SIZES | {
        "model_type": "codet5p_embedding", "architectures": ["Own"], "embed_dim": 16, "torch_dtype": "float32",
        "auto_map": own, "n_positions": 512, "eos_token_id": 2, "transformers_version": "4.30.2",
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(OWN_CODE.format(folder=str(folder)))
    tiny_tokenizer(folder, reader)
    t5 = transformers.T5EncoderModel(transformers.T5Config(**SIZES, initializer_factor=3.0))
    state = {name: weight.clone() for name, weight in t5.state_dict().items()}
    state |= {"proj.weight": torch.randn(16, 24), "proj.bias": torch.randn(16)}
    keep(state, folder / weights)
    return folder


def tiny_tokenizer(folder: Path, reader: str) -> None:
    bytes_of = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    pieces = ["re", "ad", "read", "li", "st", "list"]
    merges = ["r e", "a d", "re ad", "l i", "s t", "li st"]
    vocabulary = {word: row for row, word in enumerate(["<pad>", "<s>", "</s>", "<unk>", "<mask>", *bytes_of, *pieces])}
    kept = {"tokenizer_class": "OwnTokenizer", "auto_map": {"AutoTokenizer": ["own.Own", "own.Own"]}}
    if reader == "vocab.json":
        (folder / "vocab.json").write_text(json.dumps(vocabulary))
        (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]))
        (folder / "added_tokens.json").write_text(json.dumps({"[ENC]": len(vocabulary)}))
    else:
        pairs = [tuple(merge.split()) for merge in merges]
        transformers.RobertaTokenizerFast(vocab=vocabulary, merges=pairs).save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps(kept))


def keep(state: dict, file: Path) -> None:
    if file.suffix == ".bin":
        torch.save(state, file)
    else:  # as the libraries write it, where a matrix has one name
        save_file({name: weight for name, weight in state.items() if name != "encoder.embed_tokens.weight"}, file)


def kept(folder: Path) -> dict:
    file = folder / "pytorch_model.bin"
    return torch.load(file, weights_only=True) if file.exists() else load_file(folder / "model.safetensors")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    torch.manual_seed(0)
    return tiny_codet5p(tmp_path_factory.mktemp("base"))


@pytest.fixture
def spoiled(tmp_path):
    torch.manual_seed(0)
    return tiny_codet5p(tmp_path / "spoiled")


@pytest.fixture(autouse=True)
def _nothing_ran(tmp_path_factory):
    yield
    assert not list(tmp_path_factory.getbasetemp().rglob("ran"))
    modules = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser() / "modules"
    assert not list(modules.rglob("ran"))


def plain_vectors(folder: Path, ids: list[list[int]]) -> torch.Tensor:
    """The formula, one sequence at a time."""
    state = kept(folder)
    t5 = transformers.T5EncoderModel(transformers.T5Config(**SIZES)).eval()
    t5.load_state_dict({name: weight for name, weight in state.items() if "proj" not in name}, strict=False)
    with torch.no_grad():
        first = torch.cat([t5(input_ids=torch.tensor([row])).last_hidden_state[:, 0] for row in ids])
    return normalize(first @ state["proj.weight"].T + state["proj.bias"], dim=-1)


@pytest.mark.parametrize("weights", ["pytorch_model.bin", "model.safetensors"])
@pytest.mark.parametrize("reader", ["vocab.json", "tokenizer.json"])
def test_a_vector_is_that_of_the_formula(tmp_path, weights, reader):
    torch.manual_seed(0)
    folder = tiny_codet5p(tmp_path / "model", weights, reader)
    tokenizer = load_tokenizer(str(folder))
    strings = [string.strip() for string in (*TEXTS, *CODES)]
    ids = tokenizer(strings, truncation=True, max_length=40)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids[0])[:2] == ["<s>", "read"]
    assert all(row[0] == 1 and row[-1] == 2 and len(row) <= 40 for row in ids)
    vectors = plain_vectors(folder, ids)
    for pooling in ("own", "cls"):
        scores = SentenceEncoder(SentenceEncoderConfig(str(folder), 40, pooling, batch_size=3)).over(
            *read(TEXTS, CODES)
        )
        found = scores(np.arange(len(TEXTS)), np.tile(np.arange(len(CODES)), (len(TEXTS), 1)))
        expected = vectors[: len(TEXTS)] @ vectors[len(TEXTS) :].T
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert found[0, 2] == pytest.approx(1, abs=1e-5)
        assert np.ptp(found) > 0.1
    model = load_sentence_model(str(folder))
    np.testing.assert_allclose(model.encode(strings[:3]), vectors[:3], atol=1e-5)
    model.save(str(tmp_path / "saved"))  # modules of sentence-transformers, which need no code of their own
    np.testing.assert_allclose(load_sentence_model(str(tmp_path / "saved")).encode(strings[:3]), vectors[:3], atol=1e-5)


def test_positions_are_relative_and_512_tokens_are_read_unless_said_otherwise(base, tmp_path):
    model, tokenizer = load_classifier(str(base), new_head=True), load_tokenizer(str(base))
    assert most_tokens(model.config) > 10_000
    assert model.get_input_embeddings().weight is model.encoder.embed_tokens.weight
    ids = tokenizer(["read " * 300], return_tensors="pt")
    assert ids["input_ids"].shape[1] > 512
    logits = model(**ids).logits
    assert logits.isfinite().all()
    model.config.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    save_file(weights_copy(model), tmp_path / WEIGHTS)
    encoder = load_cross_encoder(str(tmp_path))
    assert encoder.model.config.max_length == 512
    assert load_cross_encoder(str(tmp_path), max_length=600).model.config.max_length == 600
    np.testing.assert_allclose(encoder.model.classifier(**ids).logits.detach(), logits.detach(), atol=1e-6)


def test_logits_are_those_of_two_dense_layers_on_the_vector(base):
    torch.manual_seed(1)
    model = load_classifier(str(base), new_head=True)
    assert isinstance(model, CodeT5pClassifier)
    ids = load_tokenizer(str(base))(["read a list", "sum"])["input_ids"]
    padded = torch.tensor([ids[0], ids[1] + [0] * (len(ids[0]) - len(ids[1]))])
    vectors, first, second = plain_vectors(base, ids), model.head[1], model.head[4]
    with torch.no_grad():
        found = model(input_ids=padded, attention_mask=(padded != 0).long()).logits
        expected = (vectors @ first.weight.T + first.bias).tanh() @ second.weight.T + second.bias
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert [part.p for part in model.modules() if part in (model.head[0], model.head[3])] == [0.1, 0.1]
    assert not torch.equal(model.train()(padded, padded).logits, model(padded, padded).logits)


def test_it_is_fine_tuned_kept_and_loaded_again(base, tmp_path):
    options = replace(SMALL, epochs=2, batch_size=16, max_length=24)
    record = fine_tune(TRAIN, VALID, str(base), tmp_path / "out", options, tell=lambda _: None)
    assert record["history"][1]["loss"] < record["history"][0]["loss"]
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert (config["model_type"], config["embed_dim"]) == ("codet5p_embedding", 16)
    assert "own" not in (tmp_path / "out" / "tokenizer_config.json").read_text() + json.dumps(config)
    encoder = load_cross_encoder(str(tmp_path / "out"))
    assert encoder.model.config.max_length == 24
    best = record["history"][record["best_epoch"] - 1]
    validation = Validation.of(encoder, VALID, 42, most=500, queries=100, distractors=7)
    assert validation.measure() == {name: best[name] for name in ("accuracy", "mrr")}
    before, after = kept(base), load_file(tmp_path / "out" / WEIGHTS)
    assert all(torch.equal(weight, after[name]) for name, weight in encoder.model.classifier.state_dict().items())
    assert not torch.equal(before["proj.weight"], after["proj.weight"])
    pairs = as_split("valid", VALID[:3])
    scores = encoder.over(pairs, pairs)
    again = load_cross_encoder(str(tmp_path / "out"), batch_size=1).over(pairs, pairs)
    everything = np.arange(3), np.tile(np.arange(3), (3, 1))
    np.testing.assert_allclose(scores(*everything), again(*everything), atol=1e-5)


def test_a_run_that_was_stopped_goes_on(base, tmp_path, monkeypatch):
    options = replace(SMALL, epochs=1, batch_size=16, max_length=24, checkpoint_minutes=5.0)
    whole = fine_tune(TRAIN, VALID, str(base), tmp_path / "whole", options, tell=lambda _: None)
    losses = iter(range(2))

    def stopped(*arguments):
        if next(losses) == 0:
            signal.raise_signal(signal.SIGINT)
        return cross_entropy(*arguments)

    monkeypatch.setattr("experiments.gencodesearchnet.fine_tune.cross_entropy", stopped)
    with pytest.raises(KeyboardInterrupt):
        fine_tune(TRAIN, VALID, str(base), tmp_path / "half", options, tell=lambda _: None)
    record = fine_tune(TRAIN, VALID, str(base), tmp_path / "half", options, tell=lambda _: None)
    for epoch, other in zip(record["history"], whole["history"], strict=True):
        assert {**epoch, "seconds": 0} == {**other, "seconds": 0}


def test_a_base_without_a_trained_head_is_refused(base):
    with pytest.raises(ValueError, match="has no trained classification head: fine-tune it first"):
        load_cross_encoder(str(base))


class Hostile:
    """A pickle that makes a folder when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_the_hostile_pickle_would_do_its_work(tmp_path):
    pickle.loads(pickle.dumps(Hostile(tmp_path / "done")))
    assert (tmp_path / "done").is_dir()


@pytest.mark.parametrize("form", ["torch", "pickle"])
@pytest.mark.parametrize("load", [load_sentence_model, lambda name: load_classifier(name, new_head=True)])
def test_a_pickle_that_does_more_than_hold_weights_is_refused(spoiled, form, load):
    state = kept(spoiled) | {"proj.bias": Hostile(spoiled / "ran")}
    with (spoiled / "pytorch_model.bin").open("wb") as file:
        torch.save(state, file) if form == "torch" else pickle.dump(state, file, protocol=2)
    with pytest.raises(ValueError, match=r"is damaged or contains more than weights, so it is not loaded$") as raised:
        load(str(spoiled))
    assert "\n" not in str(raised.value)


def _without(name):
    return lambda state: state.pop(name)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (_without("proj.weight"), r"proj\.weight is absent, expected \[16, 24\]"),
        (_without("proj.bias"), r"proj\.bias is absent"),
        (_without("encoder.block.1.layer.0.SelfAttention.q.weight"), r"q\.weight is absent"),
        (lambda state: state.update({"proj.weight": torch.zeros(8, 24)}), r"proj\.weight is \[8, 24\], expected"),
        (lambda state: state.update({"decoder.weight": torch.zeros(2)}), r"decoder\.weight is \[2\], expected absent"),
        (lambda state: state.update({"head.1.bias": torch.zeros(16)}), r"head\.1\.weight is absent"),
    ],
)
@pytest.mark.parametrize("load", [load_sentence_model, lambda name: load_classifier(name, new_head=True)])
def test_weights_that_do_not_fit_are_named(spoiled, load, change, line):
    state = kept(spoiled)
    change(state)
    keep(state, spoiled / "pytorch_model.bin")
    with pytest.raises(ValueError, match=rf"cannot be loaded: .*pytorch_model\.bin does not fit .*{line}") as raised:
        load(str(spoiled))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("pytorch_model.bin", r"no model\.safetensors or pytorch_model\.bin was found"),
        ("vocab.json", r"no tokenizer\.json or vocab\.json was found"),
        ("merges.txt", r"no merges\.txt was found"),
    ],
)
def test_a_missing_file_is_one_line(spoiled, file, line):
    (spoiled / file).unlink()
    with pytest.raises(ValueError, match=line) as raised:
        load_sentence_model(str(spoiled))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("name", "value"), [("embed_dim", None), ("vocab_size", 100), ("d_model", "wide")])
def test_a_config_that_does_not_fit_is_one_line(spoiled, name, value):
    config = json.loads((spoiled / "config.json").read_text()) | {name: value}
    (spoiled / "config.json").write_text(json.dumps(config))
    for load in (load_sentence_model, lambda name: load_classifier(name, new_head=True)):
        with pytest.raises(ValueError, match="cannot be loaded") as raised:
            load(str(spoiled))
        assert "\n" not in str(raised.value)


def test_a_tokenizer_of_another_model_is_refused(spoiled):
    words = json.loads((spoiled / "vocab.json").read_text())
    words |= {f"word{number}": len(words) + number for number in range(100)}
    (spoiled / "vocab.json").write_text(json.dumps(words))
    with pytest.raises(ValueError, match=r"its tokenizer has \d+ tokens and its config\.json 320$"):
        load_tokenizer(str(spoiled))


FETCHING = """
import json, sys
from modeling.transformers.pretrained import load_sentence_model as load
for _ in sys.stdin:
    try:
        told = load("Salesforce/codet5p-110m-embedding").encode(["read the file"])[0].tolist()
    except ValueError as error:
        told = str(error)
    print(json.dumps(told), flush=True)
"""


def test_it_comes_from_a_hub_only_where_that_is_asked_for(base, tmp_path):
    """In programs of their own, for the libraries read where the hub is when they are imported."""

    def answer(handler, _):
        file = base / handler.path.rpartition("/")[2]
        if "/resolve/" not in handler.path or not file.is_file() or file.suffix == ".py":
            send(handler, 404, X_Error_Code="EntryNotFound")
        else:
            body = file.read_bytes()
            send(handler, 200, body, X_Repo_Commit="0" * 40, ETag=f'"{file.name}"')

    told, requests = [], []
    with serving(answer) as asked:
        environment = {
            "PYTHONPATH": str(Path(__file__).parents[3]), "HF_HOME": str(tmp_path), "OMP_NUM_THREADS": "1", "PATH": "",
            "HF_ENDPOINT": f"http://127.0.0.1:{asked.port}", "HF_HUB_DISABLE_XET": "1",
        }  # fmt: skip
        offline, online = (
            subprocess.Popen(
                [sys.executable, "-c", FETCHING], env=environment | {"HF_HUB_OFFLINE": is_offline},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for is_offline in "10"
        )  # fmt: skip
        with offline, online:
            for program in (offline, online, offline):
                print(file=program.stdin, flush=True)
                told.append(json.loads(program.stdout.readline()))
                requests.append(len(asked.requests))
    assert requests[0] == 0 < requests[1] == requests[2]
    assert not [path for _, path in asked.requests if path.endswith(".py")]
    assert "set HF_HUB_OFFLINE=0 to download it" in told[0]
    ids = load_tokenizer(str(base))(["read the file"])["input_ids"]
    for vector in told[1:]:  # fetched, and from the cache
        np.testing.assert_allclose(vector, plain_vectors(base, ids)[0], atol=1e-5)


def test_nothing_is_asked_of_the_network(base, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("connected"))
    assert load_sentence_model(str(base)).encode(["read"]).shape == (1, 16)
    assert load_classifier(str(base), new_head=True).device.type == "cpu"
