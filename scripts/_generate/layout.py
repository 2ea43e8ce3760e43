"""Where the sources and the results are, and which bundles exist."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bundle:
    """One self-contained schema: the definitions of some folders of `spec/`, and its root."""

    name: str
    folders: tuple[str, ...]
    root: str


# The root is what one instance of the bundle is: an event of a log, a request body, or an assembly.
BUNDLES = (
    Bundle("session-v4", ("session/common", "session/v4"), "SessionEvent"),
    Bundle("session-v3", ("session/common", "session/v3"), "SessionEvent"),
    Bundle("wire", ("wire",), "WireRequest"),
    Bundle("prompt", ("prompt",), "PromptAssembly"),
)


@dataclass(frozen=True)
class Layout:
    """A checkout of the project."""

    root: Path

    @property
    def spec(self) -> Path:
        """The sources."""
        return self.root / "spec"

    @property
    def suites(self) -> Path:
        """The conformance cases, of which each rule shows two."""
        return self.root / "conformance" / "suites"

    @property
    def generated(self) -> Path:
        """The committed results."""
        return self.root / "generated"

    @property
    def typescript_tools(self) -> Path:
        """The folder with the pinned npm packages."""
        return self.root / "scripts" / "typescript"


HERE = Layout(Path(__file__).resolve().parents[2])
