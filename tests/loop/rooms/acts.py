"""What happens to a house in which every match goes on, and what it comes to when nothing fails.

An act is played once undisturbed, which numbers its requests, and then again with something wrong
at one of them. Both must come to the same, and nobody who plays may have noticed.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.errors import PortError
from reconciler.model.labels import STATE, WORKLOAD
from reconciler.model.refs import Json
from reconciler.sandbox.kinds import POD
from reconciler.sandbox.players.natures import Voice
from tests.loop.failures import NOTHING_THERE, NotThere
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.matches import full, in_match
from tests.loop.rooms.mishaps import cordon, evict, wake_all
from tests.loop.rooms.wishes import CONFIG, SERVERS, Piece, Wish
from tests.loop.safety import end_state
from tests.loop.service import Service
from tests.loop.virtual_time import elapsed
from tests.loop.world import World

STILL_SECONDS = 60.0
"""So long nothing is written any more in the end: more than any clock of a room here."""
CONVERGED_SECONDS = 2400.0
"""What was refused for good is tried again after 5 to 30 min."""
FREE = 2
PIECES = (
    Piece("arena", Voice.MAESTRO, 4),
    Piece("lobby", Voice.NATIVE, 3, 3),
    Piece("duel", Voice.COLLECTIONS, 3, namespace=SERVERS),
)
"""A match in two or one of each, and room to come and go: each room more is requests like others,
of which every one is to fail in every way."""
BY_THE_CLOCK = frozenset({"Lease", "Event"})
"""They go out by the clock, and change nothing of what is wanted: they are numbered apart."""

WATCH = "watch"
"""So are those that open watches."""


def acts(call: Call) -> bool:
    """Whether a request is none of those that are numbered apart."""
    return call.kind not in BY_THE_CLOCK and call.verb != WATCH


Happening = Callable[[Playhouse, Wish], None]
Rooms = Counter[tuple[str, str, str]]
"""How many rooms there are, by workload, image and state."""
NO_ROOM: Rooms = Counter()


class NotTheSame(AssertionError):
    """An act came to something else than it does undisturbed."""


def bare(world: World) -> None:
    """Leave the world as every house has it."""


@dataclass(frozen=True)
class Act:
    """Something that happens; `later` is what happens so many seconds after it.

    `stage` prepares the world of a house of its own, before any process is there.
    """

    name: str
    happens: Happening
    later: tuple[tuple[float, Happening], ...] = ()
    stage: Callable[[World], None] = bare


@dataclass(frozen=True)
class Ending:
    """What an act came to, and the requests on the way there.

    `made` and `removed` are the rooms that we made and asked to go since the house opened, by
    namespace, each once however often it was asked for; `beside` is what stands besides rooms:
    budgets, accounts, objects of users, copies and their sources, each with all that it says, and
    our records with what they are there for.
    """

    rooms: Rooms
    spaces: frozenset[str]
    calls: tuple[Call, ...]
    made: Counter[str]
    removed: Counter[str]
    beside: frozenset[str]

    def is_as(self, other: "Ending", spare: Rooms) -> bool:
        """Whether there stands what stands in another ending, or that and the `spare` rooms."""
        rooms = self.rooms in (other.rooms, other.rooms + spare)
        return rooms and self.spaces == other.spaces and self.beside == other.beside

    def more(self, other: "Ending", word: str = "more") -> list[str]:
        """Say of which rooms more were made or removed than in another ending."""
        pairs = {"made": self.made - other.made, "removed": self.removed - other.removed}
        return [
            f"{number} {word} {what} in {name}"
            for what, gap in pairs.items()
            for name, number in gap.items()
        ]

    def fewer(self, other: "Ending") -> list[str]:
        """Say of which rooms fewer were made or removed than in another ending."""
        return other.more(self, "fewer")


class Prompter:
    """Numbers the requests of all processes from where an act begins, and lets one go wrong.

    `before` is called before number `at` is carried out, `after` when it was; what they raise is
    the answer. It is late by `stall_seconds`. Numbered is what `numbers` says. `spare` are rooms
    that there may be more in the end, where it goes so.
    """

    def __init__(
        self,
        at: int = -1,
        before: "Wrong | None" = None,
        after: "Wrong | None" = None,
        stall_seconds: float = 0.0,
        numbers: Callable[[Call], bool] = acts,
    ) -> None:
        self.begun = False
        self.calls: list[Call] = []
        self.spare = NO_ROOM
        self._at, self._before, self._after = at, before, after
        self._stall_seconds = stall_seconds
        self._stalled: PortError | None = None
        self._numbers = numbers

    def go_as(self, other: "Prompter") -> None:
        """Let go wrong from now on what another one does, at the same number."""
        self.spare = other.spare
        self._at, self._before, self._after = other._at, other._before, other._after
        self._stall_seconds = other._stall_seconds

    async def hold(self, error: PortError) -> None:
        """Wait, where this is the answer that is late."""
        if error is self._stalled:
            await asyncio.sleep(self._stall_seconds)

    def asked(self, house: "PromptedHouse", service: Service, call: Call) -> None:
        """Number a request that is about to be carried out."""
        if not self.begun or not self._numbers(call):
            return
        self.calls.append(call)
        if len(self.calls) != self._at + 1:
            return
        random.seed(self._at)  # the same from here, whatever was played before
        if self._before is not None:
            try:
                self._before(house, service, call)
            except PortError as error:
                self._stalled = error
                raise

    def done(self, house: "PromptedHouse", service: Service, call: Call) -> None:
        """Hear of a request that was carried out."""
        if self._after is not None and len(self.calls) == self._at + 1 and call is self.calls[-1]:
            self._after(house, service, call)


class PromptedHouse(Playhouse):
    """A playhouse whose processes' requests a prompter hears."""

    def __init__(self, prompter: Prompter, *parts: Any) -> None:
        super().__init__(*parts)
        self._prompter = prompter
        self._dying: list[asyncio.Task[None]] = []
        self._late: list[asyncio.Task[None]] = []

    def enter(self, service: Service) -> Service:
        """Start a process that was made."""
        entered = super().enter(service)
        transport, prompter = service.transport, self._prompter
        judge, look, sent = transport.before, transport.after, transport.send
        opened = transport.stream

        def before(number: int, call: Call) -> None:
            judge(number, call)
            prompter.asked(self, service, call)

        def after(number: int, call: Call) -> None:
            look(number, call)
            prompter.done(self, service, call)

        async def send(call: Call) -> tuple[int, Json]:
            try:
                return await sent(call)
            except NotThere:
                return 404, NOTHING_THERE  # the client says what that means, and to whom
            except PortError as error:
                await prompter.hold(error)
                raise

        @asynccontextmanager
        async def stream(call: Call) -> AsyncIterator[Any]:
            try:
                prompter.asked(self, service, call)
            except PortError as error:
                await prompter.hold(error)
                raise
            async with opened(call) as wire:
                yield wire

        transport.before, transport.after = before, after
        setattr(transport, send.__name__, send)
        setattr(transport, stream.__name__, stream)
        return entered

    def carry_out_late(self, service: Service, call: Call, seconds: float) -> None:
        """Let the server carry out a request after a while, when nobody waits for it any more."""

        async def late() -> None:
            await asyncio.sleep(seconds)
            self._judge(call)
            service.transport.deliver(call)
            self._look()
            self.changed()

        self._late.append(asyncio.create_task(late()))

    def dies(self, service: Service) -> None:
        """Let a process end here and now, and another one start."""
        service.killed = True
        service.transport.down = "this process is dead"
        self._dying.append(asyncio.create_task(service.kill()))
        self.start(f"process-{len(self.services)}")


