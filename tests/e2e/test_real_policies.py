"""Clusters that act on our objects: policies, quotas and ranges that deny rooms or change them."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from reconciler.model.refs import Json
from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_policies import asked_for, denying, injecting
from tests.e2e.real_removals import writes
from tests.e2e.real_rooms import ACCOUNT, Installation, installation, scheduler
from tests.e2e.real_webhooks import PATIENCE_SECONDS, Webhook, reviewing

pytestmark = pytest.mark.real

DENIED, FULL, NARROW, CALM = "denied", "full", "narrow", "calm"
MESHED, HOOKED = "meshed", "hooked"
REFUSED = (DENIED, FULL, NARROW)
MESSAGE = "no rooms on the day of the audit"
TOLD = {DENIED: MESSAGE, FULL: "exceeded quota", NARROW: "must be less than or equal to cpu limit"}
WINDOW_SECONDS = 20.0
QUIET_SECONDS = 8.0
RECOVERED_SECONDS = 120.0
"""Longer than the wait that the back-off has grown to meanwhile, on a slow machine too."""
MOST_ASKED = 8
"""Tries within the window by a back-off that doubles from half a second: fewer than this."""
TROUBLES: dict[str, Callable[[Webhook], None]] = {
    "connection refused": Webhook.stop,
    MESSAGE: lambda hook: setattr(hook, "denies", MESSAGE),
    "context deadline exceeded": lambda hook: setattr(hook, "seconds", 2.0 * PATIENCE_SECONDS),
}
"""What is wrong with a webhook, by what is told of it."""


def test_rooms_that_a_cluster_refuses_are_told_and_asked_for_ever_more_seldom(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    api = deployed.api
    for name in (*REFUSED, CALM):
        deployed.add_nodes(1, labels={"pool": name})
    with installation(deployed, tmp_path, DENIED) as there, ExitStack() as ends:
        there.commit(**{name: scheduler(name, 2) for name in (*REFUSED, CALM)})
        there.start()
        rooms = {name: there.stand(name, 2) for name in (*REFUSED, CALM)}
        there.play([each[0] for each in rooms.values()])

        ends.enter_context(denying(api, DENIED, MESSAGE))
        quota: Json = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}}
        api.demand("POST", f"/api/v1/namespaces/{FULL}/resourcequotas", quota)
        limits: Json = {"limits": [{"type": "Container", "max": {"cpu": "100m"}}]}
        body: Json = {"metadata": {"name": "little"}, "spec": limits}
        api.demand("POST", f"/api/v1/namespaces/{NARROW}/limitranges", body)
        path = f"/api/v1/namespaces/{FULL}/resourcequotas/few"
        there.wait("it is counted", lambda: api.demand("GET", path)["status"].get("used"))

        since = time.time()
        there.commit(**{name: scheduler(name, 4) for name in (*REFUSED, CALM)})
        over = time.monotonic() + WINDOW_SECONDS
        while time.monotonic() < over:
            # What moves in a workload plans it anew: that may not be another try each time.
            for each in rooms.values():
                each[1].say(busy=int(time.monotonic() * 2) % 2 == 0)
            time.sleep(0.25)
        asked = {name: _answers(there, name, since) for name in REFUSED}
        print(f"asked for in {WINDOW_SECONDS:.0f} s: {asked}")
        there.wait("the calm one has four", lambda: len(there.house.rooms(CALM)) == 4)
        assert _answers(there, CALM, since) == Counter({201: 2})
        for name, answers in asked.items():
            assert len(there.house.rooms(name)) == 2
            assert 201 not in answers
            assert answers.total() <= MOST_ASKED
            assert TOLD[name] in _record(there, name)

        ends.close()
        api.demand("DELETE", path)
        api.demand("DELETE", f"/api/v1/namespaces/{NARROW}/limitranges/little")

        def are_made() -> bool:
            return all(len(there.house.rooms(name)) == 4 for name in REFUSED)

        took = there.wait("they are made by themselves", are_made, RECOVERED_SECONDS)
        assert took <= RECOVERED_SECONDS
        for name in (*REFUSED, CALM):
            assert not there.judge(name)
            there.wait(
                "it is told no more", lambda at=name: TOLD.get(at, "-") not in _record(there, at)
            )
        there.report(f"refused rooms were made {took:.1f} s after nothing refused them")


def test_what_a_cluster_adds_to_rooms_and_their_namespace_is_no_drift(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    api = deployed.api
    deployed.add_nodes(1, labels={"pool": MESHED})
    space, pods = f"/api/v1/namespaces/{MESHED}", f"/api/v1/namespaces/{MESHED}/pods"
    with installation(deployed, tmp_path, MESHED) as there, injecting(api, MESHED):
        there.wait("it is injected", lambda: "example.com/team" in _marks_of_a_try(there, MESHED))
        there.commit(meshed=scheduler(MESHED, 2))
        replica = there.start()
        rooms = there.stand(MESHED, 2)
        there.play(rooms[:1])
        assert api.demand("GET", space)["metadata"]["labels"]["example.com/team"] == "net"
        for pod in api.demand("GET", pods)["items"]:
            assert pod["metadata"]["labels"]["example.com/mesh"] == "on"
            assert [each["name"] for each in pod["spec"]["containers"]] == ["game", "mesh"]
            assert "example.com/mesh" in {each.get("key") for each in pod["spec"]["tolerations"]}
        limits: Json = {"limits": [{"type": "Container", "default": {"cpu": "2"}}]}
        api.demand("POST", f"{space}/limitranges", {"metadata": {"name": "more"}, "spec": limits})
        _change(there, space, {"pod-security.kubernetes.io/enforce": "restricted"})

        there.commit(meshed=scheduler(MESHED, 3))
        there.wait("another room is made", lambda: len(there.house.rooms(MESHED)) == 3)
        there.wait("it is heard", lambda: there.house.state(there.house.rooms(MESHED)[2]) == "idle")
        bounded = [
            pod
            for pod in api.demand("GET", pods)["items"]
            if "limits" in pod["spec"]["containers"][0]["resources"]
        ]
        assert len(bounded) == 1, "the range counts for the new one"
        since = time.time()
        _change(there, space, {"example.com/by": "somebody"})
        time.sleep(QUIET_SECONDS)
        wrote = writes(deployed, MESHED, replica.token_id, since)
        assert not [each for each in wrote if "dryRun" not in each], wrote
        assert len(wrote) <= 2, "what seems to differ is asked about once"
        assert _answers(there, MESHED, 0.0) == Counter({201: 3})
        assert there.house.rooms(MESHED)[:2] == rooms
        assert not there.judge(MESHED)
        there.report(f"injected into 3 rooms and their namespace: {len(wrote)} requests later")


def test_a_webhook_that_injects_is_gone_denies_or_is_late_costs_no_player(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    api, name = deployed.api, HOOKED
    deployed.add_nodes(1, labels={"pool": name})
    pods = f"/api/v1/namespaces/{name}/pods"
    with installation(deployed, tmp_path, name) as there, reviewing(api, name, tmp_path) as hook:
        there.commit(**{name: scheduler(name, 2)})
        there.start()
        rooms = there.stand(name, 2)
        there.play(rooms[:1])
        for pod in api.demand("GET", pods)["items"]:
            assert [each["name"] for each in pod["spec"]["containers"]] == ["game", "mesh"]

        def are_made(wanted: int) -> bool:
            return len(there.house.rooms(name)) == wanted

        since, took = time.time(), {}
        for count, (told, begin) in enumerate(TROUBLES.items(), 3):
            begin(hook)
            begun = time.time()
            there.commit(**{name: scheduler(name, count)})
            there.wait(f"{told!r} is told", lambda at=told: at in _record(there, name))
            time.sleep(QUIET_SECONDS)
            asked = _answers(there, name, begun)
            assert 201 not in asked
            assert 1 <= asked.total() <= MOST_ASKED
            hook.sound()
            took[told] = there.wait(
                "it is made by itself", lambda at=count: are_made(at), RECOVERED_SECONDS
            )
            assert took[told] <= RECOVERED_SECONDS
        assert there.house.rooms(name)[:2] == rooms
        hook.seconds = PATIENCE_SECONDS / 2
        there.commit(**{name: scheduler(name, 6)})
        there.wait("who is late, but not too late, is waited for", lambda: are_made(6))
        assert not there.judge(name)
        assert _answers(there, name, since)[201] == 4
        there.report(f"seconds until rooms were made behind a webhook: {took}")


def _change(there: Installation, path: str, marks: dict[str, str]) -> None:
    """Set labels of an object by hand."""
    patch, kind = {"metadata": {"labels": marks}}, "application/merge-patch+json"
    assert there.cluster.api.ask("PATCH", path, patch, content_type=kind).status == 200


def _marks_of_a_try(there: Installation, namespace: str) -> Json:
    """Return the labels that a namespace would get that somebody made: its policy is the last."""
    path = "/api/v1/namespaces?dryRun=All"
    made = there.cluster.api.demand("POST", path, {"metadata": {"name": namespace}})
    found: Json = made["metadata"].get("labels", {})
    return found


def _record(there: Installation, workload: str) -> str:
    """Return what stands on the record of a workload."""
    name = f"gamekeeper-{there.name}-local-scheduler-{workload}.{workload}"
    path = f"/api/v1/namespaces/gamekeeper/configmaps/{name}"
    record: dict[str, str] = there.cluster.api.demand("GET", path)["data"]
    return " ".join(record.values())


def _answers(there: Installation, namespace: str, since: float) -> Counter[int]:
    """Return how often which status was the answer to a room that was asked for."""
    found = asked_for(there.cluster, namespace, ACCOUNT, since)
    return Counter(event["responseStatus"]["code"] for event in found)
