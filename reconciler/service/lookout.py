"""Whether Git was reached, written where a second process can read it: on the Lease.

Whoever leads renews the Lease anyway, so an idle loop makes no call for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from reconciler.core.sound_record import MOST_SECONDS
from reconciler.model import labels
from reconciler.model.errors import PortError
from reconciler.model.intents import Intent, Step
from reconciler.model.last_looks import LastLook
from reconciler.model.notifications import Trouble
from reconciler.model.outbox import EMPTY_OUTBOX, OVER, Outbox
from reconciler.model.plans import Plan
from reconciler.model.readings import Reading
from reconciler.model.records import StateRecord
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.reports import Report
from reconciler.model.wanted import Wanted
from reconciler.ports import Clock
from reconciler.service.last_looks import last_looks_of
from reconciler.service.notifications.troubles import troubles_of
from reconciler.service.outbox import outbox_of, unix_seconds

LONGEST_ERROR = 1000
DEFECT = "a defect of Gamekeeper, which its log shows"
OLDEST_LOOK_SECONDS = 300.0
"""Policies are asked every few seconds: what is older is told by nobody who leads."""
CLOSE_SECONDS = 5.0
"""Two clocks nearer than this are one: the server tells its time in whole seconds."""


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

    All of them are by the API server's clock, of which the holder's is `ahead_seconds` ahead; None
    where the Lease does not tell when the server took it, and the times are the holder's own.
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
    ahead_seconds: float | None = None
    last_looks: Mapping[WorkloadKey, LastLook] = field(default_factory=dict)
    """What policies that ask others came to last."""

    def is_over(self, now: float) -> bool:
        """Whether the holder has let the Lease run out; `now` is by the API server's clock."""
        return bool(self.holder) and now - self.renewed_at > self.lasts_seconds

    def untold_at(self, now: float) -> tuple[Trouble, ...]:
        """Return whom they do not reach; the last words of who leads no more say nothing."""
        return self.untold if self.holder and not self.is_over(now) else ()

    def outbox_at(self, now: float) -> Outbox:
        """Return how commits fare; the last words of who leads no more say nothing of that."""
        if self.holder and not self.is_over(now):
            return self.outbox
        return OVER if self.renewed_at else EMPTY_OUTBOX

    def last_looks_at(self, now: float) -> Mapping[WorkloadKey, LastLook]:
        """Return what policies that ask others came to; nobody asks for who leads no more.

        An older version that leads keeps the note of who led before, and does not know it.
        """
        if not self.holder or self.is_over(now):
            return {}
        looks = self.last_looks.items()
        return {key: look for key, look in looks if now - look.at <= OLDEST_LOOK_SECONDS}

    def by_the_server(self, record: StateRecord) -> StateRecord:
        """Return the same with the times that who leads reckons by their own clock moved, too.

        Holds, and what slows a policy down, are on record by the API server's clock already.
        """
        ahead, scaling = self.ahead_seconds or 0.0, record.scaling
        moved = replace(
            scaling,
            intent=_moved_intent(scaling.intent, ahead) if scaling.intent else None,
            landings=tuple(
                replace(each, decided_at=_moved(each.decided_at, ahead))
                for each in scaling.landings
            ),
            last=_moved_step(scaling.last, ahead) if scaling.last else None,
        )
        conditions = tuple(
            replace(each, since=_moved(each.since, ahead)) for each in record.conditions
        )
        return replace(record, scaling=moved, conditions=conditions)


def sighting_of(lease: Json | None) -> Sighting:
    """Read a Lease; None is one that nobody ever had.

    One look cannot see it being renewed, as those do who wait for it. When its holder wrote it
    last the API server has noted, too; and how far their clocks are apart, by which the holder's
    other notes are read.
    """
    spec = (lease or {}).get("spec") or {}
    metadata = (lease or {}).get("metadata") or {}
    notes = metadata.get("annotations") or {}
    told = Sighting(
        holder=str(spec.get("holderIdentity") or ""),
        renewed_at=_seconds(spec.get("renewTime")),
        lasts_seconds=float(spec.get("leaseDurationSeconds") or 0),
        looked_at=_seconds(notes.get(labels.LOOKED_AT)),
        blind_since=_seconds(notes.get(labels.BLIND_SINCE)),
        error=str(notes.get(labels.BLIND_ERROR) or ""),
        outbox=outbox_of(notes),
        untold=troubles_of(notes),
        last_looks=last_looks_of(notes),
    )
    taken_at = _taken_at(metadata)
    return _by_the_server(told, taken_at) if told.renewed_at and taken_at else told


def _taken_at(metadata: Json) -> float:
    """Return when the API server took the last renewal, 0 where nobody's it is."""
    return max(
        (
            _seconds(entry.get("time"))
            for entry in metadata.get("managedFields") or ()
            if "f:renewTime" in ((entry.get("fieldsV1") or {}).get("f:spec") or {})
        ),
        default=0.0,
    )


def _by_the_server(told: Sighting, taken_at: float) -> Sighting:
    """Return the same with its times by the clock of the server that took it at `taken_at`."""
    ahead = float(round(told.renewed_at - taken_at))
    if abs(ahead) < CLOSE_SECONDS:
        return replace(told, ahead_seconds=0.0)
    outbox = replace(
        told.outbox,
        pushed_at=_moved(told.outbox.pushed_at, ahead),
        failing_since=_moved(told.outbox.failing_since, ahead),
    )
    return replace(
        told,
        renewed_at=taken_at,
        looked_at=_moved(told.looked_at, ahead),
        blind_since=_moved(told.blind_since, ahead),
        outbox=outbox,
        untold=tuple(replace(each, since=_moved(each.since, ahead)) for each in told.untold),
        ahead_seconds=ahead,
        last_looks={key: _moved_look(look, ahead) for key, look in told.last_looks.items()},
    )


def _moved(at: float, ahead: float) -> float:
    return min(max(0.0, at - ahead), MOST_SECONDS) if at else 0.0


def _moved_look(look: LastLook, ahead: float) -> LastLook:
    return replace(
        look,
        at=_moved(look.at, ahead),
        answered_at=_moved(look.answered_at, ahead),
        again_at=_moved(look.again_at, ahead),
    )


def _moved_step(step: Step, ahead: float) -> Step:
    return replace(step, at=_moved(step.at, ahead))


def _moved_intent(intent: Intent, ahead: float) -> Intent:
    steps = tuple(_moved_step(step, ahead) for step in intent.steps)
    return replace(intent, steps=steps, told_at=_moved(intent.told_at, ahead))


def written(at: float) -> str:
    """Write Unix seconds as Kubernetes writes a time."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(text: object) -> float:
    try:
        return unix_seconds(datetime.fromisoformat(str(text)).timestamp()) if text else 0.0
    except (ValueError, OverflowError):
        return 0.0
