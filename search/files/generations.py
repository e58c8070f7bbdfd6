"""Which files and declarations stand behind others: what is old or translated, and catalogues of messages.

A folder or file ``v1`` is of an older generation than ``v2`` beside it, or than modules of the same names above it.
Folders and files that are called deprecated, legacy, old, or are others' code (``vendor``), are older than all else.

Catalogues of messages are documents that are read beside the sources: what a program says stands in them, and code has
the keys. Where there is one in English, or of no language by its name, those in other languages are not read.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from data_prep.languages.identifiers import compiled_later, split_identifier
from data_prep.records import Method
from search.files.words import GATHERING, stem_of

_OLD: Final = frozenset(map(stem_of, ("deprecated", "legacy", "old", "obsolete")))
_ALONE: Final = frozenset(("compat", "vendor", "vendored", "thirdparty"))
"""What says the same only as a whole name."""
DEPRECATED: Final = _OLD
"""Stems by which a question means what is marked as deprecated."""
_VERSION: Final = re.compile(r"(.*?)[._-]?v(\d{1,3})(?:(alpha|beta|rc)(\d{0,3}))?", re.IGNORECASE)
"""``v1``, ``api_v2``, ``v1beta1``: what is versioned, and how."""
_TRANSLATIONS: Final = re.compile(r"locales?|i18n|l10n|translations?", re.IGNORECASE)
_TRANSLATION: Final = re.compile(r"(?!en(?:[_-]|\Z))[a-z]{2}(?:[_-][A-Za-z]{2,4})?")
"""Folders of translations, and what is in them: ``pt``, ``zh-TW``, ``sr_Latn``."""
_TOLD: Final = compiled_later(
    r"^\W*(?:deprecated|obsolete)\b|@deprecated\b|badge\(\W*(?:deprecated|superseded|defunct)\b"
    r"|\AThis (?:\w+ )?(?:is|has been) (?:now )?(?:deprecated|obsolete)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""How documentation says that something is deprecated."""
_MARKED: Final = compiled_later(
    r"(?<!allow)(?<!expect)(?<!warn)(?<!deny)[@\[(,{\\.-][ \t]*:?(?:deprecated|obsolete(?:d|attribute)?)\b"
    r"|@doc\s+deprecated:|\b[A-Z][A-Z\d_]*_DEPRECATED(?:_[A-Z\d_]+)?\b|__(?:attribute__|declspec)\W*deprecated",
    re.IGNORECASE,
)
"""How a declaration is marked: ``@Deprecated``, ``#[deprecated]``, ``[Obsolete]``, ``available(*, deprecated)``."""
_SAYING: Final = 600
"""Characters of a declaration in which it may say of itself, when it is called, that it is deprecated."""
MOST_CATALOGUES: Final = 200
"""Catalogues of messages that are read of a folder."""
_ENDS: Final = (
    *(".json", ".yaml", ".yml", ".strings", ".resx", ".arb"),
    *(".ftl", ".xlf", ".xcstrings", ".properties", ".xml", ".po"),
)
_TONGUE: Final = r"[a-z]{2}(?:[-_]r?[a-z]{2,4})?"
_IN: Final = (
    r"(?:^|/)(?:_?locales?|i18n|l10n|lang|nls|translations)/"
    rf"(?:{_TONGUE}/(?:[\w-]+/)*[^/.]+|(?:[\w-]+/)*(?:[\w-]+[._-])?{_TONGUE})"
)
_TEXTS: Final = "(?:messages|errors|labels|strings|i18n|translations?|validation)"
_CATALOGUE: Final = compiled_later(
    rf"{_IN}\.(?:json|ya?ml|arb|ftl|properties)$"
    r"|(?:^|/)(?:(?:[\w-]+[._-])?en(?:[-_][a-z]{2})?\.(?:json|ya?ml|arb)"
    rf"|(?:\w+[._-])?{_TEXTS}(?:[._-]{_TONGUE})?\.(?:json|ya?ml|xlf)"
    rf"|\w*(?:{_TEXTS}|bundle|resources|texts)(?:[._-]{_TONGUE})?\.properties"
    rf"|[\w-]+[._-]{_TONGUE}\.arb|values(?:-{_TONGUE})?/(?:strings|plurals)\.xml"
    rf"|(?:{_TONGUE}|Base)\.lproj/\w+\.strings|[^/.]+(?:\.{_TONGUE})?\.resx|[^/]+\.(?:po|xcstrings))$",
    re.IGNORECASE,
)
_CODE: Final = (".php", ".ts", ".js", ".mjs")
_OF_CODE: Final = compiled_later(rf"{_IN}\.\w+$", re.IGNORECASE)
_TOLD_TONGUE: Final = compiled_later(rf"(?:^|(?<=/)|[._-])({_TONGUE})(?=[/.])", re.IGNORECASE)
_ENGLISH: Final = ("en", "en-US", "en_US", "en-GB", "en_GB")


