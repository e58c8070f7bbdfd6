"""Two checks of the ablations: can the graph learn at all, and does the test see differences where there are none?

**Positive control.** A planted task whose answer stands in the edges alone. Two graphs have the same six nodes, three
of one kind and three of the other, and differ in which nodes are joined: in one, pairs of a kind are joined (two of its
three pairs agree), in the other every pair is mixed. Whatever reads nodes one by one, or all alike, gives both the same
score; a graph convolution over the given edges can tell them apart. If it does not, its code is wrong, and no ablation
of the graph says anything. ``bash run.sh ablate control`` trains the graph of :mod:`galm.alignment_graph` on such pairs
(about half a minute) and saves, for each variant and seed, the share of unseen pairs in which the first graph has the
higher score; equal scores count half.

**Calibration.** Twelve trainings of one model differ in their seeds alone. Each two disjoint groups of three of them
are compared as two models are in the tables (:mod:`evaluation.significance`), and also as earlier, by queries alone:
the seeds averaged, each query for itself, as if training had no variance. A test at 5 % should find about 5 % of these
pairs different. ``bash run.sh ablate calibration`` trains the seeds that have no result, on 12,000 training pairs of
the JDK ranked on its validation split, and saves the shares.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from data_prep.errors import UserError
from data_prep.files.json_text import load_json, load_record
from data_prep.files.writing import write_atomically
from data_prep.installation import code_version, machine
from evaluation.results import Result
from evaluation.significance import Runs, compare_runs
from experiments.recipes.config import REPOSITORY
from experiments.tables.ablations import COMMON
from experiments.tables.cells import Cell, saved_results
from experiments.tables.comparison_tables import Clusters, markdown_table
from experiments.tables.query_kinds import clusters
from experiments.terminal.console import say
from galm.alignment_graph import GlobalAlignment, fixed_edges
from galm.config import GalmConfig
from training.state import seed_everything

CONTROL_FILE: Final = "positive_control.json"
_CONTROL_SEEDS: Final = 3
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
CALIBRATION_FILE: Final = "calibration.json"
_SEEDS: Final = 12
GROUP: Final = 3
LEVEL: Final = 0.05
_MODELS: Final = ("unif", "galm")


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


def measure_control(results: Path, command: str) -> None:
    """Train all variants with all seeds, and save what they reached."""
    shares = {}
    for label in VARIANTS:
        shares[label] = [round(share_told_apart(label, seed), 4) for seed in range(_CONTROL_SEEDS)]
        say(f"{label}: {', '.join(f'{share:.3f}' for share in shares[label])}")
    made_by = {"command": command, "code_version": code_version(REPOSITORY), "machine": asdict(machine())}
    write_atomically(results / CONTROL_FILE, json.dumps({**made_by, "shares": shares}, indent=1) + "\n")


def control_section(results: Path) -> str:
    """What was saved in ``results`` as a section of the page of ablations; "" where nothing was.

    Raises:
        UserError: the file is damaged.
    """
    if not (results / CONTROL_FILE).exists():
        return ""
    found = load_json(results / CONTROL_FILE, "the positive control")
    rows = [(label, *(f"{share:.3f}" for share in shares)) for label, shares in found["shares"].items()]
    header = ("variant", *(f"seed {seed}" for seed in range(len(rows[0]) - 1)))
    return (
        "## Positive control\n\nA planted task that only edges can solve: two graphs of the same nodes that differ in "
        "which nodes are joined. Share of 1,000 unseen pairs in which the right graph has the higher score, equal "
        "scores counted half; chance is .5. Where the graph is trained on edges that carry the answer, it finds it. So "
        "where an ablation shows no gain of the graph, that is not a fault of its code.\n\n"
        + markdown_table(header, rows)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalibration:
    """The shares of comparisons of a model with itself that a test at 5 % calls different."""

    seeds: int
    comparisons: int
    seeds_and_queries: float  # by the test of the tables
    queries_alone: float  # by the same test without the seeds' variance and without clusters
    mrr: float  # mean over the seeds
    deviation: float  # of the MRR, over the seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was found."""

    code_version: str
    queries: int
    level: float
    models: Mapping[str, ModelCalibration]


