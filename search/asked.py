"""What the words of a ``search`` command mean: a question, and the folder that is searched."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path

_OF_FOLDER: Final = ("folder", "dir", "directory", "root", "in", "project", "repo", "repository")
"""Options that are tried for a folder."""
_PATH: Final = re.compile(r"\.{1,2}|(?:\.{1,2}|~[^/]*)/.*|.*/", re.DOTALL)
_EXPECTED: Final = 'bash run.sh search "QUESTION" DIR'


def as_typed(arguments: Sequence[str]) -> Iterator[str]:
    """Arguments with what is behind ``--`` as words, which may begin with a minus, and ``--usages=NAME`` as two."""
    words = False
    for each in arguments:
        value = each.partition("=")[2] if each.startswith("--usages=") and not words else ""
        if each == "--" and not words:
            words = True
        elif value not in ("", "true", "false"):
            yield from ("--usages", value)
        else:
            yield f" {each}" if words and each.startswith("-") else each


def check_guesses(arguments: Sequence[str]) -> None:
    """Say where the folder stands to whoever looks for an option.

    Raises:
        UserError: an argument is such an option.
    """
    for each in arguments:
        name, _, value = each.removeprefix("--").partition("=")
        if each.startswith("--") and name in _OF_FOLDER:
            raise UserError(f"--{name} is no option: the folder comes last, {_EXPECTED.replace('DIR', value or 'DIR')}")


def question_and_folder(words: Sequence[str], *, alone: bool = False) -> tuple[str, Path | None, str]:
    """The question, the folder if one is named, and what was understood if that was not plain.

    Args:
        words: as typed; several that are not a folder are a question that was not quoted.
        alone: whether a folder may stand without a question, since something else is asked for.

    Raises:
        UserError: the last one is meant as a folder, and is none.
    """
    if len(words) < 2:
        is_folder = alone and any(map(os.path.isdir, words))
        return "" if is_folder else " ".join(words), named_folder(words[0]) if is_folder else None, ""
    *before, last = words
    plain = any(len(each.split()) > 1 for each in before)
    if os.path.isdir(os.path.expanduser(last)):  # noqa: PTH111, PTH112 - which know no errors
        question, folder = " ".join(before), named_folder(last)
        return question, folder, "" if plain and len(before) == 1 else f"asked {question!r} in {folder}"
    if len(words) == 2 and len(last.split()) > 1 and os.path.isdir(words[0]):  # noqa: PTH112
        return last, named_folder(words[0]), f"asked {last!r} in {words[0]}"
    from search.engine.filters import begins_with_filter

    if not begins_with_filter(last) and ((plain and len(words) == 2) or _means_folder(last)):
        raise UserError(_no_folder(last))
    question = " ".join(words)
    return question, None, f"asked {question!r}{_hint(words[0], before, last)}"


def _hint(first: str, before: Sequence[str], last: str) -> str:
    """What else the words could mean: a file at the end, or a folder before the question."""
    if os.path.isfile(last):  # noqa: PTH113
        return f"; to ask that file alone: {_of_file(last)}"
    if os.path.isdir(first):  # noqa: PTH112
        rest = " ".join([*before[1:], last])
        return f'; to ask that folder: bash run.sh search "{rest}" {first}'
    return ""


def _no_folder(typed: str) -> str:
    path = os.path.expanduser(typed)  # noqa: PTH111 - which knows no error
    if os.path.isfile(path):  # noqa: PTH113
        return f"{typed} is a file: {_of_file(path)} asks it alone"
    return f"there is no folder {typed}: {_EXPECTED}, and quote a question of several words"


def _of_file(path: str) -> str:
    """The command that asks one file."""
    folder, name = os.path.split(path)
    return f'bash run.sh search "QUESTION" {folder or "."} --path={name}'


def named_folder(typed: str) -> Path:
    """The folder that is named.

    Raises:
        UserError: there is none.
    """
    folder = named_path(typed)
    if not folder.is_dir():
        raise UserError(f"{folder} {'is no folder' if os.path.lexists(folder) else 'does not exist'}: name a folder")
    return folder


def _means_folder(word: str) -> bool:
    if _PATH.fullmatch(word):
        return True
    above = os.path.dirname(word)  # noqa: PTH120 - of a text that need not be a path
    return word.startswith("/") and above != "/" and os.path.isdir(above)  # noqa: PTH112
