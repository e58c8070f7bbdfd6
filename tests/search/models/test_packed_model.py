"""A packed model: its rounding, what pruning leaves, what is refused, and the one that is shipped."""

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from data_prep.datasets.source_trees import LEAVE_OUT, REPOSITORIES, read_repositories
from data_prep.files.access import file_sha256
from data_prep.languages.identifiers import query_words
from data_prep.pipeline.java_extraction import methods_of
from data_prep.records import Pair, SourceFile
from data_prep.store.split import Split, TokenizedPairs
from data_prep.store.tokenizing import FIRST_UNKNOWN, WordsConfig, WordTokenizer
from experiments.recipes.config import Configuration, resolve
from experiments.recipes.models import MODELS, class_of, is_trained
from experiments.recipes.run_folder import RunFolder
from modeling.base import NeuralRanker
from modeling.pool_ranker import PoolRanker
from search.models import folder as packed_files
from search.models import packed_model
from search.models.folder import DEFAULT_BI_ENCODER, DEFAULT_MODEL, StoredTable, model_hash
from search.models.packed_model import load_model, load_packed, pack
from training.checkpoint import read_weights, save_weights, sealed_weights
from training.state import seed_everything
from training.task import Loss, negatives_mask

ALL = 10**9
"""More words than there are."""
MOST_BYTES = 16_000_000
FILES = ("config.json", "words.json", "model.safetensors")


@dataclass(frozen=True)
class Run:
    folder: RunFolder
    model: NeuralRanker
    tokenizer: WordTokenizer
    train: Split
    ids: TokenizedPairs


def save_run(folder: RunFolder, plan: Configuration, model: NeuralRanker, tokenizer: WordTokenizer) -> None:
    folder.path.mkdir()
    plan.save(folder.config)
    tokenizer.vocabularies.save(folder.vocabulary)
    save_weights(model, folder.weights)


@pytest.fixture(scope="module")
def run(small_data, tmp_path_factory) -> Run:
    """A galm_plus after a few steps on a few packages of the JDK, so that no offset is left as it started."""
    paths = {"out": "/home/somebody/run", "data.root": "/home/somebody/data", "train.from_run": "/home/somebody/run"}
    extra = {"data.extra_train_sets": "csn:/home/somebody/more", "evaluate.extra_tests": "folder:/home/somebody/tests"}
    plan = resolve("folder", "galm_plus", {**paths, **extra, "model.dim": "64", "words.unknown_buckets": "8"})
    train = small_data.splits["train"]
    tokenizer = WordTokenizer.build(train, WordsConfig(**plan.section("words")))
    ids = tokenizer.encode(train)
    seed_everything(0)
    model = class_of("galm_plus")(plan.model, tokenizer.vocabularies)
    for table in model.words.tables.values():
        torch.nn.init.normal_(table.weight[1:9], std=0.05)  # few unknown words are met in a few steps
    learn(model, plan, ids, steps=12)
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "run")
    save_run(folder, plan, model, tokenizer)
    return Run(folder, model.eval(), tokenizer, train, ids)


def learn(model: NeuralRanker, plan: Configuration, ids: TokenizedPairs, steps: int) -> None:
    optimiser, loss = torch.optim.Adam(model.parameters(), lr=0.01), Loss(plan.loss)
    for step in range(steps):
        rows = np.arange(step * 64, (step + 1) * 64) % len(ids)
        keys = ids.query_keys[rows], ids.code_keys[rows]
        negatives = torch.from_numpy(negatives_mask(*keys, *keys))
        scores = model.score_matrix(model.encode_query(ids.queries(rows)), model.encode_code(ids.codes(rows)))
        optimiser.zero_grad()
        loss(scores, negatives, 1.0).backward()
        optimiser.step()


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory) -> Path:
    """The run packed with nothing left out."""
    target = tmp_path_factory.mktemp("packed") / "model"
    pack(run.folder.path, target, words=ALL, offset_words=ALL)
    return target


@pytest.fixture
def copy(whole, tmp_path) -> Path:
    """Another copy of it, to be spoilt."""
    for name in FILES:
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    return tmp_path


def scores(model: NeuralRanker, ids: TokenizedPairs) -> torch.Tensor:
    rows = np.arange(min(100, len(ids)))
    with torch.no_grad():
        return model.score_matrix(model.encode_query(ids.queries(rows)), model.encode_code(ids.codes(rows)))


