"""What no schema can say: one property against another, names that are taken, ranges."""

import contextlib
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.mistakes import Mistake
from reconciler.core.validate import check_config, check_workload
from reconciler.model.findings import Severity
from reconciler.model.specs import Permissions
from tests.unit.core.reading import CONFIG, SPEC, kit, loaded, paths_of, put, rules

PORTS = SPEC + "          ports: [{containerPort: 1}, {containerPort: 2}]\n"
HEARD = PORTS.replace("reports: none", "reports: required")
FLEET = PORTS.replace("kind: Scheduler", "kind: Fleet")


def scheduler(line: str, text: str = SPEC) -> list[Mistake]:
    value = loaded(text.replace("  template:", f"  {line}\n  template:"))
    return list(check_workload(value, kit(), Permissions(), "1.36"))


CASES = [
    pytest.param("rollout: {maxSurge: 0}", SPEC, "spec.rollout", "rollout", id="0 and default 0"),
    pytest.param("rollout: {maxSurge: 0%, maxUnavailable: 0%}", SPEC, "spec.rollout", "rollout",
                 id="0 per cent twice"),
    pytest.param("portRange: {start: 5, end: 4}", PORTS, "spec.portRange", "range", id="backwards"),
    pytest.param("portRange: {start: 5, end: 5}", PORTS, "spec.portRange", "port-range",
                 id="fewer ports than one room wants"),
    pytest.param("portRange: {start: 1, end: 99}", PORTS.replace("2}", "1}"),
                 "spec.template.spec.containers.0.ports.1.containerPort", "port-range",
                 id="a port that is declared twice"),
    pytest.param("disruption: {mode: occupied}", SPEC, "spec.disruption.mode", "reports",
                 id="busy rooms that nobody knows of kept"),
    pytest.param("timeouts: {silentBusySeconds: 239}", HEARD, "spec.timeouts.silentBusySeconds",
                 "timeouts", id="busy rooms given up before they are silent"),
    pytest.param("portsToExpose: [1]", PORTS, "spec.portsToExpose", "unknown-property",
                 id="what only a fleet has"),
    pytest.param("portRange: {start: 5}", PORTS, "spec.portRange", "missing-property", id="no end"),
    pytest.param("portRange: {start: 0, end: 9}", PORTS, "spec.portRange.start", "range", id="0"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "text", "path", "rule"), CASES)
def test_a_scheduler_may_not_have(line: str, text: str, path: str, rule: str) -> None:
    errors = [one for one in scheduler(line, text) if one.severity is Severity.ERROR]

    assert rules(errors) == {(path, rule)}


FLEET_CASES = [
    pytest.param("portsToExpose: [1, 3]", "spec.portsToExpose.1", "reference", id="no such port"),
    pytest.param("portsToExpose: [1, 1.5]", "spec.portsToExpose.1", "type", id="half a port"),
    pytest.param("namespace: kube-x", "spec.namespace", "reserved-name", id="a system's namespace"),
    pytest.param("namespace: default", "spec.namespace", "reserved-name", id="a reserved one"),
    pytest.param("portRange: {start: 5, end: 5}", "spec.portRange", "port-range", id="too few"),
    pytest.param("matches: {max: 2}", "spec.matches", "unknown-property", id="matches"),
]


@pytest.mark.parametrize(("line", "path", "rule"), FLEET_CASES)
def test_a_fleet_may_not_have(line: str, path: str, rule: str) -> None:
    errors = [one for one in scheduler(line, FLEET) if one.severity is Severity.ERROR]

    assert rules(errors) == {(path, rule)}


@pytest.mark.parametrize(
    "line",
    [
        "namespace: servers",
        "portsToExpose: []",
        "portRange: {start: 5, end: 14}\n  portsToExpose: [2]",
        "portRange: null",
        "game: arena-royale",
    ],
)
def test_a_fleet_may_have(line: str) -> None:
    text = FLEET.replace("  game: arena\n", "")
    assert rules(scheduler(line, text)) == set()


