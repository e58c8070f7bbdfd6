"""Debian's Java sources: fetched by an apt-get of ours, read from archives of real Java, split by project."""

import functools
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.folders import SAMPLE, DebianSample
from data_prep.prepare import prepare
from data_prep.records import SPLITS
from data_prep.sources import debian_sources
from data_prep.sources.debian_sources import (
    RECORD,
    SourceLists,
    archives_in,
    fetched_archives,
    read_list,
    source_entries,
)
from data_prep.store.prepared_data import PreparedData

PROJECTS = {f"lib{n}-java": "twins" if n < 2 else f"project{n}" for n in range(8)}
APT = """#!{python}
import json, os, pathlib, shutil, sys
mirror, log, told = (pathlib.Path(each) for each in {places!r})
verb = next(word for word in sys.argv if word in ("update", "indextargets", "showsrc", "source"))
packages = [word for word in sys.argv if word.startswith("lib")]
with log.open("a") as file:
    file.write(" ".join([verb, *(word for word in sys.argv if word.startswith("--")), *packages]) + "\\n")
index = json.loads(told.read_text())
if verb == "indextargets":
    print("bookworm-updates\\nbookworm")
elif verb == "showsrc":
    for package in packages:
        print("Package: " + package if package in index else "", flush=True)
elif "--print-uris" in sys.argv:
    for package in packages:
        for name, size, sha256 in index[package]:
            print("'http://mirror.invalid/" + name + "'", name, size, "SHA256:" + sha256)
elif verb == "source":
    for package in packages:
        for name, _, _ in index[package]:
            if not (mirror / name).exists():
                print("W: a warning\\nE: Failed to fetch " + name + "  404  Not Found", file=sys.stderr)
                sys.exit(100)
            shutil.copy(mirror / name, ".")
"""


@pytest.fixture(scope="module")
def java(jdk_zip: Path) -> list[tuple[str, bytes]]:
    """Real source files, those with the most documentation of a package first."""
    with zipfile.ZipFile(jdk_zip) as archive:
        names = [n for n in archive.namelist() if n.startswith("java.base/java/util/") and n.count("/") == 3]
        return [(name.rpartition("/")[2], archive.read(name)) for name in sorted(names) if name.endswith(".java")][:96]


def tar(path: Path, members: list[tuple[str, bytes]]) -> Path:
    with tarfile.open(path, f"w:{path.suffix[1:]}") as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory, java: list[tuple[str, bytes]]) -> Path:
    """An archive of a dozen real files for each of eight packages of seven projects."""
    folder = tmp_path_factory.mktemp("archives")
    for number, package in enumerate(PROJECTS):
        files = [(f"{package}-1.{number}/src/{name}", data) for name, data in java[12 * number : 12 * number + 12]]
        tar(folder / f"{package}_1.{number}.orig.tar.{('xz', 'gz', 'bz2')[number % 3]}", files)
    return folder


@pytest.fixture
def mirror(tmp_path: Path, archives: Path) -> Path:
    """They, to be changed."""
    return shutil.copytree(archives, tmp_path / "mirror")


