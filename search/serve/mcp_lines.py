"""Lines of standard input that are messages to an MCP server, and its answers on standard output.

The package ``mcp``, which run.sh installs, passes over lines that it cannot parse, and waits at the end for what is
still computed; here each line that is no message is answered, and the end of the lines is the server's end.
"""

import os
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from mcp_types.jsonrpc import JSONRPCError

LONGEST: Final = 16 << 20
"""Maximum number of bytes of a line."""
_PATIENCE: Final = 1.0
"""Seconds after the end for which what is computed, or is not read, may keep the process."""


def serve_lines(server: Any, close: Callable[[], None] = lambda: None) -> None:
    """Serve an ``MCPServer`` on standard input and output, until one of them is closed; then call ``close``."""
    import anyio

    try:
        anyio.run(_served, server._lowlevel_server, close)
    except* BrokenPipeError:  # nobody reads any more
        pass
    finally:
        close()


async def _served(server: Any, close: Callable[[], None]) -> None:
    from anyio.to_thread import run_sync
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage

    async def messages() -> AsyncIterator[str]:
        try:
            while line := await run_sync(_line, file, abandon_on_cancel=True):
                if answer := _no_message(line):
                    await answers.send(SessionMessage(answer))
                else:
                    yield line.decode()
        finally:
            _end_soon(close)

    file = _own_input()
    lines: Any = messages()
    async with stdio_server(stdin=lines) as (read, answers):
        await server.run(read, answers, server.create_initialization_options())


def _end_soon(close: Callable[[], None]) -> None:
    """End the process at its own pace, or at once if its threads go on: no answer of theirs has a reader."""

    def ended() -> None:
        try:
            close()
        finally:
            os._exit(0)

    end = threading.Timer(_PATIENCE, ended)
    end.daemon = True
    end.start()


def _own_input() -> BinaryIO:
    """Standard input, which what runs in other processes or reads it by mistake finds empty."""
    file = os.fdopen(os.dup(0), "rb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return file


def _line(file: BinaryIO) -> bytes:
    """The next line, b"" at the end; an empty one, which is no message, for one that is too long."""
    line = file.readline(LONGEST)
    if len(line) < LONGEST or line.endswith(b"\n"):
        return line
    while len(rest := file.readline(LONGEST)) == LONGEST and not rest.endswith(b"\n"):
        pass
    return b"\n"


def _no_message(line: bytes) -> "JSONRPCError | None":
    """What a line is answered with that is no message; None for a message."""
    from mcp_types import jsonrpc
    from pydantic_core import from_json

    def answer(number: int | str | None, code: int, expected: str) -> "JSONRPCError":
        return jsonrpc.JSONRPCError(jsonrpc="2.0", id=number, error=jsonrpc.ErrorData(code=code, message=expected))

    try:
        told = from_json(line)
    except ValueError:
        expected = f"expected one JSON text a line, in UTF-8, of at most {LONGEST >> 20} MiB"
        return answer(None, jsonrpc.PARSE_ERROR, expected)
    try:
        message = jsonrpc.jsonrpc_message_adapter.validate_python(told, by_name=False)
        if not isinstance(message, jsonrpc.JSONRPCNotification) or "id" not in told:
            return None
    except ValueError:
        pass
    number = told.get("id") if isinstance(told, dict) else None
    number = number if type(number) in (int, str) else None
    expected = "expected a JSON-RPC 2.0 message, whose id, if it has one, is a text or a whole number"
    return answer(number, jsonrpc.INVALID_REQUEST, expected)
