"""``bash run.sh mcp``: the search as an MCP server on standard input and output, for coding agents and editors."""

import json
import os
import pwd
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from data_prep.errors import UserError
from data_prep.files.access import named_path
from data_prep.installation import IMPORT_ROOT, INSTALLED
from experiments.terminal import console
from experiments.terminal.options import parsed
from search.options import McpOptions

_NAME: Final = "code-search"


def mcp(arguments: Sequence[str]) -> None:
    """Serve the tools until the client goes away, or print how a client is told of them."""
    words, options = parsed(arguments, McpOptions)
    if len(words) > 1:
        raise UserError("expected a folder, or none for the current one: bash run.sh mcp DIR")
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
    from search.serve.agent_tools import AgentTools
    from search.serve.fresh_index import FreshIndex
    from search.serve.mcp_lines import serve_lines
    from search.serve.mcp_tools import server_of

    index = FreshIndex(root, options.model, lambda path, line: console.complain(f"{path}: {line}"))
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
