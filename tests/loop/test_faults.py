"""Every request fails once in every way that requests fail; and every read is old once."""

from collections.abc import Callable
from itertools import product

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.fence import WRITES
from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.model.errors import PortError, Unanswered
from reconciler.sandbox.faults import Fault
from tests.loop.convergence import (
    Ending,
    NotConverged,
    Ports,
    Scenario,
    Stage,
    compare,
    copy_of,
    play,
    reference_of,
)
from tests.loop.points import POINTS
from tests.loop.safety import Unsafe
from tests.loop.scenarios import SCENARIOS
from tests.loop.sweeps import part, some
from tests.loop.world import Process, World

CHOSEN = {
    "create a fleet",
    "roll out within a surge",
    "prune a removed spec",
    "heal rooms deleted by hand and rooms that failed",
    "a spec returns while its namespace goes",
}
CASES = [scenario for scenario in SCENARIOS if scenario.name in CHOSEN]
MISSING = {"reason": "NotFound", "details": {"kind": "namespaces", "name": "arena"}}
DEPTHS = (1, 2, 5, 1000)

Failure = Callable[[Call], PortError]


def _status(number: int, retry_after_seconds: float | None = None) -> Failure:
    body = MISSING if number == 404 else {"message": "a planted fault"}
    return lambda call: refusal(call.what, number, body, retry_after_seconds)


def _lost(call: Call) -> PortError:
    return Unanswered(f"{call.what}: no answer: connection reset")


REFUSED: dict[str, Failure] = {
    "409": _status(409),
    "404, its namespace is missing": _status(404),
    "410": _status(410),
    "422": _status(422),
    "429 and Retry-After": _status(429, 3.0),
    "500": _status(500),
    "connection lost": _lost,
}
APPLIED: dict[str, Failure] = {
    "500, applied": _status(500),
    "504, applied": _status(504),
    "connection lost, applied": _lost,
}


def _failing(stage: Stage, at: int, failure: Failure, applied: bool) -> Process:
    """Make a process of which one call fails, carried out or not."""
    ports = Ports()

    def refuse(number: int, call: Call) -> None:
        if number == at and not applied:
            raise failure(call)

    process = stage.cast(ports, refuse)
    after = process.transport.after

    def lose(number: int, call: Call) -> None:
        after(number, call)
        if applied and len(ports.calls) - 1 == at:
            raise failure(call)

    process.transport.after = lose
    return process


async def _run(stage: Stage, process: Process) -> Ending:
    await stage.start(process)
    await stage.settle(process)
    await stage.idle(process)
    return stage.ending(Ports())


def _compare_harm(ending: Ending, reference: Ending) -> None:
    """Whoever reads what is old may hold something, or make a room in vain; it removes nothing."""
    for namespace, removed in ending.prepared_removed.items():
        if removed > reference.prepared_removed.get(namespace, 0):
            raise NotConverged(f"{removed} rooms of {namespace} were removed: {reference.removed}")


async def _reference(scenario: Scenario) -> tuple[World, Ending, dict[int, Call]]:
    """Return a scenario without a mishap, and its calls of the cluster by number."""
    world, ending = await reference_of(scenario)
    return world, ending, {n: call for n, call in ending.requests.items() if n < len(ending.calls)}


def _ways(turn: int, call: Call) -> list[tuple[str, Failure, bool]]:
    """Return how a call fails here; the last tells whether it is carried out all the same."""
    refused = [(name, failure, False) for name, failure in REFUSED.items()]
    if call.verb not in WRITES:
        return [refused[turn % len(refused)]]  # all ways of reads to fail, in turn
    applied = [(name, failure, True) for name, failure in APPLIED.items()]
    return [*some(refused, turn, 2), *some(applied, turn, 1)]


@pytest.mark.long
@pytest.mark.parametrize("scenario", CASES[:3], ids=lambda scenario: scenario.name)
async def test_a_request_that_fails_once_changes_no_end(scenario: Scenario) -> None:
    world, reference, calls = await _reference(scenario)
    failures = []
    for turn, (at, call) in part(list(enumerate(calls.items())), 21):
        for name, failure, applied in _ways(turn, call):
            POINTS["failed requests"] += 1
            stage = Stage(copy_of(world), scenario)
            try:
                ending = await _run(stage, _failing(stage, at, failure, applied))
                compare(ending, reference)
            except (Unsafe, NotConverged) as error:
                failures.append(f"call {at} ({call.what}), {name}: {error}")
        if failures:
            break  # the first tells enough
    assert not failures, "\n".join([f"{len(failures)} failures", *failures[:5]])


@pytest.mark.parametrize("scenario", CASES, ids=lambda scenario: scenario.name)
async def test_a_read_that_is_old_removes_nothing_wrongly(scenario: Scenario) -> None:
    world, reference, calls = await _reference(scenario)
    failures = []
    reads = {at: call for at, call in calls.items() if call.verb in ("get", "list")}
    for turn, (at, call) in part(list(enumerate(reads.items())), 21):
        depths = DEPTHS if call.kind == "Pod" else DEPTHS[at % 2 :: 2]
        for depth in some(depths, turn // 2, 1):
            POINTS["old reads"] += 1
            stage = Stage(copy_of(world), scenario)

            def lag(number: int, _: Call, at: int = at, depth: int = depth) -> None:
                if number == at:
                    stage.world.sandbox.faults.plant(Fault(stale_revisions=depth))  # noqa: B023

            try:
                _compare_harm(await _run(stage, stage.cast(Ports(), lag)), reference)
            except (Unsafe, NotConverged) as error:
                failures.append(f"call {at} ({call.what}), {depth} revisions old: {error}")
        if failures:
            break
    assert not failures, "\n".join([f"{len(failures)} failures", *failures[:5]])


# Not the change of mind: whoever hears of it late goes on with what was accepted before.
STEADY = [scenario for scenario in SCENARIOS if "change of mind" not in scenario.name]


@pytest.mark.parametrize("scenario", STEADY, ids=lambda scenario: scenario.name)
async def test_a_process_that_reads_from_a_server_behind_does_no_harm(scenario: Scenario) -> None:
    world, reference, _ = await _reference(scenario)
    failures = []
    for depth, turns in part(list(product((1, 3, 8, 21, 34), (1, 2))), 10):
        POINTS["servers behind"] += 1
        stage = Stage(copy_of(world), scenario)
        first = stage.cast(Ports())
        await stage.start(first)
        await stage.turn(first)
        process = stage.cast(Ports(), _behind(stage, depth, stage.turns + turns))
        try:
            _compare_harm(await _run(stage, process), reference)
        except (Unsafe, NotConverged) as error:
            failures.append(f"{turns} turns, {depth} revisions behind: {error}")
    assert not failures, "\n".join([f"{len(failures)} failures", *failures[:5]])


def _behind(stage: Stage, depth: int, until: int) -> Callable[[int, Call], None]:
    def lag(_: int, call: Call) -> None:
        if stage.turns <= until and call.verb in ("get", "list"):
            stage.world.sandbox.faults.plant(Fault(stale_revisions=depth))

    return lag


async def test_every_way_to_fail_is_an_error_of_ports() -> None:
    world = World()
    process = await world.process()
    call = process.transport.calls[0]
    for failure in (*REFUSED.values(), *APPLIED.values()):
        assert isinstance(failure(call), PortError)
    assert await play(Stage(copy_of(world), CASES[0]), Ports())
