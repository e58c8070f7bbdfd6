"""Texts -> SPDX expressions, by phrases that are unique to a licence; "" if nothing is recognised.

A text is normalised to its words: letters and numbers in lower case, "version" as "v" and "licence" as "license", so
that line breaks, comment marks and punctuation do not matter.
"""

import re
from collections.abc import Callable
from typing import Final

from data_prep.languages.identifiers import compiled, kept_if_short

_Rule = tuple[str, str, str | Callable[[re.Match[str]], str]]
"""Strings of which a text must contain one for a pattern to be tried; the pattern; the licence that it indicates."""

_WORD: Final = re.compile(r"[a-z]+|\d+(?:\.\d+)*\+?")
_SAME: Final = {
    **{"version": "v", "licence": "license", "licences": "licenses", "licenced": "licensed"},
    **{f"{short}v": f"{short} v" for short in ("gpl", "lgpl", "agpl", "mpl", "epl")},
}
_YEAR: Final = re.compile(r" (?:19|20)\d\d\b")
_HEAD: Final = 2_000
"""Characters of a licence file within which its title or first sentence begins."""
_PREAMBLE: Final = 800
"""Characters of a licence file within which it offers a choice among several licences."""
_WINDOW: Final = 3_000
"""Characters within which a short licence ends."""
_TAG: Final = re.compile(rb"SPDX-License-Identifier:([^\r\n]*)")
_LONGEST_TAG: Final = 200  # characters
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9.+:-]+")

_CHOICE: Final = re.compile(
    r"\beither (?:the|of)\b|\balternatively\b|\b(?:dual|dually|multi|multiple|tri) licensed\b|\bchoosing\b"
    r"|\byour (?:choice|election)\b|\bat your option\b(?! any)|\bfollowing secondary licenses\b"
    r"|\bor (?:the )?(?:apache|bsd|cddl|eclipse|e[dp]l|gnu|l?gpl|mit|mozilla|mpl)\b"
)
"""Offers a choice among several licences; without it all of them apply."""
_CLASSPATH: Final = re.compile(r"\bclasspath exception\b|\blink this library with independent modules\b")
_BSD_TERMS: Final = "redistribution and use in source and binary forms"
_MIT_TERMS: Final = "permission is hereby granted"
_ISC_TERMS: Final = "permission to use copy"
_OWN_TERMS: Final = (
    *("redistribution and use", _MIT_TERMS, _ISC_TERMS, "public license"),
    *("confidential and proprietary", "proprietary and confidential"),
)
"""Grant or keep rights: what holds in the folder does not hold below such words, even where no rule knows them."""
_VARIANT: Final = re.compile(r"\b(?:exceptions?|style|like|alike|variant|based)\b")
"""In a name: it is not quite the licence that is named."""
_LATER: Final = re.compile(r"\+| (?:of the (?:license|gpl) )?(?:or|and) (?:\S+ ){0,4}?(?:later|newer|higher|above)\b")


def spdx_tag(data: bytes) -> str:
    """The expression after the first ``SPDX-License-Identifier:``, "" where there is none or it is none."""
    match = _TAG.search(data)
    if match is None:
        return ""
    written = match[1].decode("utf-8", "replace").strip().removesuffix("*/").removesuffix("-->")
    text = " ".join(written.split())
    names = re.split(r" (?:AND|OR|WITH) ", " ".join(text.replace("(", " ").replace(")", " ").split()))
    is_valid = len(text) <= _LONGEST_TAG and all(map(_IDENTIFIER.fullmatch, names)) and _closes(text)
    return text if is_valid else ""


def of_comment(text: str) -> str | None:
    """What a comment above the code says: "" where it has terms that are not recognised, None where it has none."""
    return _of_comment(_YEAR.sub("", _words(text)))  # so that most files of a project say the same


@kept_if_short(1 << 14, 1024)
def _of_comment(words: str) -> str | None:
    found = _stated(words)
    if not found:
        return "" if any(terms in words for terms in _OWN_TERMS) else None
    return _joined(words, [licence for _, licence in found])


@kept_if_short(1 << 16, 256)
def of_file(text: str) -> str:
    """What a licence file says: its first licence, as those of bundled parts may follow; all where one may choose."""
    words = _words(text)
    found = [(start, licence) for start, licence in _stated(words) if start < _HEAD]
    choices = [licence for start, licence in found if start < _PREAMBLE and _CHOICE.search(words[:_PREAMBLE])]
    return _joined(words, choices or [licence for _, licence in found[:1]])


