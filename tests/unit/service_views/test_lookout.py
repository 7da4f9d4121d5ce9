"""What the Lease says of Git is what its holder saw."""

from reconciler.model import labels
from reconciler.model.errors import Denied, Unavailable
from reconciler.model.refs import Json
from reconciler.model.wanted import Wanted
from reconciler.service.lease import Lease
from reconciler.service.lookout import LONGEST_ERROR, Lookout, sighting_of
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
