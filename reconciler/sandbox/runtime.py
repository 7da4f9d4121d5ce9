"""What runs in the containers of pods: nothing at all, simulated rooms, or processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from reconciler.sandbox.requests import Json


class Runtime(Protocol):
    """What the kubelets start and end; a pod is one thing that runs, named by its uid.

    Whoever notices that it ended by itself calls `Sandbox.notice`.
    """

    def start(self, pod: Json, now: float) -> None:
        """Start what a pod runs, also again after it ended."""

    def runs(self, uid: str) -> bool:
        """Tell whether it runs, so that its end must be waited for."""

    def ended(self, uid: str) -> int | None:
        """Tell the exit code where it ended by itself, None where it did not."""

    def stop(self, uid: str) -> None:
        """Ask it to end (SIGTERM); asking twice is asking once."""

    def kill(self, uid: str) -> None:
        """End it at once (SIGKILL); it may be gone already. What it printed is kept."""

    def forget(self, uid: str) -> None:
        """Kill it, and forget all of it: its pod is no more."""

    def printed(self, uid: str, container: str) -> Sequence[tuple[str, str]]:
        """List the lines that a container printed itself, each with its time."""


class Nothing:
    """Nothing runs: containers live for ever, unless the behaviour of the cluster ends them."""

    def start(self, pod: Json, now: float) -> None:
        """Start nothing."""

    def runs(self, uid: str) -> bool:
        """Tell that nothing is to be waited for."""
        return False

    def ended(self, uid: str) -> int | None:
        """Tell that it did not end."""
        return None

    def stop(self, uid: str) -> None:
        """Stop nothing."""

    def kill(self, uid: str) -> None:
        """Kill nothing."""

    def forget(self, uid: str) -> None:
        """Forget nothing."""

    def printed(self, uid: str, container: str) -> Sequence[tuple[str, str]]:
        """Print nothing."""
        return ()
