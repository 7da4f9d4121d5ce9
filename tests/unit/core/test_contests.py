"""Who changes an object whenever it is set back is told; it is set back ever more seldom."""

from dataclasses import replace

import pytest

from reconciler.core import contests
from reconciler.core.plan import plan
from reconciler.kube.schemas import Schemas
from reconciler.model.holds import HoldKind
from reconciler.model.plan_objects import ApplyObject, contest_name
from reconciler.model.plans import Situation
from reconciler.model.refs import Json
from reconciler.model.refusals import Refusals
from tests.unit.core.making import NOW, a_situation, a_workload, live_objects, pods, wanted

SCHEMAS = Schemas({})
ARENA = a_workload(replicas=2)
ACCOUNT = next(item for item in live_objects(ARENA) if item.ref.kind == "ServiceAccount")
BUDGET = next(item for item in live_objects(ARENA) if item.ref.kind == "PodDisruptionBudget")
DIGEST = {item.ref: item.digest for item in wanted(ARENA).objects}
SAID = "ServiceAccount arena/arena is changed by meddler"


def proposed(kind: str = "ServiceAccount") -> ApplyObject:
    there = ACCOUNT if kind == "ServiceAccount" else BUDGET
    return ApplyObject(there.ref, {}, DIGEST[there.ref], "1", (".metadata.labels",), "it differs")


def contested(item: ApplyObject, count: int, ago: float = 0.0, digest: str = "") -> Situation:
    there = a_situation(ARENA, pods(2))
    uid = next(each.uid for each in there.live.objects if each.ref == item.ref)
    asked = contests.mark_of(replace(item, digest=digest or item.digest), uid)
    known = {contest_name(item.ref): Refusals(asked, count, NOW - ago, SAID)}
    return replace(there, refused=known)


@pytest.mark.parametrize(
    ("kind", "count", "wait_seconds"),
    [
        pytest.param("ServiceAccount", 1, None, id="what people change once is set back at once"),
        pytest.param("ServiceAccount", 2, 0.5, id="twice is set back a little later"),
        pytest.param("ServiceAccount", 4, 2.0, id="and then twice as long each time"),
        pytest.param("ServiceAccount", 10**6, 300.0, id="no longer than five minutes"),
        pytest.param("PodDisruptionBudget", 10**6, 25.0, id="what protects rooms is set back soon"),
    ],
)
def test_an_object_is_set_back_ever_more_seldom(
    kind: str, count: int, wait_seconds: float | None
) -> None:
    item = proposed(kind)
    found = contests.calmed((item,), contested(item, count), NOW)
    assert (found.waiting == (item,)) is (wait_seconds is not None)
    assert (found.now == (item,)) is (wait_seconds is None)
    assert found.again_in_seconds == wait_seconds


def test_another_object_or_content_is_no_contest() -> None:
    item = proposed()
    assert contests.calmed((item,), contested(item, 9, digest="another"), NOW).now == (item,)
    missing = replace(item, live_version="")
    assert contests.calmed((missing,), contested(item, 9), NOW).now == (missing,)
    assert contests.calmed((item,), contested(item, 9, ago=-1000.0), NOW).now == (item,)


@pytest.mark.parametrize(
    ("count", "ago", "is_told"),
    [
        pytest.param(2, 0.0, False, id="somebody changed it once"),
        pytest.param(3, 0.0, True, id="twice"),
        pytest.param(3, 599.0, True, id="as long as it may go on, also where it is as Git says"),
        pytest.param(3, 601.0, False, id="then no more"),
    ],
)
def test_it_is_told_while_it_goes_on(count: int, ago: float, is_told: bool) -> None:
    made = plan(contested(proposed(), count, ago), SCHEMAS, NOW)
    told = [hold.reason for hold in made.holds if hold.kind is HoldKind.DRIFTED]
    assert told == [SAID] * is_told
    assert made.wake_in_seconds == (600.0 - ago if is_told else None)


def test_it_is_said_who_and_in_which_fields() -> None:
    entry: Json = {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    managed = [
        {**entry, "manager": "gamekeeper-main", "fieldsV1": {"f:data": {"f:motd": {}}}},
        {**entry, "manager": "password=hunter2hunter2", "fieldsV1": {"f:data": {"f:motd": {}}}},
        {**entry, "manager": "bystander", "fieldsV1": {"f:data": {"f:other": {}}}},
    ]
    there = {"metadata": {"managedFields": managed}}
    said = contests.said_of(proposed(), ["data.motd"], there, "gamekeeper-main")
    assert said.startswith("ServiceAccount arena/arena is changed by password=***")
    assert " in data.motd each time that it is set back" in said
    assert "hunter2" not in said
    assert "bystander" not in said
    unknown = contests.said_of(proposed(), ["data.motd"], {"metadata": {}}, "gamekeeper-main")
    assert unknown.startswith("ServiceAccount arena/arena is changed in data.motd")
