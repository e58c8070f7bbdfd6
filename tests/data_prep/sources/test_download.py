"""The downloader against a server on this machine: cuts, resumption, wrong answers, and nothing left half."""

import errno
import hashlib
import http.server
import json
import random
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from data_prep.files.writing import sole_holder
from data_prep.sources.download import DownloadError, Remote, download
from tests.odd_files import KINDS, deadline, odd_thing

CONTENT = random.Random(0).randbytes(3_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Behaviour:
    """How the server answers."""

    content: bytes = CONTENT
    cuts: list[int] = field(default_factory=list)  # bytes of the body after which each answer is cut
    statuses: list[int] = field(default_factory=list)  # of the first answers
    ranges: bool = True
    tag: str | None = '"one"'
    kind: str = "application/zip"
    retry_after: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)


class Server(http.server.ThreadingHTTPServer):
    behaviour: Behaviour

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is what some tests are about."""

    @property
    def remote(self) -> Remote:
        return Remote(f"http://127.0.0.1:{self.server_port}/java.zip", len(CONTENT), SHA256)


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        how = self.server.behaviour
        how.asked.append(dict(self.headers))
        if how.statuses:
            self.send_response(how.statuses.pop(0))
            self.send_header("Retry-After", how.retry_after)
            self.end_headers()
            return
        start = 0
        if how.ranges and "Range" in self.headers and self.headers.get("If-Range", how.tag) == how.tag:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(how.content):
                self.send_error(416)
                return
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", how.kind)
        self.send_header("Content-Length", str(len(how.content) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(how.content) - 1}/{len(how.content)}")
        if how.tag:
            self.send_header("ETag", how.tag)
        self.end_headers()
        body = how.content[start:]
        self.wfile.write(body[: how.cuts.pop(0)] if how.cuts else body)
        self.close_connection = True


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as running:
        running.behaviour = Behaviour()
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def fetch(remote: Remote, target: Path, tries: int = 4) -> str:
    return download(remote, target, tries=tries, timeout=5.0, first_wait=0.01)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def ranges(server: Server) -> list[str | None]:
    return [asked.get("Range") for asked in server.behaviour.asked]


def test_whole_file_arrives(server: Server, tmp_path: Path) -> None:
    assert fetch(server.remote, tmp_path / "deep" / "java.zip") == SHA256
    assert (tmp_path / "deep" / "java.zip").read_bytes() == CONTENT
    assert names(tmp_path / "deep") == ["java.zip"]
    assert ranges(server) == [None]


def test_two_at_once_fetch_it_once(server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    found: list[str] = []
    lock = tmp_path / "java.zip.part.lock"
    two = [threading.Thread(target=lambda: found.append(fetch(server.remote, tmp_path / "java.zip"))) for _ in range(2)]
    with sole_holder(lock):  # both wait
        for each in two:
            each.start()
        while caplog.text.count("waiting for another process") < 2:
            assert all(each.is_alive() for each in two)
    for each in two:
        each.join(60)
    assert found == [SHA256, SHA256]
    assert ranges(server) == [None]
    assert names(tmp_path) == ["java.zip"]


def test_file_of_unknown_size_and_checksum_arrives(server: Server, tmp_path: Path) -> None:
    server.behaviour.cuts = [999]
    assert fetch(Remote(server.remote.url), tmp_path / "java.zip") == SHA256


def test_cut_connections_are_resumed(server: Server, tmp_path: Path) -> None:
    server.behaviour.cuts = [1_000_000, 500_000]
    assert fetch(server.remote, tmp_path / "java.zip") == SHA256
    assert ranges(server) == [None, "bytes=1000000-", "bytes=1500000-"]
    assert server.behaviour.asked[1]["If-Range"] == '"one"'


def test_a_later_run_goes_on(server: Server, tmp_path: Path) -> None:
    server.behaviour.cuts = [1_000_000]
    with pytest.raises(DownloadError, match="cut after 1,000,000 of 3,000,000 bytes"):
        fetch(server.remote, tmp_path / "java.zip", tries=1)
    assert names(tmp_path) == ["java.zip.part", "java.zip.part.json"]
    assert fetch(server.remote, tmp_path / "java.zip") == SHA256
    assert ranges(server) == [None, "bytes=1000000-"]
    assert names(tmp_path) == ["java.zip"]


def test_a_run_killed_before_the_check_needs_no_further_bytes(server: Server, tmp_path: Path) -> None:
    server.behaviour.cuts = [10]
    with pytest.raises(DownloadError):
        fetch(server.remote, tmp_path / "java.zip", tries=1)
    (tmp_path / "java.zip.part").write_bytes(CONTENT)
    assert fetch(server.remote, tmp_path / "java.zip") == SHA256
    assert len(server.behaviour.asked) == 1


@pytest.mark.parametrize("how", [Behaviour(ranges=False), Behaviour(ranges=False, tag=None)])
def test_server_that_ignores_ranges(server: Server, tmp_path: Path, how: Behaviour) -> None:
    server.behaviour = replace(how, cuts=[1_000_000], asked=[])
    assert fetch(server.remote, tmp_path / "java.zip") == SHA256


def test_file_that_changed_in_between_is_begun_anew(server: Server, tmp_path: Path) -> None:
    server.behaviour.cuts = [1_000_000]
    with pytest.raises(DownloadError):
        fetch(Remote(server.remote.url), tmp_path / "java.zip", tries=1)
    server.behaviour = Behaviour(content=bytes(2_000_000), tag='"two"')
    fetch(Remote(server.remote.url), tmp_path / "java.zip")
    assert (tmp_path / "java.zip").read_bytes() == bytes(2_000_000)


def test_start_that_nothing_vouches_for_is_not_built_on(server: Server, tmp_path: Path) -> None:
    (tmp_path / "java.zip.part").write_bytes(b"something else")
    assert fetch(server.remote, tmp_path / "java.zip") == SHA256
    assert ranges(server) == [None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("odd", [("part",), ("part.json",), ("part", "part.json")])
def test_a_start_that_is_no_file_is_thrown_away(
    server: Server, tmp_path: Path, odd: tuple[str, ...], kind: str
) -> None:
    note = {"url": server.remote.url, "mark": server.behaviour.tag}
    (tmp_path / "java.zip.part.json").write_text(json.dumps(note))
    for each in odd:
        (tmp_path / f"java.zip.{each}").unlink(missing_ok=True)
        odd_thing(kind, tmp_path / f"java.zip.{each}")
    with deadline():
        assert fetch(server.remote, tmp_path / "java.zip") == SHA256
    assert names(tmp_path) == ["java.zip"]
    assert not (tmp_path / "java.zip").is_symlink()


def test_wrong_checksum_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.behaviour.content = bytes(len(CONTENT))
    with pytest.raises(DownloadError, match=f"instead of {SHA256}"):
        fetch(server.remote, tmp_path / "java.zip")
    assert names(tmp_path) == []


def test_wrong_size_is_seen_before_the_first_byte(server: Server, tmp_path: Path) -> None:
    server.behaviour.content = CONTENT[:-1]
    with pytest.raises(DownloadError, match="offers 2,999,999 bytes instead of 3,000,000"):
        fetch(server.remote, tmp_path / "java.zip")
    assert names(tmp_path) == []


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_no_is_no(server: Server, tmp_path: Path, status: int) -> None:
    server.behaviour.statuses = [status] * 9
    with pytest.raises(DownloadError, match=f"answers {status}"):
        fetch(server.remote, tmp_path / "java.zip")
    assert len(server.behaviour.asked) == 1
    assert names(tmp_path) == []


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.behaviour.statuses = [503, 500]
    assert fetch(server.remote, tmp_path / "java.zip") == SHA256


def test_tries_are_bounded(server: Server, tmp_path: Path) -> None:
    server.behaviour.statuses = [503] * 9
    with pytest.raises(DownloadError, match="in 3 tries: the server answers 503"):
        fetch(server.remote, tmp_path / "java.zip", tries=3)
    assert len(server.behaviour.asked) == 3


def test_nobody_there_is_one_line(tmp_path: Path) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port
    with pytest.raises(DownloadError, match="refused") as caught:
        fetch(Remote(f"http://127.0.0.1:{port}/java.zip"), tmp_path / "java.zip")
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == []


def test_other_schemes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="no http"):
        fetch(Remote("file:///etc/passwd"), tmp_path / "x")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_one_line(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def open_full(path: Path, *how: Any, **others: Any) -> Any:
        return opened(Path("/dev/full") if path.suffix == ".part" else path, *how, **others)

    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        fetch(server.remote, tmp_path / "java.zip")
    assert caught.value.errno == errno.ENOSPC


def test_too_little_room_is_seen_before_the_first_byte(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1_000}))
    with pytest.raises(DownloadError, match=r"3,000,000 bytes are needed in .*, 1,000 are free"):
        fetch(server.remote, tmp_path / "java.zip")


def test_a_web_page_is_not_the_file(server: Server, tmp_path: Path) -> None:
    server.behaviour.kind = "text/html; charset=utf-8"
    with pytest.raises(DownloadError, match=r"answers with a web page in place of java\.zip"):
        fetch(Remote(server.remote.url), tmp_path / "java.zip")
    assert len(server.behaviour.asked) == 1
    assert names(tmp_path) == []


@pytest.mark.parametrize(("told", "waited"), [("7", 7.0), ("86400", 60.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 0.01)])
def test_a_busy_server_says_how_long_to_wait(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, waited: float
) -> None:
    server.behaviour.statuses, server.behaviour.retry_after = [429], told
    waits: list[float] = []
    monkeypatch.setattr("data_prep.sources.download.time.sleep", waits.append)
    assert fetch(server.remote, tmp_path / "java.zip") == SHA256
    assert waits == [waited]


def test_a_git_blob_is_checked(server: Server, tmp_path: Path) -> None:
    (tmp_path / "content").write_bytes(CONTENT)
    blob = subprocess.run(["git", "hash-object", "content"], cwd=tmp_path, capture_output=True, text=True, check=True)
    (tmp_path / "content").unlink()
    right = Remote(server.remote.url, git_blob=blob.stdout.strip())
    with pytest.raises(DownloadError, match=r"gave the git blob .* instead of 0000"):
        fetch(replace(right, git_blob="0" * 40), tmp_path / "java.zip")
    assert names(tmp_path) == []
    assert fetch(right, tmp_path / "java.zip") == SHA256
