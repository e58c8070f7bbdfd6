"""Connections that keep the server waiting are closed, and those that are answered are not."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from serving import running_app
from starlette.responses import Response

from search.serve.server import Connection

HEAD = b"Host: localhost\r\n"
LARGE = 12 << 20  # bytes, more than lies between two sockets of one machine


async def app(scope, receive, send):
    """Answers with as many bytes as the path says, after as many milliseconds."""
    size, wait = map(int, scope["path"].strip("/").split("/"))
    await asyncio.sleep(wait / 1000)
    await Response(bytes(size))(scope, receive, send)


@pytest.fixture
def server():
    with running_app(app) as (port, server):
        yield port, server


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(Connection, "patience", 0.4)


@contextmanager
def connected(server) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server[0]), timeout=10) as client:
        yield client


def received(client) -> bytes:
    """All that comes until the server closes the connection, which may be a reset."""
    parts = []
    try:
        while part := client.recv(1 << 20):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def answered(client) -> bool:
    """Whether an answer of three bytes comes, whole."""
    content = b""
    while not content.endswith(b"\r\n\r\n\0\0\0") and (part := client.recv(1 << 16)):
        content += part
    return content.startswith(b"HTTP/1.1 200") and content.endswith(b"\0\0\0")


def dripped(client, content: bytes) -> None:
    """Send a byte every 50 ms, until the server closes the connection."""
    client.settimeout(0.05)
    for byte in content:
        try:
            client.sendall(bytes([byte]))
            if not client.recv(1 << 20):
                return
        except TimeoutError:
            continue
        except ConnectionError:
            return
    pytest.fail("still connected")


def all_closed(server) -> bool:
    end = time.monotonic() + 10
    while server[1].server_state.connections and time.monotonic() < end:
        time.sleep(0.02)
    return not server[1].server_state.connections


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("start", [b"", b"G", b"GET /0/0 HTTP/1.1\r\n", b"GET /0/0 HTTP/1.1\r\n" + HEAD])
@pytest.mark.parametrize("ends", [False, True])
def test_who_sends_no_whole_request_is_let_go(server, start, ends):
    with connected(server) as client:
        client.sendall(start)
        if ends:
            client.shutdown(socket.SHUT_WR)
        assert received(client) == b""


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("start", [b"GET /", b"GET /0/0 HTTP/1.1\r\n" + HEAD + b"X: "])
def test_a_request_that_comes_byte_by_byte_is_cut(server, start):
    with connected(server) as client:
        client.sendall(start)
        dripped(client, b"a" * 400)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("length", [b"Content-Length: 9999\r\n", b"Transfer-Encoding: chunked\r\n"])
@pytest.mark.parametrize("body", [b"", b"a" * 400])
def test_a_body_that_was_announced_is_not_waited_for(server, length, body):
    with connected(server) as client:
        client.sendall(b"POST /3/0 HTTP/1.1\r\n" + HEAD + length + b"\r\n")
        assert answered(client)
        if body:
            dripped(client, b"190\r\n" + body)
        else:
            assert received(client) == b""


@pytest.mark.usefixtures("hasty")
def test_who_sends_half_another_request_is_let_go(server):
    with connected(server) as client:
        client.sendall(b"GET /3/0 HTTP/1.1\r\n" + HEAD + b"\r\n")
        assert answered(client)
        dripped(client, b"GET /" + b"3" * 400)


def test_who_closes_half_a_connection_is_let_go(server):
    with connected(server) as client:
        client.sendall(b"GET /3/600 HTTP/1.1\r\n" + HEAD + b"\r\n")
        client.shutdown(socket.SHUT_WR)
        assert received(client) == b""


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("size", [LARGE, 9_000])
def test_who_reads_no_answer_is_let_go(server, size):
    with connected(server) as client:
        request = f"GET /{size}/0 HTTP/1.1\r\n".encode() + HEAD + b"\r\n"
        client.settimeout(0.05)
        with pytest.raises(TimeoutError):
            client.sendall(request * 200_000)
        assert all_closed(server)


@pytest.mark.usefixtures("hasty")
def test_who_reads_slowly_gets_the_whole_answer(server):
    with connected(server) as client:
        client.sendall(f"GET /{LARGE}/0 HTTP/1.1\r\n".encode() + HEAD + b"Connection: close\r\n\r\n")
        read = 0
        while part := client.recv(1 << 20, socket.MSG_WAITALL):
            read += len(part)
            time.sleep(0.1)
        assert read > LARGE


@pytest.mark.usefixtures("hasty")
def test_an_answer_that_takes_long_is_not_cut(server):
    with connected(server) as client:
        for _ in range(2):
            client.sendall(b"GET /3/600 HTTP/1.1\r\n" + HEAD + b"\r\n")
            assert answered(client)


def test_many_idle_connections_keep_nobody_out(server):
    with ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(connected(server))
        with connected(server) as client:
            client.sendall(b"GET /3/0 HTTP/1.1\r\n" + HEAD + b"\r\n")
            assert answered(client)
        assert len(server[1].server_state.connections) <= Connection.most


def test_one_more_than_all_that_are_answered_is_refused(server, monkeypatch):
    monkeypatch.setattr(Connection, "most", 3)
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in range(3)]
        for client in clients:
            client.sendall(b"GET /3/700 HTTP/1.1\r\n" + HEAD + b"\r\n")
        while len(server[1].server_state.tasks) < 3:
            time.sleep(0.01)
        with connected(server) as another:
            assert received(another) == b""
        assert all(map(answered, clients))
