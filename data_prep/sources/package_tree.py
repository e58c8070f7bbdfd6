"""The files of a package's archive: a wheel, an npm tarball or an upstream source archive."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.sources.archives import read_archive
from data_prep.sources.source_tree import Entry

MAX_KEPT_BYTES: Final = 2 << 30
"""Maximum total size of the wanted files, which are held in memory."""
_DIST_INFO: Final = re.compile(r"[^/]+\.dist-info/(?:licenses/)?(?P<name>[^/]+)")


class PackageTree:
    """The wanted files of an archive, without the folder around all of them; licences of a wheel are at the top."""

    published = True

    def __init__(self, archive: Path, wanted: Callable[[str], bool]) -> None:
        """Read the files.

        Raises:
            UserError: the archive is missing, rejected as hostile, damaged, or has far too much.
        """
        left_out: dict[str, str] = {}
        files: dict[str, bytes] = {}
        size = 0
        for path, data in read_archive(archive, wanted, left_out.__setitem__):
            size += len(data)
            if size > MAX_KEPT_BYTES:
                raise UserError(f"{archive} is refused: its sources have more than {MAX_KEPT_BYTES >> 30} GiB")
            files[path] = data
        tops = {path.partition("/")[0] for path in files}
        top = f"{tops.pop()}/" if len(tops) == 1 and all("/" in path for path in files) else ""
        self._files = {_place(path.removeprefix(top)): data for path, data in files.items()}
        self._left_out = {path.removeprefix(top): reason for path, reason in left_out.items()}

    def entries(self) -> Sequence[Entry]:
        """The wanted files, and links and others that cannot be read, sorted by path."""
        found = [Entry(path, len(data)) for path, data in self._files.items()]
        found += [
            Entry(path, 0, "a link" if "link" in reason else "too large") for path, reason in self._left_out.items()
        ]
        return sorted(found, key=lambda entry: entry.path)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Path and content of each of ``paths``."""
        return ((path, self._files[path]) for path in paths)


def _place(path: str) -> str:
    found = _DIST_INFO.fullmatch(path)
    return found["name"] if found else path
