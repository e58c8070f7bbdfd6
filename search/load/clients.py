"""Clients that ask a server at the same time, and how long each of their answers takes."""

import http.client
import json
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_PATIENCE: Final = 60.0
"""Seconds after which an answer is given up."""
PLACE: Final = "/api/search"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request and its answer."""

    in_context: bool
    milliseconds: float  # until the answer was read
    own: float  # of these, the search's own, as it says
    error: str  # "": none


@dataclass(frozen=True, slots=True)
class Body:
    """A request's body."""

    content: bytes
    in_context: bool

    @classmethod
    def of(cls, query: str, context: str, language: str, top: int) -> "Body":
        """A question, under its context if there is one."""
        asked = {"query": query, "context": context, "language": language, "top": top}
        return cls(json.dumps(asked).encode(), bool(context))


@dataclass(eq=False)
class _Client:
    """One that keeps its connection, and opens another one after an error."""

    port: int
    bodies: Sequence[Body]
    found: list[Asked] = field(default_factory=list)

    def ask_until(self, end: float) -> None:
        """Ask one question after the other until the monotonic time ``end``."""
        connection = self._connection()
        try:
            for turn in range(len(self.bodies) * 1_000_000):
                if time.monotonic() >= end:
                    return
                self.found.append(asked := _ask(connection, self.bodies[turn % len(self.bodies)]))
                if asked.error:
                    connection.close()
                    connection = self._connection()
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)


def ask_together(port: int, bodies: Sequence[Body], clients: int, seconds: float, seed: int) -> list[Asked]:
    """What so many clients are answered by the server at ``port`` of this machine, each with an order of its own."""
    each = [_Client(port, random.Random(f"{seed} {number}").sample(bodies, len(bodies))) for number in range(clients)]
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=client.ask_until, args=(end,)) for client in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [asked for client in each for asked in client.found]


def _ask(connection: http.client.HTTPConnection, body: Body) -> Asked:
    started = time.perf_counter()
    try:
        connection.request("POST", PLACE, body.content, {"content-type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        return Asked(body.in_context, 1000 * (time.perf_counter() - started), 0.0, f"{type(error).__name__}: {error}")
    taken = 1000 * (time.perf_counter() - started)
    told = _parsed(content)
    if answer.status == 200 and told.get("results"):
        return Asked(body.in_context, taken, float(told["took_ms"]), "")
    return Asked(body.in_context, taken, 0.0, f"{answer.status}: {told.get('error', 'no results')}")


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        told = json.loads(content)
    except ValueError:
        return {"error": f"no JSON: {content[:40]!r}"}
    return told if isinstance(told, dict) else {"error": f"no object: {content[:40]!r}"}
