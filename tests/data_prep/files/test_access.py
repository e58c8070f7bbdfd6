"""Paths that a user names, and folders that no other user can write into or read."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from data_prep.files.access import (
    HOMES,
    cache_folder,
    check_file_place,
    check_folder_place,
    forget_relative_homes,
    home_of,
    is_own_file,
    make_own_folder,
    named_path,
    open_regular,
    own_folder,
    read_regular,
    read_whole,
)


def test_a_path_begins_at_the_current_folder_or_at_a_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/a home")
    assert named_path("b/c d") == tmp_path / "b" / "c d"
    assert named_path("~/b") == Path("/a home/b")
    assert named_path("/b/../c") == Path("/b/../c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\0b", r"^expected a path, got 'a\\x00b': no path has a NUL character$"),
        ("~nobody-of-this-name/x", "^expected a path, got '~nobody-of-this-name/x': there is no such home folder$"),
    ],
)
def test_what_names_nothing_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        named_path(text)


def test_a_current_folder_that_was_deleted_is_told(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert named_path("/a") == Path("/a")
    with pytest.raises(ValueError, match=r"^'a' begins at the current folder, which was deleted: go to another one$"):
        named_path("a")


@pytest.fixture
def here(tmp_path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "stray").symlink_to("nothing")
    (tmp_path / "link").symlink_to("file")
    return tmp_path


@pytest.mark.parametrize("place", ["file", "link", "new", "folder/new", "a/b/new"])
def test_places_for_a_file(here, place):
    check_file_place(here / place, "--out")


@pytest.mark.parametrize("place", ["folder", "new", "folder/new", "a/b/new"])
def test_places_for_a_folder(here, place):
    check_folder_place(here / place, "--out")


@pytest.mark.parametrize(
    ("check", "place", "message"),
    [
        (check_file_place, "folder", "--out={place} is a folder: name a file"),
        (check_file_place, "file/new", "--out={place} cannot be written: {here}/file is no folder"),
        (check_file_place, "loop", "--out={place} cannot be written: Too many levels of symbolic links"),
        (check_file_place, "stray", "--out={place} cannot be written: it is a link to nothing"),
        (check_file_place, "x" * 300, "--out={place} cannot be written: File name too long"),
        (check_folder_place, "file", "--out={place} cannot be written: {here}/file is no folder"),
        (check_folder_place, "link/a/b", "--out={place} cannot be written: {here}/link is no folder"),
        (check_folder_place, "loop/a", "--out={place} cannot be written: Too many levels of symbolic links"),
        (check_folder_place, "stray", "--out={place} cannot be written: it is a link to nothing"),
    ],
)
def test_what_stands_in_the_way_is_named(here, check, place, message):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
        check(here / place, "--out")
    assert str(raised.value) == message.format(place=here / place, here=here)


def test_a_device_is_no_place_for_a_file():
    with pytest.raises(ValueError, match="--out=/dev/null is no regular file: name a file"):
        check_file_place(Path("/dev/null"), "--out")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "galm"


@pytest.mark.parametrize("variable", HOMES)
@pytest.mark.parametrize("named", ["relative", "./here", "", None])
def test_what_is_not_absolute_is_ignored(tmp_path, monkeypatch, variable, named):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(variable, raising=False)
    if named is not None:
        monkeypatch.setenv(variable, named)
    assert home_of(variable) == tmp_path / HOMES[variable]
    assert own_folder(variable) == tmp_path / HOMES[variable] / "galm"
    forget_relative_homes()
    assert variable not in os.environ


def test_what_is_absolute_is_obeyed(tmp_path, cache):
    forget_relative_homes()
    assert home_of("XDG_CACHE_HOME") == tmp_path
    assert cache_folder() == cache


def test_a_home_in_the_current_folder_is_none(monkeypatch):
    monkeypatch.setenv("HOME", "here")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(ValueError, match="set XDG_CACHE_HOME=/path"):
        cache_folder()


def test_folders_are_made_for_the_user_alone(cache):
    make_own_folder(cache / "one" / "two")
    assert [mode(each) for each in (cache, cache / "one", cache / "one" / "two")] == [0o700] * 3
    make_own_folder(cache)


def test_a_folder_that_others_could_read_is_closed(cache):
    cache.mkdir()
    cache.chmod(0o755)
    assert cache_folder() == cache
    assert mode(cache) == 0o700


@pytest.mark.parametrize("writable", [0o770, 0o702, 0o777])
def test_a_folder_that_others_may_write_is_not_used(cache, writable):
    cache.mkdir()
    cache.chmod(writable)
    with pytest.raises(ValueError, match=r"other users may write into .*chmod 700"):
        cache_folder()
    cache.chmod(0o700)
    assert cache_folder() == cache


def test_a_folder_of_another_user_is_not_used(cache, monkeypatch):
    cache.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: cache.stat().st_uid + 1)
    with pytest.raises(ValueError, match=r"belongs to another user.*set XDG_CACHE_HOME="):
        cache_folder()


def test_whose_file_it_is(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.touch(0o644)
    assert is_own_file(file.stat())
    file.chmod(0o664)
    assert not is_own_file(file.stat())
    file.chmod(0o644)
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    assert not is_own_file(file.stat())


@pytest.mark.parametrize("command", [["search", "open a door"], ["index", "."]])
def test_a_command_says_in_one_line_that_others_may_write(tmp_path, cache, command):
    cache.mkdir()
    cache.chmod(0o777)
    (tmp_path / "a.py").write_text("def open_door():\n    pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *command],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"galm: other users may write into {cache}")
    assert done.stderr.count("\n") == 1


@pytest.fixture
def odd_things(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to device").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize("name", ["pipe", "folder", "to device", "loop", "absent", "folder/x", "/dev/zero"])
@pytest.mark.parametrize("read", [read_whole, lambda path: read_regular(path, 5), open_regular])
def test_what_is_no_file_is_refused_at_once(odd_things, name, read):
    with pytest.raises(OSError, match=r".") as refused:
        read(odd_things / name)
    assert refused.value.strerror
    assert refused.value.filename == str(odd_things / name)


def test_links_are_followed_where_that_is_meant(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    assert read_whole(tmp_path / "link") == b"12345"
    assert read_regular(tmp_path / "link", 2, follow=True)[0] == b"12"
    with pytest.raises(OSError, match="symbolic link"):
        read_regular(tmp_path / "link", 2)
    assert read_regular(tmp_path / "file", 99)[0] == b"12345"
