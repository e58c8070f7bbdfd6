"""The licence of a source file: by its header, else by the nearest licence file, pom.xml or package.json.

Nothing is guessed: if the nearest statement is not recognised, or two in a folder differ, the result is "".
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.parsers import expat

from data_prep.errors import UserError
from data_prep.files.access import raise_if_passing, read_regular
from data_prep.files.json_text import parse_json
from data_prep.sources.licence_texts import of_comment, of_file, of_name, spdx_tag

PERMITTED: Final = ("MIT", "Apache-2.0", "BSD-3-Clause", "BSD-2-Clause", "ISC")
"""Those under which code is used for training and shown with attribution: the five of Scotch's data set."""
_TAG_WITHIN: Final = 4 << 10  # bytes of a file
_HEADER_WITHIN: Final = 16 << 10
_LARGEST_TEXT: Final = 256 << 10  # bytes of a licence file or pom.xml that are read
_LICENCE_FILE: Final = re.compile(
    r"(?:licen[cs]e|copying)(?:\.(?:txt|md|lesser|rst))?"
    r"|licen[cs]e[-_.](?:mit|apache|apache-?2|apache-2\.0|bsd|isc)(?:\.(?:txt|md))?"
    r"|mit-licen[cs]e(?:\.(?:txt|md))?",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(
    r"\s*+(/\*.*?(?:\*/|\Z)|(?://[^\n]*+\s*+)++|(?:\#[^\n]*+\s*+)++|\"{3}.*?(?:\"{3}|\Z))", re.DOTALL
)
_POM_LICENCE: Final = ["project", "licenses", "license"]
_DEBIAN: Final = "debian/copyright"
_SAME_IN_DEBIAN: Final = (
    "Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause BSD-4-Clause BSL-1.0 CC0-1.0 CDDL-1.0 CPL-1.0 EPL-1.0 EPL-2.0 "
    "ISC MIT MPL-1.1 MPL-2.0 W3C Zlib"
)
_DEBIAN_NAMES: Final = {"expat": "MIT"} | {name.lower(): name for name in _SAME_IN_DEBIAN.split()}
_DEBIAN_GNU: Final = re.compile(r"([al]?gpl)-(\d(?:\.\d)?)(\+?)( with classpath exception)?")


@dataclass(frozen=True, slots=True)
class _Stated:
    """The licences that apply in a folder."""

    file: str | None  # by the nearest licence file; None if there is none
    pom: str  # by the nearest pom.xml or package.json that names a licence, not above that licence file

    @property
    def licence(self) -> str:
        return self.file or self.pom


class Licences:
    """The licences of a tree's files; each licence file is read once."""

    def __init__(self, root: Path, paths: Collection[str]) -> None:
        """Look for licence files from the folders of ``paths`` up to ``root``."""
        self._root = root.resolve()
        self._known: dict[str, _Stated] = {}
        for path in paths:
            self._in(path.rpartition("/")[0])

    def of(self, path: str, data: bytes) -> str:
        """The SPDX expression for the file ``path`` with the content ``data``; "" if its licence is not known."""
        tag = spdx_tag(data[:_TAG_WITHIN])
        if tag:
            return tag
        for comment in _comments(data[:_HEADER_WITHIN].decode("utf-8-sig", "replace")):
            said = of_comment(comment)
            if said is not None:
                return said
        return self._in(path.rpartition("/")[0]).licence

    def _in(self, folder: str) -> _Stated:
        unknown = []
        while folder not in self._known:
            unknown.append(folder)
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        above = self._known.get(folder, _Stated(None, ""))
        for each in reversed(unknown):
            above = self._known[each] = self._look(each, above)
        return above

    def _look(self, folder: str, above: _Stated) -> _Stated:
        names, inside = self._names(folder), f"{folder}/" if folder else ""
        texts = [self._read(inside + name) for name in names if _LICENCE_FILE.fullmatch(name)]
        said = {spdx_tag(data[:_TAG_WITHIN]) or of_file(data.decode("utf-8", "replace")) for data in texts}
        file = said.pop() if len(said) == 1 else "" if said else None
        if file is None and not folder:
            file = of_debian_copyright(self._read(_DEBIAN).decode("utf-8", "replace")) or None
        pom = of_pom(self._read(inside + "pom.xml")) if "pom.xml" in names else ""
        if not pom and "package.json" in names:
            pom = of_package_json(self._read(inside + "package.json"))
        if file is None:
            return _Stated(above.file, pom or above.pom)
        return _Stated(file, pom)

    def _names(self, folder: str) -> list[str]:
        """The names in a folder."""
        try:
            return sorted(each.name for each in (self._root / folder).iterdir())
        except OSError as error:
            raise_if_passing(error)
            return []

    def _read(self, path: str) -> bytes:
        """The content of a small file; links are followed inside of the tree only; b"" if it cannot be read."""
        try:
            real = (self._root / path).resolve(strict=True)
            if not real.is_relative_to(self._root):
                return b""
            data, _ = read_regular(real, _LARGEST_TEXT)
        except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle
            raise_if_passing(error)
            return b""
        return data


class TreeLicences(Licences):
    """The licences of files that are not in a folder, such as those of a commit."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """Use ``files``: path -> content of all files of :func:`states_licence`."""
        self._files = files
        self._in_folder: dict[str, list[str]] = {}
        for path in sorted(files):
            folder, _, name = path.rpartition("/")
            self._in_folder.setdefault(folder, []).append(name)
        super().__init__(Path(), ())

    def _names(self, folder: str) -> list[str]:
        return self._in_folder.get(folder, [])

    def _read(self, path: str) -> bytes:
        return self._files.get(path, b"")[:_LARGEST_TEXT]


def states_licence(path: str) -> bool:
    """Whether a file says by its name that it states the licence of others."""
    name = path.rpartition("/")[2]
    return _LICENCE_FILE.fullmatch(name) is not None or name in ("pom.xml", "package.json") or path == _DEBIAN


def permitted(expression: str) -> str:
    """The part of an SPDX expression that may be chosen and consists of :data:`PERMITTED`; "" if there is none.

    ``GPL-2.0-only OR MIT`` gives MIT, ``MIT AND ISC`` itself, ``MIT AND GPL-2.0-only`` nothing. Parentheses and
    exceptions are not interpreted.
    """
    choices = [
        choice for choice in expression.split(" OR ") if all(each in PERMITTED for each in choice.split(" AND "))
    ]
    return " OR ".join(choices) if "(" not in expression else ""


def _comments(text: str) -> Iterator[str]:
    """The comments before the first code; consecutive ``//`` lines are one comment."""
    match = _COMMENT.match(text)
    while match:
        yield match[1]
        match = _COMMENT.match(text, match.end())


def of_pom(data: bytes) -> str:
    """The ``<licenses>`` of a Maven project, any of which may be chosen; "" if one is not recognised."""
    names: list[dict[str, str]] = []
    open_elements: list[str] = []

    def start(name: str, _: dict[str, str]) -> None:
        open_elements.append(name)
        if open_elements == _POM_LICENCE:
            names.append({"name": "", "url": ""})

    def end(_: str) -> None:
        open_elements.pop()

    def text(part: str) -> None:
        if len(open_elements) == 4 and open_elements[:3] == _POM_LICENCE and open_elements[3] in names[-1]:
            names[-1][open_elements[3]] += part

    def refuse(*_: object) -> None:
        raise UserError("a document type, which may hold entities")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError):  # LookupError: an unknown encoding
        return ""
    licences = [of_name(each["name"]) or of_name(each["url"]) for each in names]
    return " OR ".join(dict.fromkeys(licences)) if all(licences) else ""


