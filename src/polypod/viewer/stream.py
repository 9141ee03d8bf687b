"""What passes between a simulation under way and the pages that show it: samples one way, commands the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread, current_thread
from time import monotonic, sleep
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..control.contract import Controller, Measurement
from ..errors import InputError
from ..simulation import Sample
from ..simulation.signals import Signal

MOST_ROWS = 2000
"""Samples of a run that a page keeps; of longer runs every second one, every third one, and so on."""
SPEEDS = (1e-3, 1e3)
"""Least and largest speed, in times of real time."""
_AHEAD = 0.005  # s of real time that a simulation may be ahead before it waits: sleeping costs more than simulating


class RunState(NamedTuple):
    """State of a run as a page last received it: its number, how many rows there are, and how it goes."""

    run: int = 0
    rows: int = 0
    running: bool = True
    speed: float = 1.0
    ended: str = ""


class Restart(Exception):  # noqa: N818 - a command, not an error
    """The page asks for the run to be started again."""


class Push(Signal):
    """A wrench (6,) on the platform beside that of the motion, held from one sample to the next."""

    def __init__(self, own: Controller | None = None) -> None:
        self._own, self.wrench = own, np.zeros(6)
        self.constant = np.zeros(6) if own is None else None

    def at(self, time: float, measurement: Measurement) -> Array:
        """The wrench at a time."""
        if self._own is not None:
            return np.asarray(self._own(time, measurement), dtype=np.float64) + self.wrench
        self.constant = self.wrench
        return self.constant


class Stream:
    """A run's samples for pages, and the pages' commands to the run: pause, speed, a push, restart.

    The simulation calls ``begin``, ``observe``, ``end`` and ``wait``; the server's threads call
    ``command`` and ``next_message``.
    """

    def __init__(
        self,
        duration: float,
        rate: float,
        reference: Callable[[Array], Array],
        check: Callable[[Array], None] = lambda push: None,
        started: Callable[[], None] = lambda: None,
        speed: float = 1.0,
    ) -> None:
        """``reference`` gives the wanted positions (n, 3) at times (n,); ``check`` raises for impossible wrenches.

        ``started`` is called when the first sample of all has come. ``speed`` is in times of real time.
        """
        _check_speed(speed)
        self._every = max(1, int(np.ceil(duration * rate / MOST_ROWS)))
        count = int(np.ceil(duration * rate)) // self._every + 2
        self._reference, self._path = reference, reference(np.minimum(np.arange(count) * self._every / rate, duration))
        self._check, self._started, self._changed = check, started, Condition()
        self._last: Sample | None = None
        self._rows: list[str] = []
        self._run, self._seen, self._ended = 0, 0, ""
        self._running, self._speed, self._again, self._heard, self._closed = True, speed, False, False, False
        self._start, self._interrupted = (0.0, 0.0), False
        self.push = Push()

    # -- the simulation's side -----------------------------------------------------------------------------------------

    def begin(self, own: Controller | None) -> None:
        """A run begins; ``own`` is the wrench of its motion."""
        with self._changed:
            wrench = self.push.wrench
            self.push = Push(own)
            self.push.wrench = wrench
            self._rows, self._seen, self._last, self._ended, self._again = [], 0, None, "", False
            self._run, self._start = self._run + 1, (monotonic(), 0.0)
            self._changed.notify_all()

    def observe(self, sample: Sample) -> None:
        """Keep a sample, then wait until it is due; raises ``Restart`` if the run is to begin anew."""
        if self._run == 1 and self._seen == 0:
            self._started()
        with self._changed:
            if self._seen % self._every == 0:
                self._keep(sample, self._path[min(self._seen // self._every, len(self._path) - 1)])
            else:
                self._last = sample
            self._seen += 1
            while not self._again and not self._interrupted:
                begun, at = self._start
                ahead = (sample.time - at) / self._speed - (monotonic() - begun)
                goes = self._running and self._heard
                if goes and ahead < _AHEAD:
                    return
                try:
                    self._changed.wait(ahead if goes else None)
                except KeyboardInterrupt:
                    self._interrupted = True  # the simulation keeps its last row yet, for which nothing must wait
                    raise
        if self._again:
            raise Restart

    def end(self, text: str) -> None:
        """The run is over, and why."""
        with self._changed:
            if self._last is not None:
                self._keep(self._last, self._reference(np.array([self._last.time]))[0])
            self._ended = text
            self._changed.notify_all()

    def wait(self) -> None:
        """Until the run is wanted again."""
        with self._changed:
            self._changed.wait_for(lambda: self._again)

    def close(self) -> None:
        """Tell all pages that the simulation has ended."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _keep(self, sample: Sample, reference: Array) -> None:
        """Time, pose (12), twist, q, force, wrench, distance from the reference, in the order that the page reads."""
        seen = sample.measurement
        parts = (
            seen.pose[:3],
            seen.twist,
            seen.q,
            sample.force,
            sample.wrench,
            np.linalg.norm(seen.pose[:3, 3] - reference),
        )
        self._rows.append(json.dumps([sample.time, *np.concatenate([np.ravel(part) for part in parts]).tolist()]))
        self._last = None
        self._changed.notify_all()

    # -- the pages' side -----------------------------------------------------------------------------------------------

    def command(self, given: Any) -> None:
        """What a page asks for: ``running``, ``speed``, ``push`` or ``again``."""
        if not isinstance(given, Mapping) or not given or set(given) - {"running", "speed", "push", "again"}:
            raise InputError("a page may ask for running, speed, push and again")
        speed, push = given.get("speed", self._speed), given.get("push")
        _check_speed(speed)
        if push is not None:
            try:
                push = np.array(push, dtype=np.float64)
            except (TypeError, ValueError):
                push = np.zeros(0)
            if push.shape != (6,) or not np.isfinite(push).all():
                raise InputError("push: six finite numbers are needed")
            self._check(push)
        with self._changed:
            self._again = self._again or bool(given.get("again"))
            self._running = self._again or bool(given.get("running", self._running))
            last = json.loads(self._rows[-1])[0] if self._rows else 0.0
            self._speed, self._start = float(speed), (monotonic(), last)
            if push is not None:
                self.push.wrench = push
            self._changed.notify_all()

    def next_message(self, known: RunState, patience: float) -> tuple[RunState, str] | None:
        """The run's state and a message of what is new since ``known``; None when no more comes.

        It waits up to ``patience`` [s] for something new. The first run waits for the first page that asks.
        """
        with self._changed:
            if not self._heard:
                self._heard, self._start = True, (monotonic(), 0.0)
                self._changed.notify_all()
            self._changed.wait_for(lambda: self._closed or self._state() != known, patience)
            if self._closed:
                return None
            rows = self._rows[known.rows if known.run == self._run else 0 :]
            now = self._state()
            state = {"running": now.running, "speed": now.speed, "ended": now.ended}
            return now, f'{{"run": {now.run}, "rows": [{", ".join(rows)}], {json.dumps(state)[1:]}'

    def _state(self) -> RunState:
        return RunState(self._run, len(self._rows), self._running, self._speed, self._ended)


def _check_speed(speed: Any) -> None:
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not SPEEDS[0] <= speed <= SPEEDS[1]:
        raise InputError(f"speed: a number from {SPEEDS[0]:g} to {SPEEDS[1]:g} is needed")


# ----------------------------------------------------------------------------------------------------------------------
# Serves a page to browsers on this machine, on 127.0.0.1 only, and passes on what it and a simulation say.

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
        raise InputError(f"port: must be a number from 0 (any free port) to 65535, got {port}")
    pages: list[Thread] = []
    handler = type("Handler", (_Handler,), {"page": page.encode(), "stream": stream, "pages": pages})
    try:
        server = ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        raise InputError(
            f"port: {port} is not available ({error.strerror}); leave it out to use any free port"
        ) from error
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
