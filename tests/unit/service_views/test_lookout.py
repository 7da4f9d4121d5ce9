"""What the Lease says of Git is what its holder saw."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reconciler.model import labels
from reconciler.model.errors import Denied, Unavailable
from reconciler.model.refs import Json
from reconciler.model.wanted import Wanted
from reconciler.service.lease import Lease
from reconciler.service.lookout import LONGEST_ERROR, Lookout, sighting_of, written
from tests.unit.service_views.scripted import VirtualClock
from tests.unit.service_views.test_lease import REF, OneLease


def lease_with(lookout: Lookout) -> Json:
    return {"metadata": {"annotations": dict(lookout.notes())}, "spec": {}}


def test_before_the_first_look_nothing_is_said() -> None:
    assert Lookout(VirtualClock()).notes() == {}
    seen = sighting_of(None)
    assert (seen.holder, seen.looked_at, seen.error) == ("", 0.0, "")


def test_an_error_stands_from_its_first_time_until_a_look_succeeds() -> None:
    clock = VirtualClock()
    lookout = Lookout(clock)
    lookout.looked(Wanted(), None, 0.1)
    clock.at += 60
    lookout.blind(Unavailable("the host is down"))
    clock.at += 60
    lookout.blind(Denied("the token is refused"))
    seen = sighting_of(lease_with(lookout))
    assert seen.error == "the token is refused"
    assert (seen.looked_at, seen.blind_since) == (1_000_000.0, 1_000_060.0)
    lookout.looked(Wanted(), None, 0.1)
    seen = sighting_of(lease_with(lookout))
    assert (seen.looked_at, seen.blind_since, seen.error) == (1_000_120.0, 0.0, "")


def test_a_defect_is_named_and_not_told_and_no_error_is_longer_than_a_screen() -> None:
    lookout = Lookout(VirtualClock())
    lookout.stumbled(ValueError("hunter2"))
    assert "a defect of Gamekeeper" in lookout.notes()[labels.BLIND_ERROR]
    assert "hunter2" not in lookout.notes()[labels.BLIND_ERROR]
    lookout.blind(Unavailable("x" * 5000))
    assert len(lookout.notes()[labels.BLIND_ERROR]) == LONGEST_ERROR


async def test_whoever_leads_writes_it_with_the_renewal_and_leaves_notes_of_others() -> None:
    clock, server = VirtualClock(), OneLease()
    lookout = Lookout(clock)
    lease = Lease(server, REF, "first", clock, elapsed=clock.now, notes=lookout.notes)
    await lease.attempt()
    assert server.lease is not None
    server.lease["metadata"]["annotations"] = {"team": "red", labels.BLIND_ERROR: "long ago"}
    await lease.attempt()
    assert server.lease["metadata"]["annotations"] == {
        "team": "red",
        labels.BLIND_ERROR: "long ago",
    }
    lookout.looked(Wanted(), None, 0.1)
    writes = len(server.writes)
    await lease.attempt()
    assert len(server.writes) == writes + 1
    assert server.lease["metadata"]["annotations"] == {
        "team": "red",
        labels.LOOKED_AT: "1970-01-12T13:46:40Z",
    }


def test_what_somebody_wrote_that_is_no_time_is_unknown() -> None:
    lease = {"metadata": {"annotations": {labels.LOOKED_AT: "soon"}}, "spec": {"renewTime": "x"}}
    assert (sighting_of(lease).looked_at, sighting_of(lease).renewed_at) == (0.0, 0.0)


def test_a_lease_that_nobody_holds_has_not_run_out() -> None:
    spec = {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "1970-01-01T00:01:40Z"}
    assert not sighting_of({"spec": spec}).is_over(115.0)
    assert sighting_of({"spec": spec}).is_over(116.0)
    assert not sighting_of({"spec": {**spec, "holderIdentity": ""}}).is_over(116.0)


TAKEN_AT = 1_800_000_000.0


def taken(ahead: float, *, at: float = TAKEN_AT) -> Json:
    """A Lease that the API server took `at` then, of a holder whose clock is `ahead`."""
    told = datetime.fromtimestamp(at + ahead + 0.25, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    outbox = {
        "commit": "c0ffee",
        "pushedAt": at + ahead - 30,
        "pushes": 1,
        "races": 0,
        "error": "down",
        "failingSince": 0.0,
        "refused": [],
    }
    return {
        "metadata": {
            "annotations": {
                labels.LOOKED_AT: written(at + ahead - 10),
                labels.OUTBOX: json.dumps(outbox),
                labels.LAST_LOOKS: json.dumps(
                    [["Scheduler", "", "arena", at + ahead - 4, at + ahead - 9, 2, 5, 0, []]]
                ),
                labels.NOTIFYING: json.dumps([["chat", at + ahead - 20, "503", 0]]),
            },
            "managedFields": [
                # Somebody's note since then is no word of who leads.
                {"time": written(at + 500), "fieldsV1": {"f:metadata": {"f:annotations": {}}}},
                {"time": written(at), "fieldsV1": {"f:spec": {"f:renewTime": {}}}},
            ],
        },
        "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": told},
    }


@pytest.mark.parametrize("ahead", [-86_400.0, -3600.0, 3600.0])
def test_what_a_wrong_clock_wrote_is_read_by_that_of_the_api_server(ahead: float) -> None:
    seen = sighting_of(taken(ahead))
    assert not seen.is_over(TAKEN_AT + 15)
    assert seen.is_over(TAKEN_AT + 16)
    assert (seen.ahead_seconds, seen.renewed_at) == (ahead, TAKEN_AT)
    assert (seen.looked_at, seen.blind_since) == (TAKEN_AT - 10, 0.0)
    assert (seen.outbox.pushed_at, seen.outbox.failing_since) == (TAKEN_AT - 30, 0.0)
    assert seen.untold[0].since == TAKEN_AT - 20
    (look,) = seen.last_looks_at(TAKEN_AT).values()
    assert (look.at, look.answered_at, look.again_at) == (TAKEN_AT - 4, TAKEN_AT - 9, 0.0)
    assert seen.last_looks_at(TAKEN_AT + 16) == {}
    older = replace(seen, renewed_at=TAKEN_AT + 299)
    assert [*older.last_looks_at(TAKEN_AT + 296)] == [*seen.last_looks]
    assert older.last_looks_at(TAKEN_AT + 297) == {}, "of whoever led before"


def test_clocks_that_are_close_are_one() -> None:
    seen = sighting_of(taken(-3.0))
    assert (seen.ahead_seconds, seen.looked_at) == (0.0, TAKEN_AT - 13)


def test_where_the_server_does_not_tell_when_it_took_it_no_clock_is_compared() -> None:
    lease = taken(-3600.0)
    del lease["metadata"]["managedFields"]
    seen = sighting_of(lease)
    assert seen.ahead_seconds is None
    assert seen.is_over(TAKEN_AT)
