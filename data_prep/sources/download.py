"""Downloads files: resumed after interruptions, verified by size and sha256, in place only when complete.

Of several places that have a data set the first that answers is taken, and recorded.

The standard library's urllib suffices, with redirects, proxies of the environment and TLS.
"""

import errno
import hashlib
import http.client
import json
import logging
import shutil
import socket
import stat
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from data_prep.errors import UserError
from data_prep.files.access import ABSENT, file_sha256, open_regular, read_whole
from data_prep.files.json_text import parse_json
from data_prep.files.writing import naming, sole_holder, write_atomically

RECORD: Final = "fetched.json"
"""The file beside the fetched ones that records their place."""
_TRIES: Final = 4  # at each of several places
_CHUNK: Final = 1 << 18  # bytes
_TRY_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE_REFUSED: Final = 416
_PARTIAL: Final = 206
_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
_UNREACHABLE: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
_TRIES_WITHOUT_A_WAY: Final = 2
_LONGEST_WAIT: Final = 60.0  # seconds, of those that a busy server may ask for
_logger = logging.getLogger(__name__)


class DownloadError(UserError):
    """Why a download failed, in one line."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A file to download, with its known size and checksum."""

    url: str
    size: int | None = None  # bytes
    sha256: str | None = None  # hexadecimal
    git_blob: str | None = None  # the name that git gives its content: sha1 with a header, hexadecimal


class _CutError(Exception):
    """A failure that is worth a retry, after ``wait`` seconds or more."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


def download(remote: Remote, target: Path, *, tries: int = 5, timeout: float = 30.0, first_wait: float = 1.0) -> str:
    """Fetch ``remote`` to ``target`` and return its sha256.

    Received data stays in ``<target>.part`` when the connection is lost, and the next try or run resumes from there if
    the server allows it, also from another address if both are known to have the same checksum. ``timeout`` and
    ``first_wait`` (doubled at every further try) are in seconds.

    Raises:
        DownloadError: the address cannot be reached or refuses, which 401, 403, 404 and 410 do for good; it answers
            with a web page; size or checksum differ; or the disk has too little space.
        OSError: the disk is not writable or gets full meanwhile.
    """
    if not remote.url.startswith(("http://", "https://")):
        raise DownloadError(f"{remote.url} is no http or https address")
    target.parent.mkdir(parents=True, exist_ok=True)
    waited: list[str] = []

    def report() -> None:
        waited.append(remote.url)
        _logger.info("waiting for another process that fetches %s", remote.url)

    with sole_holder(target.with_name(f"{target.name}.part.lock"), report):
        if waited and target.exists():
            return file_sha256(target)
        return _fetched(remote, _Part(remote, target), tries, timeout, first_wait)


def _fetched(remote: Remote, part: "_Part", tries: int, timeout: float, first_wait: float) -> str:
    problem, asked, without_a_way = "", 0.0, 0
    for number in range(tries):
        if number:
            wait = max(first_wait * 2 ** (number - 1), asked)
            _logger.info("%s: %s; trying again in %.0f s", remote.url, problem, wait)
            time.sleep(wait)
        try:
            part.fetch(timeout)
            return part.finish()
        except _CutError as error:
            problem, asked = str(error), error.wait
            without_a_way += isinstance(error, _NoWayError)
            if without_a_way == _TRIES_WITHOUT_A_WAY:
                break
    raise DownloadError(f"{remote.url} could not be fetched in {number + 1} tries: {problem}")


class _NoWayError(_CutError):
    """There is no connection to the server, which another wait seldom changes."""


class _Part:
    """The bytes received so far, in a file beside the target."""

    def __init__(self, remote: Remote, target: Path) -> None:
        self._remote, self._target = remote, target
        self._file = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")  # the server's validator of the downloaded version

    def fetch(self, timeout: float) -> None:
        have, mark = self._have()
        if have and have == self._remote.size:
            return
        headers = {"Accept-Encoding": "identity", "User-Agent": "galm"}
        if have:
            headers["Range"] = f"bytes={have}-"
            headers |= {"If-Range": mark} if mark else {}
        try:
            with urllib.request.build_opener().open(
                urllib.request.Request(self._remote.url, headers=headers), timeout=timeout
            ) as response:
                self._receive(response, have)
        except urllib.error.HTTPError as error:
            with error:
                self._refused(error.code, error.reason, error.headers)
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
            reason = getattr(error, "reason", error)
            kind = _NoWayError if isinstance(error, urllib.error.URLError) and _is_no_way(reason) else _CutError
            raise kind(str(reason) or type(error).__name__) from error

    def finish(self) -> str:
        """Verify the received file and move it into place."""
        known, sha256 = self._remote, file_sha256(self._file)
        for what, found, expected in (
            ("as size in bytes", self._file.stat().st_size, known.size),
            ("sha256", sha256, known.sha256),
            ("the git blob", _git_blob(self._file) if known.git_blob else "", known.git_blob),
        ):
            if expected is not None and found != expected:
                self._discard()
                raise DownloadError(f"{known.url} gave {what} {found} instead of {expected}; nothing was saved")
        self._file.replace(self._target)
        self._note.unlink(missing_ok=True)
        return sha256

    def _have(self) -> tuple[int, str]:
        """Number of bytes to resume from, and their validator; untrusted partial files are discarded."""
        try:
            status = self._file.lstat()
            have, note, known = status.st_size, parse_json(read_whole(self._note)), self._remote
            here = note["url"] == known.url and (note["mark"] or known.sha256)
            elsewhere = known.sha256 is not None and note.get("sha256") == known.sha256
            if stat.S_ISREG(status.st_mode) and (here or elsewhere) and (known.size is None or have <= known.size):
                return have, str(note["mark"]) if here else ""
        except (*ABSENT, UserError, KeyError, TypeError):
            pass
        self._discard()
        return 0, ""

    def _receive(self, response: Any, have: int) -> None:
        if response.headers.get_content_type() in _PAGES:
            raise DownloadError(f"{self._remote.url} answers with a web page in place of {self._target.name}")
        if response.status != _PARTIAL:
            have = 0  # the whole file from its start
        elif not str(response.headers.get("Content-Range", "")).startswith(f"bytes {have}-"):
            self._discard()
            raise _CutError("the server sent another part than was asked for")
        total = self._total(response.headers, have)
        note = {"url": self._remote.url, "mark": _mark(response.headers), "sha256": self._remote.sha256}
        write_atomically(self._note, json.dumps(note))
        with (
            naming(self._file),
            self._file.open("ab" if have else "wb") as file,
            tqdm(initial=have, total=total, unit="B", unit_scale=True, desc=self._target.name, disable=None) as bar,
        ):
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                have += len(chunk)
                bar.update(len(chunk))
        if total is not None and have < total:
            raise _CutError(f"the connection was cut after {have:,} of {total:,} bytes")

    def _total(self, headers: Message, have: int) -> int | None:
        length, known = headers.get("Content-Length"), self._remote.size
        total = have + int(length) if length and length.isdigit() else known
        if known is not None and total != known:
            raise DownloadError(f"{self._remote.url} offers {total:,} bytes instead of {known:,}")
        folder = self._target.parent
        free = shutil.disk_usage(folder).free
        if total is not None and total - have > free:
            raise DownloadError(f"{total - have:,} bytes are needed in {folder}, {free:,} are free")
        return total

    def _refused(self, code: int, reason: str, headers: Message) -> None:
        if code == _RANGE_REFUSED:
            self._discard()
            raise _CutError("the server does not go on from where the last try ended")
        if code in _TRY_AGAIN:
            after = str(headers.get("Retry-After", ""))
            wait = min(float(after), _LONGEST_WAIT) if after.isdecimal() else 0.0  # a date is not waited for
            raise _CutError(f"the server answers {code} {reason}", wait)
        raise DownloadError(f"{self._remote.url} answers {code} {reason}")

    def _discard(self) -> None:
        self._file.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def _is_no_way(reason: object) -> bool:
    """Whether the server has no known address, or nothing leads to it or answers there."""
    return isinstance(reason, socket.gaierror | ConnectionRefusedError) or (
        isinstance(reason, OSError) and reason.errno in _UNREACHABLE
    )


def _git_blob(path: Path) -> str:
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with open_regular(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _mark(headers: Message) -> str:
    """The validator of this version for If-Range: a strong ETag, else the modification date."""
    tag = str(headers.get("ETag") or "")
    return str(headers.get("Last-Modified") or "") if not tag or tag.startswith("W/") else tag


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere that has a data set."""

    name: str
    files: Mapping[str, Remote]  # path below the folder that they are fetched to -> address
    library: str = ""  # that reads them, if it is one that need not be installed


