"""The command about a corpus: ``corpus``."""

from collections.abc import Sequence
from pathlib import Path

from data_prep.errors import UserError
from experiments.recipes import config
from experiments.terminal import console

CORPORA = ("repositories", "installed")


def corpus(arguments: Sequence[str]) -> None:
    """Print the statistics of a corpus, and write them as a page and a picture.

    Raises:
        UserError: there is no such corpus or option, or its source trees are not available.
    """
    words, typed = config.split_run_arguments(arguments)
    if len(words) != 1 or words[0] not in CORPORA:
        raise UserError(f"expected a corpus: bash run.sh corpus {'|'.join(CORPORA)}")
    for name in typed:
        if not name.startswith("data."):
            raise UserError(f"bash run.sh corpus takes options of section data, such as --data.mirrors=, not --{name}")
    from dataclasses import replace

    from data_prep.files.atomic import write_atomically
    from data_prep.pipeline.triples import measured_lengths, statistics
    from data_prep.registry import data_set
    from data_prep.worker_pool import processors
    from experiments.corpus_statistics import corpus_picture, corpus_tables

    plan = config.resolve(words[0], "galm", typed)
    data = replace(plan.data, root=str(config.REPOSITORY / plan.data.root))
    shards = [path for path in data_set(words[0], data).inputs() if path.suffix == ".gz"]
    found, lengths = statistics(shards), measured_lengths(shards, data.processes or processors())
    page, folder = corpus_tables(words[0], found, lengths), Path(data.root) / "raw" / words[0]
    write_atomically(folder / "statistics.md", page)
    write_atomically(folder / "statistics.png", corpus_picture(found, lengths))
    console.show(f"{page}\n{folder / 'statistics.md'}, {folder / 'statistics.png'}")
