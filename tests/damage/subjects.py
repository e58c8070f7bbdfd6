"""Files of a kind each, what is read of them, and how whoever makes one up would seal it."""

import hashlib
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from damages import DEEP, Random, damaged, drawn, made_up, made_up_array
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from safetensors.torch import load_file

from data_prep.store.arrays import write_sealed
from data_prep.store.prepared_data import open_prepared, words_sha256
from data_prep.store.split import TokenizedPairs
from data_prep.store.tokenizing import WordTokenizer
from experiments.recipes.config import resolve
from experiments.recipes.models import class_of
from experiments.recipes.run_folder import RunFolder, load_run
from modeling.base import NeuralRanker
from search.engine.engine import Engine
from search.engine.show import as_json
from search.index.index_file import FORMAT, Head, _sum, open_index, read_head, read_whole_head
from search.index.vectors import FORMAT as VECTORS
from search.index.vectors import open_vectors, vectors_of, vectors_path
from search.retrieval.exact import ExactVectors
from training import checkpoint
from training.checkpoint import sealed_weights
from training.config import TrainConfig
from training.state import RunState
from training.task import Loss, PairTask

PLAN: Final = resolve("folder", "unif", {"model.dim": "16"})
QUERIES: Final = ("returns a stream of all elements", "Streams.concat", "close handlers", "reduce to a sum")


class Subject(ABC):
    """A file, or a few, in a folder of their own."""

    def __init__(self, folder: Path, *names: str) -> None:
        """``names``: of the files that are damaged; none: all."""
        self.folder, self.names = folder, sorted(names or (path.name for path in folder.iterdir()))
        self.whole = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.before = self.answer()

    def restore(self) -> None:
        for name, content in self.whole.items():
            (self.folder / name).write_bytes(content)

    def damage(self, random: Random) -> None:
        """Something happens to a file."""
        name = drawn(self.names, random)
        (self.folder / name).write_bytes(damaged(self.whole[name], random))

    @abstractmethod
    def make_up(self, random: Random) -> None:
        """Something else is written, with valid checksums."""

    @abstractmethod
    def answer(self) -> Any:
        """All that is read of the files."""


def digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()


def drawn_json(content: bytes, random: Random) -> bytes:
    if random.random() < 0.05:
        return DEEP
    return json.dumps(made_up(json.loads(content), random)).encode()


