"""How many series the page of metrics has: as many as workloads, and no more of anything else.

A server of metrics keeps each series for weeks: labels that follow rooms, nodes, commits, branches
or what strangers send fill it up.
"""

import asyncio
from itertools import product
from typing import cast, get_args

import pytest

from reconciler.loop.landing import Landed
from reconciler.model.changes import Cause
from reconciler.model.edits import Edit, Refusal
from reconciler.model.errors import Denied, Unavailable
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import Counts, DeleteRoom, Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Outcome, Report, Settled
from reconciler.model.rooms import Mark
from reconciler.model.wanted import Wanted
from reconciler.room_ports import Taken, Way
from tests.unit.adapters_http.office import Office
from tests.unit.core.making import NEW, a_pod
from tests.unit.service_faces.hall import Hall

FEW, MANY = 6, 300
"""Of the few each name is once of every sort that the many are."""
Series = frozenset[tuple[str, tuple[tuple[str, str], ...]]]


def series_of(hall: Hall) -> Series:
    return frozenset(
        (sample.name, tuple(sorted(sample.labels.items())))
        for family in hall.registry.collect()
        for sample in family.samples
    )


def rooms_come(hall: Hall, names: int) -> None:
    """Rooms on as many nodes, of as many revisions, some of which leave; some went."""
    for n in range(names):
        more = {"leaving": "request", "mark": "draining"} if n % 3 == 1 else {}
        revision = NEW if n % 2 else f"1-{n:012x}"
        hall.put(n, node=f"node-{n}", revision=revision, ready=n % 3 != 2, **more)
    hall.sweep()


def commits_come(hall: Hall, names: int) -> None:
    """Commits on as many branches, by as many people, of which something is held and refused."""
    for n in range(names):
        reason = f"commit {n:040x} on branch-{n} by player-{n}"
        held = Hold(HoldKind.OVER_BUDGET, hall.key, reason, f"{n:012x}")
        hall.metrics.looked(Wanted(commit=f"{n:040x}", holds=(held,)), None, 0.1)
        gone = DeleteRoom(a_pod(n), Cause.SCALE_IN, reason)
        plan = Plan(hall.key, Counts(), removals=(gone,), holds=(held,))
        hall.metrics.planned("local", plan)
        done = Outcome(hall.key, "delete", gone.what, reason)
        failed = Outcome(hall.key, "create", f"room arena-{n}", reason, f"node-{n} is full")
        hall.metrics.settled(Report("local", f"{n:040x}", (Settled(plan, (done, failed)),)))
        hall.metrics.crashed("local", hall.key, RuntimeError(reason))
        hall.metrics.blind(Unavailable(reason))
        edit = Edit(hall.key, ("spec", "replicas"), n)
        hall.scaling.landed(Landed(f"{n:040x}", refused=(Refusal(edit, n, reason),)))
        hall.scaling.unlanded(Denied(reason))
        hall.rooms.flipped(Mark.BUSY, "done", 0.01)


async def strangers_come(hall: Hall, names: int) -> None:
    """As many rooms that nobody knows are spoken for, on every path that a report may come on."""
    office = Office()
    for n in range(names):
        for path in (
            f"/scheduler/player-{n}/rooms/arena-{n}/ping",
            f"/v1/rooms/player-{n}/arena-{n}/report",
        ):
            await office.ask("PUT", path, {"status": f"state-{n}"})
        body = {"serverName": f"arena-{n}", "namespace": f"player-{n}", "playerCount": n}
        await office.ask("POST", f"/setactiveplayers?code={n}", body)
    assert {way for way, _ in office.counted} == set(get_args(Way))
    for way, result in office.counted:
        hall.rooms.reported(cast(Way, way), cast(Taken, result))


def played(names: int) -> Series:
    hall = Hall()
    for way, result in product(get_args(Way), get_args(Taken)):
        hall.rooms.reported(way, result)  # many are limited, where few are not
    rooms_come(hall, names)
    commits_come(hall, names)
    asyncio.run(strangers_come(hall, names))
    return series_of(hall)


def test_no_label_grows_with_rooms_nodes_commits_branches_or_players() -> None:
    few, many = played(FEW), played(MANY)

    assert many == few
    for name, labels in many:
        for label, value in labels:
            for word in ("arena-", "node-", "branch-", "player-", "state-", "1-0000", "00000000"):
                assert word not in value, f"{name} has a {label} that is one of many: {value}"


@pytest.mark.parametrize("number", [1, 40])
def test_what_is_of_workloads_grows_with_those_of_git_and_goes_with_them(number: int) -> None:
    hall = Hall()
    before = series_of(hall)
    keys = [WorkloadKey("Scheduler", f"game-{n}", f"game-{n}") for n in range(number)]
    for key in keys:
        held = Hold(HoldKind.SUSPENDED, key, "suspended")
        hall.metrics.planned("local", Plan(key, Counts(), holds=(held,)))
    grown = {labels for _, labels in series_of(hall) if "game-" in str(labels)}
    assert len(grown) == number

    for key in keys:
        hall.metrics.gone("local", key)
    assert not {labels for _, labels in series_of(hall) - before if "game-" in str(labels)}
