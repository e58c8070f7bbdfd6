"""What a connection to the server may do: send its request and read its answer in good time, and not too many at once.

Uvicorn closes a connection that says nothing after an answer, and waits for ever in all other cases: for the first
byte, for the rest of a request, for a body that was announced, and for somebody to read the answer.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """A connection that is closed where the other side keeps the server waiting; one that is answered is not."""

    patience = 10.0
    """Seconds that a request may take to come whole, and that an answer may lie without any of it being read."""
    most = 100
    """Connections that are open at once; for one more, that which has kept the server waiting longest is closed."""

    _timer: asyncio.TimerHandle | None = None
    _unread = 0
    """Bytes that nobody had read when the server began to wait."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; make room for it."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.most:
            self._longest_waiting()._close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take some of a request; once it is whole, the server is what is waited for."""
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
        """Go on with an answer, or wait for another request."""
        super().resume_writing()
        self._wait()
        self._settle()

    def _settle(self) -> None:
        """Stop waiting where a whole request is being answered."""
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
        """At once, whatever lies unread."""
        self.connections.discard(self)  # not when it is noticed, for several may come meanwhile
        self._wait_no_more()
        self.transport.abort()

    def _longest_waiting(self) -> "Connection":
        """The connection to close in favour of this one; this one where all others are being answered."""
        waiting = {
            each: each._timer.when() for each in self.connections if isinstance(each, Connection) and each._timer
        }
        return min(waiting, key=waiting.__getitem__)
