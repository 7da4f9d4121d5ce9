"""Drives a world through a scenario: processes start, act, die, and the next one goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.fence import WRITES
from reconciler.core.ending import late_seconds
from reconciler.model.errors import PortError
from reconciler.model.refs import Json
from reconciler.model.reports import Report
from tests.loop.safety import Bounds, Watchman, end_state
from tests.loop.transport import Killed, SandboxTransport
from tests.loop.world import Process, World

TURN_SECONDS = 2.0
MOST_TURNS = 100
WAITING_SECONDS = 15.0
"""So much longer where nothing is done but to wait for what a server may carry out yet."""
IDLE_TURNS = 5

Event = Callable[[World], None]
State = tuple[int, float, int]
"""A cluster's revision, the time, and how many turns were made: all that a new process sees."""


class NotConverged(AssertionError):
    """The end was not reached, or is another one, or does not last."""


@dataclass(frozen=True)
class Scenario:
    """Something that happens to a fleet: events by the turn before which they happen."""

    name: str
    prepare: Callable[[], Awaitable[World]]
    events: dict[int, Event]
    bounds: dict[str, Bounds]


@dataclass(frozen=True)
class Ending:
    """What a run came to: its end state, rooms made and removed by namespace.

    `prepared_removed` are the rooms removed that stood there before the scenario began.
    `ports` are those of the first process. `late` is whether anything was carried out
    after its sender had died.
    """

    state: Json
    made: dict[str, int]
    removed: dict[str, int]
    prepared_removed: dict[str, int]
    ports: "Ports"
    late: bool = False

    @property
    def calls(self) -> list[str]:
        """The calls up to the last write: after it nothing happens any more."""
        writes = [number for number, call in self.requests.items() if call.verb in WRITES]
        return self.ports.calls[: max(writes, default=-1) + 1]

    @property
    def requests(self) -> dict[int, Call]:
        """The calls of the cluster by number."""
        return self.ports.requests


@dataclass
class Ports:
    """Numbers the calls of all ports of a process; dies at one of them.

    `side` is `before` the call, `after` it took effect, or `late`: after it, and what was on its
    way with it is carried out when the next process has made a turn.
    """

    at: int = -1
    side: str = "before"
    calls: list[str] = field(default_factory=list)
    requests: dict[int, Call] = field(default_factory=dict)
    state: Callable[[], State] = lambda: (0, 0.0, 0)
    states: dict[tuple[int, str], State] = field(default_factory=dict)

    def reach(self, what: str) -> int:
        """Number a call, and die where it must not be sent any more."""
        number = len(self.calls)
        self.calls.append(what)
        self.states[(number, "before")] = self.state()
        if number == self.at and self.side == "before":
            raise Killed(what)
        return number

    def leave(self, number: int) -> None:
        """Die where the call took effect but nobody heard of it."""
        self.states[(number, "after")] = self.state()
        if number == self.at and self.side != "before":
            raise Killed(self.calls[number])


class Numbered:
    """A port of which each call is numbered: the repository, the compiler."""

    def __init__(self, port: Any, ports: Ports) -> None:
        self._port = port
        self._ports = ports

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        async def numbered(*arguments: Any) -> Any:
            number = self._ports.reach(name)
            answer = await method(*arguments)
            self._ports.leave(number)
            return answer

        return numbered


def _waits(process: Process) -> bool:
    """Whether something that goes waits for what a server may carry out yet."""
    lane = process.lane
    times = (lane.unanswered_at.get(key) for key in lane.wanted.deleting)
    return any(late_seconds(at, lane.view.elapsed()) for at in times)


