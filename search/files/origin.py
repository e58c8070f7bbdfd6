"""Permanent links to the lines of a file, at the commit that a folder has checked out.

Only the folder's own repository is read (:mod:`data_prep.sources.git_repository`); the network is never used. So a
commit that is not pushed yet, or that is in a private repository, has a link too, which leads nowhere or to a login
page.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from data_prep.sources.own_git import GitError

if TYPE_CHECKING:
    from search.files.ignore_files import Tell
    from search.files.tree import Checkout


_URL: Final = re.compile(r"https://[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?(?:/[\w.+~%-]+)+", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HTTPS: Final = re.compile(r"https://(?:[^/@]*@)?([^/@]+)/(.+)", re.IGNORECASE)
_SSH: Final = re.compile(r"ssh://(?:[^/@]*@)?([^/@:]+)(?::\d+)?/(.+)", re.IGNORECASE)
_SCP: Final = re.compile(r"(?:[^/@:]*@)?([^/@:]+\.[^/@:]+):([^/].*)")
"""``git@host:owner/name.git``; a host without a dot is taken for an alias in the user's ssh settings."""
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?", re.IGNORECASE)
_PLACE: Final = re.compile(r"[\w.+~-]+(?:/[\w.+~-]+)+", re.ASCII)
"""``owner/name``, on some hosts with groups in between."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The web page of a folder's repository, and the folder's place in it."""

    url: str  # https://host/owner/name
    commit: str  # in full
    prefix: str  # the folder inside the repository, "/" at its end; "" at the top


def link(origin: Origin, path: str, start_line: int, end_line: int) -> str:
    """The address of lines of a file, 1-based and inclusive; ``path`` is relative to the folder of ``origin``.

    It is "" whatever the origin in an untrusted index is, unless that is an https address and a commit.
    """
    if not (_URL.fullmatch(origin.url) and _COMMIT.fullmatch(origin.commit)):
        return ""
    host = origin.url.split("/")[2]
    try:
        place = quote(origin.prefix + path, safe="/")
    except UnicodeEncodeError:  # half a surrogate pair in the path
        return ""
    if host == "bitbucket.org":
        return f"{origin.url}/src/{origin.commit}/{place}#lines-{start_line}:{end_line}"
    if "gitlab" in host:
        return f"{origin.url}/-/blob/{origin.commit}/{place}#L{start_line}-{end_line}"
    return f"{origin.url}/blob/{origin.commit}/{place}#L{start_line}-L{end_line}"


def origin_of(checkout: "Checkout", tell: "Tell") -> Origin | None:
    """The web page of a checkout, by its remote ``origin`` or else its first remote; None if it is not known.

    It is not known without a commit or a remote, for a remote without a known web page, or if git fails.
    """
    try:
        remotes = checkout.repository.remotes()
        url = _web_page(remotes.get("origin") or next(iter(remotes.values()), ""))
        commit = checkout.repository.head() if url else ""
        checkout.prefix.encode()
    except GitError as error:
        tell(".", f"no links to its files ({error})")
        return None
    except UnicodeEncodeError:  # a folder whose name is not Unicode has no address
        return None
    return Origin(url, commit, checkout.prefix) if commit else None


def _web_page(remote: str) -> str:
    """The https address of a remote, without user name and password; "" if it has none."""
    match = _HTTPS.fullmatch(remote) or _SSH.fullmatch(remote) or _SCP.fullmatch(remote)
    if match is None:
        return ""
    host, place = match[1].lower(), match[2].strip("/").removesuffix(".git")
    is_plain = _HOST.fullmatch(host) and _PLACE.fullmatch(place) and not {".", ".."} & set(place.split("/"))
    is_other = "bitbucket" in host and host != "bitbucket.org"  # a self-hosted Bitbucket has other addresses
    return f"https://{host}/{place}" if is_plain and not is_other else ""


def committed_blobs(checkout: "Checkout", commit: str, tell: "Tell") -> Mapping[str, str]:
    """Path, relative to the folder of ``checkout``, -> hash of the content that ``commit`` has there."""
    try:
        found = checkout.repository.blobs(commit, checkout.prefix)
    except GitError as error:
        tell(".", f"no links to its files ({error})")
        return {}
    return {path.decode("utf-8", "surrogateescape"): digest for path, digest in found.items()}