def test_a_row_is_off_by_half_its_scale_at_most():
    table = torch.randn(200, 32, generator=torch.Generator().manual_seed(0)) * torch.logspace(-6, 3, 200)[:, None]
    table[[0, 17]] = 0.0
    packed = StoredTable.of(table.numpy())
    again = packed.rows(np.arange(200))
    assert packed.kept.tolist() == [row not in (0, 17) for row in range(200)]
    assert (again[[0, 17]] == 0).all()
    for row, scale, numbers in zip(packed.kept.nonzero()[0], packed.scales, packed.values, strict=True):
        assert scale == table[row].abs().max() / 127
        assert np.abs(numbers).max() == 127
        off = np.abs(again[row].astype(np.float64) - table[row].double().numpy()).max()
        assert scale / 4 < off <= scale / 2 * (1 + 1e-4)  # 127 steps of float32 rounding come on top


def test_a_packed_model_with_all_words_scores_almost_the_same(run, whole):
    model, tokenizer = load_model(whole)
    assert tokenizer.vocabularies.query.words == run.tokenizer.vocabularies.query.words
    assert not model.training
    for name, weight in run.model.state_dict().items():
        again = model.state_dict()[name]
        assert again.dtype == torch.float32
        off = (again - weight).abs()
        if name.startswith("words.tables."):
            assert (off <= weight.abs().amax(1, keepdim=True) / 254 * 1.0001).all()
        else:
            assert torch.equal(again, weight)
    before, after = scores(run.model, run.ids), scores(model, tokenizer.encode(run.train))
    assert before.std() > 0.1
    assert 0 < (after - before).abs().mean() < 0.01 * before.std()
    assert (after - before).abs().max() < 0.05 * before.std()


def test_words_beyond_the_cut_are_unknown_ones(run, tmp_path):
    known = run.tokenizer.vocabularies.code.words
    words, offset_words = len(known) // 2, len(known) // 4
    pack(run.folder.path, tmp_path, words=words, offset_words=offset_words)
    model, tokenizer = load_packed(tmp_path)
    for vocabulary in (tokenizer.vocabularies.query, tokenizer.vocabularies.code):
        assert vocabulary.words == known[:words]
        assert vocabulary.id(known[words - 1]) == len(vocabulary) - 1 == 8 + words
        for word in known[words:]:
            assert vocabulary.id(word) == FIRST_UNKNOWN + zlib.crc32(word.encode()) % 8
    after, before = (each.encode(run.train).fields["tokens"].values for each in (tokenizer, run.tokenizer))
    assert ((after > 8) == ((before > 8) & (before <= 8 + words))).all()
    assert np.count_nonzero(after != before) > 100
    assert torch.isfinite(scores(model, tokenizer.encode(run.train))).all()


def test_offsets_stay_of_the_first_words_and_of_the_unknown_ones(run, tmp_path):
    offset_words = len(run.tokenizer.vocabularies.code.words) // 4
    pack(run.folder.path, tmp_path, words=ALL, offset_words=offset_words)
    after, before = (each.words.tables for each in (load_packed(tmp_path)[0], run.model))
    kept = 1 + 8 + offset_words
    assert torch.equal(
        after["shared"].weight != 0,
        torch.from_numpy(
            StoredTable.of(before["shared"].weight.detach().numpy()).rows(np.arange(len(before["shared"].weight)))
        )
        != 0,
    )
    for table in ("query", "name", "tokens", "api"):
        assert not after[table].weight[kept:].any()
        assert before[table].weight[kept:].any()
        assert torch.equal(after[table].weight[:kept].any(1), before[table].weight[:kept].any(1))
        assert after[table].weight[1:9].any()


def test_packed_twice_the_bytes_are_the_same(run, whole, tmp_path):
    (tmp_path / "README.md").write_text("a card")
    for words in (5, ALL):
        pack(run.folder.path, tmp_path, words=words, offset_words=ALL)
        same = [(tmp_path / name).read_bytes() == (whole / name).read_bytes() for name in FILES]
        assert same == ([True, False, False] if words == 5 else [True] * 3)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted((*FILES, "README.md"))
    assert (tmp_path / "README.md").read_text() == "a card"


def test_no_path_of_the_machine_is_packed(run, whole):
    assert "/home/somebody" in run.folder.config.read_text()
    assert not any(b"/home/somebody" in (whole / name).read_bytes() for name in FILES)
    plan, before = (Configuration.load(path / "config.json") for path in (whole, run.folder.path))
    assert (plan.model, plan.words, plan.loss, plan.data.extra_train_sets) == (
        before.model,
        before.words,
        before.loss,
        "csn",
    )


def test_a_run_loads_to_the_last_bit(run):
    model, tokenizer = load_model(run.folder.path)
    assert not model.training
    assert torch.equal(scores(model, tokenizer.encode(run.train)), scores(run.model, run.ids))


