"""Extraction as a map over source trees: by a pool of processes on this machine, or by Ray on one or several."""

import os
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Final

from data_prep.corpus.worker import MadeShard, TreeTask
from data_prep.errors import UserError
from data_prep.item_limits import TREE
from data_prep.worker_pool import Guard, map_ordered, processors

_MAKE: Final = "data_prep.corpus.worker:make_shard"
_GUARD: Final[Guard | None] = Guard(
    divided=lambda task: [replace(task, apart=True)],
    joined=lambda made: made[0],
    refused=lambda _: MadeShard(b"", {}, "it costs too much time or memory to extract"),
    limits=TREE,
)
_AHEAD: Final = 4
"""Trees in progress or waiting, per processor of a cluster."""
_TRIES: Final = 3
"""Times that a tree is extracted anew after the death of its worker."""


def map_trees(tasks: Sequence[TreeTask], processes: int, cluster: str) -> Generator[MadeShard, None, None]:
    """The shard of each tree, in order; the same bytes wherever they are made.

    Raises:
        UserError: ``cluster`` is not ``ray`` or ``ray://HOST:PORT``, or Ray is not installed.
        OSError: a process was killed.
    """
    if not cluster:
        return map_ordered(_MAKE, tasks, min(processes or processors(), max(1, len(tasks))), _GUARD)
    if cluster != "ray" and not cluster.startswith("ray://"):
        raise UserError(f"--data.cluster takes ray or ray://HOST:PORT, not {cluster!r}")
    return _map_by_ray(tasks, processes, cluster)


def _map_by_ray(tasks: Sequence[TreeTask], processes: int, cluster: str) -> Generator[MadeShard, None, None]:
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else it writes a token into the home folder
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UserError(
            "--data.cluster=ray needs Ray: .venv/bin/python -m pip install --no-deps -r locks/requirements-cluster.txt"
        ) from error
    from data_prep.corpus.worker import make_shard

    address = None if cluster == "ray" else cluster
    ray.init(address=address, num_cpus=(processes or processors()) if address is None else None, log_to_driver=False)
    try:
        remote = ray.remote(make_shard).options(max_retries=_TRIES)
        ahead = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting = []
        for task in tasks:
            waiting.append(remote.remote(replace(task, apart=True)))
            if len(waiting) >= ahead:
                yield ray.get(waiting.pop(0))
        while waiting:
            yield ray.get(waiting.pop(0))
    finally:
        ray.shutdown()
