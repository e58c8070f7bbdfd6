"""What a run has learnt, given to other programs: its vectors, and the model as a folder."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from cli.main import main
from data_prep.errors import UserError
from experiments.gencodesearchnet.scorers import learned_languages
from experiments.recipes.run_folder import load_run
from modeling.transformers.bi_encoder import pretrained_weights
from tests.tiny_models import library, tiny_bert, tiny_roberta

CLASS = "public class %s {\n%s}\n"
METHOD = """    /** Reads each %s of the %s list. */
    public int read%s%d(int first, int last) {
        int %s = first + %d;
        return list.get(%s, last);
    }
"""
WORDS = ("key", "path", "name", "value", "index")
QUESTIONS = "read the keys\n\nwrite a file [SEP] of names\n"


def java(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for number in range(12):
        methods = [
            METHOD % (word, f"c{number}", word.title(), number, word, number * 7 + place, word)
            for place, word in enumerate(WORDS)
        ]
        (folder / f"C{number}.java").write_text(CLASS % (f"C{number}", "".join(methods)))
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    java(folder / "java")
    (folder / "more.py").write_text('def write_all(names):\n    """Write names."""\n    return [n for n in names]\n')
    (folder / "asked.txt").write_text(QUESTIONS)
    return folder


def trained(place: Path, model: str, java_folder: Path, *options: str) -> Path:
    out = place / model
    data = [f"--data.path={java_folder}", f"--data.root={place / 'data'}", "--data.processes=1", "--train.epochs=1"]
    shares = [
        "--data.valid_share=0.2",
        "--data.test_share=0.2",
        "--train.threads=1",
        "--evaluate.bootstrap_samples=200",
    ]
    assert main(["folder", model, *data, *shares, *options, f"--out={out}"]) == 0
    return out


@pytest.fixture(scope="module")
def unif(place) -> Path:
    return trained(place, "unif", place / "java", "--model.dim=16", "--words.min_count=1")


@pytest.fixture(scope="module", params=[tiny_bert, tiny_roberta])
def minilm(place, request) -> Path:
    base = request.param(place / request.param.__name__)
    more = ["--model.pooling=cls"] if request.param is tiny_roberta else []
    lengths = ["--model.query_length=16", "--model.code_length=48"]
    return trained(place / f"of {base.name}", "minilm", place / "java", f"--model.base={base}", *lengths, *more)


def test_functions_get_the_vectors_by_which_the_model_scores_them(unif, place, monkeypatch):
    monkeypatch.chdir(place)
    assert main(["encode", str(unif), "java", "more.py", "--out=code.npy"]) == 0
    assert main(["encode", str(unif), "asked.txt", "--side=query", "--out=asked.npy"]) == 0
    codes, queries = np.load("code.npy"), np.load("asked.npy")
    rows = [json.loads(line) for line in Path("code.jsonl").read_text().splitlines()]
    asked = [json.loads(line) for line in Path("asked.jsonl").read_text().splitlines()]
    assert (codes.shape, codes.dtype) == ((61, queries.shape[1]), np.float32)
    assert len(rows) == len({row["id"] for row in rows}) == 61
    assert {row["path"].split("/")[0] for row in rows} == {"java", "more.py"}
    assert rows[0]["id"] == "java/C0.java:3"
    assert rows[0]["text"].startswith("public int readKey0")
    assert [(row["id"].rpartition(":")[2], row["text"]) for row in asked] == [
        ("1", "read the keys"),
        ("3", "write a file [SEP] of names"),
    ]
    np.testing.assert_allclose(np.linalg.norm(codes, axis=1), 1, atol=1e-5)


def test_a_split_of_the_run_s_data_has_the_order_of_its_ranks(unif, place):
    for side in ("query", "code"):
        assert main(["encode", str(unif), "--split=test", f"--side={side}", f"--out={place / side}.npy"]) == 0
    scores = np.load(place / "query.npy") @ np.load(place / "code.npy").T
    better = (scores > scores.diagonal()[:, None] + 1e-6).sum(1)
    ranks = np.array([json.loads(line)["rank"] for line in (unif / "ranks.jsonl").read_text().splitlines()])
    assert len(ranks) == len(scores)
    assert (better < ranks).all()


def test_parquet_has_ids_and_vectors(unif, place, monkeypatch):
    library = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(place)
    assert main(["encode", str(unif), "more.py", "--out=new/code.parquet"]) == 0
    table = library.read_table("new/code.parquet")
    assert table.column_names == ["id", "path", "start_line", "end_line", "name", "text", "vector"]
    assert table.column("id").to_pylist() == ["more.py:1"]
    assert len(table.column("vector").to_pylist()[0]) == 16


def test_a_minilm_run_is_a_folder_that_sentence_transformers_opens(minilm, place):
    out = minilm.with_name("sentences")
    assert main(["export", str(minilm), f"--out={out}"]) == 0
    assert {each.relative_to(out).as_posix() for each in out.rglob("*") if each.is_file()} == {
        *("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "modules.json"),
        *("sentence_bert_config.json", "config_sentence_transformers.json", "1_Pooling/config.json"),
        *("2_Normalize/config.json", "learned.json"),
    }
    assert str(place) not in "".join(each.read_text() for each in out.rglob("*.json"))
    model = library("sentence_transformers").SentenceTransformer(str(out), device="cpu", local_files_only=True)
    ranker, tokenizer = load_run(minilm)
    texts = ["read the keys", "  int readKey(int a) {\n return a; }\n", "write names", "value " * 100]
    codes = tokenizer.read(texts, texts)
    with torch.inference_mode():
        own = ranker.encode_code(codes.codes(np.arange(4))).states[:, 0].numpy()
    np.testing.assert_allclose(model.encode(texts), own, atol=1e-5)


def test_the_weights_of_the_base_are_mixed_in(minilm):
    found = {}
    for share in (0, 0.25, 1):
        out = minilm.with_name(f"mixed-{share}")
        assert main(["export", str(minilm), f"--out={out}", f"--base_share={share}"]) == 0
        found[share] = load_file(out / "model.safetensors")
    before = pretrained_weights(load_run(minilm)[0].config.base)
    assert any(not torch.equal(found[0][name], weight) for name, weight in before.items())
    for name, weight in before.items():
        torch.testing.assert_close(found[1][name], weight)
        torch.testing.assert_close(found[0.25][name], 0.75 * found[0][name] + 0.25 * weight)


def test_an_exported_model_says_what_it_and_a_run_from_it_have_learned_from(minilm):
    out = minilm.with_name("learned")
    assert main(["export", str(minilm), f"--out={out}", "--base_share=0.5"]) == 0
    told = json.loads((out / "learned.json").read_text())
    assert told == {"dataset": "folder", "languages": ["Java"], "base_share": 0.5}
    assert learned_languages(f"bm25+{out}") == ["Java"]
    (out / "learned.json").write_text(json.dumps(told | {"languages": ["Go", "R"]}))
    then = minilm.with_name("then")
    shutil.copytree(minilm, then)
    plan = json.loads((then / "config.json").read_text())
    plan["model"]["base"] = str(out)
    (then / "config.json").write_text(json.dumps(plan))
    assert learned_languages(str(then)) == ["Java", "Go", "R"]
    (out / "learned.json").write_text("[]")
    with pytest.raises(UserError, match=r"learned\.json"):
        learned_languages(str(out))


def test_other_models_are_safetensors_and_json(unif, place):
    out = place / "plain"
    assert main(["export", str(unif), f"--out={out}"]) == 0
    assert sorted(each.name for each in out.iterdir()) == [
        *("config.json", "learned.json", "model.safetensors", "vocabulary.json")
    ]
    ranker, _ = load_run(unif)
    weights = load_file(out / "model.safetensors")
    assert all(torch.equal(weights[name], weight) for name, weight in ranker.state_dict().items())
    assert json.loads((out / "config.json").read_text())["model_name"] == "unif"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("encode {run}", "expected a run, and files"),
        ("encode {run} a.py --split=test --out=x.npy", "expected a run, and files"),
        ("encode {run} a.py --out=x.txt", "--out takes a file whose name ends in .npy or .parquet, not x.txt"),
        ("encode {run} a.py --out={run}/x.npy", "a.py is no file or folder"),
        ("encode {run} a.txt --side=query --out={run}/x.npy", "a.txt is no file"),
        ("encode {run} --split=all --out={run}/x.npy", "--split takes train, valid, test, not all"),
        ("encode {run}/no a.py --out={run}/x.npy", "expected the configuration of a run"),
        ("export {run}", "expected a run and a new folder"),
        ("export {run} --out={run}", "exists: name a new folder"),
        ("export {run}/no --out={run}/x", "expected the configuration of a run"),
        ("export {run} --out={run}/x --base_share=2", "base_share"),
        ("export {run} --out={run}/x --base_share=.5", "for a model of a pretrained encoder, not unif"),
    ],
)
def test_mistakes_are_said_in_one_line(unif, capsys, typed, message):
    assert main(typed.replace("{run}", str(unif)).split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_models_without_vectors_are_refused(place, capsys):
    run = trained(place, "galm", place / "java", "--model.dim=16", "--words.min_count=1")
    assert main(["encode", str(run), str(place / "java"), f"--out={place / 'x.npy'}"]) == 2
    assert "has no vector of either: name a run of a model that has" in capsys.readouterr().err
