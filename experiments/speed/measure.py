"""The speed measurements: ``bash run.sh speed`` runs them on the JDK, on the CPU, in about 20 minutes on 2 cores.

Pairs per second of GALM's fast form, compared with its plain form and with the machine's matrix product; a training
step; whole pools; extraction; the time to BM25's MRR. It writes ``speed.json``, ``speed.md`` and ``speed.png`` to
``experiments/results/``.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import torch

from data_prep.config import DataConfig
from data_prep.datasets.jdk import Jdk
from data_prep.files.atomic import write_atomically
from data_prep.files.folder_lock import sole_writer
from data_prep.files.named_paths import check_folder_place
from data_prep.store.prepared_data import PreparedData
from data_prep.store.tokenizing import WordTokenizer
from evaluation.json_records import to_json
from evaluation.provenance import code_version, machine, without_paths
from evaluation.results import DataSource
from experiments.recipes.config import REPOSITORY
from experiments.run.data import prepare_stage
from experiments.run.run import command_line
from experiments.speed.config import SpeedConfig, folder_of
from experiments.speed.extraction import Extraction, measure_extraction
from experiments.speed.picture import picture
from experiments.speed.pools import (
    WIDTH,
    PoolSpeed,
    growth_with_length,
    growth_with_pairs,
    measure_lengths,
    measure_pools,
    split_for,
)
from experiments.speed.report import SpeedReport, markdown
from experiments.speed.scoring import WIDTHS, measure_scoring, plan_of_width
from experiments.speed.training import Reached, measure_reached, measure_training
from experiments.terminal.console import say, show
from galm.kernel_functions import torch_kernels

_TEN_THOUSAND = 10_000


def measure_speed(config: SpeedConfig, data_config: DataConfig, typed: Mapping[str, str]) -> SpeedReport:
    """Measure all, print the report, and write it to the folder of ``config``."""
    started, command = time.perf_counter(), command_line("speed", typed)
    folder = folder_of(config, data_config)
    check_folder_place(folder, "--speed.out")
    with sole_writer(folder):
        data = prepare_stage("jdk", data_config, command)
        report = _measured(config, data_config, data, command)
        report = replace(report, seconds=time.perf_counter() - started)
        save(report, folder)
    show(f"\n{markdown(report)}\n{folder}: speed.json, speed.md, speed.png")
    return report


def save(report: SpeedReport, folder: Path) -> None:
    """Write the report in its three forms."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "speed.json", json.dumps(to_json(report), indent=1, allow_nan=False) + "\n")
    write_atomically(folder / "speed.md", markdown(report))
    write_atomically(folder / "speed.png", picture(report))


def _measured(config: SpeedConfig, data_config: DataConfig, data: PreparedData, command: str) -> SpeedReport:
    split = split_for(data, config.pools)  # bad sizes are refused before anything is measured
    tokenizer = WordTokenizer.build(data.splits["train"], plan_of_width(WIDTH).words)
    train, test = (tokenizer.encode(data.splits[name]) for name in ("train", "test"))
    say(f"scoring: pairs per second at graph widths {' and '.join(map(str, WIDTHS))}, and the machine's matrix product")
    matmul, scored, scoring = measure_scoring(tokenizer, train, test, config.repeats)
    say("training: a step of both forms at the same widths")
    training = measure_training(tokenizer, train, config.repeats)
    say(f"pools: {', '.join(f'{size:,}' for size in config.pools)} methods of the {split} split")
    pools = measure_pools(data, data_config.limit, config.pools, config.repeats)
    say("lengths: the longest methods, cut to fewer words")
    lengths = measure_lengths(data, data_config.limit, config.repeats)
    extraction = _extraction(config, data_config)
    wide = scoring[WIDTHS[-1]]
    minutes, measured = ten_thousand_minutes(pools)
    return SpeedReport(
        scoring_speedup=scoring[WIDTH].speedup.median,
        training_speedup=training[WIDTH].speedup.median,
        matmul_fraction=scoring[WIDTH].matmul_fraction,
        ten_thousand_minutes=minutes,
        ten_thousand_measured=measured,
        wide_ten_thousand_minutes=_TEN_THOUSAND**2 / wide.fast_pairs_per_second.median / 60,
        wide_bfloat16_ten_thousand_minutes=_TEN_THOUSAND**2 / wide.bfloat16_pairs_per_second.median / 60,
        peak_memory_mb=pools[-1].peak_memory_mb,
        command=without_paths(command),
        code_version=code_version(REPOSITORY),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=0.0,
        data=DataSource(origin=without_paths(data.manifest["origin"]), fingerprint=data.manifest["fingerprint"]),
        machine=machine(),
        threads=torch.get_num_threads(),
        kernels=torch_kernels() is not None,
        matmul=matmul,
        scored=scored,
        scoring=scoring,
        training=training,
        pools_split=split,
        pools=pools,
        growth_with_pairs=growth_with_pairs(pools),
        lengths=lengths,
        growth_with_length=growth_with_length(lengths),
        extraction=extraction,
        reached=_reached(config, data),
    )


def ten_thousand_minutes(pools: list[PoolSpeed]) -> tuple[float, bool]:
    """Minutes to rank 10,000 methods for 10,000 queries, and whether they were measured."""
    measured = next((pool for pool in pools if pool.methods == _TEN_THOUSAND), None)
    nearest = measured or pools[-1]
    return _TEN_THOUSAND**2 / nearest.pairs_per_second / 60, measured is not None


def _extraction(config: SpeedConfig, data_config: DataConfig) -> Extraction:
    say(f"extraction: methods per second in {config.files} files")
    raw = Jdk(replace(data_config, root=str(REPOSITORY / data_config.root)))
    return measure_extraction(raw.java_files(), config.files, config.repeats)


def _reached(config: SpeedConfig, data: PreparedData) -> Reached | None:
    if not config.train:
        return None
    say("training until BM25's MRR")
    return measure_reached(data)