def is_deprecated(method: Method) -> bool:
    """Whether a declaration is marked as deprecated, in its documentation or before its name."""
    if method.kind == "file":
        return False
    source, name = method.source, method.name.rpartition(".")[2]
    head = source[: _place_of(method.name, source)]
    if _TOLD.search(method.documentation) or _MARKED.search(head):
        return True
    body = source[len(head) : len(head) + _SAYING]
    if "eprecat" not in body and not method.documentation.startswith(name):
        return False
    said = rf"(?<![\w.]){re.escape(name)}(?:\(\))?[\"'`]?,? (?:is|was|has been) (?:now )?(?:deprecated|obsolete)\b"
    called = rf"deprecat\w*\((?:[^()]*\W)?{re.escape(name)}(?:\(\))?\W|^\s*\.Deprecated\("
    return bool(re.match(said, method.documentation) or re.search(f"{said}|{called}", body, re.MULTILINE))


def _place_of(name: str, source: str) -> int:
    """Where a name begins that is no part of a longer one; 0 if it is nowhere."""
    place = source.find(name) if name else -1
    while place >= 0:
        around = source[place - 1 : place] + source[place + len(name) : place + len(name) + 1]
        if not any(each.isalnum() or each == "_" for each in around):
            return place
        place = source.find(name, place + 1)
    return 0


def old_words(paths: Sequence[str]) -> dict[int, frozenset[str]]:
    """The files of ``paths`` that are old, or translated from English, and stems by which a question means them."""
    parts = {number: _names_above(path) for number, path in enumerate(paths)}
    beside: dict[str, set[str]] = {}  # folder -> the names in it
    files: dict[str, set[str]] = {}  # folder -> those of modules
    for number, own in parts.items():
        for above, part in own:
            beside.setdefault(above, set()).add(part)
        if paths[number].rpartition("/")[2] not in GATHERING:
            files.setdefault(own[-1][0], set()).add(own[-1][1])
    said = {
        (above, part): _said(part, is_outdated=_is_outdated(part, above, beside, files)) | _of_translation(above, part)
        for above in beside
        for part in beside[above]
    }
    found = {number: frozenset[str]().union(*map(said.__getitem__, own)) for number, own in parts.items()}
    return {number: words for number, words in found.items() if words}


def _names_above(path: str) -> list[tuple[str, str]]:
    """What each folder of a path and its file are in, and their names without suffixes."""
    names = path.split("/")
    folders = ["/".join(names[:count]) for count in range(len(names))]
    return [(above, name.split(".")[0] or name) for above, name in zip(folders, names, strict=True)]


def _said(part: str, *, is_outdated: bool) -> frozenset[str]:
    """Stems by which a folder or file is old; none: it is not."""
    if is_outdated and (version := _VERSION.fullmatch(part)):
        return frozenset((version[2],))
    plain = re.sub(r"[\W_]", "", part).lower()
    words = split_identifier(part)
    return frozenset(map(stem_of, words)) & _OLD or (frozenset((plain, *words)) if plain in _ALONE else frozenset())


def _of_translation(above: str, part: str) -> frozenset[str]:
    """Stems by which a question means a folder or file of a translation; none: it is not one."""
    if _TRANSLATION.fullmatch(part) and _TRANSLATIONS.fullmatch(above.rpartition("/")[2]):
        return frozenset(map(stem_of, ("locale", "translation", "language", *split_identifier(part))))
    return frozenset()


def _is_outdated(part: str, above: str, beside: Mapping[str, set[str]], files: Mapping[str, set[str]]) -> bool:
    """Whether a newer version stands beside ``part``, or modules of the same names do."""
    own = _VERSION.fullmatch(part)
    if own is None:
        return False
    others = [other for each in beside[above] if (other := _VERSION.fullmatch(each)) and other[1] == own[1]]
    if any(_order(other) > _order(own) for other in others):
        return True
    inside = files.get(f"{above}/{part}".lstrip("/"), set())
    return len(inside & files.get(above, set())) >= max(2, len(inside) / 2)


def _order(version: re.Match[str]) -> tuple[int, bool, str, int]:
    return int(version[2]), version[3] is None, (version[3] or "").lower(), int(version[4] or 0)


def kind_of_catalogue(path: str) -> str:
    """What catalogue of messages a file is, by its path: of "texts", or in "code", a source file; "" if it is none."""
    if path.endswith(_ENDS):
        return "texts" if _CATALOGUE.search(path) else ""
    return "code" if path.endswith(_CODE) and _OF_CODE.search(path) else ""


def is_catalogue(path: str) -> bool:
    """Whether a file that is no source file is a catalogue of messages."""
    return kind_of_catalogue(path) == "texts"


def first_catalogues(root: Path) -> Callable[[str], bool]:
    """Tells of one path after the other whether it is among the first ``MOST_CATALOGUES``: translations may be many.

    Of those that a program has in English too, that one is read alone. Those of gettext have the English text as well.
    """
    numbers = count(1)
    return lambda path: is_catalogue(path) and not _is_in_english(root, path) and next(numbers) <= MOST_CATALOGUES


def _is_in_english(root: Path, path: str) -> bool:
    """Whether a catalogue in another language has one beside it that is in English, or of no language."""
    told = [] if path.endswith(".po") else [*_TOLD_TONGUE.finditer(path)]
    if any(each[1].lower().startswith("en") for each in told):
        return False
    ways = [(path[: each.start(1)], path[each.end() :], path[: each.start()]) for each in told]
    beside = [f"{before}{english}{behind}" for before, behind, _ in ways for english in _ENGLISH]
    beside += [f"{plain}{behind}" for _, behind, plain in ways if not plain.endswith("/")]
    return any(os.path.lexists(f"{root}/{each}") for each in beside)
