"""Permanent links: where the lines of a file can be seen by others, at the commit that a folder has checked out.

Only what git knows of the folder is asked; the network is never used. So a commit that was not pushed yet, or that a
closed repository holds, has a link too, which leads nowhere or to a page that asks to log in.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from search.tree import GitError, git

_HTTPS: Final = re.compile(r"https://(?:[^/@]*@)?([^/@]+)/(.+)", re.IGNORECASE)
_SSH: Final = re.compile(r"ssh://(?:[^/@]*@)?([^/@:]+)(?::\d+)?/(.+)", re.IGNORECASE)
_SCP: Final = re.compile(r"(?:[^/@:]*@)?([^/@:]+\.[^/@:]+):([^/].*)")
"""``git@host:owner/name.git``; a host without a dot is rather a name from somebody's own ssh settings."""
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?", re.IGNORECASE)
_PLACE: Final = re.compile(r"[\w.+~-]+(?:/[\w.+~-]+)+", re.ASCII)
"""``owner/name``, with groups between them at some hosts."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a folder's repository can be seen, and what of it the folder is."""

    url: str  # https://host/owner/name
    commit: str  # in full
    prefix: str  # the folder inside the repository, "/" at its end; "" at the top


def origin_of(root: Path) -> Origin | None:
    """The origin of ``root``, or its first remote; None without commit or remote, or where it has no known web page."""
    try:
        remotes = git(root, "remote").decode("utf-8", "replace").split()
        if not remotes:
            return None
        remote = git(root, "remote", "get-url", "origin" if "origin" in remotes else remotes[0])
        place = git(root, "rev-parse", "--show-prefix", "HEAD").decode()
    except (GitError, UnicodeDecodeError):
        return None
    url = _web_page(remote.decode("utf-8", "replace").strip())
    prefix, _, commit = place.removesuffix("\n").rpartition("\n")
    return Origin(url, commit, prefix) if url else None


def _web_page(remote: str) -> str:
    """The https address of a remote without user names and passwords, "" where it has none."""
    match = _HTTPS.fullmatch(remote) or _SSH.fullmatch(remote) or _SCP.fullmatch(remote)
    if match is None:
        return ""
    host, place = match[1].lower(), match[2].strip("/").removesuffix(".git")
    is_plain = _HOST.fullmatch(host) and _PLACE.fullmatch(place) and not {".", ".."} & set(place.split("/"))
    is_other = "bitbucket" in host and host != "bitbucket.org"  # a Bitbucket of one's own has other addresses
    return f"https://{host}/{place}" if is_plain and not is_other else ""


def link(origin: Origin, path: str, start_line: int, end_line: int) -> str:
    """The address of lines, 1-based and inclusive, of a file; ``path`` is relative to the folder of ``origin``."""
    host = origin.url.split("/")[2]
    place = quote(origin.prefix + path, safe="/")
    if host == "bitbucket.org":
        return f"{origin.url}/src/{origin.commit}/{place}#lines-{start_line}:{end_line}"
    if "gitlab" in host:
        return f"{origin.url}/-/blob/{origin.commit}/{place}#L{start_line}-{end_line}"
    return f"{origin.url}/blob/{origin.commit}/{place}#L{start_line}-L{end_line}"


def unchanged(root: Path, paths: Collection[str]) -> set[str]:
    """Those of ``paths``, relative to ``root``, whose files are as the commit has them; none where git cannot say."""
    try:
        committed = git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD")
        changed = git(root, "diff", "HEAD", "--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff")
    except GitError:
        return set()
    same = set(committed.split(b"\0")) - set(changed.split(b"\0"))
    return {path for path in paths if path.encode() in same}