@pytest.mark.parametrize(
    "line",
    [
        "rollout: {maxSurge: 0, maxUnavailable: 1}",
        "rollout: {maxSurge: 1%}",
        "portRange: {start: 1, end: 20}",
        "portRange: null",
        "suspend: true",
        "disruption: {safetyPercentage: 1}",
    ],
)
def test_a_scheduler_may_have(line: str) -> None:
    assert rules(scheduler(line, PORTS)) == set()


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param("portRange: {start: 1, end: 19}", PORTS, id="a range for 9 rooms of 10"),
        pytest.param("portRange: {start: 1, end: 20}", SPEC, id="a range for no port"),
    ],
)
def test_a_doubtful_range_is_only_a_warning(line: str, text: str) -> None:
    (mistake,) = scheduler(line, text)

    assert mistake.severity is Severity.WARNING


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 1.5, "", "a b", "9" * 300, [], [None], {}, {"": [{}]}]
)
FULL = loaded(
    PORTS.replace(
        "  template:",
        "  rollout: {maxSurge: 1}\n  portRange: {start: 1, end: 99}\n  template:\n"
        "    metadata: {labels: {a: b}, annotations: {c: d}}",
    )
)


FULL_FLEET = {
    **FULL,
    "kind": "Fleet",
    "spec": {
        **FULL["spec"],
        "namespace": "servers",
        "portsToExpose": [1],
        "timeouts": {"pingSeconds": 60, "silentBusySeconds": 90},
        "disruption": {"mode": "occupied"},
        "removal": {"drainDeadlineSeconds": 90},
    },
}
EITHER = st.sampled_from([FULL, FULL_FLEET]).flatmap(
    lambda whole: st.tuples(
        st.just(whole),
        st.lists(st.tuples(st.sampled_from(list(paths_of(whole))), ODD), max_size=3),
    )
)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(EITHER)
def test_no_document_however_odd_makes_the_check_raise(
    asked: tuple[Any, list[tuple[Any, Any]]],
) -> None:
    broken, changes = asked
    for path, value in changes:
        with contextlib.suppress(KeyError, IndexError, TypeError):
            broken = put(broken, path, value)
    if isinstance(broken, dict):
        found = check_workload(broken, kit(), Permissions(), "1.36")

        assert isinstance(found, list)
        assert all(one.message for one in found)


def test_a_document_too_large_for_its_record_is_refused_whole() -> None:
    value = loaded(SPEC)
    value["spec"]["template"]["spec"]["containers"][0]["args"] = ["x" * (128 * 1024)]

    found = check_workload(value, kit(), Permissions(), "1.36")

    assert rules(found) == {("", "size")}


@pytest.mark.parametrize("name", ["default", "gamekeeper", "kube-system", "kube-anything"])
def test_a_reserved_name_is_refused(name: str) -> None:
    value = loaded(SPEC.replace("name: arena", f"name: {name}"))

    found = check_workload(value, kit(), Permissions(), "1.36")

    assert rules(found) == {("metadata.name", "reserved-name")}


def test_the_process_says_which_names_are_reserved() -> None:
    permissions = Permissions(reserved_namespaces=frozenset({"arena"}))

    found = check_workload(loaded(SPEC), kit(), permissions, "1.36")

    assert rules(found) == {("metadata.name", "reserved-name")}


def test_a_namespace_that_is_not_allowed_is_told_with_those_that_are() -> None:
    permissions = Permissions(namespaces=("games-*", "lobby"))

    (found,) = check_workload(loaded(SPEC), kit(), permissions, "1.36")

    assert found.message == (
        '"arena" is none of the namespaces that whoever runs Gamekeeper lets this repository use '
        "(games-*, lobby)"
    )
    assert found.fix == "choose one of those, or have it added to --allow-namespaces"


def test_of_namespaces_that_are_allowed_only_the_first_are_told() -> None:
    permissions = Permissions(namespaces=tuple(f"games-{number}" for number in range(400)))

    (found,) = check_workload(loaded(SPEC), kit(), permissions, "1.36")

    assert found.message.endswith("(games-0, games-1, games-2, games-3, games-4 and 395 more)")


def test_where_no_namespace_is_allowed_none_is_proposed() -> None:
    (found,) = check_workload(loaded(SPEC), kit(), Permissions(namespaces=()), "1.36")

    assert found.message == (
        '"arena" may not be used: whoever runs Gamekeeper lets this repository use no namespace'
    )
    assert found.fix == "have it added to --allow-namespaces"