@pytest.fixture
def apt(tmp_path: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """An apt-get that hands out the mirror's archives; gives the calls since it was asked last."""
    programs, log = tmp_path / "programs", tmp_path / "calls"
    programs.mkdir()
    index: dict[str, list[tuple[str, int, str]]] = {}
    for path in sorted(mirror.iterdir()):
        data = path.read_bytes()
        index.setdefault(path.name.partition("_")[0], []).append(
            (path.name, len(data), hashlib.sha256(data).hexdigest())
        )
    (tmp_path / "index").write_text(json.dumps(index))
    for name in ("apt-get", "apt-cache"):
        text = APT.format(python=sys.executable, places=[str(mirror), str(log), str(tmp_path / "index")])
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    entries = tmp_path / "etc"
    entries.mkdir()
    (entries / "sources.list").write_text("deb http://mirror.invalid/debian bookworm main\n")
    monkeypatch.setattr(debian_sources, "SourceLists", functools.partial(SourceLists, entries=entries))

    def calls() -> list[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    return calls


def downloads(calls: list[str]) -> list[str]:
    """The packages that were asked for, in order."""
    wanted = (call.split() for call in calls if "--download-only" in call)
    return [word for words in wanted for word in words if word.startswith("lib")]


def one_line(folder: Path) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the callers look at the message
        fetched_archives(folder, PROJECTS)
    assert "\n" not in str(caught.value)
    assert "--data.path=" in str(caught.value)
    return str(caught.value)


def test_all_are_fetched_once_and_recorded(apt: Callable[[], list[str]], mirror: Path, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    found = fetched_archives(folder, PROJECTS)
    calls = apt()
    assert calls[0] == "update"
    assert downloads(calls) == list(PROJECTS)
    assert (found.release, found.left_out, len(found.archives)) == ("bookworm", {}, 8)
    assert {each.package: each.project for each in found.archives} == PROJECTS
    assert [each.version for each in found.archives] == [f"1.{n}" for n in range(8)]
    record = json.loads((folder / RECORD).read_text())
    for each in record["archives"]:
        data = (folder / each["name"]).read_bytes()
        assert data == (mirror / each["name"]).read_bytes()
        assert (each["bytes"], each["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*(path.name for path in mirror.iterdir()), "apt", RECORD]
    )
    assert fetched_archives(folder, PROJECTS) == found
    assert apt() == []


def test_a_cut_download_goes_on(apt: Callable[[], list[str]], mirror: Path, tmp_path: Path) -> None:
    folder, archives = tmp_path / "raw", sorted(mirror.iterdir())
    (folder / "arriving").mkdir(parents=True)
    (folder / archives[0].name).write_bytes(archives[0].read_bytes())  # whole
    (folder / "arriving" / archives[1].name).write_bytes(archives[1].read_bytes())  # whole, not yet in place
    (folder / "arriving" / archives[2].name).write_bytes(archives[2].read_bytes()[:99])  # cut
    (folder / archives[3].name).write_bytes(archives[3].read_bytes()[:-1] + b"?")  # damaged
    assert len(fetched_archives(folder, PROJECTS).archives) == 8
    assert downloads(apt()) == list(PROJECTS)[2:]
    assert all((folder / each.name).read_bytes() == each.read_bytes() for each in archives)
    (folder / archives[5].name).unlink()
    fetched_archives(folder, PROJECTS)
    assert downloads(apt()) == ["lib5-java"]


def test_one_that_cannot_be_had_is_left_out_and_named(
    apt: Callable[[], list[str]], mirror: Path, tmp_path: Path
) -> None:
    next(mirror.glob("lib4-java*")).unlink()
    found = fetched_archives(tmp_path / "raw", PROJECTS)
    assert found.left_out == {"lib4-java": "E: Failed to fetch lib4-java_1.4.orig.tar.gz  404  Not Found"}
    assert len(found.archives) == 7
    apt()
    assert fetched_archives(tmp_path / "raw", PROJECTS) == found
    assert apt() == []


@pytest.mark.usefixtures("apt")
def test_unknown_packages_are_left_out_unless_they_are_many(tmp_path: Path) -> None:
    found = fetched_archives(tmp_path / "raw", PROJECTS | {"libnew-java": "new"})
    assert found.left_out == {"libnew-java": "unknown in this release"}
    with pytest.raises(ValueError, match=r"3 of 11 Java source packages are not available \(libnew0-java, .*bookworm"):
        fetched_archives(tmp_path / "raw", PROJECTS | {f"libnew{n}-java": "new" for n in range(3)})


def test_another_checksum_than_the_lists_is_not_taken(
    apt: Callable[[], list[str]], mirror: Path, tmp_path: Path
) -> None:
    path = next(mirror.glob("lib6-java*"))
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    found = fetched_archives(tmp_path / "raw", PROJECTS)
    assert found.left_out == {"lib6-java": "arrives with another checksum than the release's"}
    assert downloads(apt()).count("lib6-java") == 1
    assert not (tmp_path / "raw" / path.name).exists()


def test_without_a_network_it_stops_soon_and_keeps_what_came(
    apt: Callable[[], list[str]], mirror: Path, tmp_path: Path
) -> None:
    for path in sorted(mirror.iterdir())[2:]:
        path.unlink()
    assert "E: Failed to fetch lib4-java" in one_line(tmp_path / "raw")
    assert downloads(apt()) == list(PROJECTS)[:5]  # three in vain
    assert len(list((tmp_path / "raw").glob("*.orig.tar.*"))) == 2
    assert not (tmp_path / "raw" / RECORD).exists()


@pytest.mark.usefixtures("apt")
def test_lists_without_sources_say_what_to_add(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("{}")
    assert "none of 8 Java source packages (no deb-src)" in (message := one_line(tmp_path / "raw"))
    assert "a file in /etc/apt/sources.list.d/ with a copy of its `deb` line that begins with `deb-src`" in message
    (tmp_path / "etc" / "sources.list").unlink()
    assert "names no Debian repository" in one_line(tmp_path / "other")


@pytest.mark.usefixtures("apt")
def test_where_there_is_no_apt_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert one_line(tmp_path / "raw").startswith("there is no apt-get here")


def test_entries_of_both_formats_become_deb_src(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(
        "# deb http://a.invalid off main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://a.invalid/debian bookworm main contrib\n"
        "deb-src [arch=amd64 signed-by=/k.gpg] http://a.invalid/debian bookworm main contrib\n"
        "deb http://b.invalid/tool stable cli\n"
    )
    (tmp_path / "sources.list.d" / "debian.sources").write_text(
        "Types: deb\n# a remark\nURIs: http://c.invalid\nSuites: x\nComponents: main\nSigned-By: /k.gpg\n\n"
        "Enabled: no\nTypes: deb\nURIs: http://d.invalid\nSuites: x\nComponents: main\n"
    )
    assert source_entries(tmp_path) == {
        "list": "deb-src [arch=amd64 signed-by=/k.gpg] http://a.invalid/debian bookworm main contrib\n",
        "sources": "Types: deb-src\nURIs: http://c.invalid\nSuites: x\nComponents: main\nSigned-By: /k.gpg\n",
    }
    assert source_entries(tmp_path / "none") == {}


def test_the_sample_is_six_packages() -> None:
    projects = read_list(SAMPLE)
    assert (len(projects), len(set(projects.values()))) == (6, 6)
    assert projects["libjoda-time-java"] == "joda-time"


@pytest.mark.parametrize("line", ["lucene", "a b c", "a lib/../x", "twice lib1-java\ntwice lib1-java"])
def test_a_list_with_a_wrong_line_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "list.txt").write_text(f"# remark\n\n{line}\n")
    with pytest.raises(ValueError, match=r"list\.txt:[34]: expected a project and a package"):
        read_list(tmp_path / "list.txt")


def test_names_of_archives_are_understood(tmp_path: Path) -> None:
    names = ["bb_2.orig-extra.tar.gz", "bb_2.orig.tar.gz", "native_1~rc1.tar.xz"]
    for name in [*names, "bb_2-1.debian.tar.xz", "bb_2-1.dsc", "bb_2.orig.tar.gz.asc", "notes.tar.gz"]:
        (tmp_path / name).write_bytes(b"")
    found = archives_in(tmp_path, {"bb": "bee", "cc": "sea"})
    assert [(each.project, each.package, each.version, each.part) for each in found.archives] == [
        ("bee", "bb", "2", "extra"), ("bee", "bb", "2", ""), ("native", "native", "1~rc1", ""),
    ]  # fmt: skip
    assert found.left_out == {"cc": "not in the folder"}


@pytest.fixture
def short_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "packages.txt"
    path.write_text("".join(f"{project} {package}\n" for package, project in PROJECTS.items()))
    monkeypatch.setattr(DebianSample, "packages", path)


def prepared(config: DataConfig) -> PreparedData:
    return prepare("debian_sample", config, command="prepare debian_sample", say=lambda _: None)


@pytest.mark.usefixtures("short_list")
def test_it_is_prepared_by_whole_projects(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    config = DataConfig(root=str(tmp_path / "data"), processes=1, valid_share=0.2, test_share=0.2)
    data = prepared(config)
    about, manifest = data.manifest["about"], data.manifest
    assert (manifest["origin"], about["release"], about["projects"], len(about["packages"])) == (
        "debian-bookworm", "bookworm", 7, 8,
    )  # fmt: skip
    assert len(manifest["sources"]["inputs"]) == 9
    sides = {}
    for name in SPLITS:
        split = data.splits[name]
        origins = [split.text(row).origin for row in range(len(split))]
        assert len(origins) > 20
        sides[name] = {origin.partition("/")[0] for origin in origins}
        assert {project: sum(o.startswith(f"{project}/") for o in origins) for project in sides[name]} == manifest[
            "pairs_of_projects"
        ][name]
    assert sum(map(len, sides.values())) == len(set().union(*sides.values())) == 7
    assert data.splits["train"].text(0).origin in {f"{p}/{n}_1.{i}" for i, (n, p) in enumerate(PROJECTS.items())}
    apt()
    assert prepared(config).manifest == manifest
    assert apt() == []


@pytest.mark.usefixtures("short_list")
def test_a_hostile_archive_is_left_out_and_named(mirror: Path, tmp_path: Path) -> None:
    hostile = tar(mirror / "evil_1.orig.tar.gz", [("a/A.java", b"class A { }"), ("../../B.java", b"class B { }")])
    (mirror / "cut_1.orig.tar.xz").write_bytes(next(mirror.glob("lib0*")).read_bytes()[:-400])
    config = DataConfig(path=str(mirror), root=str(tmp_path / "data"), processes=1, valid_share=0.2, test_share=0.2)
    left_out = prepared(config).manifest["about"]["archives_left_out"]
    assert sorted(left_out) == ["cut_1.orig.tar.xz", "evil_1.orig.tar.gz"]
    assert "points outside the archive" in left_out[hostile.name]
    assert "is damaged" in left_out["cut_1.orig.tar.xz"]
    assert not (tmp_path / "B.java").exists()
    (mirror / "none_1.orig.tar.gz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"3 of 11 archives cannot be read"):
        prepared(config)


@pytest.mark.usefixtures("short_list")
def test_links_in_an_archive_are_not_followed(mirror: Path) -> None:
    with tarfile.open(mirror / "linked_1.tar.gz", "w:gz") as archive:
        link = tarfile.TarInfo("linked/Secret.java")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        member = tarfile.TarInfo("linked/A.java")
        member.size = 11
        archive.addfile(member, io.BytesIO(b"class A { }"))
    source = DebianSample(DataConfig(path=str(mirror)))
    paths = [(file.origin, file.path) for file in source.java_files()]
    assert ("linked/linked_1", "linked/A.java") in paths
    assert source.left_out == [("linked/linked_1/linked/Secret.java", "a link, not followed")]


@pytest.mark.usefixtures("short_list")
def test_parts_of_a_package_keep_their_paths_apart(tmp_path: Path) -> None:
    for part in ("", "-extra"):
        tar(tmp_path / f"lib0-java_1.orig{part}.tar.xz", [("x/A.java", b"class A { }")])
    files = [(file.origin, file.path) for file in DebianSample(DataConfig(path=str(tmp_path))).java_files()]
    assert files == [("twins/lib0-java_1", "x/A.java"), ("twins/lib0-java_1", "extra/x/A.java")]
