"""What may become a room, what is in the way and how that is told, and what the patch says."""

from dataclasses import replace
from typing import Any

import pytest

from reconciler.core import adopting
from reconciler.core.adopting import UNKNOWN_REVISION, Adoption
from reconciler.core.revision import tells_reports
from reconciler.model import labels
from reconciler.model.refs import Json
from tests.unit.core.making import a_workload, autoscaling

HEARD = Adoption(replace(a_workload(), reports="required"), "main")
UNHEARD = Adoption(replace(a_workload(), reports="none"), "main")
APP = {"app": "arena"}


def pod(name: str = "web-x", marks: Json | None = None, **metadata: Any) -> Json:
    whole = {"name": name, "namespace": "arena", "uid": "u", "resourceVersion": "7", **metadata}
    return {"metadata": {**whole, "labels": {**APP, **(marks or {})}}, "status": {}}


def budget(selector: Json | None, name: str = "theirs", **metadata: Any) -> Json:
    return {
        "metadata": {"name": name, "namespace": "arena", **metadata},
        "spec": {"selector": selector},
    }


def owner(kind: str, **more: Any) -> list[Json]:
    return [{"kind": kind, "name": "web", "uid": "o", **more}]


@pytest.mark.parametrize(
    ("found", "adoption", "told"),
    [
        pytest.param(pod(), HEARD, [], id="nothing is in the way"),
        pytest.param(
            pod(ownerReferences=owner("StatefulSet", controller=True)),
            HEARD,
            ["delete statefulset web --namespace arena --cascade=orphan"],
            id="a controller makes another",
        ),
        pytest.param(
            pod(ownerReferences=owner("ReplicaSet", controller=True)),
            HEARD,
            ["first the Deployment above it"],
            id="a ReplicaSet has a Deployment above",
        ),
        pytest.param(pod(ownerReferences=owner("Match")), HEARD, [], id="an owner that makes none"),
        pytest.param(
            pod(marks={labels.INSTANCE: "main", labels.WORKLOAD: "lobby", labels.KIND: "Fleet"}),
            HEARD,
            ["is a room of Fleet lobby"],
            id="another workload's room",
        ),
        pytest.param(pod(), UNHEARD, ["Write --as-current"], id="nobody knows who plays there"),
        pytest.param(pod(), replace(UNHEARD, as_current=True), [], id="it stays as it is"),
        pytest.param(
            pod(
                ownerReferences=owner("Job", controller=True),
                marks={labels.INSTANCE: "main", labels.WORKLOAD: "lobby"},
            ),
            UNHEARD,
            ["delete job", "is a room of", "Write --as-current"],
            id="all that is in the way is told",
        ),
    ],
)
def test_what_is_in_the_way(found: Json, adoption: Adoption, told: list[str]) -> None:
    obstacles = adopting.obstacles_of(found, adoption)
    assert len(obstacles) == len(told)
    for obstacle, words in zip(obstacles, told, strict=True):
        assert words in f"{obstacle.what}. {obstacle.fix}"


OURS = {labels.INSTANCE: "main", labels.WORKLOAD: "arena"}


@pytest.mark.parametrize(
    ("there", "in_the_way"),
    [
        pytest.param(budget({"matchLabels": APP}), True, id="it selects the pod as it is"),
        pytest.param(budget({}), True, id="it selects everything"),
        pytest.param(budget({"matchLabels": {"app": "other"}}), False, id="it selects others"),
        pytest.param(budget(None), False, id="it selects nothing"),
        pytest.param(
            budget({"matchLabels": {labels.INSTANCE: "old"}}), False, id="by what it loses"
        ),
        pytest.param(budget({"matchLabels": OURS}), True, id="by what it gets"),
        pytest.param(
            budget({"matchLabels": {**APP, labels.STATE: "idle"}}), True, id="in one of its states"
        ),
        pytest.param(
            budget({"matchLabels": OURS}, "arena", labels=OURS), False, id="our own, of its name"
        ),
        pytest.param(
            budget({"matchLabels": APP}, "arena", annotations={labels.ADOPT: "main"}),
            False,
            id="people gave it to us",
        ),
        pytest.param(
            budget({"matchLabels": APP}, annotations={labels.ADOPT: "main"}),
            True,
            id="we would not take one of another name",
        ),
    ],
)
def test_a_second_budget_is_in_the_way(there: Json, in_the_way: bool) -> None:
    marks = {labels.INSTANCE: "old"}
    found = adopting.budget_obstacles([there], [pod("a", marks), pod("b", marks)], HEARD)
    assert bool(found) == in_the_way
    if found:
        assert "selects a, b" in found[0].what
        assert "kubectl delete poddisruptionbudget" in found[0].fix


def room(adoption: Adoption = UNHEARD, notes: Json | None = None) -> Json:
    revision = {labels.REVISION: adoption.workload.revision}
    return pod(marks=adoption.marks, annotations={**revision, **(notes or {})})