@pytest.mark.parametrize("model", [name for name in MODELS if is_trained(name) and class_of(name).reads == "words"])
def test_a_run_of_any_trained_model_loads(run, model, tmp_path):
    plan, few = resolve("folder", model, {}), run.train.take(np.arange(12))
    tokenizer = WordTokenizer.build(few, plan.words)
    ranker = class_of(model)(plan.model, tokenizer.vocabularies).eval()
    save_run(RunFolder(tmp_path / "run"), plan, ranker, tokenizer)
    again, other = load_model(tmp_path / "run")
    assert torch.equal(scores(again, other.encode(few)), scores(ranker, tokenizer.encode(few)))


@pytest.mark.parametrize(
    ("model", "typed"),
    [
        ("galm", {}),
        ("unif", {}),
        ("galm_plus", {"words.joint": "false"}),
        ("galm_plus", {"model.fields": "name,tokens,api,ast"}),
    ],
)
def test_models_of_other_tables_are_not_packed(run, tmp_path, model, typed):
    plan = resolve("folder", model, {**typed, "model.dim": "16"})
    tokenizer = WordTokenizer.build(run.train, plan.words)
    save_run(RunFolder(tmp_path / "run"), plan, class_of(model)(plan.model, tokenizer.vocabularies), tokenizer)
    with pytest.raises(ValueError, match=r"run cannot be packed: that needs --words\.joint=true, tables of words"):
        pack(tmp_path / "run", tmp_path / "packed", words=5, offset_words=5)
    assert not (tmp_path / "packed").exists()


def test_a_bi_encoder_is_packed_whole(run, tmp_path):
    """Its tables are no offsets: all have the words that stay."""
    plan = resolve("folder", "unif", {"words.joint": "true", "words.unknown_buckets": "8", "model.dim": "32"})
    tokenizer = WordTokenizer.build(run.train, plan.words)
    torch.manual_seed(0)
    model = class_of("unif")(plan.model, tokenizer.vocabularies).eval()
    save_run(RunFolder(tmp_path / "run"), plan, model, tokenizer)
    few = len(tokenizer.vocabularies.code.words) // 2
    pack(tmp_path / "run", tmp_path / "packed", words=few, offset_words=0)
    again, other = load_model(tmp_path / "packed")
    assert other.vocabularies.code.words == tokenizer.vocabularies.code.words[:few]
    for name in ("query", "tokens"):
        before, after = (each.words.tables[name].weight for each in (model, again))
        assert len(after) == 1 + 8 + few
        assert ((after - before[: len(after)]).abs() <= before[: len(after)].abs().amax(1, keepdim=True) / 250).all()
    assert torch.isfinite(scores(again, other.encode(run.train))).all()


def test_the_hash_of_a_model_is_of_all_that_it_is_made_of(run, whole, copy, tmp_path_factory):
    assert model_hash(copy) == model_hash(whole) != model_hash(run.folder.path)
    config = copy / "config.json"
    text = config.read_text()
    config.write_text(text.replace('"seed": 0', '"seed": 1'))  # of the run, not of the model
    assert model_hash(copy) == model_hash(whole)
    config.write_text(text.replace('"num_blocks": 16', '"num_blocks": 8'))
    assert model_hash(copy) != model_hash(whole)
    config.write_text("[]")
    with pytest.raises(ValueError, match=r"expected the configuration of a run in .*config\.json: it lacks"):
        model_hash(copy)
    config.write_text(text)
    content = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert model_hash(copy) != model_hash(whole)
    with pytest.raises(ValueError, match=r"expected a model in .*, but there is no config\.json: name the folder of"):
        model_hash(tmp_path_factory.mktemp("empty"))


def test_what_is_no_finished_run_of_a_trained_model_is_refused(run, tmp_path):
    with pytest.raises(ValueError, match=r"expected a model in .*, but there is no config\.json: name the folder of"):
        load_model(tmp_path)
    config = tmp_path / "config.json"
    config.write_bytes(run.folder.config.read_bytes())
    for use in (load_model, lambda path: pack(path, tmp_path / "packed", words=5, offset_words=5)):
        with pytest.raises(ValueError, match=r"is not finished: resume it with --train\.resume="):
            use(tmp_path)
    resolve("folder", "bm25", {}).save(config)
    with pytest.raises(ValueError, match=r"is of bm25, which has nothing trained to load: name a run of a trained"):
        load_model(tmp_path)


