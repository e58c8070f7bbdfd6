"""A model on the synthetic sample, ``bash run.sh posts_sample MODEL``; its results are kept apart from others."""

from collections.abc import Callable, Mapping

from data_prep.files.folder_lock import sole_holder
from data_prep.files.named_paths import named_path
from data_prep.posts.sample import write_sample
from data_prep.posts.tracker import write_tracker
from experiments.posts.config import resolve_plan
from experiments.posts.options import SAMPLE_SEED, SAMPLE_SIZE
from experiments.posts.run import run_posts

NOTE = (
    "Synthetic sample: documented examples of installed packages, broken on purpose, with their genuine tracebacks. "
    "The numbers say that the pipeline runs, and nothing about posts that people write."
)


def run_sample(name: str, typed: Mapping[str, str], command: str, say: Callable[[str], None]) -> str:
    """Make the sample if it is not there, then train and test the model; returns the page.

    Raises:
        ValueError: an option is wrong, or too few examples could be broken.
        OSError: a file cannot be written.
    """
    fixed = {"data.tag": "", "data.inline": "false", "loop.out": "runs/posts_sample"}
    plan = resolve_plan(name, {**fixed, **typed, "data.path": "none"})
    folder = named_path(plan.data.root) / f"posts_sample-{SAMPLE_SIZE}-{SAMPLE_SEED}"
    with sole_holder(folder.with_name(f".{folder.name}.lock"), lambda: say("waiting for another process")):
        if not (folder / "synthetic_sample" / "Posts.xml").exists():
            say(f"breaking documented examples of installed packages, for {SAMPLE_SIZE:,} questions: some minutes")
            write_sample(folder, SAMPLE_SIZE, SAMPLE_SEED, say)
            links = folder / "links.jsonl"
            write_tracker(folder / "tickets.jsonl", links, folder / "synthetic_sample", {"site": "synthetic_sample"})
    typed = {**fixed, **typed, "data.path": str(folder / "synthetic_sample")}
    return f"{NOTE}\n\n{run_posts(resolve_plan(name, typed), command, say).page}"
