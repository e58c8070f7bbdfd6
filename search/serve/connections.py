"""Limits of connections to the server: time to send a request and to read the answer, and number of connections.

Uvicorn closes a connection that is idle after an answer, but waits forever in all other cases: for the first byte, for
the rest of a request, for an announced body, and for the client to read the answer.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """A connection that is closed if the client keeps the server waiting, but not while a request is being answered."""

    patience = 10.0
    """Seconds within which a request must be complete, and within which some of a pending answer must be read."""
    most = 100
    """Maximum number of open connections; for one more, the one that has kept the server waiting longest is closed."""

    _timer: asyncio.TimerHandle | None = None
    _unread = 0
    """Unread bytes of the answer when the server began to wait."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; make room for it."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.most:
            self._longest_waiting()._close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; stop waiting once it is complete."""
        super().data_received(data)
        self._settle()

    def on_response_complete(self) -> None:
        """Wait for the answer to be read, and for another request."""
        self._wait()
        super().on_response_complete()
        self._settle()

    def pause_writing(self) -> None:
        """Wait for what was sent to be read."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Continue with an answer, or wait for another request."""
        super().resume_writing()
        self._wait()
        self._settle()

    def _settle(self) -> None:
        """Stop waiting while a complete request is being answered."""
        cycle = self.cycle
        if cycle is not None and not (cycle.response_complete or cycle.more_body or self.flow.write_paused):
            self._wait_no_more()

    def _wait(self) -> None:
        self._wait_no_more()
        self._unread = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.patience, self._waited)

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _waited(self) -> None:
        if 0 < self.transport.get_write_buffer_size() < self._unread:  # it is being read, if slowly
            self._wait()
        else:
            self._close()

    def _close(self) -> None:
        """Close at once, whatever is unread."""
        self.connections.discard(self)  # now rather than in connection_lost, since others may connect meanwhile
        self._wait_no_more()
        self.transport.abort()

    def _longest_waiting(self) -> "Connection":
        """The connection to close; this one if all others are being answered."""
        waiting = {
            each: each._timer.when() for each in self.connections if isinstance(each, Connection) and each._timer
        }
        return min(waiting, key=waiting.__getitem__)
