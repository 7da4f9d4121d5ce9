"""What no schema can say of autoscaling: bounds, the count beside them, policies and parts."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.autoscaling_checks import check_autoscaling
from reconciler.core.mistakes import Mistake
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from tests.unit.core.policies.looks import policies
from tests.unit.core.reading import loaded, paths_of, put, rules
from tests.unit.core.test_schemas import PLAIN

SOUND = {"min": 1, "max": 9, "policy": {"fixedBuffer": {"amount": 5}}}


def found(changes: dict[str, Any], reports: str = "required", replicas: Any = 5) -> list[Mistake]:
    spec = {"replicas": replicas, "reports": reports, "autoscaling": {**SOUND, **changes}}
    return list(check_autoscaling(spec, policies()))


AT = "spec.autoscaling"
POLICY = f"{AT}.policy"


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        pytest.param("{}", set(), id="sound"),
        pytest.param("{min: 10}", {(f"{AT}.min", "range")}, id="min above max"),
        pytest.param("{min: 9}", {("spec.replicas", "range")}, id="the count is below min"),
        pytest.param("{max: 4}", {("spec.replicas", "range")}, id="the count is above max"),
        pytest.param("{max: 4, enabled: false}", set(), id="switched off, the count is its own"),
        pytest.param("{policy: {fixedBufer: {amount: 5}}}", {(f"{POLICY}.fixedBufer", "policy")},
                     id="a policy that is none"),
        pytest.param("{policy: {fixedBuffer: {amount: 5}, buffer: {rooms: 1}}}",
                     {(POLICY, "policy")}, id="two policies"),
        pytest.param("{policy: {}}", {(POLICY, "policy")}, id="no policy"),
        pytest.param("{policy: {fixedBuffer: {amount: many}}}",
                     {(f"{POLICY}.fixedBuffer.amount", "type")}, id="a parameter in words"),
        pytest.param("{policy: {max: [{min: [{buffer: {}}]}]}}",
                     {(f"{POLICY}.max.0.min.0.buffer", "buffer")}, id="deep inside"),
        pytest.param("{policy: {schedule: [{replicas: 50}]}}",
                     {(f"{POLICY}.schedule.0.replicas", "schedule")}, id="a count beyond max"),
        pytest.param("{min: one, max: [], policy: none}", set(),
                     id="what has no form is the schema's to tell"),
    ],
)  # fmt: skip
def test_what_is_found(changes: str, wanted: set[tuple[str, str]]) -> None:
    assert rules(found(loaded(changes))) == wanted


@pytest.mark.parametrize(
    ("policy", "needs"),
    [
        pytest.param("{fixedBuffer: {amount: 5}}", True, id="fixedBuffer"),
        pytest.param("{buffer: {rooms: 5}}", True, id="buffer"),
        pytest.param("{roomOccupancy: {readyTarget: 0.5}}", True, id="roomOccupancy"),
        pytest.param("{activePlayers: {maxPlayersPerServer: 9, targetPercent: 70}}", True,
                     id="activePlayers"),
        pytest.param("{max: [{buffer: {rooms: 5}}]}", True, id="one inside another"),
        pytest.param("{metric: {query: q, target: 1}}", False, id="metric"),
        pytest.param("{webhook: {url: 'https://a.example.com'}}", False, id="webhook"),
        pytest.param("{schedule: [{replicas: 5}]}", False, id="schedule"),
    ],
)  # fmt: skip
def test_who_needs_reports_says_so_where_rooms_do_not_report(policy: str, needs: bool) -> None:
    mistakes = found({"policy": loaded(policy)}, reports="none")

    assert [one.rule for one in mistakes] == (["reports"] if needs else [])
    assert not found({"policy": loaded(policy)})


def test_a_count_outside_the_bounds_is_a_warning_and_no_error() -> None:
    (mistake,) = found({"max": 4})

    assert mistake.severity is Severity.WARNING
    assert mistake.message == "5 is above max, 4: autoscaling brings it to 4 in the end"
    assert mistake.fix == "write 4, or change the bound"
    assert found({"max": 4}, replicas=None) == []
    assert found({}, replicas=-1) == [], "an error of the schema, which never acts"


def test_a_workload_asks_only_so_many() -> None:
    def of(count: int) -> list[Mistake]:
        asked = [{"metric": {"query": f"q{n}", "target": 1}} for n in range(count)]
        return found({"policy": {"max": [{"max": asked[:10]}, {"max": asked[10:] or asked[:1]}]}})

    assert of(10) == []
    assert [(one.rule, one.fix) for one in of(11)] == [("policy", "take some out")]


def test_a_workload_has_only_so_many_policies_however_deep_they_stand() -> None:
    def of(count: int) -> list[Mistake]:
        value: Json = {"fixedBuffer": {"amount": 5}}
        for _ in range(count - 1):
            value = {"max": [value]}
        return found({"policy": value})

    assert of(30) == []
    assert [(one.rule, one.fix) for one in of(31)] == [("policy", "take some out")]
    wide = {"max": [{"max": [{"fixedBuffer": {"amount": 5}}] * 10}] * 10}
    assert [one.message for one in found({"policy": wide})] == [
        "holds 111 policies; at most 30 are heard"
    ]


def test_a_spec_without_autoscaling_has_nothing_to_find() -> None:
    assert list(check_autoscaling({"replicas": 5}, policies())) == []
    assert list(check_autoscaling({"autoscaling": [1]}, policies())) == []


@pytest.mark.parametrize(
    ("egress", "told"),
    [
        pytest.param(None, [], id="a list that is not known"),
        pytest.param((), ["a.example.com", "http://b.tools.svc:8000"], id="nobody"),
        pytest.param(("*.example.com",), ["http://b.tools.svc:8000"], id="one of both"),
        pytest.param(("a.example.com", "http://b.tools.svc:8000"), [], id="both"),
    ],
)
def test_who_is_asked_in_vain_is_a_warning(egress: tuple[str, ...] | None, told: list[str]) -> None:
    urls = ("https://a.example.com/x", "http://b.tools.svc:8000/", "https://a.example.com/y")
    policy = {"max": [*({"webhook": {"url": url}} for url in urls), {"buffer": {"rooms": 1}}]}
    spec = {"replicas": 5, "reports": "required", "autoscaling": {**SOUND, "policy": policy}}

    found = list(check_autoscaling(spec, policies(), egress))

    assert [one.fix.rpartition(" ")[2] for one in found] == told
    assert {one.severity for one in found} <= {Severity.WARNING}


@pytest.mark.parametrize("egress", [None, (), ("http://169.254.169.254",)])
def test_an_address_that_is_never_asked_is_told_and_no_setting_is_advised(
    egress: tuple[str, ...] | None,
) -> None:
    policy = {"webhook": {"url": "http://169.254.169.254/latest"}}
    spec = {"replicas": 5, "reports": "required", "autoscaling": {**SOUND, "policy": policy}}

    (told,) = check_autoscaling(spec, policies(), egress)

    assert (told.severity, told.fix) == (
        Severity.WARNING,
        "write the host that the webhook stands on",
    )
    assert "a link-local address, as that of a cloud's metadata" in told.message


WHOLE = {
    "replicas": 5,
    "reports": "required",
    "autoscaling": {
        "enabled": True,
        "min": 1,
        "max": 9,
        "policy": {
            "max": [
                {name: example}
                for name, policy in policies().items()
                for example in policy.schema["examples"]
            ]
        },
    },
}


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_whatever_is_misshapen_is_told_and_raises_nothing(data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(list(paths_of(WHOLE))[1:]))
    broken = put(WHOLE, place, data.draw(PLAIN))

    for mistake in check_autoscaling(broken, policies()):
        assert mistake.message
        assert mistake.path[0] == "spec"


@pytest.mark.parametrize("name", ["webhook", "metric", "buffer", "activePlayers", "adaptive"])
def test_a_list_where_parameters_belong_is_one_mistake_and_no_defect(name: str) -> None:
    policies_of: list[Json] = [{name: []}, {"max": [{name: []}]}]
    for policy in policies_of:
        mistakes = found({"policy": policy})
        assert [one.rule for one in mistakes] == ["type"]