@pytest.mark.parametrize("words", [(0, 5), (5, -1)])
def test_numbers_of_words_that_make_no_sense_are_refused(run, tmp_path, words):
    with pytest.raises(ValueError, match=r"takes 1 word or more and 0 offset_words or more, not"):
        pack(run.folder.path, tmp_path, words=words[0], offset_words=words[1])


@pytest.mark.parametrize("name", FILES[1:])
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    with pytest.raises(ValueError, match=rf"cannot be used: {name} is missing; restore the folder"):
        load_model(copy)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_or_a_lost_end_is_found_wherever_it_is(copy, name):
    content = (copy / name).read_bytes()
    places = np.linspace(0, len(content) - 1, 20).astype(int)
    spoilt = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in places]
    for each in (*spoilt, content[:-1], content[: len(content) // 2], b""):
        (copy / name).write_bytes(each)
        with pytest.raises(ValueError, match=r"^the packed model in .* (cannot be used|is of format)") as refused:
            load_model(copy)
        assert "\n" not in str(refused.value)


def part(name):
    return f"words.tables.shared.weight.{name}"


NO_ROW, HUGE = torch.zeros(10**6, dtype=torch.bool), torch.empty((0, 10**9), dtype=torch.int8)
MADE_UP = {
    "a table of a petabyte": {part("kept"): NO_ROW, part("values"): HUGE, part("scales"): torch.empty(0)},
    "too few values": {part("values"): torch.zeros((3, 64), dtype=torch.int8)},
    "values of another type": {part("values"): torch.zeros((3, 64))},
    "no values": {part("values"): None},
    "rows that are no truth values": {part("kept"): torch.ones(50)},
    "scales of two dimensions": {part("scales"): torch.ones((5, 5))},
    "scales without end": {part("scales"): lambda scales: scales * 1e38 * 1e38},
    "scales beyond all numbers": {part("scales"): lambda scales: torch.full_like(scales, 3e38)},
    "a weight more": {"other": torch.zeros(1)},
}


def made_up(folder, change, **about):
    """Other weights, and other things said of them, with a valid checksum."""
    weights, told = read_weights(folder / "model.safetensors", "packed")
    for name, value in change.items():
        weights[name] = value(weights[name]) if callable(value) else value
    weights = {name: weight for name, weight in weights.items() if weight is not None}
    told.pop("sha256")
    (folder / "model.safetensors").write_bytes(sealed_weights(weights, "packed", told | about))


@pytest.mark.parametrize("change", MADE_UP.values(), ids=MADE_UP.keys())
def test_weights_that_do_not_fit_together_are_refused_in_one_line(copy, change):
    made_up(copy, change)
    with pytest.raises(ValueError, match=r"^the packed model in .* cannot be used: .*; restore the folder") as refused:
        load_model(copy)
    assert "\n" not in str(refused.value)


def test_a_weight_that_is_not_finite_is_refused(copy):
    weights, _ = read_weights(copy / "model.safetensors", "packed")
    made_up(copy, {min(name for name in weights if "tables" not in name): lambda weight: weight / 0})
    with pytest.raises(ValueError, match="finite numbers"):
        load_model(copy)


@pytest.mark.parametrize(
    "about",
    [
        *({"tables": ["other"]}, {"tables": "words"}, {"tables": [["a"]]}, {"tables": None}, {"tables": []}),
        *({"files": {}}, {"files": ["words.json"]}, {"files": {"../../x": "a"}}, {"files": None}),
    ],
    ids=str,
)
def test_what_is_said_of_the_weights_must_fit(copy, about):
    made_up(copy, {}, **about)
    with pytest.raises(ValueError, match=r"^the packed model in .* cannot be used: ") as refused:
        load_model(copy)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "content", ["[]", '{"unknown_buckets": 8}', '{"unknown_buckets": 8, "words": [1]}', "[" * 10**5]
)
def test_words_that_are_none_are_refused(copy, content):
    (copy / "words.json").write_text(content)
    files = {name: file_sha256(copy / name) for name in ("config.json", "words.json")}
    made_up(copy, {}, files=files)
    with pytest.raises(ValueError, match=r"^the packed model in .* cannot be used: ") as refused:
        load_model(copy)
    assert "\n" not in str(refused.value)


def test_another_format_is_refused(run, tmp_path, monkeypatch):
    for module in (packed_model, packed_files):
        monkeypatch.setattr(module, "FORMAT_VERSION", 2)
    pack(run.folder.path, tmp_path, words=5, offset_words=5)
    load_model(tmp_path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"is of format 2, this program reads format 1"):
        load_model(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(run.folder.weights.read_bytes())
    with pytest.raises(ValueError, match=r"is of format None, this program reads format 1"):
        load_model(tmp_path)


JAVA = """
class Samples {
    static List<String> slurp(Path path, Charset charset) throws IOException {
        try (BufferedReader reader = Files.newBufferedReader(path, charset)) {
            List<String> result = new ArrayList<>();
            for (;;) {
                String line = reader.readLine();
                if (line == null)
                    break;
                result.add(line);
            }
            return result;
        }
    }

    static int parseInt(String s) throws NumberFormatException {
        int result = 0;
        for (int i = 0; i < s.length(); i++) {
            int digit = Character.digit(s.charAt(i), 10);
            if (digit < 0)
                throw new NumberFormatException(s);
            result = result * 10 + digit;
        }
        return result;
    }

    static void copyDirectory(File source, File destination) throws IOException {
        destination.mkdirs();
        for (File child : source.listFiles()) {
            Files.copy(child.toPath(), new File(destination, child.getName()).toPath());
        }
    }

    static <T extends Comparable<T>> void bubbleSort(List<T> list) {
        for (int i = list.size(); i > 1; i--)
            for (int j = 1; j < i; j++)
                if (list.get(j - 1).compareTo(list.get(j)) > 0)
                    Collections.swap(list, j - 1, j);
    }

    private static String toHex(byte[] bytes) {
        StringBuilder builder = new StringBuilder();
        for (byte each : bytes)
            builder.append(String.format("%02x", each));
        return builder.toString();
    }

    synchronized void close() throws IOException {
        if (socket != null) {
            socket.close();
            socket = null;
        }
    }

    boolean isExpired(long now) {
        return now - lastAccessTime > maxInactiveInterval * 1000L;
    }
}
"""
ASKED = {
    "read all lines of a file": "slurp",
    "convert a string to a number": "parseInt",
    "sort the elements of a list": "bubbleSort",
}


@pytest.fixture(scope="module")
def shipped() -> tuple[NeuralRanker, WordTokenizer]:
    return load_model(DEFAULT_MODEL)


@pytest.mark.parametrize(("query", "wanted"), ASKED.items())
def test_the_shipped_model_finds_what_is_asked_for(shipped, query, wanted):
    methods = list(methods_of(SourceFile("test", "Samples.java", JAVA.encode())))
    assert len(methods) == 7
    pool = Split.of("pool", [Pair(method, "", ()) for method in methods])
    asked = Split.of("asked", [Pair(methods[0], query, query_words(query))])
    (scores,) = PoolRanker(*shipped).over(asked, pool).blocks()
    assert methods[scores[0].argmax()].name == wanted


def test_the_shipped_model_is_small_whole_and_of_no_machine(shipped):
    beside = [*FILES, *(f"bi_encoder/{name}" for name in FILES), "README.md", "sources.tsv"]
    files = [each for each in DEFAULT_MODEL.rglob("*") if each.is_file()]
    assert sorted(each.relative_to(DEFAULT_MODEL).as_posix() for each in files) == sorted(beside)
    assert sum(each.stat().st_size for each in files) <= MOST_BYTES
    plan = Configuration.load(DEFAULT_MODEL / "config.json")
    assert (plan.model_name, plan.out, plan.data.root) == ("galm_plus", "", "data")
    card = (DEFAULT_MODEL / "README.md").read_text(encoding="utf-8")
    for tokenizer in (shipped[1], load_model(DEFAULT_BI_ENCODER)[1]):
        assert f"{len(tokenizer.vocabularies.code.words):,} words" in card
    assert f"--train.seed={plan.train.seed}" in card
    assert (plan.dataset, plan.data.extra_train_sets, plan.data.language) == ("repositories", "", "all")
    for text in (card, *((folder / "config.json").read_text() for folder in (DEFAULT_MODEL, DEFAULT_BI_ENCODER))):
        assert "/work" not in text
        assert "/home" not in text


def test_the_shipped_models_learned_from_clear_licences_and_nothing_that_is_measured():
    head, *rows = (DEFAULT_MODEL / "sources.tsv").read_text(encoding="utf-8").splitlines()
    assert head.split("\t") == ["repository", "commit", "licence", "pairs"]
    listed = {tree.name: tree.revision for tree, _ in read_repositories(REPOSITORIES)}
    measured = {name.lower() for name in LEAVE_OUT.read_text(encoding="utf-8").split() if "/" in name}
    assert len(rows) > 200
    for name, commit, licence, pairs in (row.split("\t") for row in rows):
        assert listed[name] == commit
        assert {*re.split(" AND | OR ", licence)} <= {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC"}
        assert name.lower() not in measured
        assert int(pairs) > 0
