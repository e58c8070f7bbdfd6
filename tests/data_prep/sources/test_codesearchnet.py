"""CodeSearchNet's places, as a server on this machine that answers as each of them does."""

import hashlib
import http.server
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from data_prep.config import DataConfig
from data_prep.datasets.csn import Csn
from data_prep.sources import codesearchnet_rows
from data_prep.sources.codesearchnet_rows import ARCHIVES as KNOWN
from data_prep.sources.codesearchnet_rows import places_of_codesearchnet
from tests.data_prep.csn_files import Rows, documented_methods, row_of, write_parquet, write_zip
from tests.local_server import Asked, send, serving

HUB = "/datasets/code-search-net/code_search_net/resolve"
ZENODO = "/records/7857872/files"
REVISION = "fdc6a9e39575768c27eb8a2a5f702bf846eb4759"


@dataclass
class World:
    """What the server has, and how each place behaves."""

    files: dict[str, bytes]  # path -> content
    statuses: dict[str, int] = field(default_factory=dict)  # path -> answer in place of the content
    pages: set[str] = field(default_factory=set)  # paths that are answered by a web page
    cuts: dict[str, int] = field(default_factory=dict)  # path -> bytes after which its first answer is cut
    gone: set[str] = field(default_factory=set)  # paths that answer 403 from their second answer on
    asked: Asked = field(default_factory=Asked)

    def __call__(self, handler: http.server.BaseHTTPRequestHandler, _: Asked) -> None:
        path = handler.path.removeprefix("/cdn")
        if path in self.gone and self.paths.count(path) > 1:
            send(handler, 403)
        elif status := self.statuses.get(path):
            send(handler, status, b"<Error><Code>AccessDenied</Code></Error>", Content_Type="application/xml")
        elif path in self.pages:
            send(handler, 200, b"<html>Log in first</html>", Content_Type="text/html; charset=utf-8")
        elif path not in self.files:
            send(handler, 404, b"Entry not found")
        elif path.startswith(HUB) and path == handler.path:  # the Hub sends on to where it stores large files
            send(handler, 302, Location=f"/cdn{path}")
        else:
            self._content(handler, path)

    def _content(self, handler: http.server.BaseHTTPRequestHandler, path: str) -> None:
        whole = self.files[path]
        start = int(handler.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Type", "application/octet-stream")
        handler.send_header("ETag", f'"{hashlib.md5(whole).hexdigest()}"')
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(whole) - 1}/{len(whole)}")
        handler.send_header("Content-Length", str(len(whole) - start))
        handler.end_headers()
        handler.wfile.write(whole[start:][: self.cuts.pop(path, len(whole))])

    @property
    def paths(self) -> list[str]:
        return [path for _, path in self.asked.requests if not path.startswith("/cdn")]


ARCHIVES = (f"{ZENODO}/java.zip", f"{HUB}/{REVISION}/data/java.zip")
TABLES = tuple(f"{HUB}/main/java/{split}-00000-of-00001.parquet" for split in ("train", "validation", "test"))


@pytest.fixture(scope="module")
def rows(java_folder: Path) -> Rows:
    found = documented_methods(java_folder)
    return {split: [row_of(method, split) for method in each] for split, each in found.items()}