def of_name(text: str) -> str:
    """What the name or the address of a licence says, as the description of a project has it."""
    words = _words(re.sub(r"(?:\.en)?\.(?:html?|txt|php)$", "", text.strip()))
    short = _SHORT.get(words.removeprefix("the ").removesuffix(" license"))
    if short or (_VARIANT.search(words) and not _CLASSPATH.search(words)):
        return short or ""
    return _joined(words, [licence for _, licence in _stated(words)])


def _closes(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def _words(text: str) -> str:
    return " ".join(_SAME.get(word, word) for word in _WORD.findall(text.lower()))


def _stated(words: str) -> list[tuple[int, str]]:
    """Where each licence is stated first, and which it is ("": not recognised), in the order of the text."""
    found: dict[str, int] = {}
    for needed, phrase, identifier in _RULES:
        is_tried = any(each in words for each in needed.split("|"))
        match = compiled(phrase).search(words) if is_tried else None
        if match is not None:
            licence = identifier.format(*match.groups()) if isinstance(identifier, str) else identifier(match)
            found[licence] = min(match.start(), found.get(licence, match.start()))
    return sorted((start, licence) for licence, start in found.items())


def _joined(words: str, licences: list[str]) -> str:
    """One expression for what ``words`` state, "" where a part of it is not recognised."""
    is_choice = len(licences) > 1 and _CHOICE.search(words)
    if "" in licences or (is_choice and any(terms in words for terms in (_BSD_TERMS, _MIT_TERMS, _ISC_TERMS))):
        return ""  # the latter: whether the written out terms are among the choices cannot be told
    if _CLASSPATH.search(words):
        licences = [f"{each} WITH Classpath-exception-2.0" if each.startswith("GPL-") else each for each in licences]
    return (" OR " if is_choice else " AND ").join(licences)


def _bsd(match: re.Match[str]) -> str:
    terms = match.string[match.start() : match.start() + _WINDOW]
    if "end user documentation included" in terms:
        return "Apache-1.1" if "apache" in terms else ""
    if re.search(r"\bnuclear\b|\bpatents? (?:rights|license)", terms) or "redistributions in binary form" not in terms:
        return ""  # BSD-3-Clause-No-Nuclear-License, BSD-3-Clause-Clear, BSD-1-Clause and others
    if "advertising materials mentioning" in terms:
        return "BSD-4-Clause" if "endorse or promote" in terms else ""
    return "BSD-3-Clause" if "endorse or promote" in terms else "BSD-2-Clause"


def _mit(match: re.Match[str]) -> str:
    terms = match.string[match.start() : match.start() + _WINDOW]
    if "used for good not evil" in terms:
        return "JSON"
    is_other = "permission notice shall be included" not in terms or "except as contained in this notice" in terms
    return "" if is_other else "MIT"  # others: MIT-0, X11


def _isc(match: re.Match[str]) -> str:
    terms = match.string[match.start() : match.start() + _WINDOW]
    return "ISC" if "permission notice appear in all copies" in terms else "0BSD"


def _gnu(kind: str, short: str, versions: str) -> _Rule:
    """The rule of a GNU licence: "version N of the GNU KIND General Public License", that and "version N", "SHORT N".

    Where later versions are not spoken of, as in the licence's own text, -only is what surely holds.
    """
    name = rf"gnu {kind}(?:general )?public license"
    between = r"(?: (?:as|published|by|the|free|software|foundation|inc|fsf|either|a?l?gpl|of|license|under|terms|in))*"
    version = rf"({versions})(?![\d.]| \d\b| (?:en )?(?:html|txt)\b)"  # the address of another licence is often given
    forms = (
        rf"v {version}(?: only| or later)? of the {name}",
        rf"{name}{between}(?: v)? {version}",
        rf"{short} (?:v )?{version}",
    )

    def said(match: re.Match[str]) -> str:
        number = next(group for group in match.groups() if group)
        is_later = "or later" in match[0] or _LATER.match(match.string, match.end())
        number = number if "." in number else f"{number}.0"
        return f"{short.upper()}-{number}-{'or-later' if is_later else 'only'}"

    return "gnu|gpl", rf"\b(?:{'|'.join(forms)})", said


def _rule(needed: str, phrase: str, identifier: str | Callable[[re.Match[str]], str]) -> _Rule:
    """What a phrase of whole words says: an identifier with the phrase's groups set in, or what a function makes of it.

    ``needed`` stands in every such phrase: a text without it is passed over quickly.
    """
    return needed, rf"\b(?:{phrase})(?![\w.])", identifier


_RULES: Final[tuple[_Rule, ...]] = (
    _rule(
        "apache", r"apache (?:public |software )?license (?:al |asl )?(?:v )?2(?:\.0)?|apache (?:v )?2\.0", "Apache-2.0"
    ),
    _rule("apache", r"apache org licenses license 2\.0", "Apache-2.0"),
    _rule("apache", r"apache software license v (1\.[01])", "Apache-{}"),
    _rule(_BSD_TERMS, _BSD_TERMS, _bsd),
    _rule("bsd", r"bsd ([23]) clause", "BSD-{}-Clause"),
    _rule("bsd", r"(?:new|revised|modified) bsd license", "BSD-3-Clause"),
    _rule("bsd", r"simplified bsd license", "BSD-2-Clause"),
    _rule("distribution", r"eclipse distribution license (?:edl )?(?:v )?1\.0", "BSD-3-Clause"),
    _rule(_MIT_TERMS, rf"{_MIT_TERMS} free of charge to any person obtaining a copy", _mit),
    _rule("mit", r"mit license", "MIT"),
    _rule(_ISC_TERMS, rf"{_ISC_TERMS} modify and or distribute this software for any purpose", _isc),
    _gnu("", "gpl", r"[123](?:\.0)?"),
    _gnu("(?:lesser|library|lesser or library|library or lesser) ", "lgpl", r"2(?:\.[01])?|3(?:\.0)?"),
    _gnu("affero ", "agpl", r"[13](?:\.0)?"),
    _rule("mozilla", r"mozilla public license (?:mpl )?(?:v )?(1\.[01]|2\.0)", "MPL-{}"),
    _rule("mpl", r"mpl (?:v )?(1\.[01]|2\.0)", "MPL-{}"),
    _rule("eclipse", r"eclipse public license (?:epl )?(?:v )?([12]\.0)", "EPL-{}"),
    _rule("epl", r"epl (?:v )?([12]\.0)", "EPL-{}"),
    _rule("eclipse", r"eclipse org legal epl v ([12])0", "EPL-{}.0"),
    _rule(
        "cddl", r"(?:common development and distribution license )?cddl (?:the license )?(?:v )?(1\.[01])", "CDDL-{}"
    ),
    _rule("common", r"common development and distribution license (?:the license )?(?:v )?(1\.[01])", "CDDL-{}"),
    _rule("cddl", r"cddl gpl 1 1", "CDDL-1.1"),
    _rule("common", r"common public license (?:cpl )?(?:v )?1\.0", "CPL-1.0"),
    _rule("union", r"european union public license (?:eupl )?(?:v )?(1\.[12])", "EUPL-{}"),
    _rule("universal", r"universal permissive license (?:upl )?(?:v )?1\.0", "UPL-1.0"),
    _rule("boost", r"boost software license (?:v )?1\.0", "BSL-1.0"),
    _rule("business", r"business source license (?:v )?1\.1", "BUSL-1.1"),
    _rule("server side", r"server side public license (?:v )?1", "SSPL-1.0"),
    _rule("elastic", r"elastic license (?:v )?2\.0", "Elastic-2.0"),
    _rule("cc 0", r"cc 0 1\.0", "CC0-1.0"),
    _rule("creativecommons", r"creativecommons org publicdomain zero 1\.0", "CC0-1.0"),
    _rule("unencumbered", r"this is free and unencumbered software released into the public domain", "Unlicense"),
    _rule("want to", r"do what the fuck you want to public license", "WTFPL"),
)
"""Phrases of headers, of texts and of names. Of each rule the first match counts."""

_SHORT: Final = {
    "mit": "MIT",
    "isc": "ISC",
    "0 bsd": "0BSD",
    "json": "JSON",
    "unlicense": "Unlicense",
    "asl 2.0": "Apache-2.0",
    "apache 2": "Apache-2.0",
    "edl 1.0": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
}
"""Names that say nothing within a longer text."""