Wrong = Callable[[PromptedHouse, Service, Call], None]
"""What goes wrong at one request."""


async def play(act: Act, prompter: Prompter, wanted: Ending | None = None) -> Ending:
    """Play an act to its end; with `wanted`, to that end, or to that with the spare rooms.

    Raises NotTheSame, and AssertionError for what may never be.
    """

    def made(world: World, *parts: Any) -> PromptedHouse:
        act.stage(world)
        return PromptedHouse(prompter, world, *parts)

    random.seed(1)
    async with in_match(PIECES, free=FREE, config=CONFIG, made=made) as (there, wish):
        playing = full(there)
        prompter.begun = True
        for seconds, happens in ((0.0, act.happens), *act.later):
            await asyncio.sleep(seconds)
            happens(there, wish)
            _tell(there)
        ending = await _ended(there, prompter, wanted)
        assert playing <= full(there), f"{len(playing - full(there))} matches were ended"
        return ending


def _tell(there: Playhouse) -> None:
    """Let everybody look: the cluster lives, and a webhook says that Git changed."""
    there.changed()
    for service in there.services:
        if not service.killed:
            service.app.head_service.wake()


async def _ended(there: Playhouse, prompter: Prompter, wanted: Ending | None) -> Ending:
    began = elapsed()
    while True:
        written = len(there.writes)
        await asyncio.sleep(STILL_SECONDS)
        is_still = len(there.writes) == written
        ending = _ending(there, prompter)
        same = wanted is None or ending.is_as(wanted, prompter.spare)
        if is_still and same and there.leader is not None:
            return ending
        if elapsed() - began > CONVERGED_SECONDS:
            differs = "" if wanted is None else _difference(ending, wanted)
            raise NotTheSame(f"not as undisturbed: {differs or 'it goes on writing'}")


