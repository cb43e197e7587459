"""A headless Chromium driven over its DevTools pipe: no driver program, no package, no port."""

import base64
import itertools
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import orjson
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
)


def find_browser() -> str:
    """Returns the path of a browser; the test is skipped with the reason where there is none."""
    path = os.environ.get("BYTEROUTE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"needs a browser: one of {', '.join(NAMES)} on the PATH, or BYTEROUTE_BROWSER")
    return path


class Browser:
    """One page in a headless browser. Messages end with a zero byte, in on file descriptor 3, out on 4."""

    def __init__(self, profile: Path) -> None:
        """Starts the browser with an empty profile."""
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        flags = [*FLAGS, f"--user-data-dir={profile}", "about:blank"]
        path = find_browser()
        log = os.open(profile.parent / "browser.log", os.O_WRONLY | os.O_CREAT)
        # The two ends may have the numbers 3 and 4 themselves, the wrong way round: first out of the way, then there.
        actions = [(os.POSIX_SPAWN_DUP2, to_browser, 103), (os.POSIX_SPAWN_DUP2, from_browser, 104)]
        actions += [(os.POSIX_SPAWN_DUP2, 103, 3), (os.POSIX_SPAWN_DUP2, 104, 4), (os.POSIX_SPAWN_DUP2, log, 2)]
        self._pid = os.posix_spawn(path, [path, *flags], os.environ, file_actions=actions, setpgroup=0)
        for end in (to_browser, from_browser, log):
            os.close(end)
        self._buffer = b""
        self._numbers = itertools.count(1)
        self.console: list[str] = []
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    _session: str | None = None

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Returns the result of a DevTools command; what the page says meanwhile goes to `console`."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, orjson.dumps(message) + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return dict(answer["result"])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = os.read(self._read, 1 << 16)
            assert data, "the browser has ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = orjson.loads(text)
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.console.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.console.append(f"{params['type']}: {params['args']}")
        elif method == "Log.entryAdded":
            self.console.append(f"{params['entry']['level']}: {params['entry']['text']}")
        self._loaded = getattr(self, "_loaded", False) or method == "Page.loadEventFired"
        return message

    def open(self, page: Path, *, width: int = 1400, height: int = 900, dark: bool = False) -> None:
        """Loads a file and returns when the page and what it needs are there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded = False
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not self._loaded:
            self._receive()

    def run(self, script: str) -> Any:
        """Returns the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, target: Path, *, whole: bool = False) -> None:
        """Writes what is seen, or the whole page, as PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        target.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        """Ends the browser with all its processes."""
        os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._read)
        os.close(self._write)