class Stage:
    """A world on which a scenario is played, watched all the time."""

    def __init__(self, world: World, scenario: Scenario) -> None:
        self.world = world
        self.scenario = scenario
        self.watchman = Watchman(world, scenario.bounds)
        self.watchman.look()
        self.turns = 0

    def cast(self, ports: Ports, plant: Callable[[int, Call], None] | None = None) -> Process:
        """Make a process, not yet started; `plant` may plant a fault for each call."""
        ports.state = self.state
        process = Process(self.world)
        process.head.repository = cast(Any, Numbered(process.head.repository, ports))
        process.head.compiler = cast(Any, Numbered(process.head.compiler, ports))
        numbers: dict[int, int] = {}

        def before(number: int, call: Call) -> None:
            numbers[number] = ports.reach(call.what)
            ports.requests[numbers[number]] = call
            self.watchman.before(call)
            if plant is not None:
                plant(numbers[number], call)

        def after(number: int, call: Call) -> None:
            self.watchman.look()
            ports.leave(numbers[number])

        process.transport.before, process.transport.after = before, after
        return process

    async def start(self, process: Process) -> None:
        """Start a process, again and again as long as its cluster refuses."""
        for _ in range(MOST_TURNS):
            try:
                await process.start()
            except PortError:
                self.pass_time()
            else:
                return
        raise NotConverged("no process could start")

    async def turn(self, process: Process) -> Report | None:
        """Let the next event happen, then let the process make a turn; None when it failed."""
        event = self.scenario.events.get(self.turns)
        self.turns += 1
        if event is not None:
            event(self.world)
        try:
            return await process.turn()
        except PortError:
            return None

    async def settle(self, process: Process) -> None:
        """Turn until two turns in a row write nothing and all is as wanted. Raises NotConverged."""
        calm = 0
        report = None
        for _ in range(MOST_TURNS):
            written, waits = len(process.transport.writes), _waits(process)
            report = await self.turn(process)
            self.pass_time()
            quiet = report is not None and written == len(process.transport.writes)
            over = self.turns > max(self.scenario.events, default=0)
            if quiet and waits and over:  # what is to happen yet happens at its time all the same
                self.pass_time(WAITING_SECONDS)
            is_calm = report is not None and quiet and self.world.is_calm(report)
            calm = calm + 1 if is_calm and over and not waits else 0
            if calm == 2:
                return
        raise NotConverged(f"after {MOST_TURNS} turns: {report}")

    async def idle(self, process: Process) -> None:
        """Turn a few times more, in which nothing may be written. Raises NotConverged."""
        written = len(process.transport.writes)
        for _ in range(IDLE_TURNS):
            await process.turn()
            self.pass_time()
        if len(process.transport.writes) > written:
            raise NotConverged(f"an idle turn wrote: {process.transport.writes[written:]}")

    def pass_time(self, seconds: float = TURN_SECONDS) -> None:
        """Let the cluster live between two turns."""
        self.world.pass_time(seconds)
        self.watchman.look()

    def state(self) -> State:
        """Name the state of the world."""
        return self.world.sandbox.world.store.revision, self.world.time.at, self.turns

    def ending(self, ports: Ports, late: bool = False) -> Ending:
        """Tell what the run came to."""
        made, removed = dict(self.watchman.made), dict(self.watchman.removed)
        prepared = dict(self.watchman.prepared_removed)
        return Ending(end_state(self.world), made, removed, prepared, ports, late)


def copy_of(world: World) -> World:
    """Copy a world; what never changes in it is shared."""
    inner = world.sandbox.world
    shared = (inner.schemas, inner.shapes)
    return deepcopy(world, {id(each): each for each in shared})


_REFERENCES: dict[str, tuple[World, Ending]] = {}


async def reference_of(scenario: Scenario) -> tuple[World, Ending]:
    """Return a world in which a scenario may begin, to be copied, and its end without a mishap."""
    if scenario.name not in _REFERENCES:
        world = await scenario.prepare()
        ending = await play(Stage(copy_of(world), scenario), Ports())
        _REFERENCES[scenario.name] = world, ending
    return _REFERENCES[scenario.name]


async def play(stage: Stage, ports: Ports) -> Ending:
    """Play a scenario with one process, which dies where `ports` say; the next one goes on."""
    process = stage.cast(ports)
    late: list[Call] = []
    try:
        await stage.start(process)
        await stage.settle(process)
    except Killed:
        late = await bury(process.transport)
        process = stage.cast(Ports())
        await stage.start(process)
        if ports.side == "late":
            await stage.turn(process)
            stage.pass_time()
            for call in late:
                process.transport.deliver(call)
                stage.watchman.look()
        await stage.settle(process)
    await stage.idle(process)
    return stage.ending(ports, bool(late))


async def bury(transport: SandboxTransport) -> list[Call]:
    """End what a dead process left behind; return the writes that were on their way."""
    transport.dead = True
    mine = asyncio.current_task()
    for task in asyncio.all_tasks():
        if task is not mine:
            task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return [call for call in transport.late if call.verb != "get" and call.verb != "list"]


def compare(ending: Ending, reference: Ending) -> None:
    """Compare an end with the one without a mishap. Raises NotConverged."""
    if ending.state != reference.state:
        raise NotConverged(f"another end: {ending.state} instead of {reference.state}")
    for namespace, made in ending.made.items():
        if made > reference.made.get(namespace, 0):
            raise NotConverged(f"{made} rooms of {namespace} were made: {reference.made} do")
