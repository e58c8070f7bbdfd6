"""The sources that a shipped model learned from: repository, commit, licence and number of pairs."""

import json
from collections import Counter
from pathlib import Path

from data_prep.errors import UserError
from data_prep.files.atomic import write_atomically

_HEAD = "repository\tcommit\tlicence\tpairs\n"


def write_sources(texts: Path, target: Path) -> None:
    """Write the sources of prepared pairs as a table separated by tabs, ordered by name.

    Args:
        texts: ``train-texts.jsonl`` of a prepared data set of source trees.
        target: file to write.

    Raises:
        UserError: a pair has no repository, commit or licence.
        OSError: a file cannot be read or written.
    """
    found = Counter[tuple[str, str, str]]()
    with texts.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            pair = json.loads(line)
            name, _, commit = pair["origin"].partition("@")
            if not (name and commit and pair["licence"]):
                raise UserError(
                    f"{texts}, line {number}: expected origin NAME@COMMIT and a licence, not {pair['origin']!r}"
                )
            found[name, commit, pair["licence"]] += 1
    rows = (f"{name}\t{commit}\t{licence}\t{pairs}\n" for (name, commit, licence), pairs in sorted(found.items()))
    write_atomically(target, _HEAD + "".join(rows))