def test_a_template_is_judged_by_its_own_content_and_the_process_permissions() -> None:
    value = loaded(SPEC)
    value["spec"]["template"]["spec"]["hostPID"] = True

    strict = check_workload(value, kit(), Permissions(), "1.36")
    lax = check_workload(value, kit(), Permissions(pod_security="privileged"), "1.36")

    assert rules(strict) == {("spec.template.spec.hostPID", "pod-security")}
    assert rules(lax) == set()


@pytest.mark.parametrize(
    ("spec", "path", "rule"),
    [
        pytest.param("{paths: []}", "spec.paths", "length", id="no path"),
        pytest.param("{paths: [a, a]}", "spec.paths.1", "duplicate", id="a path twice"),
        pytest.param("{paths: [/a]}", "spec.paths.0", "text", id="an absolute path"),
        pytest.param("{paths: [a/../b]}", "spec.paths.0", "text", id="a path that climbs"),
        pytest.param("{paths: [a/]}", "spec.paths.0", "text", id="a path with a slash at its end"),
        pytest.param("{kubernetesVersion: '1.99'}", "spec.kubernetesVersion", "enum", id="1.99"),
        pytest.param("{kubernetesVersion: 1.36}", "spec.kubernetesVersion", "type", id="a number"),
        pytest.param("{pollSeconds: 0}", "spec.pollSeconds", "range", id="no pause"),
        pytest.param("{budgets: {total: {percent: 101}}}", "spec.budgets.total.percent", "range",
                     id="more than all"),
        pytest.param("{writeBack: {branch: HEAD}}", "spec.writeBack.branch", "text", id="HEAD"),
    ],
)  # fmt: skip
def test_a_config_may_not_have(spec: str, path: str, rule: str) -> None:
    assert rules(check_config(loaded(f"{CONFIG}spec: {spec}\n"), kit())) == {(path, rule)}


@pytest.mark.parametrize("spec", ["{}", "{paths: [.]}", "{paths: [a, b/c-d, e f]}"])
def test_a_config_may_have(spec: str) -> None:
    assert check_config(loaded(f"{CONFIG}spec: {spec}\n"), kit()) == []


@pytest.mark.parametrize(
    "branch",
    ["HEAD", "a..b", "a.", "/a", "a/", "a//b", "a/.b", ".a", "-a", "a.lock", "a.lock/b", "a b",
     "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a@{b", "a\x7f"],
)  # fmt: skip
def test_no_name_that_git_refuses_is_a_branch_of_counts(branch: str) -> None:
    words = ["git", "check-ref-format", "--branch", branch]
    assert subprocess.run(words, capture_output=True, check=False).returncode != 0
    value = {**loaded(CONFIG), "spec": {"writeBack": {"branch": branch}}}
    assert rules(check_config(value, kit())) == {("spec.writeBack.branch", "text")}


@pytest.mark.parametrize("branch", ["counts", "HEADS", "bots/HEAD", "a.b-c_d/e", "lock", "a.locks"])
def test_names_that_git_takes_are_branches_of_counts(branch: str) -> None:
    subprocess.run(["git", "check-ref-format", "--branch", branch], check=True, capture_output=True)
    value = {**loaded(CONFIG), "spec": {"writeBack": {"branch": branch}}}
    assert check_config(value, kit(), "main") == []


@pytest.mark.parametrize(
    ("branch", "tracked", "fix"),
    [
        pytest.param("main/counts", "main", "write main-counts", id="inside the tracked name"),
        pytest.param("a/b/c", "a/b", "write a-b-c", id="deeper"),
        pytest.param("release", "release/1", "write counts", id="around the tracked name"),
    ],
)
def test_a_branch_that_git_cannot_have_beside_the_tracked_one(
    branch: str, tracked: str, fix: str
) -> None:
    value = {**loaded(CONFIG), "spec": {"writeBack": {"branch": branch}}}
    (mistake,) = check_config(value, kit(), tracked)
    assert mistake.path == ("spec", "writeBack", "branch")
    assert mistake.fix == fix
    assert tracked in mistake.message
    assert check_config(value, kit(), "other") == check_config(value, kit()) == []
