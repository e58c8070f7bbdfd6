"""Which JDK's sources are taken, and how they come from a Debian package; on made-up homes with real Java in them."""

import hashlib
import http.server
import io
import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets import jdk
from data_prep.datasets.jdk import Jdk, choose, find_sources, homes
from data_prep.sources import package_downloads
from data_prep.sources import package_downloads as programs
from data_prep.sources.download import Remote
from data_prep.sources.package_downloads import ARCHIVE, NAME, fetch_package, unpack_package
from tests.local_server import Asked, send, serving

MakeHome = Callable[..., Path]
PACKAGE = "openjdk-17-source_17.0.21+9-1~deb12u1_all.deb"


@pytest.fixture
def make_home(tmp_path: Path, jdk_zip: Path) -> MakeHome:
    """Makes a JDK home with one real source file in its src.zip."""
    with zipfile.ZipFile(jdk_zip) as archive:
        source = archive.read("java.base/java/util/Objects.java")

    def make(name: str, release: str = "", zip_name: str = "lib/src.zip") -> Path:
        home = tmp_path / "jvm" / name
        (home / zip_name).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(home / zip_name, "w") as archive:
            archive.writestr("java.base/java/util/Objects.java", source)
        if release:
            (home / "release").write_text(f'IMPLEMENTOR="N/A"\nJAVA_VERSION="{release}"\n')
        return home

    return make


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as closed:
        nowhere = f"http://127.0.0.1:{closed.server_port}/{NAME}"
    monkeypatch.setattr(package_downloads, "ARCHIVE", Remote(nowhere))
    monkeypatch.setattr("time.sleep", lambda _: None)


@pytest.fixture
def no_jdk(monkeypatch: pytest.MonkeyPatch, no_network: None) -> None:  # noqa: ARG001
    monkeypatch.setattr(jdk, "homes", lambda _: [])


def chosen(*places: Path) -> tuple[str, str]:
    found = choose(find_sources(places))
    assert found is not None
    return next(part for part in found.zip.parts[::-1] if part not in ("src.zip", "lib")), found.release


def test_reference_release_then_newest_then_path(make_home: MakeHome) -> None:
    old, eight = make_home("java-11-openjdk", "11.0.20"), make_home("jdk8", "1.8.0_392", "src.zip")
    new, reference, later = make_home("temurin-25", "25.0.3"), make_home("a17", "17.0.9"), make_home("b17", "17.0.10")
    assert chosen(old, new, eight) == ("temurin-25", "25.0.3")
    assert chosen(eight, old) == ("java-11-openjdk", "11.0.20")
    assert chosen(new, reference, old) == ("a17", "17.0.9")
    assert chosen(reference, later, new) == chosen(new, later, reference) == ("b17", "17.0.10")
    twin = make_home("c17", "17.0.10")
    assert chosen(twin, later) == chosen(later, twin) == ("b17", "17.0.10")


def test_links_to_nothing_are_no_sources(make_home: MakeHome, tmp_path: Path) -> None:
    runtime = tmp_path / "jvm" / "java-17-openjdk-amd64"
    (runtime / "lib").mkdir(parents=True)
    (runtime / "lib" / "src.zip").symlink_to("../../openjdk-17/src.zip")
    (runtime / "release").write_text('JAVA_VERSION="17.0.20"\n')
    broken = make_home("broken", "21")
    (broken / "lib" / "src.zip").write_text("no zip")
    assert find_sources([runtime, broken, tmp_path / "none"]) == []
    real = make_home("openjdk-17")
    (real / "src.zip").symlink_to("lib/src.zip")
    assert [(each.zip, each.release) for each in find_sources([real, runtime])] == [
        ((real / "lib" / "src.zip").resolve(), "17.0.20")  # one file, and the home with a release file names it
    ]


@pytest.mark.parametrize(
    ("name", "release", "origin"),
    [
        ("plain", "25.0.3", "jdk-25.0.3"),
        ("jdk8", "1.8.0_392", "jdk-8.0.392"),
        ("java-17-openjdk-amd64", "", "jdk-17"),
        ("java-1.17.0-openjdk-amd64", "", "jdk-17.0"),
        ("17.0.9-tem", "", "jdk-17.0.9"),
        ("zulu-21.jdk", "", "jdk-21"),
        ("project2", "", "jdk"),
    ],
)
def test_origin_names_the_release(make_home: MakeHome, name: str, release: str, origin: str) -> None:
    home = make_home(name, release)
    for path in (home, home / "lib" / "src.zip"):
        source = Jdk(DataConfig(path=str(path)))
        assert source.origin() == origin
        assert [(file.origin, file.path) for file in source.java_files()] == [
            (origin, "java.base/java/util/Objects.java")
        ]
        assert source.inputs() == [home / "lib" / "src.zip"]


