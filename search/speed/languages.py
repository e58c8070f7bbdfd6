"""Files of each language read into rows of an index, as long for a megabyte as those of Java?"""

import os
import random
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import named_path
from evaluation.speed import Measured, Seconds, SpeedOptions, compare, timed
from search.files.languages import LANGUAGES, language_name
from search.files.tree import Found, found_files
from search.index.build import watched
from search.speed.index import processor_seconds

MEGABYTES: Final = 4.0
"""Of each language, at most."""
_JAVA: Final = "java"


def measure_languages(options: SpeedOptions) -> Measured:
    """All languages of a folder, in turn, on the same random files in each round.

    Raises:
        UserError: no folder is named, or it has no files of Java and of another language.
    """
    if not options.path:
        raise UserError("expected a folder of sources in several languages: bash run.sh speed languages DIR")
    root, processes = named_path(options.path), os.cpu_count() or 1
    files = _files(root, options.seed)
    if _JAVA not in files or len(files) < 2:
        raise UserError(f"{options.path!r:.60} has no files of Java and of another language")
    sizes = {name: sum(each.size for each in found) / 1e6 for name, found in files.items()}
    forms = {name: partial(_a_megabyte, root, found, processes, sizes[name]) for name, found in files.items()}
    facts = {name: {"files": len(found), "MB": sizes[name]} for name, found in files.items()}
    about = f"{len(files)} languages, {sum(map(len, files.values())):,} files, {processes} processes."
    return Measured(about=about, unit="a megabyte", rows=compare("", forms, options.rounds), facts=facts)


def _files(root: Path, seed: int) -> dict[str, list[Found]]:
    """Random files of each language, Java first."""
    found: dict[str, list[Found]] = {_JAVA: []}
    left: dict[str, float] = {}
    every = found_files(root, LANGUAGES, lambda *_: None, None)
    random.Random(seed).shuffle(every)
    for each in every:
        name = language_name(each.path)
        if name and left.setdefault(name, MEGABYTES * 1e6) >= each.size:
            found.setdefault(name, []).append(each)
            left[name] -= each.size
    return {name: found[name] for name in (_JAVA, *sorted({*found} - {_JAVA})) if found[name]}


def _a_megabyte(root: Path, found: Sequence[Found], processes: int, megabytes: float) -> Seconds:
    """Seconds by the clock and of all processors."""
    before = processor_seconds() + time.process_time()
    seconds, _ = timed(lambda: sum(len(part.names) for part in watched(root, found, processes, None)))
    used = processor_seconds() + time.process_time() - before
    return {"clock": seconds / megabytes, "processor": used / megabytes}
