"""Training in two processes: each step's loss, and the exchanges it is made of, against one process."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from training_runs import SMALL, MeanConfig, Setting, hinge

from galm.config import GalmConfig
from galm.model import Galm
from modeling import distributed as processes
from training.state import seed_everything

STEPS = 20
PAIRS = 150
MODELS = ("mean", "galm")


def losses(setting: Setting, folder: Path, model: str, count: int) -> list[float]:
    """The loss of every step of a run in ``count`` processes, of which this is one."""
    told: list[float] = []

    def loss(scores, negatives, epoch):
        value = hinge(scores, negatives, epoch)
        told.append(value.item())
        return value

    seed_everything(0, 1)
    built = (
        setting.model(MeanConfig(dropout=0.0))
        if model == "mean"
        else Galm(GalmConfig(dim=32, num_blocks=4, nodes="query_and_name"), setting.tokenizer.vocabularies)
    )
    setting.run(
        folder,
        replace(SMALL, epochs=1, processes=count, batch_size=7, lazy_embedding_updates=False),
        model=built,
        loss=loss,
    )
    return told[:STEPS]


def member(rank: int, store: str, meeting: str, out: str) -> None:
    """One of two processes."""
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    found = {model: losses(Setting.open(Path(store), PAIRS), Path(out, f"{model}{rank}"), model, 2) for model in MODELS}
    Path(out, f"{rank}.json").write_text(json.dumps(found))
    if rank == 0:
        Path(out, "exchanges.json").write_text(json.dumps(exchanges()))
    else:
        exchanges()
    dist.destroy_process_group()


def exchanges() -> dict[str, object]:
    """What the exchanges give, with gradients, for rows that differ in number and width."""
    rank = processes.rank()
    own = torch.arange(2.0 + rank, requires_grad=True)[:, None] * torch.ones(1, 2 + rank)
    own.retain_grad()
    joined = processes._joined(own)
    (joined * (rank + 1)).sum().backward()
    rows = torch.ones(1 + rank, 3, requires_grad=True)
    (processes.all_rows(rows) * (rank + 1)).sum().backward()
    assert own.grad is not None
    assert rows.grad is not None
    return {
        "joined": joined.tolist(),
        "summed gradient": own.grad.tolist(),
        "own gradient": rows.grad.tolist(),
        "shares": processes.gathered(list(range(7))[processes.share(7)]),
        "of first": processes.broadcast(rank),
    }


@pytest.fixture(scope="module")
def both(store, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("processes")
    program = "import sys, test_processes; test_processes.member(int(sys.argv[1]), *sys.argv[2:])"
    places = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
    members = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(rank), str(store), str(out / "meeting"), str(out)],
            env={"PYTHONPATH": ":".join(places), "PATH": "/usr/bin:/bin", "GLOO_SOCKET_IFNAME": "lo"},
        )
        for rank in (0, 1)
    ]
    assert [each.wait(timeout=120) for each in members] == [0, 0]
    return out


@pytest.mark.parametrize("model", MODELS)
def test_two_processes_have_the_loss_of_one_in_every_step(both, store, tmp_path, model):
    expected = losses(Setting.open(store, PAIRS), tmp_path / "one", model, 1)
    assert len(expected) == STEPS
    for rank in (0, 1):
        assert json.loads((both / f"{rank}.json").read_text())[model] == pytest.approx(expected, abs=1e-5)


def test_exchanges_put_the_parts_together_and_send_gradients_back(both):
    found = json.loads((both / "exchanges.json").read_text())
    assert found == {
        "joined": [[0, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1], [2, 2, 2]],
        "summed gradient": [[3, 3], [3, 3]],  # both processes' gradients of what this one encoded
        "own gradient": [[1, 1, 1]],  # this one's of its own rows
        "shares": [[0, 1, 2], [3, 4, 5, 6]],
        "of first": 0,
    }


def test_alone_every_exchange_is_the_identity():
    tensor = torch.ones(2, 3)
    assert processes.all_rows(tensor) is tensor
    assert (processes.count(), processes.rank(), processes.share(5)) == (1, 0, slice(0, 5))
    assert processes.gathered("x") == ["x"]