def fetch_first(places: Sequence[Place], folder: Path, what: str) -> list[Path]:
    """Fetch the files of the first place that has them all, below ``folder``; a line names the place.

    Args:
        places: in the order in which they are asked.
        folder: where the files are put; those that it has already are not fetched again.
        what: the name of the data, for messages.

    Raises:
        DownloadError: no place has them; the message has the reason of each.
        OSError: the disk is not writable or gets full.
    """
    problems = []
    for number, place in enumerate(places, 1):
        try:
            return _fetched_from(place, folder, what)
        except DownloadError as error:
            problems.append(f"{place.name}: {error}")
            if number < len(places):
                _logger.info("%s is not to be had from %s; next: %s", what, problems[-1], places[number].name)
    raise DownloadError("; ".join(problems))


def _fetched_from(place: Place, folder: Path, what: str) -> list[Path]:
    if place.library and find_spec(place.library) is None:
        raise DownloadError(f"its files need {place.library}: bash run.sh install parquet")
    _logger.info("fetching %s from %s", what, place.name)
    record: list[dict[str, Any]] = []
    for name, remote in place.files.items():
        target = folder / name
        sha256 = download(remote, target, tries=_TRIES) if not target.is_file() else ""
        record.append({"name": name, "url": remote.url, "bytes": target.stat().st_size, "sha256": sha256})
    now = datetime.now(UTC).isoformat(timespec="seconds")
    content = {"what": what, "place": place.name, "fetched": now, "files": record}
    write_atomically(folder / RECORD, json.dumps(content, indent=1) + "\n")
    _logger.info("%s: fetched from %s to %s", what, place.name, folder)
    return [folder / name for name in place.files]