class IndexFile(Subject):
    def answer(self) -> Any:
        path = self.folder / "index"
        head, index = read_whole_head(path), open_index(path)
        engine = Engine(index, None)
        hits = [(query, engine.search(query, top=20)) for query in QUERIES]
        told = [as_json(engine, query, found, 0.0, explain=True) for query, found in hits]
        ranks = [engine.rank(index.split.word_list("query", row), row) for row in range(0, len(index), 50)]
        return head, told, ranks, [index.file(row) for row in range(0, len(index), 20)]

    def make_up(self, random: Random) -> None:
        line, _, content = self.whole["index"].partition(b"\n")
        head = json.loads(line.removeprefix(FORMAT.encode()))
        if random.random() < 0.2:
            content = damaged(content, random)
        else:
            arrays = dict(load_arrays(content))
            name = str(random.choice(sorted(arrays)))
            if name in ("manifest", "lexicon", "names", "terms") and random.random() < 0.8:
                arrays[name] = np.frombuffer(drawn_json(arrays[name].tobytes(), random), np.uint8)
            elif random.random() < 0.1:
                del arrays[name]
            else:
                arrays[name] = made_up_array(arrays[name], random)
            content = save_arrays({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        head |= {"bytes": len(content), "content": hashlib.sha256(content).hexdigest(), "sum": ""}
        head["sum"] = _sum(Head(**head), content)
        if random.random() < 0.2:
            head = made_up(head, random)
        (self.folder / "index").write_bytes(f"{FORMAT} {json.dumps(head)}\n".encode() + content)


class VectorsFile(Subject):
    def answer(self) -> Any:
        path = self.folder / "index"
        head = read_head(path)
        stored = vectors_of(path, head.content, head.rows)
        looked = ExactVectors(stored.vectors)
        found = looked.search(stored.vectors[:5].astype(np.float32), 10)
        return digest(stored.head, stored.keys.tobytes(), *(each.tobytes() for each in found))

    def make_up(self, random: Random) -> None:
        path = vectors_path(self.folder / "index")
        stored = open_vectors(path)
        about = {name: getattr(stored.head, name) for name in ("index", "run", "model", "dim", "rows")}
        parts = [stored.vectors.copy(), stored.keys.copy()]
        if random.random() < 0.6:
            about = made_up(about, random)
        else:
            place = int(random.integers(0, 2))
            parts[place] = made_up_array(parts[place], random)
        write_sealed(path, VECTORS, about, parts)


class RunFiles(Subject):
    """The model of a finished run."""

    def __init__(self, folder: Path, name: str, ids: TokenizedPairs) -> None:
        self.name, self.ids = name, ids
        super().__init__(folder, name)

    def answer(self) -> Any:
        model, tokenizer = load_run(self.folder)
        rows = np.arange(6)
        with torch.no_grad():
            asked, codes = model.encode_query(self.ids.queries(rows)), model.encode_code(self.ids.codes(rows))
            scores = model.score_matrix(asked, codes)
        words = [tokenizer.vocabularies.of(side).ids(["returns", "stream", "nosuchword"]) for side in ("query", "code")]
        weights = [weight.numpy().tobytes() for weight in model.state_dict().values()]
        return digest(scores.tolist(), [each.tolist() for each in words], weights)

    def make_up(self, random: Random) -> None:
        folder = RunFolder(self.folder)
        if self.name.endswith(".json"):
            (self.folder / self.name).write_bytes(drawn_json(self.whole[self.name], random))
        weights = load_file(folder.weights)
        about: Any = {"made_with": self._made_with()}
        if self.name == "weights.safetensors":
            name = str(random.choice(sorted(weights)))
            array = np.ascontiguousarray(made_up_array(weights[name].numpy(), random))
            weights[name] = torch.from_numpy(array)
            about = made_up(about, random) if random.random() < 0.3 else about
        about = about if isinstance(about, dict) else {"made_with": about}
        folder.weights.write_bytes(sealed_weights(weights, "weights", about))

    def _made_with(self) -> dict[str, str]:
        try:
            return RunFolder(self.folder).made_with
        except ValueError:  # no configuration any more
            return {}


class CheckpointFile(Subject):
    def __init__(self, folder: Path, tokenizer: WordTokenizer, ids: TokenizedPairs) -> None:
        self.tokenizer, self.ids = tokenizer, ids
        super().__init__(folder)

    def state(self) -> RunState:
        torch.manual_seed(0)
        return run_state(self.tokenizer, self.ids)

    def answer(self) -> Any:
        state = self.state()
        state.restore(self.folder / "checkpoint.pt")
        weights = [*state.model.state_dict().values(), *state.best.values(), torch.get_rng_state()]
        adam = state.optimiser.state()["adam"]
        kept = [value for each in adam["state"].values() for value in each.values()]
        tensors = [each.numpy().tobytes() for each in (*weights, *kept)]
        rates = [group["lr"] for group in adam["param_groups"]]
        learn(state, self.ids)
        return digest(tensors, rates, state.progress)

    def make_up(self, random: Random) -> None:
        content = damaged(self.whole["checkpoint.pt"][len(checkpoint._MAGIC) + checkpoint._DIGEST :], random)
        sealed = checkpoint._MAGIC + hashlib.sha256(content).digest() + content
        (self.folder / "checkpoint.pt").write_bytes(sealed)


class PreparedFiles(Subject):
    def answer(self) -> Any:
        data = open_prepared(self.folder)
        splits = [(name, words_sha256(split), split.texts.rows.tolist()) for name, split in data.splits.items()]
        return digest(splits, [[split.text(row) for row in range(len(split))] for split in data.splits.values()])

    def make_up(self, random: Random) -> None:
        """Two files change places: the content of a file with a valid checksum is what was written."""
        one, other = random.choice(self.names, 2, replace=False)
        (self.folder / one).write_bytes(self.whole[other])
        (self.folder / other).write_bytes(self.whole[one])


def new_model(tokenizer: WordTokenizer) -> NeuralRanker:
    torch.manual_seed(1)
    model: NeuralRanker = class_of(PLAN.model_name)(PLAN.model, tokenizer.vocabularies)
    return model


def run_state(tokenizer: WordTokenizer, ids: TokenizedPairs) -> RunState:
    """That of a run which has just begun."""
    config = TrainConfig()
    return RunState(PairTask(new_model(tokenizer), Loss(PLAN.loss), ids, lambda _: {}, config), config)


def learn(state: RunState, ids: TokenizedPairs) -> None:
    """A step of training."""
    rows = np.arange(8)
    asked, codes = state.model.encode_query(ids.queries(rows)), state.model.encode_code(ids.codes(rows))
    state.optimiser.zero_grad()
    state.model.score_matrix(asked, codes).sum().backward()
    state.optimiser.clip(0.0)
    state.optimiser.step(1e-3)
