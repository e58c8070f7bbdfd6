"""Passes the bytes of a member of a .7z archive on while they are unpacked. Needs py7zr."""

from collections.abc import Callable

from py7zr.io import Py7zIO, WriterFactory


class _Sink(Py7zIO):
    """What py7zr takes for the output file; nothing is stored."""

    def __init__(self, feed: Callable[[bytes], None]) -> None:
        self._feed, self._done = feed, 0

    def write(self, s: bytes | bytearray) -> int:
        self._done += len(s)
        self._feed(bytes(s))
        return len(s)

    def read(self, size: int | None = None) -> bytes:  # noqa: ARG002
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002
        return 0

    def flush(self) -> None:
        return

    def size(self) -> int:
        return self._done


class _Factory(WriterFactory):
    def __init__(self, feed: Callable[[bytes], None]) -> None:
        self._feed = feed

    def create(self, filename: str) -> Py7zIO:  # noqa: ARG002
        return _Sink(self._feed)


def sink_factory(feed: Callable[[bytes], None]) -> WriterFactory:
    """What py7zr is given to write to."""
    return _Factory(feed)
