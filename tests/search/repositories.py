"""Folders of files and git repositories to test with."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def run_git(root: Path, *arguments: str) -> str:
    """What git prints, untouched by the settings of whoever runs the tests."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", "-C", root, *who, *arguments], env=os.environ | own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or "merge" in arguments, done.stderr
    return done.stdout


def commit(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """A git repository with one commit more, of all files."""
    if not (root / ".git").exists():
        root.mkdir(parents=True, exist_ok=True)
        run_git(root, "init", "-q", "-b", "main")
    write(root, files)
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", "files")
    return root
