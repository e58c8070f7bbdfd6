"""The command ``bash run.sh context study``."""

from collections.abc import Sequence
from pathlib import Path

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from experiments.context.loaded_runs import LoadedRun, same_pairs
from experiments.context.options import StudyOptions
from experiments.context.study import Study, comparisons, load_study, outcome_page
from experiments.context.study_page import serve_study
from experiments.terminal.console import say, show
from experiments.terminal.options import parsed


def study(arguments: Sequence[str]) -> None:
    """Make a study of two runs, or show one that is made: the page while answers are missing, then the outcome.

    Raises:
        UserError: two runs are named and the file exists, or none is and it does not, or it is damaged.
    """
    words, options = parsed(arguments, StudyOptions)
    if len(words) not in (0, 2) or not options.out:
        raise UserError(
            "expected two runs for a new study, or none to go on: bash run.sh context study [RUN_DIR RUN_DIR] "
            "--out=FILE.json"
        )
    path = named_path(options.out)
    if words and path.exists():
        raise UserError(f"--out={path} exists, perhaps with answers: leave out the runs to go on, or name a new file")
    if words:
        runs = same_pairs([LoadedRun.of(Path(word), "valid") for word in words])
        made = Study(runs[0].path.name, runs[1].path.name, [*comparisons(runs, options)])
        made.save(path)
        say(f"{path}: {len(made.comparisons)} comparisons, {sum(1 for _ in made.open)} to be answered")
    found = load_study(path)
    if any(True for _ in found.open):
        serve_study(path, options.port)
        found = load_study(path)
    show(outcome_page(found))
