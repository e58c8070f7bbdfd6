"""What ignore files may cost: thousands of lines hold, and whatever would cost too much is left out and told."""

import random
import re
import time

import pytest
from repositories import commit, write

from search.files import ignore_files
from search.files.tree import checkout_of, found_files

FILES = {f"d{number % 3}/F{number}.java": "" for number in range(100)}


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


def found(root):
    """The paths found, and what was told."""
    told = []

    def tell(*line):
        told.append(line)

    return [each.path for each in found_files(root, (".java",), tell, checkout_of(root, tell))], told


def words(count: int) -> list[str]:
    draw = random.Random(3)
    return ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(count)]


@pytest.mark.parametrize("line", ["a", "*a*b*c*", "[z-a]", "**/a/**/b", "*.x"])
def test_equal_lines_cost_nothing(tmp_path, line):
    write(tmp_path, FILES | {".gitignore": f"{line}\n" * ((1 << 20) // (len(line) + 1))})
    started = time.process_time()
    assert found(tmp_path) == (sorted(FILES), [])
    assert time.process_time() - started < 2


def test_thousands_of_lines_hold(tmp_path):
    lines = [line for word in words(4000) for line in (word, f"/gen/{word}.java", f"*.{word}", f"**/{word}/")]
    lines += [f"{word}*.java" for word in words(300)]
    write(tmp_path, FILES | {".gitignore": "\n".join([*lines, "F1?.java", "/d2", "!F12.java"])})
    write(tmp_path, {f"{lines[0]}/A.java": "", f"B.{words(1)[0]}": "", f"{words(9)[8]}X.java": ""})
    started = time.process_time()
    paths, told = found(tmp_path)
    assert time.process_time() - started < 4
    assert told == []
    assert paths == sorted(
        path for path in FILES if "d2/" not in path and (not re.search("F1.[.]", path) or "12" in path)
    )


def test_too_many_wildcards_are_left_out_and_told(tmp_path):
    lines = [f"*{word[:3]}*{word[3:5]}q*" for word in words(35_000)]
    write(tmp_path, FILES | {".gitignore": "\n".join([*lines, "F1.java", "F?.java"])})
    started = time.process_time()
    paths, told = found(tmp_path)
    assert time.process_time() - started < 8
    assert paths == sorted(set(FILES) - {"d1/F1.java"})
    assert told == [
        (".gitignore", "too many patterns with wildcards: only names, paths and *.ending are used of it"),
    ]


def test_too_many_lines_are_left_out_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(ignore_files, "_MOST", 30_000_000)
    write(tmp_path, FILES | {".gitignore": "/d1\n", "d0/.gitignore": "\n".join(words(3000)) + "\n*.java"})
    assert found(tmp_path) == (
        sorted(path for path in FILES if "d1/" not in path),
        [("d0/.gitignore", "left out, since the ignore files of this folder have too many lines")],
    )


def test_too_much_work_for_many_paths_is_told_once(tmp_path, monkeypatch):
    for name, value in {"_BYTE": 0, "_LINE": 0, "_COMPILED": 0, "_FREE": 100, "_MOST": 200_000}.items():
        monkeypatch.setattr(ignore_files, name, value)
    write(tmp_path, FILES | {".gitignore": "\n".join(f"{word}*x" for word in words(20)) + "\n*va"})
    paths, told = found(tmp_path)
    assert 0 < len(paths) < len(FILES)
    assert told == [
        (".", "its ignore files have too many patterns for so many files: not all were left out by them"),
    ]


def test_of_a_large_file_whole_lines_are_used(tmp_path):
    start = "#" * ((1 << 20) - 4)
    write(tmp_path, FILES | {".gitignore": f"/d1\n{start}\n/d2/no"[: (1 << 20) + 6]})
    paths, told = found(tmp_path)
    assert paths == sorted(path for path in FILES if "d1/" not in path)
    assert (".gitignore", "only the lines in its first 1,048,576 bytes are used") in told


def test_no_pattern_stays_in_memory(tmp_path):
    write(tmp_path, FILES | {".gitignore": "unlikely*name"})
    found(tmp_path)
    assert not [key for key in re._cache if b"unlikely" in (key[1] if isinstance(key[1], bytes) else b"")]


def test_files_of_patterns_outside_of_the_tree_may_be_links(tmp_path):
    root = commit(tmp_path / "code", FILES)
    write(tmp_path, {"rules": "New*", "more": "Other*", "settings/git/x": ""})
    (tmp_path / "settings/git/ignore").symlink_to(tmp_path / "rules")
    (root / ".git/info/exclude").unlink(missing_ok=True)
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").symlink_to(tmp_path / "more")
    write(root, {"New.java": "", "Other.java": "", "Third.java": ""})
    assert found(root) == (sorted([*FILES, "Third.java"]), [])


@pytest.mark.parametrize(
    "place", [".gitignore", ".ignore", ".galmignore", ".git/info/exclude", "../settings/git/ignore"]
)
def test_what_no_regex_can_be_is_no_error_anywhere(tmp_path, place):
    root = commit(tmp_path / "code", FILES)
    write(root, {place: b"[z-a]\n(\n[b-a]*\n*[z-a]?\n\xff[\n+\n/d1/\nF2*\n", "d1/New.java": "", "F2.java": ""})
    paths, told = found(root)
    assert told == []
    assert not {"F2.java", "d1/New.java"} & {*paths}
