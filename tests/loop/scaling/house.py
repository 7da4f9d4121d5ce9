"""A theatre with policies and a committer: counts are decided, act, and land in Git."""

import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from reconciler import registry
from reconciler.adapters.git.memory import MemoryRepository
from reconciler.core.policies.policy import Policy
from reconciler.loop.config import config_in_force
from reconciler.loop.landing import Landed, Terms
from reconciler.model.decisions import Decision
from reconciler.model.errors import PortError
from reconciler.model.pauses import Pause
from reconciler.model.pushes import Person
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Budgets
from reconciler.ports import Compiler, WritableRepository
from reconciler.service.app import App, Committing, Parts
from reconciler.service.outbox import OutboxNotes
from reconciler.service.reactions import Stage
from reconciler.service.scalers import Scalers
from reconciler.service.scaling_voices import ScalingVoices
from reconciler.service.signals import Signals
from tests.loop.safety import Bounds, Watchman
from tests.loop.scaling.commits import in_memory, steps_of
from tests.loop.scaling.counts import count_of
from tests.loop.service import Service, Theatre, theatre
from tests.loop.virtual_time import LoopTime, elapsed
from tests.loop.wires import Weather
from tests.loop.world import CONFIG, World, spec

ARENA = WorkloadKey("Scheduler", "arena", "arena")
FILE = "schedulers/arena.yaml"
QUIET_SECONDS = 60.0


class Ledger:
    """Keeps what was decided and what became of it."""

    def __init__(self) -> None:
        self.decisions: list[tuple[float, int]] = []
        self.moves: list[tuple[WorkloadKey, int]] = []
        self.undecided_count = 0
        self.pauses: list[tuple[float, Pause | None]] = []
        self.reactions: list[tuple[Stage, float]] = []
        self.commits: list[Landed] = []
        self.races = 0
        self.unrecorded_errors: list[PortError] = []
        self.troubles: list[PortError] = []

    def decided(self, key: WorkloadKey, decision: Decision) -> None:
        """A count moved."""
        self.decisions.append((elapsed(), decision.replicas))
        self.moves.append((key, decision.replicas))

    def undecided(self, key: WorkloadKey, error: PortError) -> None:
        """A count could not be put on record."""
        self.undecided_count += 1

    def paused(self, key: WorkloadKey, pause: Pause | None) -> None:
        """A policy stands still or goes on."""
        self.pauses.append((elapsed(), pause))

    def reacted(self, stage: Stage, seconds: float) -> None:
        """A count came so far."""
        self.reactions.append((stage, seconds))

    def landed(self, landed: Landed) -> None:
        """A commit stands on the branch, or was refused."""
        self.commits.append(landed)

    def raced(self) -> None:
        """A commit came first."""
        self.races += 1

    def unrecorded(self, error: PortError) -> None:
        """A record did not take what became of a commit."""
        self.unrecorded_errors.append(error)

    def unlanded(self, error: PortError) -> None:
        """The host took nothing."""
        self.troubles.append(error)


def _in_memory(world: World, name: str) -> WritableRepository:
    return MemoryRepository(world.host, path=world.path)


@dataclass(frozen=True)
class Habits:
    """What the processes of a scene have in common. `repository` opens one for each, by name."""

    quiet_seconds: float = QUIET_SECONDS
    policies: Mapping[str, Policy] = field(default_factory=registry.policies)
    budgets: Callable[[], Budgets] = Budgets
    repository: Callable[[World, str], WritableRepository] = _in_memory
    scalers: Callable[..., Scalers] = Scalers
    compiler: Compiler | None = None
    values: tuple[str, ...] = ()


ORDINARY = Habits()


