"""The languages whose code is read. A new one is a file in this folder, a line here and its grammar's requirement."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from data_prep.errors import UserError
from data_prep.languages.language import Language, resolved

LANGUAGES: Final[Mapping[str, str]] = {
    "python": "data_prep.languages.python:LANGUAGE",
    "javascript": "data_prep.languages.javascript:LANGUAGE",
    "typescript": "data_prep.languages.javascript:TYPESCRIPT",
    "java": "data_prep.languages.java.language:LANGUAGE",
    "go": "data_prep.languages.go:LANGUAGE",
    "rust": "data_prep.languages.rust:LANGUAGE",
    "ruby": "data_prep.languages.ruby:LANGUAGE",
    "php": "data_prep.languages.php:LANGUAGE",
    "c": "data_prep.languages.c:LANGUAGE",
    "cpp": "data_prep.languages.cpp:LANGUAGE",
    "csharp": "data_prep.languages.csharp:LANGUAGE",
    "kotlin": "data_prep.languages.kotlin:LANGUAGE",
    "scala": "data_prep.languages.scala:LANGUAGE",
    "swift": "data_prep.languages.swift:LANGUAGE",
    "bash": "data_prep.languages.bash:LANGUAGE",
    "lua": "data_prep.languages.lua:LANGUAGE",
    "elixir": "data_prep.languages.elixir:LANGUAGE",
    "haskell": "data_prep.languages.haskell:LANGUAGE",
    "zig": "data_prep.languages.zig:LANGUAGE",
    "r": "data_prep.languages.r:LANGUAGE",
}
"""Name -> its Language."""
_FIRST: Final = (b"#!", b"//usr/bin/env ", b"///usr/bin/env ")
"""What the first line of a script begins with; the others are comments where # begins none."""
_SHELL: Final = "bash"
"""The language of what may begin a script of another one."""
_PROGRAM: Final = re.compile(r"[\w./+-]+")
_VERSION: Final = re.compile(r"[\d.]+$|\.exe$")


def language(name: str) -> Language:
    """The language ``name``.

    Raises:
        UserError: there is no such language.
    """
    if name not in LANGUAGES:
        raise UserError(f"there is no language {name!r:.60}; there are {', '.join(LANGUAGES)}")
    return resolved(LANGUAGES[name])


def language_called(typed: str) -> str:
    """The name of the language that people call so, whatever the case: C# or cs, C++, js; else ``typed`` as it is."""
    return typed if typed in LANGUAGES else _by_call().get(typed.strip().lower(), typed)  # else all would be imported


@lru_cache(maxsize=1)
def _by_call() -> dict[str, str]:
    found: dict[str, str] = {}
    for each in languages():
        suffixes = [suffix[1:] for suffix in each.suffixes]
        calls = (*suffixes, *each.interpreters, *each.editor_names, f"{each.name}lang", each.title, *each.other_names)
        found |= {call.lower(): each.name for call in calls}
    return {**found, **{name: name for name in LANGUAGES}}


def languages() -> tuple[Language, ...]:
    """All of them."""
    return tuple(map(language, LANGUAGES))


def corpus_languages() -> tuple[str, ...]:
    """The names of those that ``repositories`` and ``installed`` have."""
    return tuple(each.name for each in languages() if each.in_corpora)


def language_of(path: str) -> Language | None:
    """The language of a file, by the suffix of its name, whatever its case; None if it has none of them."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _by_suffix().get(name[dot:]) or _by_suffix().get(name[dot:].lower()) if dot > 0 else None


@lru_cache(maxsize=1)
def _by_suffix() -> dict[str, Language]:
    return {suffix: found for found in languages() for suffix in (*found.suffixes, *found.other_suffixes)}


def language_of_name(path: str) -> Language | None:
    """The language of a file by its whole name, such as ``Rakefile``; None if it has none."""
    return _by_file_name().get(path.rpartition("/")[2])


@lru_cache(maxsize=1)
def _by_file_name() -> dict[str, Language]:
    return {name: found for found in languages() for name in found.file_names}


def language_of_script(start: bytes) -> Language | None:
    """The language of a script by its first line, such as ``#!/usr/bin/env python3``; None if it has no such line.

    Where a shell begins it, as in scripts that pip writes, the program may be in its second line.
    """
    if not start.startswith(_FIRST):
        return None
    first, *rest = start.split(b"\n")[:2]
    lines = [first, *(line for line in rest if b"exec" in line and b"sh" in first)]
    words = (word.rpartition("/")[2] for line in lines for word in _PROGRAM.findall(line.decode("ascii", "replace")))
    names = {_VERSION.sub("", word) for word in words}
    named = [found for found in languages() if found.interpreters & names]
    return min(named, key=lambda found: found.name == _SHELL, default=None)