def test_homes_are_looked_for_where_they_lie(make_home: MakeHome, tmp_path: Path) -> None:
    home = make_home("jdk-21")
    (home / "bin").mkdir()
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    (home / "bin" / "java").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    sdk = tmp_path / ".sdkman" / "candidates" / "java" / "17.0.9-tem"
    sdk.mkdir(parents=True)
    places = homes({"JAVA_HOME": "/some/jdk", "HOME": str(tmp_path), "PATH": str(tmp_path / "bin")})
    assert places[0] == Path("/some/jdk")
    assert sdk in places
    assert home.resolve() in places
    assert homes({"PATH": ""}) == [each for each in places if each.parent == Path("/usr/lib/jvm")] + [
        each for each in places if each.name == "Home"
    ]


@pytest.mark.parametrize("name", ["none", "folder", "file.txt", "file.deb"])
def test_path_without_sources_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    for file in ("file.txt", "file.deb"):
        (tmp_path / file).write_text("x")
    with pytest.raises(ValueError, match=r"--data\.path=, a src.zip") as caught:
        Jdk(DataConfig(path=str(tmp_path / name), root=str(tmp_path / "data"))).inputs()
    assert "\n" not in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


def make_package(home: Path, folder: Path) -> Path:
    """A real Debian package of a home's sources."""
    root = folder / "package"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN" / "control").write_text(
        "Package: openjdk-17-source\nVersion: 17.0.21+9-1~deb12u1\nArchitecture: all\n"
        "Maintainer: N. N. <n@example.org>\nDescription: sources\n"
    )
    target = root / "usr" / "lib" / "jvm" / "openjdk-17" / "lib"
    target.mkdir(parents=True)
    shutil.copy(home / "lib" / "src.zip", target)
    subprocess.run(["dpkg-deb", "--build", str(root), str(folder / PACKAGE)], check=True, capture_output=True)
    shutil.rmtree(root)
    return folder / PACKAGE


needs_dpkg = pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs dpkg-deb")


@needs_dpkg
def test_package_is_unpacked_once(make_home: MakeHome, tmp_path: Path) -> None:
    package = make_package(make_home("any"), tmp_path)
    config = DataConfig(path=str(package), root=str(tmp_path / "data"))
    source = Jdk(config)
    kept = tmp_path / "data" / "raw" / "jdk" / "openjdk-17-source_17.0.21+9-1~deb12u1"
    assert source.inputs() == [(kept / "src.zip").resolve()]
    assert source.origin() == "jdk-17.0.21"
    assert len(list(source.java_files())) == 1
    assert sorted(each.name for each in kept.iterdir()) == ["release", "src.zip"]
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]
    before = (kept / "src.zip").stat().st_mtime_ns
    assert Jdk(config).inputs() == source.inputs()
    assert (kept / "src.zip").stat().st_mtime_ns == before


@needs_dpkg
def test_package_without_sources_leaves_nothing(make_home: MakeHome, tmp_path: Path) -> None:
    home = make_home("any")
    (home / "lib" / "src.zip").write_text("no zip")
    package = make_package(home, tmp_path)
    with pytest.raises(ValueError, match=r"contains no lib/src\.zip"):
        unpack_package(package, tmp_path / "kept")
    assert not list((tmp_path / "kept").iterdir())