class ScalingService(Service):
    """One process with policies and a committer."""

    def __init__(
        self, world: World, name: str, weather: Weather, habits: Habits = ORDINARY
    ) -> None:
        self.ledger = Ledger()
        self.notes = OutboxNotes(LoopTime())
        self._habits = habits
        self.repository = habits.repository(world, name)
        if isinstance(self.repository, MemoryRepository):
            self.repository.may_push = self.may_act
        super().__init__(world, name, weather)

    def _app(self, parts: Parts) -> App:
        habits = self._habits
        parts.head.repository = self.repository
        parts.head.permissions = replace(parts.head.permissions, values=habits.values)
        parts.head.compiler = habits.compiler or parts.head.compiler
        author = Person("Gamekeeper", "gamekeeper@example.com")
        parts.scalers = habits.scalers(
            self.lane,
            habits.policies,
            habits.budgets,
            self.clock.now,
            observer=self.ledger,
            signals=self._signals(),
        )
        terms = Terms(author, habits.quiet_seconds)

        def in_force() -> Terms | None:
            config = config_in_force(parts.head.reading, self.lane.store.repository)
            return None if config.write_back.mode == "off" else terms

        heard = ScalingVoices([self.ledger], [self.notes])
        parts.committing = Committing(self.repository, in_force, heard)
        return super()._app(parts)

    def _signals(self) -> Signals | None:
        """Whom policies ask: nobody."""
        return None


class Scene(Theatre):
    """A theatre of such processes."""

    habits = ORDINARY

    def _process(self, name: str) -> Service:
        return ScalingService(self.world, name, self.weather, self.habits)

    @property
    def leader(self) -> ScalingService | None:
        """Who leads."""
        for each in reversed(self.services):
            if isinstance(each, ScalingService) and each.may_act() and not each.killed:
                return each
        return None

    def wanted(self, key: WorkloadKey = ARENA) -> int | None:
        """The count that acts now, None where nobody leads or knows."""
        desired = self.leader.lane.desired(key) if self.leader else None
        return desired.workload.replicas if desired else None

    @property
    def ledgers(self) -> list[Ledger]:
        """Those of all processes."""
        return [each.ledger for each in self.services if isinstance(each, ScalingService)]

    def rooms(self) -> int:
        """Rooms that run."""
        if "arena" not in self.world.namespaces():
            return 0
        pods = self.world.pods("arena")
        return sum(pod["status"].get("phase") == "Running" for pod in pods)

    def pods(self) -> int:
        """Rooms that there are, running or not."""
        return len(self.world.pods("arena"))

    def head(self) -> str:
        """The commit at which the branch stands."""
        return self.world.host.branches["main"]

    def has_rooms(self, count: int) -> bool:
        """Whether so many run."""
        return self.rooms() == count

    def text(self) -> str:
        """The spec in Git."""
        host = self.world.host
        return host.commits[host.branches["main"]].files[FILE].decode()

    def count_in_git(self) -> int:
        """The number in Git."""
        return count_of(self.text())

    def told(self, name: str) -> list[tuple[int, int]]:
        """The steps of a workload that commits of ours tell, the oldest first."""
        told = [step for each in in_memory(self.world.host) for step in steps_of(each.message)]
        return [(before, after) for workload, before, after in told if workload == name]

    def subjects(self) -> list[str]:
        """The first lines of all commits, the newest first."""
        host, at, found = self.world.host, self.world.host.branches["main"], []
        while at:
            commit = host.commits[at]
            found.append(commit.subject.partition("\n")[0])
            at = commit.parents[0] if commit.parents else ""
        return found


def scaled(replicas: int, times: list[dict[str, Any]], low: int = 2, high: int = 20) -> str:
    """Return a spec whose count follows the time of day."""
    policy = {"schedule": times}
    down = {"stabilizationSeconds": 0}
    autoscaling = {"min": low, "max": high, "policy": policy, "scaleDown": down}
    return spec("arena", replicas, autoscaling=autoscaling)


@asynccontextmanager
async def scene(
    text: str, habits: Habits = ORDINARY, made: type[Scene] = Scene
) -> AsyncIterator[Scene]:
    """Open a scene with one spec in Git."""
    async with stage({FILE: text}, {"arena": Bounds(30, 0)}, habits, made) as there:
        yield there


@asynccontextmanager
async def stage(
    files: Mapping[str, str],
    bounds: Mapping[str, Bounds],
    habits: Habits = ORDINARY,
    made: type[Scene] = Scene,
    path: str = "",
) -> AsyncIterator[Scene]:
    """Open a scene with these specs in Git, of which `path` is read; in the end it is judged."""
    world = World(path=path)
    world.commit({"gamekeeper.yaml": CONFIG, **files})
    watchman = Watchman(world, bounds)
    async with theatre(world, Weather(random.Random(1)), watchman, made=made) as there:
        assert isinstance(there, Scene)
        there.habits = habits
        yield there
        there.judge()


__all__ = ["ARENA", "FILE", "LoopTime", "ScalingService", "Scene", "scaled", "scene"]
