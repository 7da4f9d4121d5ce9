"""What an explanation rests on, and the sentences that a room and its workload share."""

from collections.abc import Iterator
from dataclasses import dataclass

from reconciler.cli.explain_count import CountStory
from reconciler.cli.room_reading import Around, SeenRoom
from reconciler.cli.statuses import GOING, WorkloadStatus
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import DeleteRoom, MarkRoom, Plan
from reconciler.model.specs import Workload
from reconciler.service.lookout import Sighting
from reconciler.service.rooms.unlistened import UNLISTENED

UNASKED = "in the memory of the loop alone: --rooms-api with its address asks it"
UNHEARD = "heard by nobody, for the process that leads runs without --rooms-listen"


@dataclass(frozen=True, slots=True)
class Explained:
    """One workload with its rooms and the plan of its next tick; `asked` is whether the API was."""

    status: WorkloadStatus
    seen: Sighting | None
    rooms: tuple[SeenRoom, ...]
    around: Around
    plan: Plan
    asked: bool
    count: CountStory | None = None
    """What shaped its count, None where no policy decides it."""

    @property
    def spec(self) -> Workload | None:
        """The spec that was accepted, None where none is on record."""
        return self.around.specs.get(self.status.key)

    @property
    def holds(self) -> tuple[Hold, ...]:
        """What is held: by its record, and whose an object is that was looked for just now."""
        told = self.status.holds
        if any(hold.kind is HoldKind.FOREIGN for hold in told):
            return told
        return *told, *(hold for hold in self.plan.holds if hold.kind is HoldKind.FOREIGN)

    @property
    def steps(self) -> tuple[MarkRoom | DeleteRoom, ...]:
        """What the next tick does to single rooms."""
        return *self.plan.removals, *self.plan.marks

    @property
    def nobody_listens(self) -> bool:
        """Whether whoever leads listens nowhere: then no loop knows what the rooms said."""
        return any(UNLISTENED.deaf in hold.reason for hold in self.status.holds)

    @property
    def whereabouts(self) -> str:
        """Where that is what its rooms said last, and is not known here."""
        return UNHEARD if self.nobody_listens else UNASKED

    @property
    def guesses(self) -> bool:
        """Whether rooms report what nobody here can know."""
        spec = self.spec
        periodic = any(room.heard is None and room.pod.running for room in self.rooms)
        return spec is not None and spec.hears and not self.asked and periodic


VERBS = {
    "drain": "is marked draining, so that nobody is sent there, and is deleted once known empty",
    "keep": "is kept for a post-mortem, outside the count",
    "tell": "is told to leave when it is empty",
    "undrain": "stays after all",
    "mark": "gets our disruption annotations again",
}


def step_of(step: MarkRoom | DeleteRoom) -> str:
    """Say what the next tick does to a room."""
    if isinstance(step, DeleteRoom):
        return f"is deleted ({step.cause})"
    return VERBS[step.verb]


def asked_by(explained: Explained) -> str:
    """Say which line of which commit asks for it."""
    status = explained.status
    if not status.source:
        return f"{status.key} is asked for by no commit on record"
    place = f"{status.source} at commit {status.commit}"
    if status.state == GOING:
        return f"{status.key} was asked for by {place}, and has left Git since"
    return f"{status.key} is asked for by {place}"


def nobody_leads(explained: Explained, now: float) -> Iterator[str]:
    """Say that nothing happens while nobody leads; `now` is by the API server's clock."""
    seen = explained.seen
    if seen is not None and (not seen.holder or seen.is_over(now)):
        yield "No process leads: nothing of this happens until one does. Start one: gamekeeper run"