@pytest.fixture
def fake_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts an apt-get of the given shell text first on PATH; returns the log of its calls."""
    programs = tmp_path / "programs"
    programs.mkdir()

    def install(text: str) -> Path:
        log = tmp_path / "calls"
        (programs / "apt-get").write_text(
            f'#!/bin/sh\nfor last; do verb=$before; before=$last; done\necho "$verb $last" >> {log}\n{text}\n'
        )
        (programs / "apt-get").chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        return log

    return install


@needs_dpkg
@pytest.mark.usefixtures("no_jdk")
def test_without_a_jdk_the_package_is_fetched(
    make_home: MakeHome, tmp_path: Path, fake_apt: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = make_package(make_home("any"), tmp_path)
    log = fake_apt(f'case "$last" in update) exit 100;; *) cp {package} . ;; esac')
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    config = DataConfig(root=str(tmp_path / "data"))
    source = Jdk(config)
    assert source.origin() == "jdk-17.0.21"
    assert len(list(source.java_files())) == 1
    assert [call.split()[-1] for call in log.read_text().splitlines()] == ["update", "openjdk-17-source"]
    assert Jdk(config).inputs() == source.inputs()  # kept: not fetched again
    assert len(log.read_text().splitlines()) == 2
    assert len(list((tmp_path / "data" / "raw" / "jdk").iterdir())) == 1


@needs_dpkg
@pytest.mark.usefixtures("no_jdk")
def test_who_may_not_refresh_the_lists_does_not_try(
    make_home: MakeHome, tmp_path: Path, fake_apt: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = make_package(make_home("any"), tmp_path)
    log = fake_apt(f"cp {package} .")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    fetch_package(tmp_path / "kept")
    assert log.read_text() == "download openjdk-17-source\n"


@needs_dpkg
@pytest.mark.usefixtures("no_jdk")
def test_next_package_is_tried_only_where_there_is_no_such_one(
    tmp_path: Path, fake_apt: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    log = fake_apt('echo "E: Unable to locate package $last" >&2; exit 100')
    with pytest.raises(ValueError, match="Unable to locate package openjdk-25-source"):
        fetch_package(tmp_path / "kept")
    assert len(log.read_text().splitlines()) == 3
    log.unlink()
    fake_apt('echo "E: Failed to fetch it  404  Not Found" >&2; exit 100')
    with pytest.raises(ValueError, match="apt-get download openjdk-17-source says: E: Failed to fetch it") as caught:
        Jdk(DataConfig(root=str(tmp_path / "data"))).inputs()
    assert "\n" not in str(caught.value)
    assert "install a JDK with its sources" in str(caught.value)
    assert len(log.read_text().splitlines()) == 1
    assert not list((tmp_path / "data" / "raw" / "jdk").iterdir())


@pytest.mark.usefixtures("no_jdk")
def test_where_there_is_no_apt_one_line_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"no JDK on this machine has a lib/src.zip; http://127") as caught:
        Jdk(DataConfig(root=str(tmp_path / "data"))).inputs()
    assert "\n" not in str(caught.value)
    assert str(caught.value).count("install a JDK with its sources") == 1


@pytest.fixture
def archive(jdk_zip: Path) -> bytes:
    """A tag's archive as GitHub packs it, with a real class in each part of a module."""
    with zipfile.ZipFile(jdk_zip) as sources:
        source = sources.read("java.base/java/util/Objects.java")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for part in ("share", "unix", "linux", "macosx", "windows", "aix"):
            add(tar, f"src/java.base/{part}/classes/java/util/{part.title()}.java", source)
        for name in ("src/demo/share/jfc/A.java", "test/jdk/A.java", "make/A.java", "src/java.base/share/data/A.java"):
            add(tar, name, source)
    return packed.getvalue()


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(f"jdk17u-jdk-17.0.19-ga/{name}")
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


