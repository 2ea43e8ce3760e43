"""The official runtime as a process: started in a folder of its own, spoken to over JSON-RPC, never left behind."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from recorded import ROOT

Json = dict[str, Any]

CURRENT = "0.2.1rc2"
PROVIDER = "deepseek-official"
REQUIRED = "DSH_PROTOCOL_REQUIRE_OFFICIAL"
"""When this variable is set, a runtime that is not installed is a failure and no skip: scripts/conformance sets it."""
_LIMIT = 120.0
"""Seconds for one answer. They take milliseconds; a busy machine may take long to start a process of 200 MB."""


class RuntimeFailed(Exception):
    """The runtime answered with an error, not in time, or not at all."""


def executable(release: str = CURRENT) -> Path:
    """The runtime of a release, as scripts/conformance installs it; without it the test is skipped."""
    path = ROOT / f".venv-official-{release}" / "bin" / "dsh"
    if not path.exists():
        reason = f"the official runtime {release} is not installed: scripts/conformance --install"
        if os.environ.get(REQUIRED):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


class OfficialRuntime:
    """One process with its home in `folder`, and one client. A context: at its end the process group is gone.

    `notifications` are those that came so far, in order. `variables` are added to an environment that has nothing
    of the caller's but the search path.
    """

    def __init__(
        self,
        folder: Path,
        endpoint: str,
        *,
        release: str = CURRENT,
        profile: str = "sdk-minimal",
        patches: tuple[Path, ...] = (),
        variables: dict[str, str] | None = None,
    ) -> None:
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.notifications: list[Json] = []
        self._log = folder / "stderr.log"
        self._frames: queue.Queue[Json | None] = queue.Queue()
        self._next_id = 0
        command = [str(executable(release)), "--profile", profile]
        for patch in patches:
            command += ["--patch", str(patch)]
        for directory in (self.home, self.workspace):
            directory.mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "DSH_HOME": str(self.home),
            "DEEPSEEK_API_KEY": "unused",
            "DEEPSEEK_BASE_URL": endpoint,
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env={**environment, **(variables or {})},
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # ---- Requests ----------------------------------------------------------------------------------

    def initialize(self, model: str, *, provider: str = PROVIDER) -> None:
        """Choose the model of the sessions that are opened from now on."""
        cwd = str(self.workspace)
        self.request("initialize", {"cwd": cwd, "provider": provider, "model": model})

    def resume(self, session: str) -> None:
        """Open a stored session."""
        self.request("session/resume", {"sessionId": session})

    def prompt(self, session: str, content: str | list[Json]) -> None:
        """Put a message into a session, and wait until the work that it causes is done."""
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        self.request("session/prompt", {"sessionId": session, "contentBlocks": blocks})
        self.request("session/wait", {"sessionId": session})

    def shutdown(self) -> None:
        """Have the runtime store everything and end; the one point at which all events are on disk for sure."""
        self.request("shutdown", {})
        try:
            code = self._process.wait(_LIMIT)
        except subprocess.TimeoutExpired:
            raise RuntimeFailed(f"it did not end{self._last_words()}") from None
        if code:
            raise RuntimeFailed(f"it ended with code {code}{self._last_words()}")

    def request(self, method: str, params: Json) -> Json:
        """The result of a request.

        Raises:
            RuntimeFailed: there is none.
        """
        self._next_id += 1
        frame = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}
        assert self._process.stdin is not None
        # A process that is gone is found out when its answer does not come.
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(frame).encode() + b"\n")
            self._process.stdin.flush()
        answer = self._answer(method)
        if "error" in answer:
            raise RuntimeFailed(f"{method}: {answer['error']['message']}")
        result: Json = answer["result"]
        return result

    def _answer(self, method: str) -> Json:
        deadline = time.monotonic() + _LIMIT
        while True:
            try:
                frame = self._frames.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                raise RuntimeFailed(f"{method}: no answer{self._last_words()}") from None
            if frame is None:
                raise RuntimeFailed(f"{method}: the runtime is gone{self._last_words()}")
            if frame.get("id") == self._next_id:
                return frame
            self.notifications.append(frame)

    # ---- Notifications -----------------------------------------------------------------------------

    def events(self, session: str) -> list[Json]:
        """The events of a session that were sent so far."""
        sent = (n["params"] for n in self.notifications if n["method"] == "session.event")
        return [params["event"] for params in sent if params["sessionId"] == session]

    def wait_for(self, session: str, kind: str) -> None:
        """Wait for an event of this type in a session, as clients of releases without `session/wait` have to."""
        deadline = time.monotonic() + _LIMIT
        while not any(event["type"] == kind for event in self.events(session)):
            try:
                frame = self._frames.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                raise RuntimeFailed(f"{kind} did not come{self._last_words()}") from None
            if frame is None:
                raise RuntimeFailed(f"{kind} did not come: it is gone{self._last_words()}")
            self.notifications.append(frame)

    # ---- The process -------------------------------------------------------------------------------

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._frames.put(json.loads(line))
        self._frames.put(None)

    def _last_words(self) -> str:
        said = self._log.read_text(errors="replace").strip()
        return f"; it said: {said[-2000:]}" if said else ""

    def __enter__(self) -> OfficialRuntime:
        return self

    def __exit__(self, *_: object) -> None:
        # The group has what the runtime started, too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(_LIMIT)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            # What was not written yet has no reader any more.
            with contextlib.suppress(OSError):
                pipe.close()
