"""Lines of ignore files say what they say to git, whatever is in them."""

import os
import random
import re
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from repositories import run_git, write

from search.files.git_patterns import parts_of, read_line, regex_of
from search.files.tree import found_files

NAMES = "a.j,b.j,ab.j,foo.j,é.j,#x.j,!x.j,*.j,[.j,a\\.j,-.j,ABC.j,a b.j, .j,a\n.j".split(",")  # noqa: SIM905 - legible
FOLDERS = ["", "a/", "b/", "ab/", "foo/", "a/b/", "a/a/", "a/b/c/", "foo/a/b/", "b/foo/", "c/a/b/", "é/"]
PATHS = [folder + name for folder in FOLDERS for name in NAMES]
STARS = ["*", "*", "*", "**", "**/", "/**", "/", "/", "?"]
SETS = ["[a-c]", "[z-a]", "[!a]", "[^b]", "[[:alpha:]]", "[[:foo:]]", "[[:space:]]", "[[:punct:]", "[a\\]]", "[--0]"]
HALF = ["[", "]", "[]a]", "[a-", "[:", "\\", "\\*", "\\!", "!", "#", "\\ ", " ", "  ", "-", ":", "\t", "\r", "\v", "\0"]
PIECES = [*STARS, *SETS, *HALF, *"abcé.({+$^|", "ab", "foo", ".j"]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder of many names, and a repository beside it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    run_git(tmp_path, "init", "-q", "--bare", "git")
    return write(tmp_path / "tree", dict.fromkeys(PATHS, ""))


def kept_by_git(tree: Path) -> list[str]:
    asked = "\0".join(PATHS).encode()
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "--git-dir=../git", "--work-tree=.", "check-ignore", "--no-index", "--stdin", "-z"]
    done = subprocess.run(command, cwd=tree, env=os.environ | own, input=asked, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return sorted(set(PATHS).difference(done.stdout.decode().split("\0")))


def kept(tree: Path) -> list[str]:
    return [each.path for each in found_files(tree, (".j",), lambda *told: pytest.fail(str(told)), None)]


def check(tree: Path, rules: Mapping[str, Iterable[str]]) -> None:
    for folder, lines in rules.items():
        (tree / folder / ".gitignore").write_bytes("\n".join(lines).encode())
    assert kept(tree) == kept_by_git(tree), rules
    for folder in rules:
        (tree / folder / ".gitignore").unlink()


def line(draw: random.Random) -> str:
    """Pieces at random, or a path with some of it replaced."""
    if draw.random() < 0.3:
        return "".join(draw.choices(PIECES, k=draw.randint(1, 7)))
    chars = list(draw.choice(PATHS + FOLDERS[1:]))
    for place, char in enumerate(chars):
        if draw.random() < 0.3:
            others = ("?", "*", "**", "[!q]", "[^/]", f"[{char}]", f"\\{char}", "**/", "/**", "[[:alpha:]]", "[a-z]")
            chars[place] = draw.choice(others)
    del chars[: draw.choice((0, 0, draw.randrange(len(chars))))]
    return (
        draw.choice(("", "", "!", "/", "**/", "*")) + "".join(chars) + draw.choice(("", "", "/", "*", "/**", "\\", " "))
    )


def test_any_line_matches_what_it_matches_in_git(tree):
    draw = random.Random(5)
    for number in range(150):
        rules = {"": [line(draw) for _ in range(draw.randint(1, 6))]}
        if number % 2:
            rules[draw.choice(FOLDERS[1:])] = [draw.choice("! ").strip() + line(draw) for _ in range(2)]
        check(tree, rules)


@pytest.mark.parametrize(
    "text",
    [
        "[z-a]",
        "a[z-a]*\n*.j",
        "[z-ab].j",
        "[a-",
        "[[:nope:]].j",
        "[[:lower:]]*",
        "[^[:alnum:]]*",
        "foo**/b",  # after a literal git takes it for folders
        "fo**/a.j",
        "/a**b.j",
        "a/**\\/b.j",
        "a/**/",
        "/**",
        "**//",
        "a[!q]b.j",
        "?.j\n??.j",
        "[é].j",
        "[!a-z]*",
        "\\",
        "a\\",
        "!\n/\n//\n!/",
        "a.j   \nfoo.j\\ \n ",
        "*.j\n!*/a.j",
        "**/a/**/b.j\n*[ab].j",
    ],
)
def test_odd_lines_match_what_they_match_in_git(tree, text):
    check(tree, {"": text.split("\n")})
    check(tree, {"a": text.split("\n")})


@pytest.mark.parametrize(
    ("glob", "subject"),
    [
        ("*a" * 100 + "b", "a" * 250),
        ("/" + "**/a*a/" * 30 + "b", "a/" * 1500 + "c"),
        ("/" + "a/**\\/" * 60 + "b", "a/" * 1500 + "c"),
        ("*" + "a" * 120 + "b*", "a" * 250),
        ("*[a-c]?" * 60 + "z", "abc" * 80),
    ],
)
def test_no_regex_takes_long(glob, subject):
    parts = parts_of(read_line(glob.encode()))
    started = time.process_time()
    assert not re.fullmatch(regex_of(parts), subject.encode(), re.DOTALL)
    assert time.process_time() - started < 0.5