@pytest.fixture(scope="module")
def forms(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Path on the server -> content."""
    folder = tmp_path_factory.mktemp("forms")
    content = write_zip(folder, rows).read_bytes()
    write_parquet(folder, rows)
    tables = {path: (folder / "java" / path.rpartition("/")[2]).read_bytes() for path in TABLES}
    return {**dict.fromkeys(ARCHIVES, content), **tables}


@pytest.fixture
def world(
    forms: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[World]:
    world = World(dict(forms))
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with serving(world) as asked:
        world.asked = asked
        monkeypatch.setattr(codesearchnet_rows, "_ZENODO", f"http://127.0.0.1:{asked.port}{ZENODO}")
        monkeypatch.setattr(codesearchnet_rows, "_HUB", f"http://127.0.0.1:{asked.port}{HUB}")
        whole = forms[ARCHIVES[0]]
        monkeypatch.setitem(KNOWN, "java", (len(whole), hashlib.sha256(whole).hexdigest()))
        yield world


def fetched(root: Path, mirror: str = "") -> list[str]:
    found = Csn(DataConfig(root=str(root), mirror=mirror)).inputs()
    return [path.relative_to(root / "raw" / "csn").as_posix() for path in found]


def refused(root: Path, mirror: str = "") -> str:
    with pytest.raises(ValueError, match=r"\w") as caught:
        fetched(root, mirror)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_places_are_the_living_ones() -> None:
    first, second, third = places_of_codesearchnet()
    assert [remote.url for remote in first.files.values()] == ["https://zenodo.org/records/7857872/files/java.zip"]
    assert [remote.url for remote in second.files.values()] == [
        f"https://huggingface.co/datasets/code-search-net/code_search_net/resolve/{REVISION}/data/java.zip"
    ]
    for place in (first, second):
        assert (place.files["java.zip"].size, place.files["java.zip"].sha256) == KNOWN["java"]
    assert KNOWN["java"][0] == 1_060_569_153
    assert {len(bytes.fromhex(sha256)) for _, sha256 in KNOWN.values()} == {32}
    assert list(third.files) == [path.removeprefix(f"{HUB}/main/") for path in TABLES]


def test_the_first_place_is_enough(world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert fetched(tmp_path) == ["java.zip"]
    assert world.paths == [ARCHIVES[0]]
    assert "CodeSearchNet (Java): fetched from Zenodo to" in caplog.text
    source = Csn(DataConfig(root=str(tmp_path)))
    list(source.java_files())
    assert source.record()["fetched_from"] == "Zenodo"
    record = json.loads((tmp_path / "raw" / "csn" / "fetched.json").read_text())
    assert record["files"][0]["sha256"] == hashlib.sha256(world.files[ARCHIVES[0]]).hexdigest()
    assert fetched(tmp_path) == ["java.zip"]  # not fetched again
    assert len(world.paths) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_no_is_final_and_the_next_place_is_named(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    world.statuses = {ARCHIVES[0]: status}
    assert fetched(tmp_path) == ["java.zip"]
    assert world.paths == [ARCHIVES[0], ARCHIVES[1]]
    (line,) = [each.message for each in caplog.records if "not to be had" in each.message]
    assert f"answers {status}" in line
    assert line.endswith("next: the Hugging Face Hub (java.zip)")


def test_parquet_is_the_last_place(world: World, tmp_path: Path) -> None:
    world.statuses = dict.fromkeys(ARCHIVES, 403)
    assert fetched(tmp_path) == [path.removeprefix(f"{HUB}/main/") for path in TABLES]
    assert world.paths == [*ARCHIVES, *TABLES]
    source = Csn(DataConfig(root=str(tmp_path)))
    assert len(list(source.java_files())) == sum(source.record()["rows"].values()) > 100
    assert source.record()["fetched_from"] == "the Hugging Face Hub (Parquet)"


def test_parquet_goes_on_with_the_files_that_are_missing(world: World, tmp_path: Path) -> None:
    world.statuses = {**dict.fromkeys(ARCHIVES, 403), TABLES[2]: 404}
    assert "test-00000-of-00001.parquet answers 404" in refused(tmp_path)
    world.statuses = dict.fromkeys(ARCHIVES, 403)
    world.asked.requests.clear()
    assert len(fetched(tmp_path)) == 3
    assert world.paths == [*ARCHIVES, TABLES[2]]


def test_parquet_is_not_fetched_without_pyarrow(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world.statuses = dict.fromkeys(ARCHIVES, 403)
    monkeypatch.setattr("data_prep.sources.download.find_spec", lambda _: None)
    assert "pyarrow: bash run.sh install parquet" in refused(tmp_path)
    assert world.paths == [*ARCHIVES]


def test_a_page_and_another_file_are_not_taken_for_it(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    world.pages = {ARCHIVES[0]}
    flipped = bytearray(world.files[ARCHIVES[1]])
    flipped[len(flipped) // 2] ^= 1
    world.files[ARCHIVES[1]] = bytes(flipped)
    assert len(fetched(tmp_path)) == 3
    assert "answers with a web page in place of java.zip; next" in caplog.text
    assert f"instead of {KNOWN['java'][1]}; nothing was saved; next" in caplog.text
    assert sorted(each.name for each in (tmp_path / "raw" / "csn").iterdir()) == ["fetched.json", "java"]


def test_a_copy_of_another_size_is_left_before_its_first_byte(world: World, tmp_path: Path) -> None:
    world.files[ARCHIVES[0]] += b"more"
    assert fetched(tmp_path) == ["java.zip"]
    assert world.paths == [*ARCHIVES]


def test_a_start_from_one_place_is_continued_from_the_next(world: World, tmp_path: Path) -> None:
    world.cuts = {ARCHIVES[0]: 1000}
    world.gone = {ARCHIVES[0]}
    assert fetched(tmp_path) == ["java.zip"]
    assert world.paths == [ARCHIVES[0], ARCHIVES[0], ARCHIVES[1]]
    assert world.asked.headers[-1]["Range"] == "bytes=1000-"
    assert (tmp_path / "raw" / "csn" / "java.zip").read_bytes() == world.files[ARCHIVES[0]]


@pytest.mark.parametrize("form", ["zip", "parquet"])
def test_a_mirror_is_asked_in_place_of_them(world: World, tmp_path: Path, form: str, forms: dict[str, bytes]) -> None:
    if form == "zip":
        world.files = {"/our/csn/java.zip": forms[ARCHIVES[0]]}
    else:
        world.files = {path.replace(f"{HUB}/main", "/our/csn"): content for path, content in forms.items()}
    found = fetched(tmp_path, mirror=f"http://127.0.0.1:{world.asked.port}/our/csn/")
    assert len(found) == (1 if form == "zip" else 3)
    assert all(path.startswith("/our/csn/java") for path in world.paths)


def test_a_mirror_must_be_an_address() -> None:
    with pytest.raises(ValueError, match=r"--data\.mirror takes an http or https address, not 'data/csn'"):
        DataConfig(mirror="data/csn")


def test_a_proxy_of_the_environment_is_used(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{world.asked.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setattr(codesearchnet_rows, "_ZENODO", "http://nowhere.invalid/records")
    world.files["http://nowhere.invalid/records/java.zip"] = world.files[ARCHIVES[0]]
    assert fetched(tmp_path) == ["java.zip"]
    assert world.paths == ["http://nowhere.invalid/records/java.zip"]


def test_https_goes_through_the_proxy_too(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{world.asked.port}")
    monkeypatch.setattr(codesearchnet_rows, "_ZENODO", "https://nowhere.invalid/records")
    monkeypatch.setattr(codesearchnet_rows, "_HUB", "https://nowhere.invalid/hub")
    message = refused(tmp_path)  # this proxy opens no tunnel
    assert "Tunnel connection failed: 501" in message


def test_no_place_at_all_is_one_line_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as closed:
        address = f"http://127.0.0.1:{closed.server_port}"
    monkeypatch.setattr(codesearchnet_rows, "_ZENODO", address)
    monkeypatch.setattr(codesearchnet_rows, "_HUB", address)
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    message = refused(tmp_path)
    assert sum(waited) <= 5
    assert "data set jdk needs no download" in message
    assert str(tmp_path / "raw" / "csn") in message
    assert "Zenodo: " in message
    assert message.count("could not be fetched in 2 tries") == 3
