"""Java sources come out of directories and archives alike; hostile and damaged archives are refused in one line."""

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from data_prep.records import SourceFile
from data_prep.sources import archives
from data_prep.sources.archives import read_java_files

SOURCES = {
    "b/Z.java": b"class Z {}",
    "a/A.java": b"class A { /* \xff */ }",
    "a-b/C.java": b"",
    "a/b/c/D.java": b"class D {}" * 1000,
}
OTHERS = {"a/readme.txt": b"none", "a/A.javac": b"none"}


def as_directory(path: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)


def as_zip(path: Path, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def as_tar(mode: str) -> Callable[[Path, Mapping[str, bytes]], None]:
    def write(path: Path, files: Mapping[str, bytes]) -> None:
        with tarfile.open(path, mode) as archive:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))

    return write


KINDS = {
    "directory": as_directory,
    "zip": as_zip,
    **{
        kind: as_tar(f"w{kind.removeprefix('tar').replace('.', ':')}")
        for kind in ("tar", "tar.gz", "tar.bz2", "tar.xz")
    },
}


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match=path.name) as caught:
        list(read_java_files(path, "x", print))
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_files_in_path_order(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "unnamed"  # the kind is seen from the content
    KINDS[kind](path, SOURCES | OTHERS)
    assert list(read_java_files(path, "x", print)) == [SourceFile("x", name, SOURCES[name]) for name in sorted(SOURCES)]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_read_is_said(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "few", OTHERS)
    assert "contains no readable .java file" in refused(tmp_path / "few")


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    (tmp_path / "A.java").write_text("class A {}")
    assert "neither a directory nor" in refused(tmp_path / "A.java")
    assert "does not exist" in refused(tmp_path / "missing")


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
@pytest.mark.parametrize("name", ["../x.java", "a/../../x.java", "/etc/x.java", "C:\\x.java", "..\\x.java"])
def test_paths_that_point_outside_are_refused(tmp_path: Path, kind: str, name: str) -> None:
    KINDS[kind](tmp_path / "evil", SOURCES | {name: b"class X {}"})
    assert "points outside" in refused(tmp_path / "evil")
    assert not list(tmp_path.parent.glob("*.java"))


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.xz"])
def test_bombs_are_refused(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "bomb", {"Bomb.java": bytes(8 << 20)})
    assert (tmp_path / "bomb").stat().st_size < 20_000
    assert "200 times its size" in refused(tmp_path / "bomb")


def test_a_bomb_beside_the_sources_is_refused(tmp_path: Path) -> None:
    as_tar("w:gz")(tmp_path / "bomb", SOURCES | {"zeros.bin": bytes(8 << 20)})
    assert "200 times its size" in refused(tmp_path / "bomb")


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_caps_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    KINDS[kind](tmp_path / "big", SOURCES)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    assert "more than 3 members" in refused(tmp_path / "big")
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MAX_TOTAL_BYTES", 5_000)
    assert "more than 5,000 bytes" in refused(tmp_path / "big")


def test_absurd_headers_are_refused_unread(tmp_path: Path) -> None:
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 1 << 40
    (tmp_path / "evil").write_bytes(header.tobuf(tarfile.USTAR_FORMAT if header.size < 8**11 else tarfile.GNU_FORMAT))
    assert "a header in it has more than" in refused(tmp_path / "evil")


def test_encrypted_zip_is_refused(tmp_path: Path) -> None:
    as_zip(tmp_path / "locked", SOURCES)
    data = bytearray((tmp_path / "locked").read_bytes())
    place = -1
    while (place := data.find(b"PK\x01\x02", place + 1)) >= 0:
        data[place + 8] |= 1  # the flag in the central directory
    (tmp_path / "locked").write_bytes(bytes(data))
    assert "encrypted" in refused(tmp_path / "locked")


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_archives_cut_short_are_refused(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "whole", {f"{n}.java": os.urandom(4_000) for n in range(20)})
    data = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    assert "damaged" in refused(tmp_path / "cut")


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.bz2", "tar.xz"])
def test_flipped_bytes_are_noticed(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "flipped", {f"{n}.java": os.urandom(4_000) for n in range(20)})
    data = bytearray((tmp_path / "flipped").read_bytes())
    data[len(data) // 2] ^= 0x10
    (tmp_path / "flipped").write_bytes(bytes(data))
    assert "damaged" in refused(tmp_path / "flipped")


def test_broken_header_amid_a_tar_is_noticed(tmp_path: Path) -> None:
    as_tar("w")(tmp_path / "broken", {f"{n}.java": bytes(512) for n in range(9)})
    data = bytearray((tmp_path / "broken").read_bytes())
    data[4 * 1024 + 3] ^= 0x10  # in the name of the fifth member
    (tmp_path / "broken").write_bytes(bytes(data))
    assert "damaged" in refused(tmp_path / "broken")


def test_links_and_special_files_are_skipped_and_told(tmp_path: Path) -> None:
    outside = tmp_path / "outside.java"
    outside.write_text("class Secret {}")
    folder = tmp_path / "folder"
    as_directory(folder, {"A.java": b"class A {}", "deep/B.java": b"class B {}"})
    (folder / "Link.java").symlink_to(outside)
    (folder / "Dangling.java").symlink_to(tmp_path / "nothing")
    (folder / "deep" / "loop").symlink_to(folder)
    os.mkfifo(folder / "Pipe.java")
    told: list[tuple[str, str]] = []
    files = list(read_java_files(folder, "x", lambda path, reason: told.append((path, reason))))
    assert [file.path for file in files] == ["A.java", "deep/B.java"]
    assert [path for path, _ in told] == ["Dangling.java", "Link.java", "Pipe.java"]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_links_in_archives_are_skipped_and_told(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "linked"
    if kind == "zip":
        as_zip(path, {"A.java": b"class A {}"})
        link = zipfile.ZipInfo("L.java")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(link, "/etc/passwd")
    else:
        as_tar("w")(path, {"A.java": b"class A {}"})
        member = tarfile.TarInfo("L.java")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        with tarfile.open(path, "a") as archive_tar:
            archive_tar.addfile(member)
    told: list[str] = []
    files = list(read_java_files(path, "x", lambda name, _: told.append(name)))
    assert [file.path for file in files] == ["A.java"]
    assert told == ["L.java"]


@pytest.mark.parametrize("kind", ["directory", "zip", "tar"])
def test_absurdly_long_files_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 9_999)
    KINDS[kind](tmp_path / "long", SOURCES)
    told: list[str] = []
    files = list(read_java_files(tmp_path / "long", "x", lambda name, _: told.append(name)))
    assert told == ["a/b/c/D.java"]
    assert len(files) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_files_are_skipped(tmp_path: Path) -> None:
    as_directory(tmp_path, SOURCES)
    (tmp_path / "a/A.java").chmod(0)
    told: list[str] = []
    assert len(list(read_java_files(tmp_path, "x", lambda name, _: told.append(name)))) == 3
    assert told == ["a/A.java"]


def test_of_two_members_with_one_name_the_last_counts(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "twice", "w") as archive:
        archive.writestr("A.java", "first")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("A.java", "second")
    assert [file.data for file in read_java_files(tmp_path / "twice", "x", print)] == [b"second"]
