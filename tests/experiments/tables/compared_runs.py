"""Folders of finished runs with ranks of one's choice, written in no time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from evaluation import metrics
from evaluation.query_files import RANKS, QueryRank
from evaluation.reading import Seen
from evaluation.results import DataSource, save_result
from experiments.recipes.config import SECTIONS, resolve
from tests.evaluation.real_data import JDK
from tests.evaluation.test_results import result

QUERIES = 60


def ranks_of(seed: int, worst: int = 20) -> list[int]:
    return np.random.default_rng(seed).integers(1, worst, QUERIES).tolist()


def query_lines(ranks: Sequence[int], texts: Mapping[int, str] | None = None) -> list[QueryRank]:
    return [
        QueryRank(
            query=f"q{place}",
            rank=rank,
            better=rank - 1,
            text=(texts or {}).get(place, JDK[place % len(JDK)][0]),
            code=f"List.{JDK[place % len(JDK)][1].replace(' ', '_')}",
            place=f"jdk/java%20base/{place // 4}.java:{place}",
            words=4 + place % 9,
            distinct=4,
            shared=place % 5,
            code_words=3 + place,
        )
        for place, rank in enumerate(ranks)
    ]


def saved_run(
    folder: Path,
    model: str,
    seed: int,
    ranks: Sequence[int],
    typed: Mapping[str, str] | None = None,
    *,
    fingerprint: str = "0a1b",
    seen: Sequence[int] = (),
    lines: Sequence[QueryRank] | None = None,
    file: str = "metrics.json",
    **settings: object,
) -> Path:
    """A run of jdk, or another result of one, whose test has these ranks."""
    plan = resolve("jdk", model, {**(typed or {}), "train.seed": str(seed)})
    array = np.array(ranks)
    trained = 0 if model.startswith("bm25") else 5
    found = replace(
        result(model=model, seed=seed, also={}, config={name: plan.section(name) for name in SECTIONS}),
        parameters=trained,
        queries=len(ranks),
        ranks=[*ranks],
        exact=metrics.exact(array),
        published_convention=metrics.published_convention(array),
        data=DataSource(origin="jdk-17.0.21", fingerprint=fingerprint),
        controls={},
        seen=Seen(exact=len(seen), near=0, by_query=0, queries=[*seen], without={}) if seen else None,
        **{"pool_size": 100, **settings},
    )
    folder.mkdir(parents=True, exist_ok=True)
    plan.save(folder / "config.json")
    save_result(found, folder / file)
    files = folder if file == "metrics.json" else (folder / file).with_suffix("")
    files.mkdir(exist_ok=True)
    rows = query_lines(ranks) if lines is None else lines
    (files / RANKS).write_text("".join(f"{json.dumps(asdict(row))}\n" for row in rows), encoding="utf-8")
    return folder
