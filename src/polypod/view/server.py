"""Serves a page to browsers on this machine, on 127.0.0.1 only, and passes on what it and a simulation say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread, current_thread
from time import sleep

from ..errors import InputError
from .stream import RunState, Stream

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")
_LONGEST_COMMAND = 4096  # bytes
_KEEP_ALIVE = 10.0  # s between signs of life to a page, by which a page that has gone is noticed
_CLOSE_TIMEOUT = 2.0  # s in which a page is to hear that it is over
_MESSAGE_INTERVAL = 1 / 40  # s between messages: a screen shows no more
# the page has all it needs inside; it may ask this server and nobody else
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'"
)


@contextmanager
def serving(page: str, stream: Stream, port: int = 0) -> Iterator[str]:
    """Serve a page and the stream of its simulation while the context lasts; its address.

    ``port`` 0 is any that is free. Requests that name another host are refused, so that no other site, not even one
    whose name is made to lead here, reads or steers the simulation.
    """
    if not 0 <= port <= 65535:
        raise InputError(f"port: a number from 0 (any that is free) to 65535 is needed, got {port}")
    pages: list[Thread] = []
    handler = type("Handler", (_Handler,), {"page": page.encode(), "stream": stream, "pages": pages})
    try:
        server = ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        raise InputError(f"port: {port} cannot be had ({error.strerror}); leave it out for any that is free") from error
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}/"
    finally:
        stream.close()
        for listening in pages:
            listening.join(_CLOSE_TIMEOUT)
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """GET / is the page, GET /events its samples as they come, POST /command what it asks for."""

    page: bytes
    stream: Stream
    pages: list[Thread]

    def do_GET(self) -> None:
        """The page or its events."""
        if not self._known_host():
            return
        if self.path == "/":
            self._answer(HTTPStatus.OK, self.page, "text/html; charset=utf-8")
        elif self.path == "/events":
            self._events()
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"There is /, the page, and nothing else.")

    def do_POST(self) -> None:
        """A request of the page: pause, push, look back or start again."""
        if not self._known_host():
            return
        if self.headers.get("Origin") not in [f"http://{name}" for name in self._hosts()]:
            self._answer(HTTPStatus.FORBIDDEN, b"Only the page itself may ask.")
            return
        try:
            size = int(self.headers.get("Content-Length", ""))
        except ValueError:
            size = -1
        if self.path != "/command" or not 0 <= size <= _LONGEST_COMMAND:
            self._answer(HTTPStatus.BAD_REQUEST, b"A command is a short JSON object to /command.")
            return
        try:
            self.stream.command(json.loads(self.rfile.read(size)))
        except (InputError, ValueError) as error:
            self._answer(HTTPStatus.BAD_REQUEST, str(error).encode())
            return
        self._answer(HTTPStatus.NO_CONTENT, b"")

    def _hosts(self) -> list[str]:
        port = self.connection.getsockname()[1]
        return [f"{name}:{port}" for name in _NAMES]

    def _known_host(self) -> bool:
        if self.headers.get("Host") in self._hosts():
            return True
        self._answer(HTTPStatus.FORBIDDEN, f"This page is at http://{self._hosts()[0]}/ only.".encode())
        return False

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        self._headers(kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _headers(self, kind: str) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")

    def _events(self) -> None:
        """Server-sent events until the page goes or the simulation does."""
        self.send_response(HTTPStatus.OK)
        self._headers("text/event-stream")
        self.end_headers()
        self.pages.append(current_thread())
        known = RunState()
        try:
            while True:
                found = self.stream.next_message(known, _KEEP_ALIVE)
                if found is None:
                    self.wfile.write(b"event: bye\ndata: over\n\n")
                    return
                known, text = found
                self.wfile.write(f"data: {text}\n\n".encode())
                self.wfile.flush()
                sleep(_MESSAGE_INTERVAL)
        except (BrokenPipeError, ConnectionResetError):
            return

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the terminal is for what the user asked."""
