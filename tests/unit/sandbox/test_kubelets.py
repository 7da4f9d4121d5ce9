"""How simulated pods start, fail, restart and end, in virtual time."""

import pytest

from reconciler.sandbox import behaviour as habits
from tests.unit.sandbox.virtual import PODS, virtual


def test_a_pod_takes_its_time_to_start() -> None:
    v = virtual(start_seconds=2, ready_seconds=3)
    v.pod("a")
    v.let(1)
    assert v.status("a")["phase"] == "Pending"
    v.let(2)
    assert v.status("a")["containerStatuses"][0]["ready"] is False
    v.let(3.2)
    assert v.status("a")["containerStatuses"][0]["ready"] is True


def test_an_annotation_sets_the_start_time_of_one_pod() -> None:
    v = virtual(start_seconds=1)
    v.pod("slow", notes={habits.START: "10"})
    v.let(5)
    assert v.status("slow")["phase"] == "Pending"
    v.let(6)
    assert v.status("slow")["phase"] == "Running"


def test_an_annotation_takes_readiness_away_and_gives_it_back() -> None:
    v = virtual()
    v.pod("a")
    v.let(3)
    for said, ready in (("false", False), ("true", True)):
        patch = {"metadata": {"annotations": {habits.READY: said}}}
        v.ask("PATCH", f"{PODS}/a", patch, "application/merge-patch+json")
        v.let(0.5)
        assert v.status("a")["containerStatuses"][0]["ready"] is ready


@pytest.mark.parametrize(
    ("image", "notes"),
    [
        pytest.param("game:missing", {}, id="an image of a tag that is not there"),
        pytest.param("game:1", {habits.PULL: "fail"}, id="a pod that is told to fail"),
    ],
)
def test_an_image_that_cannot_be_pulled_waits(image: str, notes: dict[str, str]) -> None:
    v = virtual(backoff_seconds=5)
    v.pod("a", image=image, notes=notes)
    v.let(2)
    assert v.status("a")["containerStatuses"][0]["state"]["waiting"]["reason"] == "ErrImagePull"
    v.let(6)
    waiting = v.status("a")["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert v.status("a")["phase"] == "Pending"
    (event,) = v.read("GET", "/api/v1/namespaces/default/events")["items"]
    assert (event["reason"], event["type"]) == ("Failed", "Warning")


def test_a_crash_backs_off_longer_each_time() -> None:
    v = virtual(backoff_seconds=10)
    v.pod("a", image="game:crash")
    v.let(4)
    first = v.status("a")["containerStatuses"][0]
    assert first["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert first["lastState"]["terminated"]["exitCode"] == 1
    v.let(12)
    assert v.status("a")["containerStatuses"][0]["restartCount"] == 2
    v.let(12)
    assert v.status("a")["containerStatuses"][0]["restartCount"] == 2


@pytest.mark.parametrize(
    ("policy", "note", "phase"),
    [
        pytest.param("Never", {habits.CRASH: "1"}, "Failed", id="a crash that is final"),
        pytest.param("Never", {habits.EXIT: "1"}, "Succeeded", id="an end that is final"),
        pytest.param("OnFailure", {habits.EXIT: "1"}, "Succeeded", id="an end that is no failure"),
        pytest.param("OnFailure", {habits.CRASH: "1"}, "Running", id="a crash that is retried"),
    ],
)
def test_the_restart_policy_decides_how_a_pod_ends(
    policy: str, note: dict[str, str], phase: str
) -> None:
    v = virtual(start_seconds=0)
    v.pod("a", notes=note, restartPolicy=policy)
    v.let(3)
    assert v.status("a")["phase"] == phase


def test_sidecars_and_init_containers_have_their_statuses() -> None:
    v = virtual()
    inits = [
        {"name": "once", "image": "i"},
        {"name": "beside", "image": "i", "restartPolicy": "Always"},
    ]
    v.pod("a", initContainers=inits)
    v.let(3)
    states = {one["name"]: one["state"] for one in v.status("a")["initContainerStatuses"]}
    assert states["once"]["terminated"]["exitCode"] == 0
    assert "running" in states["beside"]


def test_a_readiness_gate_holds_a_pod_unready() -> None:
    v = virtual()
    v.pod("a", readinessGates=[{"conditionType": "x.io/open"}])
    v.let(3)
    ready = {one["type"]: one["status"] for one in v.status("a")["conditions"]}
    assert (ready["ContainersReady"], ready["Ready"]) == ("True", "False")
    live = v.status("a")["conditions"]
    patch = {"status": {"conditions": [*live, {"type": "x.io/open", "status": "True"}]}}
    v.ask("PATCH", f"{PODS}/a/status", patch, "application/merge-patch+json")
    v.let(0.5)
    ready = {one["type"]: one["status"] for one in v.status("a")["conditions"]}
    assert ready["Ready"] == "True"


def test_a_deleted_pod_stops_in_its_time() -> None:
    v = virtual(stop_seconds=4)
    v.pod("a")
    v.let(3)
    v.ask("DELETE", f"{PODS}/a")
    v.let(3)
    assert v.ask("GET", f"{PODS}/a").status == 200
    v.let(2)
    assert v.ask("GET", f"{PODS}/a").status == 404


def test_a_pod_of_the_same_name_starts_anew() -> None:
    v = virtual(start_seconds=1)
    first = v.pod("a")
    v.let(3)
    v.ask("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 0})
    second = v.pod("a")
    assert v.status("a")["phase"] == "Pending"
    v.let(3)
    assert v.status("a")["phase"] == "Running"
    assert first["metadata"]["uid"] != second["metadata"]["uid"]


def test_a_lost_node_takes_its_pods() -> None:
    v = virtual()
    v.pod("a")
    v.let(3)
    node = v.read("GET", f"{PODS}/a")["spec"]["nodeName"]
    v.ask("DELETE", f"/api/v1/nodes/{node}")
    v.let(0.5)
    assert v.ask("GET", f"{PODS}/a").status == 404


def test_the_same_seed_lives_the_same_life() -> None:
    lives = []
    for _ in range(2):
        v = virtual()
        for name in ("a", "b"):
            v.pod(name)
        v.let(5)
        lives.append(v.ask("GET", PODS).body)
    assert lives[0] == lives[1]
