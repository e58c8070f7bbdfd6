"""R files and licences out of folders, Debian packages and tars; hostile and damaged ones are refused in one line."""

import gzip
import io
import shutil
import subprocess
import tarfile

import pytest

from data_prep.gencodesearchnet import r_corpus
from data_prep.gencodesearchnet.r_corpus import licence_of, read_package
from data_prep.sources import archives

R = {"tests/b.R": b"# fit the model\nm <- lm(y)\n", "demo/a.r": b"x <- 1 # \xff\n"}
OTHERS = {"README": b"none", "data/a.Rd": b"none"}
PACKED = gzip.compress(b"# show the model\nprint(m)\n")
DESCRIPTION = b"Package: lme4\nVersion: 1.1-31\nLicense: GPL (>= 2)\n"
BY_DEBIAN = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lme4

Files: *
Copyright: 2003 Someone
License: GPL-2+

Files: debian/*
Copyright: 2003 Someone else
License: MIT

Files: inst/a.js inst/b.js
License: CC-BY-SA-3.0

License: GPL-2+
 This program is free software.
"""
needs_dpkg = pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs dpkg-deb")


def write(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def debian(folder, files, name="r-cran-lme4"):
    root = write(folder / "root", files)
    (root / "DEBIAN").mkdir()
    control = (
        f"Package: {name}\nVersion: 1:1.1-31-1\nArchitecture: all\nMaintainer: N <n@example.org>\nDescription: x\n"
    )
    (root / "DEBIAN" / "control").write_text(control)
    path = folder / f"{name}_1.1-31-1_all.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", root, path], check=True, capture_output=True)
    return path


def refusal(path):
    with pytest.raises(ValueError, match=path.name) as caught:
        read_package(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@needs_dpkg
def test_a_debian_package_tells_name_version_and_licence(tmp_path):
    place = "usr/lib/R/site-library/lme4/"
    files = {place + name: data for name, data in (R | OTHERS).items()}
    files |= {place + "DESCRIPTION": DESCRIPTION, "usr/share/doc/r-cran-lme4/tests/c.R.gz": PACKED}
    path = debian(tmp_path, files | {"usr/share/doc/r-cran-lme4/copyright": BY_DEBIAN.encode()})
    found = read_package(path)
    assert (found.name, found.version, found.licence) == ("r-cran-lme4", "1:1.1-31-1", "GPL-2+; CC-BY-SA-3.0")
    expected = {place + name: R[name] for name in sorted(R)}
    expected["usr/share/doc/r-cran-lme4/tests/c.R.gz"] = b"# show the model\nprint(m)\n"
    assert list(found.files.items()) == list(expected.items())
    assert found.left_out == {}


@needs_dpkg
def test_damaged_debian_packages_are_refused(tmp_path):
    path = debian(tmp_path, {"usr/a.R": bytes(range(256)) * 400})
    whole = path.read_bytes()
    path.write_bytes(whole[:-200])
    assert "is damaged" in refusal(path)
    path.write_bytes(whole[:30])
    assert "cannot be read as a Debian package" in refusal(path)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_tells_its_name_and_r_s_own_licence(tmp_path, mode):
    members = {f"lme4/{name}": data for name, data in (R | OTHERS | {"DESCRIPTION": DESCRIPTION}).items()}
    members["lme4/tests/inner/DESCRIPTION"] = b"License: another\n"
    found = read_package(tar(tmp_path / "lme4_1.1-31.tar.gz", members, mode))
    assert (found.name, found.version, found.licence) == ("lme4", "1.1-31", "GPL (>= 2)")
    assert found.files == {f"lme4/{name}": data for name, data in R.items()}
    assert list(found.files) == sorted(found.files)


def test_a_folder_is_read_in_path_order(tmp_path):
    folder = write(tmp_path / "studies", R | OTHERS | {"z.R.gz": PACKED, "bad.R.gz": b"none"})
    (folder / "link.R").symlink_to(folder / "demo" / "a.r")
    found = read_package(folder)
    assert (found.name, found.version, found.licence) == ("studies", "", "")
    assert list(found.files) == ["demo/a.r", "tests/b.R", "z.R.gz"]
    assert found.left_out == {"link.R": "a link, not followed", "bad.R.gz": "no gzip file of up to 16 MiB"}


@pytest.mark.parametrize("name", ["../a.R", "a/../../b.R", "/etc/a.R", "..\\a.R"])
def test_members_that_point_outside_are_refused(tmp_path, name):
    assert "points outside" in refusal(tar(tmp_path / "p_1.tar.gz", R | {name: b"x"}))


def test_links_in_a_tar_are_not_followed(tmp_path):
    path = tmp_path / "p_1.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("a.R")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    found = read_package(path)
    assert (found.files, found.left_out) == ({}, {"a.R": "a link, not followed"})


def test_bombs_are_refused(tmp_path, monkeypatch):
    noughts = bytes(8 << 20)
    assert "more than 200 times its size" in refusal(tar(tmp_path / "a.tar.xz", {"a": noughts}, "w:xz"))
    monkeypatch.setattr(archives, "MAX_MEMBERS", 1)
    assert "more than 1 members" in refusal(tar(tmp_path / "b.tar.gz", R))


def test_more_than_is_held_in_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(r_corpus, "MAX_KEPT_BYTES", 100_000)
    packed = {f"{number}.R.gz": gzip.compress(bytes(40_000)) for number in range(3)}
    assert "have more than 100,000 bytes" in refusal(tar(tmp_path / "a.tar", packed, "w"))
    del packed["2.R.gz"]
    assert len(read_package(tar(tmp_path / "b.tar", packed, "w")).files) == 2


def test_a_long_file_is_left_out(tmp_path, monkeypatch):
    for module in (archives, r_corpus):
        monkeypatch.setattr(module, "MAX_FILE_BYTES", 1000)
    files = {"a.R": b"x" * 1001, "b.R.gz": gzip.compress(b"x" * 1001), "c.R": b"x" * 1000}
    for path in (tar(tmp_path / "a.tar", files), write(tmp_path / "folder", files)):
        found = read_package(path)
        assert (list(found.files), list(found.left_out)) == (["c.R"], ["a.R", "b.R.gz"])


def test_an_absurd_header_is_refused(tmp_path):
    member = tarfile.TarInfo("x")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 2 << 20
    path = tmp_path / "p.tar"
    path.write_bytes(member.tobuf(tarfile.GNU_FORMAT) + b"a" * (2 << 20))
    assert "a header in it has more than" in refusal(path)


def test_what_is_no_package_is_refused(tmp_path):
    assert "does not exist" in refusal(tmp_path / "none")
    (tmp_path / "a.tar").write_bytes(b"no tar at all" * 100)
    assert "neither a directory nor a zip, jar or tar" in refusal(tmp_path / "a.tar")
    path = tar(tmp_path / "cut.tar.gz", {"a.R": bytes(range(256)) * 400})
    path.write_bytes(path.read_bytes()[:-300])
    assert "is damaged" in refusal(path)
    assert archives.MAX_RATIO == 200  # what the bomb above is beyond


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (BY_DEBIAN, "GPL-2+; CC-BY-SA-3.0"),
        ("It was packaged.\n\nLicense: GPL (>= 2)\n\nOn Debian\n\n    License: inner\n", "GPL (>= 2)"),
        ("Files: debian/*\nLicense: MIT\n", "MIT"),
        ("License:\n\n", ""),
        ("nothing", ""),
    ],
)
def test_licences_of_copyright_files(text, licence):
    assert licence_of(text) == licence
