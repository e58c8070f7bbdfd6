"""From pairs of a query and a Java method to a trained model, to a figure of its MRR after each epoch beside BM25's.

In a checkout: PYTHONPATH=. .venv/bin/python examples/pairs_to_figure.py PAIRS.jsonl|FOLDER OUT [MODEL]

A line of PAIRS.jsonl is ``{"query": "...", "code": "..."}``; of a FOLDER of Java, the documented methods are the pairs,
with their comments as queries. As in any data set, methods under 3 lines, queries under 3 words and copies are left
out. Several hundred pairs take a minute on 2 cores. OUT/MODEL and OUT/bm25 are folders of runs, as ``bash run.sh``
makes them, with every rank and the test on other pairs.
"""

import sys
from pathlib import Path

from data_prep.files.json_text import json_lines
from experiments.recipes.config import resolve
from experiments.recipes.models import is_trained
from experiments.run.run import run
from training.drawing import Figure

DATA = {"data.valid_share": "0.2", "data.test_share": "0.2"}
EPOCHS = {"train.epochs": "12", "train.validate_pool": "0"}  # among all validation pairs
ON_VALIDATION = {"evaluate.split": "valid"}  # a trained model is ranked on these pairs after each epoch


def as_sources(pairs: Path, folder: Path) -> Path:
    """A folder with a Java file for each pair, whose comment is the query: what a data set `folder` consists of."""
    folder.mkdir(parents=True)
    for number, pair in json_lines(pairs, lambda place, why: print(f"left out {place}: {why}")):
        comment = pair["query"].replace("*/", "* /")
        source = f"class Pair{number} {{\n/** {comment} */\n{pair['code']}\n}}\n"
        (folder / f"Pair{number}.java").write_text(source, encoding="utf-8")
    return folder


def draw(path: Path, model: str, epochs: list[int], mrr: list[float], bm25: float) -> None:
    """Write the figure as a PNG file."""
    figure = Figure(figsize=(6, 4), dpi=120, layout="constrained")
    axes = figure.add_subplot(xlabel="epoch", ylabel="MRR on the validation pairs")
    axes.plot(epochs, mrr, marker="o", label=model)
    axes.axhline(bm25, color="0.4", linestyle="--", label="BM25")
    axes.legend()
    figure.savefig(path)


def main(given: Path, out: Path, model: str = "unif") -> None:
    """Train ``model`` on the pairs, rank the validation pairs by BM25, and draw both."""
    if not is_trained(model):
        raise ValueError(f"expected a model that is trained, such as unif or galm, but got {model}")
    sources = given if given.is_dir() else as_sources(given, out / "sources")
    data = {**DATA, "data.path": str(sources), "data.root": str(out / "data")}
    results = {}
    for name, options in ((model, EPOCHS), ("bm25", ON_VALIDATION)):
        typed = {**data, **options, "out": str(out / name)}
        results[name] = run(resolve("folder", name, typed), typed)
    epochs, bm25 = results[model].history, results["bm25"].exact["mrr"]
    draw(out / "mrr.png", model, [each.epoch for each in epochs], [each.mrr for each in epochs], bm25)
    print(f"{out / 'mrr.png'}: {model} {epochs[-1].mrr:.3f} after {epochs[-1].epoch} epochs, BM25 {bm25:.3f}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: python examples/pairs_to_figure.py PAIRS.jsonl|FOLDER OUT [MODEL]")
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
    except (ValueError, KeyError, OSError) as error:  # one line that says what was expected
        sys.exit(f"pairs_to_figure: {error}")