def _ending(there: Playhouse, prompter: Prompter) -> Ending:
    removed = Counter(room.partition("/")[0] for room in set(there.warden.removed_rooms))
    made = Counter(there.warden.made)
    calls = tuple(prompter.calls)
    return Ending(_rooms(there), _spaces(there), calls, made, removed, _beside(there))


def _difference(ending: Ending, wanted: Ending) -> str:
    there, not_there = ending.rooms - wanted.rooms, wanted.rooms - ending.rooms
    spaces = sorted(ending.spaces ^ wanted.spaces)
    beside = sorted(ending.beside - wanted.beside), sorted(wanted.beside - ending.beside)
    return (
        f"too many {dict(there)}, missing {dict(not_there)}, namespaces {spaces}, "
        f"beside them {beside[0]} instead of {beside[1]}"
    )


def _rooms(there: Playhouse) -> Rooms:
    pods = there.world.sandbox.world.store.shelves[POD].objects.values()
    found: Rooms = Counter()
    for pod in pods:
        body = there.world.ask(f"/api/v1/namespaces/{pod.key.replace('/', '/pods/')}")
        image = body["spec"]["containers"][0]["image"]
        mark = "ending" if pod.ending else pod.labels.get(STATE, "")
        found[(pod.labels.get(WORKLOAD, ""), image, mark)] += 1
    return found


def _spaces(there: Playhouse) -> frozenset[str]:
    return frozenset(there.world.namespaces())


def _beside(there: Playhouse) -> frozenset[str]:
    state = end_state(there.world)
    kinds = ("accounts", "budgets", "objects", "records")
    return frozenset(f"{kind}: {each}" for kind in kinds for each in state[kind])


def _free(there: Playhouse, namespace: str) -> list[str]:
    """The rooms of a namespace in which nobody plays, as `namespace/name`."""
    playing = full(there)
    pods = there.world.pods(namespace)
    names = [pod["metadata"]["name"] for pod in pods if pod["metadata"]["uid"] not in playing]
    return sorted(f"{namespace}/{name}" for name in names)


