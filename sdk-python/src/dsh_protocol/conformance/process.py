"""An adapter as a process that answers one line of JSON for each line of JSON.

Whatever it does is a `Reply`: an answer, or how it failed to give one (`crashed`, `hung`, `invalid`). Its output is
never trusted: lines are bounded, and each is checked against `protocol.schema.json`.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal

Json = dict[str, Any]
Failure = Literal["crashed", "hung", "invalid"]

PROTOCOL = 1
"""The version of the protocol that this harness speaks."""
MAX_LINE = 64 * 1024 * 1024
MAX_DEPTH = 500
"""How deep an answer may nest; what looks at it afterwards is recursive."""
_STDERR_LINES = 20
_PATIENCE = 5.0
_JOIN = 1.0
_UNREAD_LINES = 4
"""How many lines of an adapter are held for nobody; then it has to wait."""


class AdapterFailure(Exception):
    """The adapter gave no answer; it has been ended."""

    def __init__(self, kind: Failure, why: str) -> None:
        super().__init__(why)
        self.kind = kind
        self.why = why


@dataclass
class Adapter:
    """One running adapter. Started when it is first asked, and again after it has failed."""

    command: Sequence[str]
    _running: _Running | None = None

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._running is not None

    def ask(self, message: Json, *, limit: float) -> Json:
        """The answer to a message, within `limit` seconds.

        Raises:
            AdapterFailure: there is none.
        """
        if self._running is None:
            self._running = _Running(self.command)
        try:
            return self._running.ask(message, limit)
        except AdapterFailure:
            self.kill()
            raise

    def stop(self) -> str:
        """Ask the adapter to end; what is wrong with how it does: not in time, not with exit code 0, or with more to say."""
        if self._running is None:
            return ""
        running, self._running = self._running, None
        return running.stop()

    def kill(self) -> None:
        """End the adapter and everything that it has started."""
        if self._running is not None:
            self._running.kill()
        self._running = None


class _Running:
    """The process, with a thread for each of its pipes, so that none of them can block the harness."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise AdapterFailure("crashed", f"cannot be started: {error}") from None
        self._lines: queue.Queue[bytes] = queue.Queue(_UNREAD_LINES)
        self._requests: queue.Queue[bytes | None] = queue.Queue()
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._ended = False
        self._threads = [
            self._thread(self._write, self._process.stdin),
            self._thread(self._read, self._process.stdout),
            self._thread(self._listen, self._process.stderr),
        ]

    def ask(self, message: Json, limit: float) -> Json:
        if self._unasked():
            raise AdapterFailure("invalid", "more than one line for the question before")
        self._requests.put(json.dumps(message).encode("ascii") + b"\n")
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            line = b""
            # A process that it has started may still hold its output.
            if self._process.poll() is None:
                raise AdapterFailure("hung", f"no answer within {limit:g} s") from None
        if not line:
            raise AdapterFailure("crashed", self._last_words())
        if not line.endswith(b"\n"):
            # Cut by the end of the output, or longer than a line may be.
            raise AdapterFailure("invalid", f"a line of {len(line)} bytes without an end")
        return _parsed(line)

    def stop(self) -> str:
        self._requests.put(b'{"cmd": "stop"}\n')
        self._requests.put(None)
        try:
            self._process.wait(_PATIENCE)
            self._threads[1].join(_JOIN)
            unasked = self._unasked()
        except subprocess.TimeoutExpired:
            unasked = ""
        self.kill()
        if self._process.returncode != 0:
            return "does not end with code 0 when it is told to stop"
        return f"says more than it was asked: {unasked}" if unasked else ""

    def _unasked(self) -> str:
        """What it has said beyond its answers, as far as it can be seen; nothing waits for it."""
        try:
            line = self._lines.get_nowait()
        except queue.Empty:
            return ""
        if not line:
            # The end of its output is no line: it stays for the one who asks next.
            self._lines.put(line)
            return ""
        return _shown(line) or "an empty line"

    def kill(self) -> None:
        self._ended = True
        self._requests.put(None)
        # The group has what the adapter started, too; on Windows there is none.
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        # The reader may wait for a place.
        with contextlib.suppress(queue.Empty):
            while True:
                self._lines.get_nowait()
        for thread in self._threads:
            thread.join(_JOIN)

    def _last_words(self) -> str:
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return "closed its output"
        self._threads[2].join(_JOIN)
        said = " | ".join(line for line in self._said if line)
        return f"ended with code {code}" + (f": {said[-600:]}" if said else "")

    def _thread(self, work: Any, pipe: IO[bytes] | None) -> threading.Thread:
        thread = threading.Thread(target=work, args=(pipe,), daemon=True)
        thread.start()
        return thread

    def _write(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            while (line := self._requests.get()) is not None:
                pipe.write(line)
                pipe.flush()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(MAX_LINE):
                self._lines.put(line)
                if self._ended or not line.endswith(b"\n"):
                    break
        self._lines.put(b"")

    def _listen(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(4096):
                self._said.append(line.decode("utf-8", "replace").rstrip())


def _parsed(line: bytes) -> Json:
    try:
        # Left to itself, the parser would take UTF-16, too.
        message = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise AdapterFailure("invalid", f"a line that is no UTF-8: {_shown(line)}") from None
    except RecursionError:
        raise AdapterFailure("invalid", "an answer that nests too deeply") from None
    except ValueError:
        raise AdapterFailure("invalid", f"a line that is no JSON: {_shown(line)}") from None
    if not isinstance(message, dict):
        raise AdapterFailure("invalid", "a line that is no JSON object")
    if _nests_deeper(message, MAX_DEPTH):
        raise AdapterFailure("invalid", "an answer that nests too deeply")
    return message


def _shown(line: bytes) -> str:
    return line[:80].decode("utf-8", "replace").rstrip()


def _nests_deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        inside = [item.values() if isinstance(item, dict) else item for item in level]
        level = [item for items in inside for item in items if isinstance(item, dict | list)]
        if not level:
            return False
    return True
