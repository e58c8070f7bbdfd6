import os

import pytest

from data_prep.files.reading import open_regular, read_regular, read_whole


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
