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
_STDERR_LINES = 20
_PATIENCE = 5.0


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

    def stop(self) -> bool:
        """Ask the adapter to end; whether it did, in time and with exit code 0."""
        if self._running is None:
            return True
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
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._requests: queue.Queue[bytes | None] = queue.Queue()
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._threads = [
            self._thread(self._write, self._process.stdin),
            self._thread(self._read, self._process.stdout),
            self._thread(self._listen, self._process.stderr),
        ]

    def ask(self, message: Json, limit: float) -> Json:
        self._requests.put(json.dumps(message).encode("ascii") + b"\n")
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            raise AdapterFailure("hung", f"no answer within {limit:g} s") from None
        if not line:
            raise AdapterFailure("crashed", self._last_words())
        if not line.endswith(b"\n"):
            # Cut by the end of the output, or longer than a line may be.
            raise AdapterFailure("invalid", f"a line of {len(line)} bytes without an end")
        return _parsed(line)

    def stop(self) -> bool:
        self._requests.put(b'{"cmd": "stop"}\n')
        self._requests.put(None)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        self.kill()
        return self._process.returncode == 0

    def kill(self) -> None:
        self._requests.put(None)
        # The group has what the adapter started, too; on Windows there is none.
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(_PATIENCE)

    def _last_words(self) -> str:
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return "closed its output"
        self._threads[2].join(_PATIENCE)
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
                if not line.endswith(b"\n"):
                    break
        self._lines.put(b"")

    def _listen(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(4096):
                self._said.append(line.decode("utf-8", "replace").rstrip())


def _parsed(line: bytes) -> Json:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        shown = line[:80].decode("utf-8", "replace").rstrip()
        raise AdapterFailure("invalid", f"a line that is no JSON: {shown}") from None
    if not isinstance(message, dict):
        raise AdapterFailure("invalid", "a line that is no JSON object")
    return message
