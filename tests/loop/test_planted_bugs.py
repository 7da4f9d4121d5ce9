"""A corpus of defects, planted one at a time: the checks of this folder catch each of them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.core import births, budget, gates, ordinals, rollout, room_state, rooms
from reconciler.core.rollout import Step
from reconciler.loop import keep_records
from reconciler.loop.lane import Lane
from reconciler.loop.store import RecordStore
from reconciler.model.errors import PortError
from reconciler.model.records import Ordinals
from reconciler.model.rooms import Judged, RoomState
from reconciler.service.reflector import Reflector
from tests.loop import (
    test_crash,
    test_faults,
    test_names,
    test_records,
    test_stale_decisions,
    test_unreadable_records,
)
from tests.loop.convergence import Scenario, reference_of
from tests.loop.planting import Plant, caught
from tests.loop.scenarios import SCENARIOS
from tests.loop.sweeps import ALL, SETTING, part
from tests.loop.world import spec

Check = Callable[[], Awaitable[None]]


def _scenario(beginning: str) -> Scenario:
    return next(each for each in SCENARIOS if each.name.startswith(beginning))


def crash(beginning: str) -> Check:
    return lambda: test_crash.test_a_process_that_dies_at_any_call_is_gone_on_from(
        _scenario(beginning)
    )


def faults(beginning: str) -> Check:
    return lambda: test_faults.test_a_request_that_fails_once_changes_no_end(_scenario(beginning))


def old(beginning: str) -> Check:
    return lambda: test_faults.test_a_read_that_is_old_removes_nothing_wrongly(_scenario(beginning))


def no_precondition(patch: pytest.MonkeyPatch) -> None:
    async def delete(
        self: Any, ref: Any, uid: str, resource_version: str, check: Any = None
    ) -> bool:
        path = await self._path(ref)
        await self._transport.send(Call("delete", "DELETE", ref.kind, path, f"delete {ref}", {}))
        return True

    patch.setattr(KubernetesCluster, "delete", delete)


def conflict_is_fatal(patch: pytest.MonkeyPatch) -> None:
    async def ignore(self: Any, key: Any, what: str) -> None:
        return None

    patch.setattr(RecordStore, "_reread", ignore)


def struck_before_post(patch: pytest.MonkeyPatch) -> None:
    async def strike(self: Any, key: Any, raised: Ordinals) -> None:
        await self.save_ordinals(key, replace(raised, outstanding=frozenset()))

    patch.setattr(RecordStore, "raise_ordinals", strike)


def not_raised_before_post(patch: pytest.MonkeyPatch) -> None:
    async def skip(self: Any, key: Any, raised: Ordinals) -> None:
        return None

    patch.setattr(RecordStore, "raise_ordinals", skip)


def raised_without_comparing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RecordStore, "raise_ordinals", RecordStore.save_ordinals)


def names_come_back(patch: pytest.MonkeyPatch) -> None:
    def take(known: Ordinals, number: int) -> tuple[tuple[int, ...], Ordinals]:
        lowest = known.next - known.next % 1000
        return tuple(range(lowest, lowest + number)), replace(known, next=known.next + 1)

    patch.setattr(ordinals, "take", take)


def every_gate_is_open(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gates, "blocked", lambda *arguments: {})


def budget_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(budget, "refusal", lambda *arguments, **named: None)


def error_is_empty(patch: pytest.MonkeyPatch) -> None:
    read = Reflector.read

    async def read_or_nothing(self: Any) -> None:
        try:
            await read(self)
        except PortError:
            self._shelf.keep_only(())
            self.synced.set()

    patch.setattr(Reflector, "read", read_or_nothing)


def trusts_an_old_view(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ordinals, "is_blind", lambda *arguments: False)


def counts_on_deletes(patch: pytest.MonkeyPatch) -> None:
    step_of = rollout.next_step

    def eager(there: Any, desired: int, *rest: Any, **more: Any) -> Step:
        step = step_of(there, desired, *rest, **more)
        missing = desired - len(there.new_ready) - len(there.new_unready)
        going = step.remove_old_ready + step.remove_old_unready
        return replace(step, create=max(step.create, min(missing, step.create + going)))

    patch.setattr(rollout, "next_step", eager)


def does_not_wait_for_readiness(patch: pytest.MonkeyPatch) -> None:
    judge = room_state.judge

    def hopeful(*facts: Any) -> Judged:
        judged = judge(*facts)
        waits = judged.state in (RoomState.PENDING, RoomState.UNREADY)
        return replace(judged, state=RoomState.READY, up=True) if waits else judged

    patch.setattr(rooms, "judge", hopeful)


def lost_answer_is_no_write(patch: pytest.MonkeyPatch) -> None:
    async def looks_at_none(self: RecordStore, versions: object) -> None:
        return None

    patch.setattr(RecordStore, "is_doubtful", lambda self, key: False)
    patch.setattr(RecordStore, "compare_states", looks_at_none)


def introduces_nobody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(keep_records, "_introduced", lambda verdict: verdict.repository)


def writes_over_the_newer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(keep_records, "_check_same", lambda *arguments: None)


def carries_out_what_was_taken_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Lane, "check_stands", lambda self, plan: None)


def forgets_who_was(patch: pytest.MonkeyPatch) -> None:
    enter = births.enter

    def fresh(repository: Any, *arguments: Any) -> Any:
        return enter(replace(repository, known=frozenset()), *arguments)

    patch.setattr(births, "enter", fresh)


def unreadable_is_missing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RecordStore, "unreadable_workloads", lambda self: {})


def lost_is_new(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gates, "_orphaned", lambda *arguments: None)


async def held_alone() -> None:
    data = test_unreadable_records.CORRUPT["JSON that is none"]
    await test_unreadable_records.test_a_record_that_cannot_be_read_holds_its_own_workload_alone(
        data, "state"
    )


async def lost() -> None:
    await test_unreadable_records.test_of_a_lost_record_what_removes_waits_for_an_approval(
        spec("arena", 1), "scale-in to=1"
    )


BUGS: tuple[tuple[Plant, Check], ...] = (
    (introduces_nobody, test_names.test_at_whatever_call_a_process_dies_no_clock_is_asked),
    (forgets_who_was, test_names.test_who_left_and_returns_starts_at_the_unix_time),
    (
        writes_over_the_newer,
        test_stale_decisions.test_a_judgement_is_not_written_over_what_another_process_judged_since,
    ),
    (
        carries_out_what_was_taken_back,
        test_stale_decisions.test_a_deletion_stops_where_the_newest_commit_wants_the_workload_again,
    ),
    (unreadable_is_missing, held_alone),
    (lost_is_new, lost),
    (no_precondition, crash("scale in")),
    (conflict_is_fatal, faults("create")),
    (struck_before_post, crash("scale out")),
    (not_raised_before_post, crash("create")),
    (raised_without_comparing, test_records.test_a_process_that_slept_makes_no_name_again),
    (names_come_back, crash("heal")),
    (every_gate_is_open, crash("a mass deletion that nobody")),
    (budget_is_ignored, crash("a mass deletion that nobody")),
    (error_is_empty, faults("roll out within")),
    (trusts_an_old_view, old("roll out within")),
    (counts_on_deletes, crash("roll out within")),
    (does_not_wait_for_readiness, crash("roll out within")),
    (
        lost_answer_is_no_write,
        test_records.test_a_condition_whose_write_got_no_answer_is_written_again,
    ),
)


PLANTED = [pytest.param(*bug, id=bug[0].__name__) for bug in BUGS]


@pytest.mark.parametrize(("plant", "check"), part(PLANTED, 12))
async def test_a_planted_bug_is_caught(
    plant: Plant, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scenario in SCENARIOS:
        await reference_of(scenario)  # of the program as it should be
    monkeypatch.setenv(SETTING, ALL)  # a bug that one point alone shows is caught too
    with caught(plant, monkeypatch, PortError):
        await check()
