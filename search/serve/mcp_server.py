"""``bash run.sh mcp``: the search as an MCP server on standard input and output, for coding agents and editors.

The package ``mcp``, which run.sh installs, passes over lines that it cannot parse, and waits at the end for what is
still computed; here each line that is no message is answered, and the end of the lines is the server's end.
"""

import json
import os
import pwd
import re
import shlex
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal

from data_prep.errors import UserError, unexpected
from data_prep.files.access import named_path
from data_prep.installation import IMPORT_ROOT, INSTALLED
from experiments.terminal import console
from experiments.terminal.options import parsed

if TYPE_CHECKING:
    from mcp_types.jsonrpc import JSONRPCError

_NAME: Final = "code-search"


@dataclass(frozen=True, slots=True)
class McpOptions:
    """Options of ``mcp``."""

    model: str = ""
    """Folder of a run or of a packed model; empty: the shipped model; none: BM25 and whole files alone."""
    configure: Literal["", "claude", "codex", "cursor", "vscode"] = ""
    """Print what this client is told to start the server, and end."""


def mcp(arguments: Sequence[str]) -> None:
    """Serve the tools until the client goes away, or print how a client is told of them."""
    words, options = parsed(arguments, McpOptions)
    if len(words) > 1:
        raise unexpected("a folder, or none for the current one: bash run.sh mcp DIR", words)
    root = named_path(words[0] if words else ".")
    if not root.is_dir():
        raise UserError(f"expected a folder of sources, got {root}")
    if not words and has_home(root):
        raise UserError(f"{root} has more than one project in it: name the folder to search, bash run.sh mcp DIR")
    if options.configure:
        console.show(configuration(options.configure, root))
        return
    try:
        import mcp as package
    except ImportError as error:
        raise UserError("bash run.sh mcp needs mcp: bash run.sh install agents") from error
    del package
    console.be_silent()  # standard output is the protocol's
    from search.making import complain_about
    from search.serve.agent_tools import AgentTools
    from search.serve.fresh_index import FreshIndex
    from search.serve.mcp_tools import server_of

    index = FreshIndex(root, options.model, complain_about)
    serve_lines(server_of(AgentTools(index), str(root), lambda: index.progress), index.close)


def has_home(folder: Path) -> bool:
    """Whether a folder is the top of all files, or is or contains a home folder."""
    real = Path(os.path.realpath(folder))
    return real == real.parent or any(home.is_relative_to(real) for home in _homes())


def _homes() -> Iterator[Path]:
    """Home folders, by their real paths, and where those of others usually are."""
    yield from map(Path, ("/home/anyone", "/Users/anyone"))
    with suppress(RuntimeError):
        yield Path(os.path.realpath(Path.home()))
    with suppress(KeyError):
        yield Path(os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir))


def configuration(client: str, root: Path) -> str:
    """What a client is told to start this server for the folder ``root``."""
    command = [*_program(), "mcp", str(root)]
    started = {"command": command[0], "args": command[1:]}
    if client == "claude":
        return shlex.join(["claude", "mcp", "add", _NAME, "--", *command])
    if client == "codex":
        return f"[mcp_servers.{_NAME}]\ncommand = {json.dumps(command[0])}\nargs = {json.dumps(command[1:])}"
    servers = "servers" if client == "vscode" else "mcpServers"
    return json.dumps({servers: {_NAME: started}}, indent=1)


def _program() -> list[str]:
    """What starts this program from any folder: that of this very installation, if it has one."""
    if not INSTALLED:
        return ["bash", str(IMPORT_ROOT / "run.sh")]
    beside = Path(sys.executable).with_name("galm")
    return [str(beside) if beside.is_file() else shutil.which("galm") or "galm"]


LONGEST: Final = 16 << 20
"""Maximum number of bytes of a line."""
_HALVES: Final = re.compile(rb"\\u[dD][89a-fA-F]")
"""Escapes of a character's halves."""
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
                line = _with_whole_characters(line)
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


def _with_whole_characters(line: bytes) -> bytes:
    """A line in which half an emoji, as of a text that was cut, is a question mark: UTF-8 has no form of it."""
    if not _HALVES.search(line):
        return line
    try:
        return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):  # which is answered as any line that is no JSON
        return line


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
