"""Can the graph learn at all? A planted task whose answer stands in the edges alone.

Two graphs have the same six nodes, three of one kind and three of the other, and differ in which nodes are joined: in
one, pairs of a kind are joined (two of its three pairs agree), in the other every pair is mixed. Whatever reads nodes
one by one, or all alike, gives both the same score; a graph convolution over the given edges can tell them apart. If it
does not, its code is wrong, and no ablation of the graph says anything.

``bash run.sh ablate control`` trains the graph of :mod:`galm.alignment_graph` on such pairs (about half a minute) and
saves, for each variant and seed, the share of unseen pairs in which the first graph has the higher score; equal scores
count half.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from data_prep.files.atomic import write_atomically
from evaluation.json_records import load_if_saved
from evaluation.provenance import Machine, code_version, machine
from experiments.recipes.config import REPOSITORY
from experiments.tables.comparison_tables import markdown_table
from experiments.terminal.console import say
from galm.alignment_graph import GlobalAlignment, fixed_edges
from galm.config import GalmConfig
from training.state import seed_everything

FILE: Final = "positive_control.json"
SEEDS: Final = 3
_NODES: Final = 6
_STEPS: Final = 300
_PAIRS: Final = 64
_MARGIN: Final = 0.5
_AGREEING: Final = torch.tensor([[0, 1], [3, 4], [2, 5]])  # of nodes 0 to 2 of one kind and 3 to 5 of the other
_MIXED: Final = torch.tensor([[0, 3], [1, 4], [2, 5]])

VARIANTS: Final[Mapping[str, tuple[dict[str, object], str]]] = {
    "given edges, L = 1": ({"layers": 1}, "given"),
    "given edges, then eq. 11, L = 2": ({"layers": 2}, "given"),
    "given edges, then cosine edges x 9, L = 2": ({"layers": 2, "edges": "cosine"}, "given"),
    "given edges, L = 1, skip connection": ({"layers": 1, "skip": True}, "given"),
    "uniform edges, L = 2": ({"layers": 2, "graph": "uniform"}, "uniform"),
    "no edges between nodes, L = 2": ({"layers": 2, "graph": "identity"}, "identity"),
    "no graph, L = 0": ({"layers": 0}, "given"),
}
"""Label -> configuration, and which edges the first layer gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What the variants reached."""

    command: str
    code_version: str
    machine: Machine
    shares: Mapping[str, Sequence[float]]  # label -> one per seed


def planted(
    pairs: int, generator: torch.Generator
) -> tuple[Float[Tensor, "pairs nodes blocks"], Float[Tensor, "pairs nodes nodes"], Float[Tensor, "pairs nodes nodes"]]:
    """Nodes, and the edges of the two graphs over them: half of each node's weight is its partner's."""
    kinds = torch.tensor([1.0] * (_NODES // 2) + [-1.0] * (_NODES // 2))
    nodes = 0.1 * torch.randn(pairs, _NODES, 16, generator=generator)
    nodes[..., 0] += 0.5 * kinds
    order = torch.argsort(torch.rand(pairs, _NODES, generator=generator), dim=1)  # so that places say nothing
    shuffled = torch.gather(nodes, 1, order[..., None].expand_as(nodes))
    edges = []
    for matching in (_AGREEING, _MIXED):
        joined = torch.eye(_NODES) / 2
        joined[matching[:, 0], matching[:, 1]] = joined[matching[:, 1], matching[:, 0]] = 0.5
        edges.append(torch.stack([joined[each][:, each] for each in order]))
    return shuffled, edges[0], edges[1]


def share_told_apart(label: str, seed: int) -> float:
    """Train a variant, and see in which share of unseen pairs it scores the first graph higher."""
    choices, kind = VARIANTS[label]
    seed_everything(seed, 1)
    graph = GlobalAlignment(GalmConfig(gcn_dim=32, **choices))  # type: ignore[arg-type]
    optimiser = torch.optim.Adam(graph.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(_STEPS):
        first, second = _scores(graph, kind, _PAIRS, generator)
        optimiser.zero_grad()
        (_MARGIN - first + second).clamp(min=0).mean().backward()
        optimiser.step()
    with torch.no_grad():
        first, second = _scores(graph, kind, 1000, generator)
    close = (first - second).abs() < 1e-5  # of sums in another order
    return float(torch.where(close, torch.full_like(first, 0.5), (first > second).to(first.dtype)).mean())


def _scores(
    graph: GlobalAlignment, kind: str, pairs: int, generator: torch.Generator
) -> tuple[Float[Tensor, " pairs"], Float[Tensor, " pairs"]]:
    nodes, *edges = planted(pairs, generator)
    mask = torch.ones(nodes.shape[:2], dtype=torch.bool)
    if kind != "given":
        edges = [fixed_edges(mask, nodes.dtype, alike=kind == "uniform")] * 2
    first, second = (graph(nodes, each, mask, mask / _NODES) for each in edges)
    return first, second


def measure(results: Path, command: str) -> None:
    """Train all variants with all seeds, and save what they reached."""
    shares = {}
    for label in VARIANTS:
        shares[label] = [round(share_told_apart(label, seed), 4) for seed in range(SEEDS)]
        say(f"{label}: {', '.join(f'{share:.3f}' for share in shares[label])}")
    found = Control(command=command, code_version=code_version(REPOSITORY), machine=machine(), shares=shares)
    write_atomically(results / FILE, json.dumps(asdict(found), indent=1) + "\n")


def control_section(results: Path) -> str:
    """What was saved in ``results`` as a section of the page of ablations; "" where nothing was.

    Raises:
        UserError: the file is damaged.
    """
    found = load_if_saved(Control, results / FILE, "the positive control")
    if found is None:
        return ""
    rows = [(label, *(f"{share:.3f}" for share in shares)) for label, shares in found.shares.items()]
    header = ("variant", *(f"seed {seed}" for seed in range(len(rows[0]) - 1)))
    return (
        "## Positive control\n\nA planted task that only edges can solve: two graphs of the same nodes that differ in "
        "which nodes are joined. Share of 1,000 unseen pairs in which the right graph has the higher score, equal "
        "scores counted half; chance is .5. Where the graph is trained on edges that carry the answer it finds it, so "
        "that its absence from an ablation's gains is not a fault of its code.\n\n" + markdown_table(header, rows)
    )
