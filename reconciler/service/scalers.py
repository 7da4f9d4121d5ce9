"""Decides counts: what a policy makes of the rooms, each time that something of them changed.

A decision is made without I/O, written to the state record, and only then acts (ADR 6). What a
policy remembers from look to look, and the demand that it saw, are kept here. They go on record
with each count that moves, and else once an hour; where nobody played, every six hours.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

from reconciler.core import deciding, hold_ends, loads, pauses
from reconciler.core.activity import Following
from reconciler.core.compile import config_from_json
from reconciler.core.deciding import Decided
from reconciler.core.hold_ends import HoldEnd
from reconciler.core.policies.nested import Policies, asks_by
from reconciler.core.quarters import KEEP_SECONDS, RETRY_SECONDS, Quarters
from reconciler.core.rooms import Sorted, SortedOnce
from reconciler.loop.lane import Lane
from reconciler.model.decisions import NO_PAST, Decision, Past
from reconciler.model.errors import Conflict, PortError
from reconciler.model.intents import Scaling
from reconciler.model.pauses import Pause
from reconciler.model.plans import Desired, Situation
from reconciler.model.records import StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Autoscaling, Load, Look, Signal
from reconciler.model.specs import Budgets, Config, Workload
from reconciler.service.last_looks import LastLooks
from reconciler.service.reactions import Reactions, Stage
from reconciler.service.signals import Signals

LOOK_SECONDS = 10.0
"""A policy is asked that often where nothing changes: times of day and learned rates do."""
_UNREVIEWED = "its record was lost, and nobody has approved what its policy lets go since"


@dataclass(slots=True)
class _Memory:
    """What is remembered of one workload between two looks."""

    quarters: Quarters
    following: Following = field(default_factory=Following)
    doubted: bool = False
    """Whether what the rooms told was in doubt at the last look: what turned busy since then may
    have been so before."""
    pause: Pause | None = None
    past: Past | None = None
    """What its policy remembers since the record was read; None where only the record knows."""
    spec_json: str = ""
    """The spec by which it was decided last."""
    hold: HoldEnd | None = None
    """When a person's hold ends that was on record at the last look."""
    moved_at: float = -RETRY_SECONDS
    """When its end on record was to be moved (elapsed), since the clock was set."""


class ScalingObserver(Protocol):
    """Who hears of decisions: logs, metrics, events."""

    def decided(self, key: WorkloadKey, decision: Decision) -> None:
        """A policy moved a count: it is on record, and acts."""

    def undecided(self, key: WorkloadKey, error: PortError) -> None:
        """A count could not be put on record, so it does not act yet."""

    def paused(self, key: WorkloadKey, pause: Pause | None) -> None:
        """A policy stands still, or (None) goes on: what is told of it changed."""

    def reacted(self, stage: Stage, seconds: float) -> None:
        """A count that moves has come so far, so long after what woke its workload."""


