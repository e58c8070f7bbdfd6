"""A fine-tuning that is killed again and again, as a program of its own: ``fine_tuning_runs.py BASE OUT``."""

import json
import os
import signal
import sys
from itertools import count
from pathlib import Path

from data_prep.gencodesearchnet.records import example
from experiments.gencodesearchnet import fine_tune as module
from experiments.gencodesearchnet.config import FineTuneOptions
from modeling.transformers.cross_encoder import load_classifier, load_tokenizer
from training import state

THINGS = ["file", "list", "tree", "path", "name", "value", "index", "key"]
VERBS = ["read", "write", "open", "close"]
PAIRS = [example(f"{verb} the {thing}", f"{verb} ( {thing} ) . {verb}") for verb in VERBS for thing in THINGS]
TRAIN, VALID = PAIRS[::2], PAIRS[1::2]
SMALL = FineTuneOptions(
    epochs=3, learning_rate=1e-3, batch_size=6, max_length=16, threads=1, checkpoint_minutes=1e-6, valid_distractors=7
)
SAVES = (1, 4, 3, 5, 6)
"""After how many checkpoints each attempt is killed: within an epoch, before a validation, after one."""


def killed_after(saves: int, base: str, out: Path, lines: Path) -> None:
    """Run until ``saves`` checkpoints are written, and kill oneself in the midst of the next one; 0: to the end."""
    save, calls = state.save_checkpoint, count(1)

    def counted(content: dict, path: Path) -> None:
        if saves and next(calls) > saves:
            path.with_name(".checkpoint.pt.1.half.tmp").write_bytes(b"half a checkpoint")
            os.kill(os.getpid(), signal.SIGKILL)
        save(content, path)

    state.save_checkpoint = counted
    with lines.open("a") as file:
        tell = lambda line: (file.write(f"{line}\n"), file.flush())  # noqa: E731
        module.fine_tune(TRAIN, VALID, base, out, SMALL, command="the tests", tell=tell)


def main(base: str, out: Path) -> None:
    """Kill it, resume it, and so on, then let it end; tell how often it was killed."""
    import torch._dynamo  # noqa: F401 - what every child would load

    load_tokenizer(base), load_classifier(base, new_head=True)
    kills = 0
    for saves in (*SAVES, 0):
        child = os.fork()
        if child == 0:
            try:
                killed_after(saves, base, out, out.with_suffix(".lines"))
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        kills += os.WIFSIGNALED(status)
    sys.stdout.write(json.dumps({"kills": kills, "exit": os.waitstatus_to_exitcode(status)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
