"""Runs git in a temporary repository of its own, with no settings but ours, bounded in time and in output.

The repository is empty, except that it may borrow the objects of another. No configuration is read, no program that one
names is run, and the network is used only by a command that is given a transport.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final

from data_prep.files.access import absolute_path, raise_if_passing

OLDEST: Final = (2, 20)
"""Minimum version of git: it supports all settings of :func:`_environment`."""
_SECONDS: Final = 20.0
"""Timeout of a git command."""
_SECONDS_OF_FETCH: Final = 1800.0
_LARGEST_ANSWER: Final = 256 << 20  # bytes
_LARGEST_OBJECT: Final = "512m"  # that git may hold in memory


class GitError(Exception):
    """Why a repository could not be read."""


@contextmanager
def own_repository(object_format: str, objects: Path | None) -> Iterator[Path]:
    """A repository that exists for the block, in a temporary folder; ``objects``: the folder of borrowed objects.

    Raises:
        GitError: git is missing or too old.
    """
    _check_version()
    with tempfile.TemporaryDirectory(prefix="galm-git-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "objects" / "info").mkdir(parents=True)
        (folder / "refs").mkdir()
        (folder / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        version, extension = (1, "[extensions]\nobjectformat = sha256\n") if object_format == "sha256" else (0, "")
        (folder / "config").write_text(f"[core]\nrepositoryformatversion = {version}\nbare = true\n{extension}")
        if objects is not None:
            quoted = json.dumps(os.path.realpath(objects), ensure_ascii=False)  # a name may contain a newline
            (folder / "objects" / "info" / "alternates").write_bytes(os.fsencode(f"{quoted}\n"))
        yield folder


def git_says(folder: Path, *arguments: str, given: bytes = b"", transport: str = "") -> bytes:
    """The output of ``git ARGUMENTS`` in our repository; only with a ``transport``, it may use the network by that.

    Raises:
        GitError: git fails, takes too long or prints too much.
    """
    environment, seconds = _environment(folder), _SECONDS
    if transport:
        proxies = {key: value for key, value in os.environ.items() if key.lower() in ("https_proxy", "no_proxy")}
        environment |= {"GIT_ALLOW_PROTOCOL": transport, **proxies}
        seconds = _SECONDS_OF_FETCH
    with (folder / "input").open("w+b") as file, (folder / "errors").open("w+b") as errors:
        file.write(given)
        file.seek(0)
        try:
            process = subprocess.Popen(
                ["git", *arguments], cwd=folder, env=environment, stdin=file, stdout=subprocess.PIPE, stderr=errors
            )
        except OSError as error:
            raise_if_passing(error)
            raise GitError("git is not installed" if isinstance(error, FileNotFoundError) else str(error)) from error
        said = _said(process, seconds)
        if process.returncode:
            errors.seek(0)
            lines = errors.read(4096).decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
            raise GitError(lines[0])
    return said


def _said(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """The output of a program until its end; it is killed if it takes too long or prints too much."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    with process:
        try:
            assert process.stdout is not None
            said = process.stdout.read(_LARGEST_ANSWER + 1)
            if len(said) > _LARGEST_ANSWER:
                process.kill()
            process.wait()
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    if len(said) > _LARGEST_ANSWER:
        raise GitError(f"git answers more than {_LARGEST_ANSWER:,} bytes")
    if process.returncode == -signal.SIGKILL:
        raise GitError(f"git gave no answer within {seconds:.0f} seconds")
    return said


def _environment(folder: Path) -> dict[str, str]:
    """Environment for git: only the settings of the repository in ``folder``, no network, prompts or relative PATH."""
    return {
        "PATH": absolute_path(),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "LC_ALL": "C",
        "GIT_DIR": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # is no transport
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_ALLOC_LIMIT": _LARGEST_OBJECT,
    }


@lru_cache(maxsize=4)
def _version(search_path: str) -> tuple[int, ...]:  # noqa: ARG001 - another PATH may lead to another git
    with tempfile.TemporaryDirectory(prefix="galm-git-") as name:
        match = re.match(rb"git version (\d+)\.(\d+)", git_says(Path(name), "--version"))
    return tuple(int(number) for number in match.groups()) if match else (0,)


def _check_version() -> None:
    found = _version(os.environ.get("PATH", os.defpath))
    if found < OLDEST:
        raise GitError(
            f"git {'.'.join(map(str, found))} is older than {'.'.join(map(str, OLDEST))}, from which on it is known "
            "to run nothing that a repository names"
        )
