"""Whether Git was reached, written where a second process can read it: on the Lease.

Whoever leads renews the Lease anyway, so an idle loop makes no call for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from reconciler.model import labels
from reconciler.model.errors import PortError
from reconciler.model.notifications import Trouble
from reconciler.model.outbox import EMPTY_OUTBOX, Outbox
from reconciler.model.plans import Plan
from reconciler.model.readings import Reading
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.reports import Report
from reconciler.model.wanted import Wanted
from reconciler.ports import Clock
from reconciler.service.notifications.troubles import troubles_of
from reconciler.service.outbox import outbox_of

LONGEST_ERROR = 1000
DEFECT = "a defect of Gamekeeper, which its log shows"


class Lookout:
    """A voice that notes when the repository was last looked at, and since when it cannot be."""

    def __init__(
        self, clock: Clock, also: Callable[[], Mapping[str, str]] = dict[str, str]
    ) -> None:
        """Note it beside what `also` notes on the Lease."""
        self._clock = clock
        self._also = also
        self._looked_at = 0.0
        self._blind_since = 0.0
        self._error = ""

    def notes(self) -> Mapping[str, str]:
        """Return the annotations of the Lease; none before the first look."""
        found = dict(self._also())
        if self._looked_at:
            found[labels.LOOKED_AT] = written(self._looked_at)
        if self._error:
            found[labels.BLIND_SINCE] = written(self._blind_since)
            found[labels.BLIND_ERROR] = self._error
        return found

    def looked(self, wanted: Wanted, reading: Reading | None, seconds: float) -> None:
        """A head was taken in."""
        self._looked_at, self._error = self._clock.now(), ""

    def blind(self, error: PortError) -> None:
        """Git, or what stands behind it, did not answer."""
        self._failed(str(error))

    def stumbled(self, error: Exception) -> None:
        """Taking a head in met a defect."""
        self._failed(DEFECT)

    def planned(self, cluster: str, plan: Plan) -> None:
        """Nothing of Git."""

    def settled(self, report: Report) -> None:
        """Nothing of Git."""

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        """Nothing of Git."""

    def gone(self, cluster: str, key: WorkloadKey) -> None:
        """Nothing of Git."""

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        """Nothing of Git."""

    def _failed(self, error: str) -> None:
        if not self._error:
            self._blind_since = self._clock.now()
        self._error = error[:LONGEST_ERROR] or "no reason was given"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a Lease says of who leads and of what they see; times are Unix seconds, 0 unknown.

    `outbox` is how their commits fare. Who leads by `--no-lease` writes none.
    """

    holder: str
    renewed_at: float
    lasts_seconds: float
    looked_at: float
    blind_since: float
    error: str
    outbox: Outbox = EMPTY_OUTBOX
    untold: tuple[Trouble, ...] = ()
    """Which targets of notifications they do not reach."""

    def is_over(self, now: float) -> bool:
        """Whether the holder has let the Lease run out, as far as two clocks can agree."""
        return bool(self.holder) and now - self.renewed_at > self.lasts_seconds

    def untold_at(self, now: float) -> tuple[Trouble, ...]:
        """Return whom they do not reach; the last words of who leads no more say nothing."""
        return self.untold if self.holder and not self.is_over(now) else ()

    def outbox_at(self, now: float) -> Outbox:
        """Return how commits fare; the last words of who leads no more say nothing of that."""
        return self.outbox if self.holder and not self.is_over(now) else EMPTY_OUTBOX


def sighting_of(lease: Json | None) -> Sighting:
    """Read a Lease; None is one that nobody ever had."""
    spec = (lease or {}).get("spec") or {}
    notes = ((lease or {}).get("metadata") or {}).get("annotations") or {}
    return Sighting(
        holder=str(spec.get("holderIdentity") or ""),
        renewed_at=_seconds(spec.get("renewTime")),
        lasts_seconds=float(spec.get("leaseDurationSeconds") or 0),
        looked_at=_seconds(notes.get(labels.LOOKED_AT)),
        blind_since=_seconds(notes.get(labels.BLIND_SINCE)),
        error=str(notes.get(labels.BLIND_ERROR) or ""),
        outbox=outbox_of(notes),
        untold=troubles_of(notes),
    )


def written(at: float) -> str:
    """Write Unix seconds as Kubernetes writes a time."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(text: object) -> float:
    try:
        return datetime.fromisoformat(str(text)).timestamp() if text else 0.0
    except ValueError:
        return 0.0
