"""Where the files of an index come from, and permanent links to their lines. Light to import."""

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Origin:
    """The web page of a folder's repository, and the folder's place in it."""

    url: str  # https://host/owner/name
    commit: str  # in full
    prefix: str  # the folder inside the repository, "/" at its end; "" at the top


def link(origin: Origin, path: str, start_line: int, end_line: int) -> str:
    """The address of lines of a file, 1-based and inclusive; ``path`` is relative to the folder of ``origin``."""
    host = origin.url.split("/")[2]
    place = quote(origin.prefix + path, safe="/")
    if host == "bitbucket.org":
        return f"{origin.url}/src/{origin.commit}/{place}#lines-{start_line}:{end_line}"
    if "gitlab" in host:
        return f"{origin.url}/-/blob/{origin.commit}/{place}#L{start_line}-{end_line}"
    return f"{origin.url}/blob/{origin.commit}/{place}#L{start_line}-L{end_line}"