def _all(rooms: int | None = None, image: int = 1) -> Happening:
    """Commit another count (None: the same) and image of every workload."""

    def happens(there: Playhouse, wish: Wish) -> None:
        for name in sorted(wish.pieces):
            wish.change(name, wish.wanted[name][0] if rooms is None else rooms, image)

    return happens


def _one(name: str, number: int, image: int = 1) -> Happening:
    """Commit another count and image of one workload; 0 deletes its spec."""
    return lambda there, wish: wish.change(name, number, image)


def _renamed(there: Playhouse, wish: Wish) -> None:
    piece = Piece("stadium", Voice.MAESTRO, 3)
    there.world.commit({wish.pieces["arena"].file: None, piece.file: piece.text(3, 1)})


def _another_kind(there: Playhouse, wish: Wish) -> None:
    arena = wish.pieces["arena"]
    fleet = Piece("arena", arena.voice, arena.rooms, namespace="arena")
    there.world.commit({arena.file: fleet.text(3, 1)})


def _another_namespace(there: Playhouse, wish: Wish) -> None:
    duel = wish.pieces["duel"]
    moved = Piece("duel", duel.voice, duel.rooms, namespace="duels")
    there.world.commit({duel.file: moved.text(3, 1)})


def _by_hand(there: Playhouse, wish: Wish) -> None:
    """Somebody deletes the free rooms."""
    for piece in wish.pieces.values():
        for room in _free(there, piece.place):
            there.world.delete(f"/api/v1/namespaces/{room.replace('/', '/pods/')}")


def _drained(there: Playhouse, wish: Wish) -> None:
    """Somebody empties half of the nodes, as `kubectl drain` does."""
    nodes = sorted(each["metadata"]["name"] for each in there.world.objects("/api/v1/nodes"))
    for node in nodes[: len(nodes) // 2]:
        cordon(there, node, True)
        for piece in wish.pieces.values():
            for pod in there.world.pods(piece.place):
                if pod["spec"].get("nodeName") == node:
                    evict(there, f"{piece.place}/{pod['metadata']['name']}")


def _taken_over(there: Playhouse, wish: Wish) -> None:
    """Who leads dies, and another process reads all there is."""
    leader = there.leader
    assert isinstance(there, PromptedHouse)
    if leader is not None:  # or one that died already is being followed
        there.dies(leader)


def cut_all_watches(there: Playhouse, wish: Wish) -> None:
    """Every watch of every process breaks."""
    for service in there.services:
        for wire in service.transport.wires:
            wire.cut()


def _silent(there: Playhouse, wish: Wish) -> None:
    """A node is heard no more."""
    nodes = sorted(each["metadata"]["name"] for each in there.world.objects("/api/v1/nodes"))
    there.world.sandbox.silence(nodes[0])


def _heard_again(there: Playhouse, wish: Wish) -> None:
    wake_all(there)


AMONG_ROOMS = (
    Act("scale out", _all(6)),
    Act("scale in", _all(1)),
    Act("scale in and out again", _all(1), ((4.0, _all(5)),)),
    Act("roll out", _all(image=2)),
    Act("roll out and back", _all(image=2), ((6.0, _all(image=1)),)),
    Act("roll out and scale at once", _all(5, 2), ((8.0, _all(2, 3)),)),
    Act("delete a spec", _one("lobby", 0)),
    Act("delete a spec and make it again", _one("arena", 0), ((12.0, _one("arena", 4)),)),
    Act("delete two of three", _one("arena", 0), ((1.0, _one("duel", 0)),)),
    Act("rename a spec", _renamed),
    Act("another kind under the same name", _another_kind),
    Act("another namespace", _another_namespace),
    Act("rooms deleted by hand", _by_hand, ((5.0, _by_hand),)),
    Act("nodes that are drained", _drained),
    Act("taken over amid a scale-in", _all(1), ((6.0, _taken_over),)),
    Act("a node that is silent for a while", _silent, ((100.0, _heard_again),)),
)