class Scalers:
    """Decides for every workload of a lane that has a policy. `now` is Unix seconds."""

    def __init__(
        self,
        lane: Lane,
        policies: Policies,
        budgets: Callable[[], Budgets],
        now: Callable[[], float],
        *,
        observer: ScalingObserver,
        signals: Signals | None = None,
        enabled: bool = True,
    ) -> None:
        """Decide for `lane`; without `enabled` every count goes back to what Git says.

        Without `signals` nobody else is asked, and policies that must know of others hold.
        """
        self._observer = observer
        self.reactions = Reactions(observer.reacted)
        self.last_looks = LastLooks()
        self._lane = lane
        self._policies = policies
        self._budgets = budgets
        self._now = now
        self._signals = signals
        self._enabled = enabled
        self._memories: dict[WorkloadKey, _Memory] = {}

    def forget(self, key: WorkloadKey | None = None) -> None:
        """Forget one workload, or all of them: another process led meanwhile."""
        self.reactions.forget(key)
        self.last_looks.forget(key)
        if self._signals is not None:
            self._signals.forget(key)
        if key is None:
            self._memories.clear()
            self._lane.pauses.clear()
        else:
            self._memories.pop(key, None)
            self._lane.pauses.pop(key, None)

    def look(self, situation: Situation, once: SortedOnce | None) -> Decided | None:
        """Return what a workload's policy decides now, None where it has none; no I/O.

        `once` are its rooms, None where it is wanted no more.
        """
        found = _policy_of(situation)
        if found is None or once is None:
            self.forget(situation.key)
            self._lane.pauses[situation.key] = None
            return None
        desired, autoscaling = found
        record = self._lane.store.state(situation.key)
        in_git = record.accepted.replicas if record.accepted else desired.workload.replicas
        scaling = self._lane.scaling(situation.key)
        memory = self._memories.get(situation.key)
        if memory is None:
            memory = self._memories[situation.key] = _Memory(self._quarters(situation.key))
        memory.spec_json = desired.workload.spec_json
        until = self._held_until(memory, scaling)
        if not self._enabled:
            decided = deciding.given_up(scaling, in_git)
            self._watch(situation.key, memory, decided)
            return decided
        past = scaling.past if memory.past is None else memory.past
        before = replace(scaling, past=past, held_until=until)
        look = self._look(situation, autoscaling, memory, once.rooms())
        decided = deciding.decide(
            autoscaling, in_git, before, look, self._policies, self._budgets()
        )
        memory.past = decided.scaling.past
        self.last_looks.note(situation.key, look, decided.decision)
        self._watch(situation.key, memory, decided)
        return decided

    def _held_until(self, memory: _Memory, scaling: Scaling) -> float:
        """Return when a person's hold ends, by our clock as it is set now."""
        now, elapsed = self._shared_now(), self._lane.view.elapsed()
        most_seconds = _hold_seconds(self._lane.store.repository.config_json)
        memory.hold = hold_ends.followed(memory.hold, scaling, now, elapsed, most_seconds)
        ahead_seconds = now - self._now() if self._lane.server_now else 0.0
        return memory.hold.at(now, elapsed) - ahead_seconds

    def _shared_now(self) -> float:
        """Return the time by which holds are on record: the next leader's clock may be another."""
        return self._lane.server_now() if self._lane.server_now else self._now()

    def _watch(self, key: WorkloadKey, memory: _Memory, decided: Decided) -> None:
        """Note why a policy stands still; tell it when what is to be told changes."""
        lane, now = self._lane, self._now()
        before = lane.pause(key)
        known = memory.pause if key in lane.pauses else before
        memory.pause = pauses.pause_of(known, decided.before, decided.decision, now)
        lane.pauses[key] = told = pauses.told(memory.pause, now)
        if told != before:
            self._observer.paused(key, told)

    def _look(
        self, situation: Situation, autoscaling: Autoscaling, memory: _Memory, there: Sorted
    ) -> Look:
        now = self._now()
        load = loads.load_of(there, there.workload.replicas)
        if not situation.rooms_complete:
            load = replace(load, trouble="the cluster is being read anew")
        activity = memory.following.look(there, now)
        doubted, memory.doubted = memory.doubted, bool(load.trouble)
        starts = None if doubted or memory.doubted else len(activity.starts)
        memory.quarters.follow(activity.since, now, starts)
        history = memory.quarters.history(situation.record.demand)
        signals = self._heard(there.workload, load)
        accepted = situation.record.accepted
        if accepted is not None and accepted.unreviewed:
            load = replace(load, trouble=load.trouble or _UNREVIEWED)
        known = now, autoscaling.bounds, load, activity, history, signals
        return Look(*known, shared_now=self._shared_now())

    def _heard(self, workload: Workload, load: Load) -> Mapping[str, Signal]:
        """Return what others told, and have them asked what the policy wants to know."""
        if self._signals is None or workload.autoscaling is None:
            return {}
        autoscaling = workload.autoscaling
        asks = asks_by(autoscaling.policy, self._policies)
        return self._signals.of(workload.key, asks, load, autoscaling.bounds)

    async def ask(
        self, may_ask: Callable[[], bool], changed: Callable[[Iterable[WorkloadKey]], None]
    ) -> None:
        """Ask others until cancelled; `changed` is told whose answers say something new."""
        if self._signals is not None:
            await self._signals.run(may_ask, changed)

    def _quarters(self, key: WorkloadKey) -> Quarters:
        # Not all at once: of a thousand workloads one writes every few seconds.
        return Quarters(self._now() - zlib.crc32(str(key).encode()) % KEEP_SECONDS)

    def is_due(self, key: WorkloadKey) -> bool:
        """Whether what was seen and learned goes on record, though no count moves."""
        memory, now = self._memories.get(key), self._now()
        if memory is None:
            return False
        elapsed = self._lane.view.elapsed()
        hold = memory.hold
        is_set = hold is not None and hold.at(self._shared_now(), elapsed) != hold.until
        is_set = is_set and elapsed - memory.moved_at >= RETRY_SECONDS
        return is_set or memory.quarters.is_due(now)

    def unwritten(self) -> set[WorkloadKey]:
        """Return the workloads of which something was seen that is not on record yet."""
        return {key for key, memory in self._memories.items() if memory.quarters.over}

    async def remember(self, key: WorkloadKey) -> None:
        """Put the demand and what the policy learned on record; tried later where that fails.

        The end of a person's hold moves there with a clock that was set.
        """
        memory = self._memories.get(key)
        if memory is None:
            return  # nobody scales it any more
        quarters, over, past = memory.quarters, memory.quarters.over, memory.past
        hold, elapsed = memory.hold, self._lane.view.elapsed()
        until = hold.at(self._shared_now(), elapsed) if hold else 0.0
        if hold and until != hold.until:
            memory.moved_at = elapsed

        def change(newest: StateRecord) -> StateRecord:
            scaling = newest.scaling if past is None else replace(newest.scaling, past=past)
            if hold and scaling.held_until == hold.until:
                scaling = replace(scaling, held_until=until)
            return replace(newest, scaling=scaling, demand=quarters.history(newest.demand))

        try:
            await self._lane.store.change_state(key, change)
        except PortError:
            # Nothing acts on it, and who must write says what the trouble is.
            quarters.put_off(self._now())
            return
        quarters.keep(over, self._now())

    async def keep(self, key: WorkloadKey, decided: Decided) -> bool:
        """Put a decision on record; from then on it acts. Whether it is there."""
        memory = self._memories.get(key)
        if memory is None:
            return False  # somebody else leads
        until, by_spec = memory.hold.until if memory.hold else 0.0, memory.spec_json
        basis = replace(decided.before, past=NO_PAST, held_until=until)
        quarters, over = memory.quarters, memory.quarters.over

        def change(newest: StateRecord) -> StateRecord:
            # A head may switch the policy off, or lack the workload, and leave what is remembered
            # as it was.
            is_same = newest.accepted is None or newest.accepted.spec_json == by_spec
            is_same = is_same and not newest.deleting
            if replace(newest.scaling, past=NO_PAST) != basis or not is_same:
                raise Conflict(f"a head of {key} was taken in meanwhile: decided anew")
            history = quarters.history(newest.demand)
            after = replace(decided.scaling, held_until=until)
            return replace(newest, scaling=after, demand=history)

        try:
            await self._lane.store.change_state(key, change)
        except PortError as error:
            memory.past = decided.watched
            self._observer.undecided(key, error)
            return False
        quarters.keep(over, self._now())
        self._observer.decided(key, decided.decision)
        return True


@lru_cache(maxsize=1)
def _hold_seconds(config_json: str) -> float:
    """Return how long a person's number holds by the accepted Config."""
    config = config_from_json(config_json) if config_json else Config()
    return float(config.write_back.human_hold_seconds)


def _policy_of(situation: Situation) -> tuple[Desired, Autoscaling] | None:
    desired = situation.desired
    autoscaling = desired.workload.autoscaling if desired else None
    if desired is None or autoscaling is None or not desired.workload.scales:
        return None
    return desired, autoscaling
