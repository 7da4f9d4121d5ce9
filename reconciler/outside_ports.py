"""The seam to others outside, who are asked or told: `adapters/outside` keeps it."""

from typing import Protocol

from reconciler.model.notifications import Message, Target, Verdict
from reconciler.model.refs import Json
from reconciler.model.scaling import Signal


class Outside(Protocol):
    """Others who are asked what policies want to know: webhooks, and one Prometheus.

    Nothing is raised: what went wrong is the Signal's trouble, in words that hold no secret. An
    answer takes seconds at most. `now` is Unix seconds.
    """

    async def review(self, url: str, body: Json, now: float) -> Signal:
        """POST a question to a webhook; the value is its JSON object.

        A host that the process' settings do not allow is not spoken to.
        """

    async def query(self, query: str, now: float) -> Signal:
        """Ask Prometheus for the one number that a query is; its time is that of the answer."""

    async def close(self) -> None:
        """End what is open."""


class Messenger(Protocol):
    """Tells people outside. Every message names the target alone: addresses are secrets."""

    async def send(self, target: Target, message: Message) -> None:
        """Deliver a message. Raises Unavailable, Denied, Misconfigured."""

    async def close(self) -> None:
        """End what is open."""


class Statuses(Protocol):
    """Shows beside a commit, at its code host, what became of it."""

    @property
    def kind(self) -> str:
        """Which kind of code host: a label of metrics."""

    async def set(self, verdict: Verdict) -> None:
        """Set the status of a commit. Raises Unavailable, Denied, Misconfigured."""

    async def close(self) -> None:
        """End what is open."""
