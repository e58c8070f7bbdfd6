"""A server for several users: behind a proxy that authenticates them, each sees the repositories that are permitted.

The proxy sends a secret that it shares with this server, the user's name, and the user's groups, each as one header.
Whatever comes without the secret is refused before anything of it is read, and so is a user without a name. The proxy
must remove these headers from what it receives (docs/company.md).
"""

import hashlib
import hmac
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from data_prep.errors import UserError
from data_prep.files.reading import open_regular, reason
from search.joint.repository_list import USER

SECRET_HEADER: Final = "x-search-secret"
_SHORTEST, _LONGEST = 32, 4096
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,100}")
_MOST_GROUPS: Final = 1000
_SPACES: Final = " \t"
"""What HTTP allows around a header's value; any other space is part of it."""


def read_secret(path: Path) -> bytes:
    """The secret in a file, without blanks, tabs and line breaks around it.

    Raises:
        UserError: it cannot be read, others than its owner and group may read it, or it is too short to be one.
    """
    try:
        with open_regular(path) as file:
            mode, found = os.fstat(file.fileno()).st_mode, file.read(_LONGEST + 1).strip(b" \t\r\n")
    except OSError as error:
        raise UserError(f"the secret of --secret={path} cannot be read: {reason(error)}") from error
    if stat.S_IMODE(mode) & stat.S_IRWXO:
        raise UserError(f"every user of this machine may read the secret in {path}: chmod 600 {path}")
    if not _SHORTEST <= len(found) <= _LONGEST or not found.isascii() or not found.decode().isprintable():
        raise UserError(
            f"the secret in {path} is no line of {_SHORTEST} to {_LONGEST:,} ASCII characters: make one by "
            f"`openssl rand -hex 32`"
        )
    return found


def check_header(name: str, option: str) -> None:
    """Refuse what is no name of a header.

    Raises:
        UserError: it is not.
    """
    if not _HEADER.fullmatch(name) or name.lower() == SECRET_HEADER:
        raise UserError(f"--{option} takes the name of a header, such as X-Forwarded-User, not {name[:60]!r}")


@dataclass(frozen=True, slots=True, repr=False)
class Proxy:
    """What is known of the proxy."""

    secret: bytes
    user_header: str
    groups_header: str

    def groups(self, headers: Headers) -> frozenset[str]:
        """What the user of a request is in: the groups, and ``user:NAME``; an HTTPException if it is not permitted."""
        given = headers.getlist(SECRET_HEADER)
        if len(given) != 1 or not self._is_secret(given[0]):
            raise HTTPException(403, "expected a request of the authenticating proxy")
        users, groups = (_texts(headers, name) for name in (self.user_header, self.groups_header))
        if len(users) != 1 or len(groups) > 1 or not users[0]:
            raise HTTPException(401, "expected one header with the user, and at most one with groups, of the proxy")
        named = [each.strip(_SPACES) for each in (groups[0].split(",") if groups else ())]
        if len(named) > _MOST_GROUPS:
            raise HTTPException(400, f"at most {_MOST_GROUPS:,} groups are taken")
        if not all(each.isprintable() for each in (*users, *named)):
            raise HTTPException(400, "expected printable characters in the headers of the proxy")
        return frozenset((f"{USER}{users[0]}", *(each for each in named if each and not each.startswith(USER))))

    def _is_secret(self, given: str) -> bool:
        """Compared in constant time, also with respect to lengths."""
        first, second = hashlib.sha256(given.encode("latin-1")), hashlib.sha256(self.secret)
        return hmac.compare_digest(first.digest(), second.digest())


def _texts(headers: Headers, name: str) -> list[str]:
    try:
        return [each.encode("latin-1").decode().strip(_SPACES) for each in headers.getlist(name)]
    except UnicodeDecodeError as error:
        raise HTTPException(400, "expected UTF-8 in the headers of the proxy") from error