@pytest.fixture
def github(archive: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """A server with the archive, sent on as GitHub does, in parts of a length that is not told beforehand."""

    def answer(handler: http.server.BaseHTTPRequestHandler, _: Asked) -> None:
        if not handler.path.startswith("/codeload"):
            send(handler, 302, Location=f"/codeload{handler.path}")
            return
        handler.send_response(200)
        handler.send_header("ETag", 'W/"abc"')
        handler.end_headers()
        handler.wfile.write(archive)

    with serving(answer) as asked:
        url = f"http://127.0.0.1:{asked.port}/{NAME}"
        monkeypatch.setattr(package_downloads, "ARCHIVE", Remote(url, sha256=hashlib.sha256(archive).hexdigest()))
        yield asked


def test_the_archive_is_pinned() -> None:
    assert ARCHIVE.url == "https://github.com/openjdk/jdk17u/archive/refs/tags/jdk-17.0.19-ga.tar.gz"
    assert ARCHIVE.sha256 is not None
    assert len(bytes.fromhex(ARCHIVE.sha256)) == 32


def test_without_jdk_and_apt_the_archive_is_read(
    no_jdk: None,  # noqa: ARG001 - before github, which replaces its address
    github: Asked,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    config = DataConfig(root=str(tmp_path / "data"))
    source = Jdk(config)
    assert source.inputs() == [tmp_path / "data" / "raw" / "jdk" / NAME]
    assert source.origin() == "jdk-17.0.19-ga"
    assert [file.path for file in source.java_files()] == [
        f"java.base/java/util/{part}.java" for part in ("Linux", "Share", "Unix")
    ]
    assert Jdk(config).inputs() == source.inputs()  # kept: not fetched again
    assert len(github.requests) == 2
    named = Jdk(DataConfig(path=str(source.inputs()[0])))
    assert [file.path for file in named.java_files()] == [file.path for file in source.java_files()]
    assert named.origin() == "jdk-17.0.19-ga"


def test_release_17_is_the_archive_everywhere(make_home: MakeHome, github: Asked, tmp_path: Path) -> None:
    place = [make_home("jdk17", "17.0.9"), make_home("jdk21", "21.0.1")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jdk, "homes", lambda _: place)
        of = {each: Jdk(DataConfig(root=str(tmp_path), release=each)).origin() for each in ("", "17", "17.0.9", "21")}
    assert of == {"": "jdk-17.0.9", "17": "jdk-17.0.19-ga", "17.0.9": "jdk-17.0.9", "21": "jdk-21.0.1"}
    assert len(github.requests) == 2


def test_a_mirror_has_the_archive_too(github: Asked, tmp_path: Path) -> None:
    mirror = f"http://127.0.0.1:{github.port}/codeload/our/"
    Jdk(DataConfig(root=str(tmp_path), release="17", mirror=mirror)).inputs()
    assert github.requests == [("GET", f"/codeload/our/{NAME}")]


@pytest.mark.usefixtures("no_network")
def test_without_the_archive_other_sources_of_the_release_are_taken_with_a_warning(
    make_home: MakeHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home = make_home("jdk17", "17.0.9")
    monkeypatch.setattr(jdk, "homes", lambda _: [home])
    assert Jdk(DataConfig(root=str(tmp_path), release="17")).origin() == "jdk-17.0.9"
    assert "other sources of the release have other methods" in caplog.text
    for release in ("17.0.19", "11.0.2"):
        with pytest.raises(ValueError, match="install a JDK with its sources") as caught:
            Jdk(DataConfig(root=str(tmp_path), release=release)).inputs()
        assert "\n" not in str(caught.value)


def test_an_archive_with_another_checksum_is_not_read(
    github: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_downloads, "ARCHIVE", Remote(f"http://127.0.0.1:{github.port}/{NAME}", sha256="0" * 64))
    with pytest.raises(ValueError, match=r"instead of 0000.*nothing was saved"):
        Jdk(DataConfig(root=str(tmp_path), release="17.0.19")).inputs()
    assert not list((tmp_path / "raw" / "jdk").glob("*"))


@pytest.mark.parametrize("release", ["17u", "seventeen", "17.", "../17", "-17", "17 "])
def test_a_release_is_numbers(release: str) -> None:
    with pytest.raises(ValueError, match=r"--data\.release takes a release such as 17 or 17\.0\.19"):
        DataConfig(release=release)


def test_path_and_release_that_contradict_are_one_line(make_home: MakeHome) -> None:
    home = make_home("jdk21", "21.0.1")
    assert Jdk(DataConfig(path=str(home), release="21")).origin() == "jdk-21.0.1"
    with pytest.raises(ValueError, match=r"is of release 21\.0\.1, not of --data\.release=17: leave one of the two"):
        Jdk(DataConfig(path=str(home), release="17")).inputs()


@pytest.mark.network
@needs_dpkg
@pytest.mark.skipif(not shutil.which("apt-get"), reason="needs apt-get")
def test_the_real_package_has_the_real_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_SECONDS", 60)
    try:
        home = fetch_package(tmp_path)
    except ValueError as error:
        pytest.skip(f"apt-get cannot download here: {error}")
    source = Jdk(DataConfig(path=str(home)))
    assert source.origin().startswith("jdk-17.0.")
    with zipfile.ZipFile(home / "src.zip") as archive:
        assert "java.base/java/lang/String.java" in archive.namelist()
        assert len(archive.namelist()) > 15_000
