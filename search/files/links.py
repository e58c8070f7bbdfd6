"""Permanent links to the lines of a file, at the commit that a folder has checked out.

Only the folder's own repository is read (:mod:`data_prep.sources.git_repository`); the network is never used. So a
commit that is not pushed yet, or that is in a private repository, has a link too, which leads nowhere or to a login
page.
"""

import re
from collections.abc import Mapping
from typing import Final

from data_prep.sources.own_git import GitError
from search.files.ignore_files import Tell
from search.files.origin import Origin
from search.files.tree import Checkout

_HTTPS: Final = re.compile(r"https://(?:[^/@]*@)?([^/@]+)/(.+)", re.IGNORECASE)
_SSH: Final = re.compile(r"ssh://(?:[^/@]*@)?([^/@:]+)(?::\d+)?/(.+)", re.IGNORECASE)
_SCP: Final = re.compile(r"(?:[^/@:]*@)?([^/@:]+\.[^/@:]+):([^/].*)")
"""``git@host:owner/name.git``; a host without a dot is taken for an alias in the user's ssh settings."""
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?", re.IGNORECASE)
_PLACE: Final = re.compile(r"[\w.+~-]+(?:/[\w.+~-]+)+", re.ASCII)
"""``owner/name``, on some hosts with groups in between."""


def origin_of(checkout: Checkout, tell: Tell) -> Origin | None:
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


def committed_blobs(checkout: Checkout, commit: str, tell: Tell) -> Mapping[str, str]:
    """Path, relative to the folder of ``checkout``, -> hash of the content that ``commit`` has there."""
    try:
        found = checkout.repository.blobs(commit, checkout.prefix)
    except GitError as error:
        tell(".", f"no links to its files ({error})")
        return {}
    return {path.decode("utf-8", "surrogateescape"): digest for path, digest in found.items()}
