from pathlib import Path

import pytest

from data_prep.files.named_paths import check_file_place, check_folder_place, named_path


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