def of_package_json(data: bytes) -> str:
    """The ``license`` of an npm package; "" if it is none of SPDX's expressions."""
    try:
        content = parse_json(data)
    except UserError:
        return ""
    said = content.get("license") if isinstance(content, dict) else None
    return spdx_tag(b"SPDX-License-Identifier:" + said.encode("utf-8", "replace")) if isinstance(said, str) else ""


def of_debian_copyright(text: str) -> str:
    """The licence in the paragraph ``Files: *`` of a machine-readable ``debian/copyright``, "" if there is none."""
    if not re.match(r"Format(?:-Specification)?:", text):
        return ""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = {
            name.lower(): value.strip() for name, value in re.findall(r"(?m)^([\w-]+):(.*(?:\n[ \t].*)*)", paragraph)
        }
        if fields.get("files") == "*":
            return _of_debian_name(fields.get("license", "").partition("\n")[0])
    return ""


def _of_debian_name(text: str) -> str:
    parts = re.split(r",? +(and|or) +", text.strip().lower())
    licences, words = [_DEBIAN_NAMES.get(name) or _of_debian_gnu(name) for name in parts[::2]], set(parts[1::2])
    return f" {''.join(words).upper()} ".join(licences) if all(licences) and len(words) < 2 else ""


def _of_debian_gnu(name: str) -> str:
    match = _DEBIAN_GNU.fullmatch(name)
    if match is None:
        return ""
    family, version, later, exception = match.groups()
    number = version if "." in version else f"{version}.0"
    licence = f"{family.upper()}-{number}-{'or-later' if later else 'only'}"
    return f"{licence} WITH Classpath-exception-2.0" if exception else licence