def wants(replicas: int, adoption: Adoption = UNHEARD) -> Adoption:
    workload = replace(adoption.workload, replicas=replicas)
    return replace(adoption, workload=workload, as_current=True)


@pytest.mark.parametrize(
    ("rooms", "adoption", "above"),
    [
        pytest.param([], wants(2), 0, id="as many as are wanted"),
        pytest.param([], wants(1), 1, id="one more"),
        pytest.param([room()], wants(2), 1, id="beside one that is there"),
        pytest.param([room(HEARD)], wants(2, HEARD), 1, id="which of them report"),
        pytest.param([room()], replace(wants(2), as_current=False), 1, id="they are no old ones"),
        pytest.param(
            [room(HEARD)], replace(wants(1, HEARD), as_current=False), 0, id="as old ones"
        ),
        pytest.param([room(notes={labels.LEAVING: "scale-in"})], wants(2), 0, id="who leaves"),
        pytest.param([room(notes={labels.REVISION: "1-old"})], wants(2), 0, id="an old one"),
        pytest.param([{**room(), "status": {"phase": "Failed"}}], wants(2), 0, id="who ended"),
    ],
)
def test_rooms_above_the_wanted_ones_are_counted(
    rooms: list[Json], adoption: Adoption, above: int
) -> None:
    assert adopting.above_wanted(rooms, [pod("a"), pod("b")], adoption) == above


def test_nobody_adopted_means_none_above() -> None:
    assert adopting.above_wanted([room(), room()], [], wants(1)) == 0


def test_rooms_above_the_wanted_ones_are_in_the_way_where_nobody_knows_who_plays() -> None:
    (told,) = adopting.crowd_obstacles(3, wants(2))
    assert "3 more than the 2 rooms that are wanted" in told.what
    assert "Adopt fewer, or first raise replicas to 5" in told.fix
    assert adopting.crowd_obstacles(3, wants(2, HEARD)) == []
    assert adopting.crowd_obstacles(0, wants(2)) == []


def test_where_a_policy_counts_its_least_is_raised_too() -> None:
    scaled = wants(2)
    scaled = replace(scaled, workload=replace(scaled.workload, autoscaling=autoscaling(1, 9)))
    (told,) = adopting.crowd_obstacles(1, scaled)
    assert "raise replicas and the min of autoscaling to 3" in told.fix


def test_a_room_of_unknown_players_is_taken_as_busy_and_as_an_old_one() -> None:
    patch = adopting.patch_of(pod(), HEARD, 17)["metadata"]
    assert (patch["uid"], patch["resourceVersion"]) == ("u", "7")
    assert patch["labels"] == {**OURS, labels.KIND: "Scheduler", labels.STATE: "busy"}
    notes = patch["annotations"]
    assert notes[labels.REVISION] == UNKNOWN_REVISION != HEARD.workload.revision
    assert tells_reports(UNKNOWN_REVISION)
    assert notes[labels.ORDINAL] == "17"
    assert notes[labels.SAFE_TO_EVICT] == "false"
    assert notes[labels.LEAVING] is notes[labels.LEAVING_SINCE] is None


def test_where_rooms_do_not_report_it_has_no_state_and_its_name_tells_its_number() -> None:
    patch = adopting.patch_of(pod("arena-3"), replace(UNHEARD, as_current=True), None)["metadata"]
    assert labels.STATE not in patch["labels"]
    assert patch["annotations"][labels.ORDINAL] is None
    assert patch["annotations"][labels.REVISION] == UNHEARD.workload.revision


@pytest.mark.parametrize(
    ("marks", "revision"),
    [
        pytest.param({labels.INSTANCE: "old"}, "1-0123456789abr", id="another instance of ours"),
        pytest.param({}, UNKNOWN_REVISION, id="the annotation alone says nothing"),
    ],
)
def test_what_another_instance_made_keeps_its_revision(marks: Json, revision: str) -> None:
    found = pod(marks=marks, annotations={labels.REVISION: "1-0123456789abr"})
    assert HEARD.revision_for(found) == revision


@pytest.mark.parametrize(
    ("found", "over"),
    [
        pytest.param(pod(), False, id="it runs"),
        pytest.param(pod(deletionTimestamp="2026-11-24T00:00:00Z"), True, id="on its way out"),
        pytest.param({**pod(), "status": {"phase": "Failed"}}, True, id="it failed"),
    ],
)
def test_what_ends_is_left_to_that(found: Json, over: bool) -> None:
    assert adopting.is_over(found) == over


@pytest.mark.parametrize("state", ["busy", "idle", "draining"])
def test_a_room_is_known_in_any_state(state: str) -> None:
    marks = {**OURS, labels.KIND: "Scheduler", labels.STATE: state}
    assert adopting.is_adopted(pod(marks=marks), HEARD)
    assert not adopting.is_adopted(pod(marks={**marks, labels.KIND: "Fleet"}), HEARD)
