"""Chromium without a window, driven through a pipe by its DevTools protocol: pages are opened, asked and touched."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium on this machine (Debian: apt-get install chromium)"
)
_SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
_WITHOUT_WEBGL = """HTMLCanvasElement.prototype.getContext = (get => function (kind, ...rest) {
  return kind.startsWith("webgl") ? null : get.call(this, kind, ...rest);
})(HTMLCanvasElement.prototype.getContext)"""
PATIENCE = 120.0  # s


class Browser:
    """One Chromium with one page, and WebGL in software. Use it in a ``with``."""

    def __init__(self, folder: Path, size: tuple[int, int] = (1280, 800)) -> None:
        assert BROWSER is not None
        to_browser, own_out = os.pipe()
        own_in, from_browser = os.pipe()
        flags = ["--headless", "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"]
        flags += [f"--user-data-dir={folder / 'profile'}", f"--window-size={size[0]},{size[1]}", "--hide-scrollbars"]
        flags += _SOFTWARE
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses its sandbox to root, as in containers
        # Chromium reads commands from descriptor 3 and answers on 4
        shell = f'exec 3<&{to_browser} 4>&{from_browser}; exec "$0" "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, BROWSER, *flags], pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._out, self._in, self._rest, self._number = own_out, own_in, b"", 0
        self.events: list[dict[str, Any]] = []
        target = self._send("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self._session = self._send("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError, AssertionError):
            self._send("Browser.close", {}, None)
        with contextlib.suppress(OSError):
            os.close(self._out)
            os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol to the page; its answer."""
        return self._send(method, parameters, self._session)

    def open(self, page: Path | str, graphics: bool = True) -> None:
        """A page from disk or from an address, loaded; without ``graphics`` it finds no WebGL, whose start is slow."""
        self.events.clear()
        script = "" if graphics else _WITHOUT_WEBGL
        added = self.send("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
        self.send("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self.wait_for(lambda: any(e["method"] == "Page.loadEventFired" for e in self.events))
        self.send("Page.removeScriptToEvaluateOnNewDocument", identifier=added)

    def ask(self, script: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 5) -> None:
        """The left button pressed, moved and released."""
        self._mouse("mousePressed", start)
        for k in range(1, steps + 1):
            share = k / steps
            self._mouse("mouseMoved", tuple(a + share * (b - a) for a, b in zip(start, end, strict=True)))
        self._mouse("mouseReleased", end)

    def press(self, key: str, code: str = "", number: int = 0) -> None:
        """A key down and up."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number,
                      **text)  # fmt: skip

    def shot(self, file: Path) -> None:
        """A picture of the page."""
        file.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for beside itself and what it has inside."""
        urls = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("data:", "blob:", "file:", "about:"))]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings on the console, and exceptions."""
        found = []
        for event in self.events:
            details = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(details["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(details["args"]))
            elif event["method"] == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
                found.append(details["entry"]["text"])
        # the software renderer itself says that it is slow when a picture of it is taken
        return [text for text in found if "GPU stall due to ReadPixels" not in text]

    def wait_for(self, condition: Any) -> None:
        """Until something of the events holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "the browser does not answer"
            self._receive(0.05)

    def _mouse(self, kind: str, place: Any) -> None:
        pressed = 0 if kind == "mouseReleased" else 1
        self.send("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", buttons=pressed,
                  clickCount=1)  # fmt: skip

    def _send(self, method: str, parameters: dict[str, Any], session: str | None) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer: list[dict[str, Any]] = []

        def answered() -> bool:
            answer.extend(e for e in self.events if e.get("id") == number)
            return bool(answer)

        self.wait_for(answered)
        self.events.remove(answer[0])
        assert "error" not in answer[0], answer[0]
        result: dict[str, Any] = answer[0]["result"]
        return result

    def _receive(self, seconds: float) -> None:
        if not select.select([self._in], [], [], seconds)[0]:
            return
        data = os.read(self._in, 1 << 20)
        assert data, "the browser has ended"
        *whole, self._rest = (self._rest + data).split(b"\0")
        self.events += [json.loads(text) for text in whole]