def calibration_cells() -> tuple[Cell, ...]:
    """Twelve seeds of each model."""
    return tuple(
        Cell("jdk", model, seed, f"{model}, calibration", COMMON) for model in _MODELS for seed in range(_SEEDS)
    )


def calibrated(values: Float[np.ndarray, "seeds queries"], clusters: Sequence[int] | None) -> ModelCalibration:
    """Compare all disjoint groups of seeds; ``values``: reciprocal ranks."""
    seen, by_queries, comparisons = 0, 0, 0
    seeds = range(len(values))
    for first in combinations(seeds, GROUP):
        for second in combinations([seed for seed in seeds if seed > first[0] and seed not in first], GROUP):
            one, other = values[[*first]], values[[*second]]
            seen += compare_runs(Runs(one), Runs(other), clusters).p_value < LEVEL
            mean, mean_of_other = (Runs(each.mean(axis=0, keepdims=True), trained=False) for each in (one, other))
            by_queries += compare_runs(mean, mean_of_other).p_value < LEVEL
            comparisons += 1
    of_seeds = values.mean(axis=1)
    return ModelCalibration(
        seeds=len(values),
        comparisons=comparisons,
        seeds_and_queries=seen / comparisons,
        queries_alone=by_queries / comparisons,
        mrr=float(of_seeds.mean()),
        deviation=float(of_seeds.std(ddof=1)),
    )


def calibrate(results: Sequence[Result], files: Clusters) -> Calibration:
    """The calibration of each model that has enough seeds; the results are of one pool.

    Raises:
        UserError: no model has two groups of seeds.
    """
    found = {}
    for model in _MODELS:
        own = [result for result in results if result.model == model]
        if len(own) >= 2 * GROUP:
            values = np.stack([1 / np.asarray(result.ranks) for result in own])
            found[model] = calibrated(values, files.get(own[0].data.fingerprint))
    if not found:
        raise UserError(f"a calibration needs {2 * GROUP} seeds of a model")
    return Calibration(code_version=code_version(REPOSITORY), queries=results[0].queries, level=LEVEL, models=found)


def save_calibration(results: Path, typed: Mapping[str, str]) -> None:
    """Calibrate the test by the saved results below ``results``, and write what was found beside them.

    Raises:
        UserError: no model has two groups of seeds.
    """
    saved = saved_results(calibration_cells(), results / CALIBRATION_FILE.removesuffix(".json"), typed)
    found = calibrate([result for _, result in saved], clusters(results))
    write_atomically(results / CALIBRATION_FILE, json.dumps(asdict(found), indent=1) + "\n")


def calibration_section(results: Path) -> str:
    """What was saved in ``results`` as a section of the page of ablations; "" where nothing was.

    Raises:
        UserError: the file is damaged.
    """
    if not (results / CALIBRATION_FILE).exists():
        return ""
    found = load_record(Calibration, results / CALIBRATION_FILE, "the calibration of the test")
    rows = [
        (
            model,
            str(each.seeds),
            f"{each.mrr:.3f} ± {each.deviation:.3f}",
            f"{each.comparisons:,}",
            f"{100 * each.seeds_and_queries:.1f} %",
            f"{100 * each.queries_alone:.1f} %",
        )
        for model, each in found.models.items()
    ]
    header = ("model", "seeds", "MRR", "comparisons", "seeds and queries", "queries alone")
    return (
        f"## Calibration of the test\n\nHow often does a test at {100 * LEVEL:.0f} % see a difference, where there is "
        f"none? All disjoint groups of {GROUP} seeds of one model are compared with {GROUP} others. They were trained "
        f"on 12,000 pairs, and rank {found.queries:,} validation queries. The tables use the test over seeds and "
        "queries, those of a file together. Below its level it overlooks differences rather than inventing them; above "
        "it, differences between trainings pass for differences between models.\n\n"
        f"{markdown_table(header, rows)}"
    )
