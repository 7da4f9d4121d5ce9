from typing import Any

import pytest

from reconciler.adapters.http.sight import stamp
from reconciler.core.ordinals import number_of, ordinal_of
from reconciler.kube.owners import key_of
from reconciler.model import labels
from reconciler.model.live import HostPort, Phase
from reconciler.model.refs import Json, WorkloadKey
from reconciler.service.live_records import node_of, object_of, pod_of
from tests.unit.service_views.scripted import room

MIDNIGHT = 1767225600.0
"""2026 begins, in Unix seconds."""


def test_a_room_is_read_whole() -> None:
    raw = room("arena-12", 7, ready=True, ports=[7000])
    raw["spec"]["containers"][0]["ports"] += [
        {"containerPort": 1, "hostPort": 7000, "protocol": "UDP"},
        {"containerPort": 2},
    ]
    raw["status"]["hostIP"] = "10.0.0.1"
    pod = pod_of(raw)
    assert (pod.uid, pod.name, pod.namespace) == ("uid-arena-12", "arena-12", "arena")
    assert (pod.resource_version, pod.phase, pod.ready) == ("7", Phase.RUNNING, True)
    assert (pod.terminating, pod.node, pod.host_ip) == (False, "node-1", "10.0.0.1")
    assert (pod.instance, pod.workload, pod.ordinal) == ("studio", "arena", 12)
    assert pod.revision == "1-abc"
    assert pod.host_ports == (
        HostPort(7000, "TCP", "", 1),
        HostPort(7000, "UDP", "", 1),
    )
    assert pod.created_at == 1767323045.0


def test_a_bare_pod_of_somebody_else_is_read_too() -> None:
    pod = pod_of({"metadata": {"name": "x", "uid": "u"}})
    assert (pod.instance, pod.workload, pod.ordinal, pod.created_at) == ("", "", -1, 0.0)
    assert pod.phase is Phase.UNKNOWN


@pytest.mark.parametrize(
    ("name", "workload", "ordinal"),
    [
        pytest.param("arena-1", "arena", 1, id="a room"),
        pytest.param("arena-1700000000", "arena", 1700000000, id="a room after a lost record"),
        pytest.param("arena-0", "arena", 0, id="zero"),
        pytest.param("arena-01", "arena", -1, id="a leading zero"),
        pytest.param("arena-x", "arena", -1, id="no number"),
        pytest.param("arena-", "arena", -1, id="nothing"),
        pytest.param("arena-eu-1", "arena", -1, id="another workload's room"),
        pytest.param("lobby-1", "arena", -1, id="another prefix"),
        pytest.param("-1", "", -1, id="no label"),
        pytest.param("arena-" + "1" * 5000, "arena", -1, id="more digits than a number may have"),
        pytest.param("arena-\u0661", "arena", -1, id="digits of another script"),
    ],
)
def test_an_ordinal_is_read_from_the_name(name: str, workload: str, ordinal: int) -> None:
    assert ordinal_of(name, workload) == ordinal


@pytest.mark.parametrize(
    ("name", "given", "ordinal"),
    [
        pytest.param("web-7d9f-x", "17", 17, id="adopted"),
        pytest.param("arena-3", "17", 3, id="its name comes first"),
        pytest.param("web-7d9f-x", "", -1, id="nobody gave it one"),
        pytest.param("web-7d9f-x", "-1", -1, id="no number"),
        pytest.param("web-7d9f-x", "9" * 19, -1, id="more digits than a number may have"),
    ],
)
def test_an_adopted_room_has_the_number_that_it_was_given(
    name: str, given: str, ordinal: int
) -> None:
    assert number_of(name, "arena", given) == ordinal
    made = room(name)
    made["metadata"]["annotations"] = {labels.ORDINAL: given}
    made["metadata"]["labels"][labels.WORKLOAD] = "arena"
    assert pod_of(made).ordinal == ordinal


@pytest.mark.parametrize(
    ("text", "since"),
    [
        pytest.param("1760000000.500", 1760000000.5, id="as we write it"),
        pytest.param("1e11", 1e11, id="late, and a time"),
        pytest.param("253402300800", 0.0, id="the year 10000, which nobody can write as a time"),
        pytest.param("1760000000000", 0.0, id="milliseconds"),
        pytest.param("nan", 0.0, id="no number"),
        pytest.param("yesterday", 0.0, id="no number at all"),
    ],
)
def test_since_when_a_room_leaves_is_a_time_that_can_be_shown(text: str, since: float) -> None:
    raw = room("arena-1", 7)
    raw["metadata"].setdefault("annotations", {})[labels.LEAVING_SINCE] = text
    assert pod_of(raw).leaving_since == since
    assert (stamp(pod_of(raw).leaving_since) is None) == (since == 0.0)


def _waiting(reason: str) -> Json:
    return {"name": "c", "state": {"waiting": {"reason": reason}}}


@pytest.mark.parametrize(
    ("status", "waiting", "unschedulable"),
    [
        pytest.param(
            {"containerStatuses": [{"state": {"running": {}}}, _waiting("ImagePullBackOff")]},
            "ImagePullBackOff",
            "",
            id="the first container that waits",
        ),
        pytest.param(
            {"initContainerStatuses": [_waiting("CrashLoopBackOff")]},
            "CrashLoopBackOff",
            "",
            id="an init container",
        ),
        pytest.param(
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}]},
            "",
            "0/3 nodes",
            id="what the scheduler says",
        ),
    ],
)
def test_why_a_room_does_not_start_is_kept(
    status: dict[str, Any], waiting: str, unschedulable: str
) -> None:
    raw = room("arena-1")
    raw["status"] = status
    pod = pod_of(raw)
    assert (pod.waiting, pod.unschedulable) == (waiting, unschedulable)


def test_rooms_of_a_workload_share_their_digest_until_a_label_of_ours_is_changed() -> None:
    first, second, changed = room("arena-1"), room("arena-2"), room("arena-3")
    second["metadata"]["labels"] |= {"theirs": "x"}
    second["metadata"]["annotations"][labels.REVISION] = "1-other"
    del changed["metadata"]["annotations"]
    changed["metadata"]["labels"][labels.MANAGED_BY] = "somebody"
    assert pod_of(first).stamps == pod_of(second).stamps
    assert pod_of(first).stamps is pod_of(second).stamps
    assert pod_of(first).stamps != pod_of(changed).stamps


def test_a_namespace_belongs_to_the_workload_of_its_own_name() -> None:
    marks = {labels.KIND: "Scheduler", labels.WORKLOAD: "arena"}
    namespace = {"kind": "Namespace", "metadata": {"name": "arena", "labels": marks}}
    assert key_of(namespace) == WorkloadKey("Scheduler", "arena", "arena")
    assert key_of({"kind": "Namespace", "metadata": {"name": "arena"}}) is None


def test_an_object_is_kept_without_status_and_managed_fields() -> None:
    raw = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "a", "namespace": "n", "uid": "u", "managedFields": [{}]},
        "spec": {"minAvailable": 1},
        "status": {"currentHealthy": 1},
    }
    body = object_of(raw).body
    assert sorted(body) == ["apiVersion", "kind", "metadata", "spec"]
    assert sorted(body["metadata"]) == ["name", "namespace", "uid"]
    assert "status" in raw


def test_a_node_is_read() -> None:
    node = node_of(
        {
            "metadata": {"name": "n", "uid": "u", "labels": {"b": "2", "a": "1"}},
            "spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            },
        }
    )
    assert (node.name, node.ready, node.unschedulable) == ("n", True, True)
    assert node.labels == (("a", "1"), ("b", "2"))
    assert node.taints == (("k", "", "NoSchedule"),)
    assert node.addresses == (("InternalIP", "10.0.0.1"),)


_CRASHES: Json = {"waiting": {"reason": "CrashLoopBackOff"}}


def _pod(ready: str, since: int, *states: Json) -> Json:
    """A pod that was made at second 0, whose condition Ready changed last at second `since`."""
    condition = {
        "type": "Ready",
        "status": ready,
        "lastTransitionTime": f"2026-01-01T00:00:{since:02}Z",
    }
    statuses = [{"name": f"c{n}", "state": state} for n, state in enumerate(states)]
    status = {"phase": "Running", "conditions": [condition], "containerStatuses": statuses}
    return {"metadata": {"name": "arena-1", "uid": "u"}, "status": status}


def _public(pod: Json, *public: str) -> Json:
    """The same, with host ports on some of its two containers."""
    ports = [{"containerPort": 7777, "hostPort": 20001}]
    names = ("c0", "c1")
    spec = [{"name": name, "ports": ports if name in public else []} for name in names]
    return {**pod, "spec": {"containers": spec}}


def _in_its_nodes_network(pod: Json) -> Json:
    return {**pod, "spec": {**pod["spec"], "hostNetwork": True}}


def _runs_since(second: int) -> Json:
    return {"running": {"startedAt": f"2026-01-01T00:00:{second:02}Z"}}


def _contained(pod: Json, *gates: str) -> Json:
    """The same, whose containers are ready, with readiness gates."""
    pod["status"]["conditions"].append({"type": "ContainersReady", "status": "True"})
    return {**pod, "spec": {"readinessGates": [{"conditionType": each} for each in gates]}}


@pytest.mark.parametrize(
    ("pod", "lapsed"),
    [
        pytest.param(_pod("False", 30, _runs_since(5)), True, id="it was ready, and runs on"),
        pytest.param(
            _pod("False", 30, _runs_since(5), _runs_since(40)),
            True,
            id="it was ready, and a sidecar began anew since",
        ),
        pytest.param(_pod("False", 0, _runs_since(5)), False, id="it never was ready"),
        pytest.param(_pod("False", 5, _runs_since(5)), False, id="it started that very second"),
        pytest.param(_pod("True", 30, _runs_since(5)), False, id="it is ready"),
        pytest.param(_pod("False", 30, _runs_since(40)), False, id="its game began anew since"),
        pytest.param(_pod("False", 30, _CRASHES), False, id="it crashed"),
        pytest.param(
            _pod("False", 30, _runs_since(5), {"terminated": {"exitCode": 1}}),
            True,
            id="one of its containers ended, and nothing tells which one is the game",
        ),
        pytest.param(
            _public(_pod("False", 30, _runs_since(5), {"terminated": {"exitCode": 1}}), "c0"),
            True,
            id="a container ended beside the one that players reach",
        ),
        pytest.param(
            _public(_pod("False", 30, _runs_since(5), _CRASHES), "c0", "c1"),
            True,
            id="one ended of two that players reach",
        ),
        pytest.param(
            _public(_pod("False", 30, _CRASHES, _runs_since(5)), "c0"),
            False,
            id="the one that players reach ended",
        ),
        pytest.param(
            _public(_pod("False", 30, _runs_since(40), _runs_since(5)), "c0"),
            False,
            id="the one that players reach began anew since",
        ),
        pytest.param(
            _public(_pod("False", 0, _runs_since(5), _CRASHES), "c0"),
            False,
            id="a container ends beside the one that players reach, and it never was ready",
        ),
        pytest.param(
            _in_its_nodes_network(_public(_pod("False", 30, _CRASHES, _runs_since(5)), "c0")),
            True,
            id="in its node's network, where a game need not declare its port",
        ),
        pytest.param(_pod("False", 30), False, id="nothing is known of its containers"),
        pytest.param(
            _contained(_pod("False", 2, _runs_since(5))),
            True,
            id="its node fell silent, by a clock that is slow",
        ),
        pytest.param(
            _contained(_pod("False", 2, _runs_since(5)), "lobby.example/open"),
            False,
            id="its gate was never opened",
        ),
    ],
)
def test_a_room_that_was_ready_and_runs_on_lapsed(pod: Json, lapsed: bool) -> None:
    assert pod_of(pod).lapsed is lapsed


@pytest.mark.parametrize(
    ("counts", "runs", "restarts"),
    [
        pytest.param((0, 0), (), 0, id="none was restarted"),
        pytest.param((2, 0), (2, 0), 2, id="one of two was"),
        pytest.param((), (), 0, id="nothing is known of them"),
    ],
)
def test_how_often_each_container_was_restarted(
    counts: tuple[int, ...], runs: tuple[int, ...], restarts: int
) -> None:
    states = [_runs_since(5 + n) for n, _ in enumerate(counts)]
    pod = _pod("True", 9, *states)
    for one, count in zip(pod["status"]["containerStatuses"], counts, strict=True):
        one["restartCount"] = count
    record = pod_of(pod)
    assert (record.runs, record.restarts) == (runs, restarts)
    assert record.started_at - record.game_started_at == max(0, len(counts) - 1)


@pytest.mark.parametrize(
    ("public", "more", "runs", "began"),
    [
        pytest.param(["c0"], {}, (2,), 5.0, id="of the game alone"),
        pytest.param(["c1"], {}, (), 6.0, id="not of what is beside it"),
        pytest.param([], {}, (2, 0), 5.0, id="of all where nobody can tell"),
        pytest.param(["c0"], {"hostNetwork": True}, (2, 0), 5.0, id="in its node's network"),
    ],
)
def test_how_often_a_game_was_restarted(
    public: list[str], more: Json, runs: tuple[int, ...], began: float
) -> None:
    pod = _public(_pod("True", 9, _runs_since(5), _runs_since(6)), *public)
    pod["spec"] |= more
    pod["status"]["containerStatuses"][0]["restartCount"] = 2
    record = pod_of(pod)
    assert (record.runs, record.game_started_at) == (runs, MIDNIGHT + began)
    beside = {"c0": 6.0, "c1": 5.0}[public[0]] if public and not more else 0.0
    assert record.beside_since == (MIDNIGHT + beside if beside else 0.0)


def _beside(pod: Json) -> Json:
    """Let its first container be a sidecar among the init containers."""
    spec, status = pod["spec"], pod["status"]
    sidecar = spec["containers"].pop(0) | {"restartPolicy": "Always"}
    spec["initContainers"] = [{"name": "prepares", "ports": []}, sidecar]
    told = status["containerStatuses"].pop(0)
    ended = {"name": "prepares", "state": _OVER, "restartCount": 7}
    status["initContainerStatuses"] = [ended, told]
    return pod


def test_a_game_among_the_init_containers_is_looked_at() -> None:
    up = _beside(_public(_pod("False", 30, _runs_since(5), _CRASHES), "c0"))
    up["status"]["containerStatuses"][0]["restartCount"] = 9
    record = pod_of(up)
    assert (record.running, record.lapsed, record.runs) == (True, True, ())
    assert record.played_since == record.game_started_at == MIDNIGHT + 5.0


def test_a_helper_among_the_init_containers_is_not_the_game() -> None:
    up = _beside(_public(_pod("False", 30, _runs_since(5), _CRASHES), "c1"))
    record = pod_of(up)
    assert (record.running, record.lapsed, record.played_since) == (False, False, 0.0)


def test_where_nobody_can_tell_a_sidecar_among_the_init_containers_may_be_the_game() -> None:
    up = _beside(_public(_pod("False", 30, _runs_since(5), _CRASHES)))
    record = pod_of(up)
    assert (record.running, record.lapsed) == (True, True)


def test_a_game_among_the_init_containers_never_ends_for_good() -> None:
    over = _beside(_public(_pod("False", 30, _OVER, _runs_since(5)), "c0"))
    over["spec"]["restartPolicy"] = "Never"
    assert not pod_of(over).ended


@pytest.mark.parametrize(
    ("phase", "node", "states", "running"),
    [
        pytest.param("Running", "n", [_runs_since(5)], True, id="one runs"),
        pytest.param("Running", "n", [_CRASHES], False, id="none runs"),
        pytest.param("Running", "n", [], True, id="nobody tells of any"),
        pytest.param("", "n", [], True, id="its status was wiped"),
        pytest.param("Pending", "n", [], False, id="it starts"),
        pytest.param("", "", [], False, id="it has no node"),
        pytest.param("Failed", "n", [], False, id="it is over"),
    ],
)
def test_a_room_runs_unless_somebody_tells_that_it_does_not(
    phase: str, node: str, states: list[Json], running: bool
) -> None:
    pod = _pod("True", 9, *states)
    pod["spec"] = {"nodeName": node}
    pod["status"]["phase"] = phase
    assert pod_of(pod).running is running


@pytest.mark.parametrize(
    ("reason", "disrupted", "ended"),
    [
        pytest.param("", "True", "DeletionByPodGC", id="its node is gone"),
        pytest.param("Evicted", "True", "Evicted", id="its kubelet says more"),
        pytest.param("", "False", "Error (exit code 137)", id="what disrupted it was called off"),
    ],
)
def test_why_a_room_that_kubernetes_disrupted_ended(
    reason: str, disrupted: str, ended: str
) -> None:
    pod = _pod("False", 9, {"terminated": {"exitCode": 137, "reason": "Error"}})
    condition = {"type": "DisruptionTarget", "status": disrupted, "reason": "DeletionByPodGC"}
    pod["status"]["conditions"].append(condition)
    pod["status"].update(phase="Failed", reason=reason)
    assert pod_of(pod).ended == ended


_OVER = {"terminated": {"exitCode": 0, "reason": "Completed"}}


@pytest.mark.parametrize(
    ("policy", "states", "public", "more", "ended"),
    [
        pytest.param("Never", [_OVER, _runs_since(5)], ["c0"], {}, "Completed", id="over"),
        pytest.param("Never", [_CRASHES, _runs_since(5)], ["c0"], {}, "", id="not over yet"),
        pytest.param("OnFailure", [_OVER, _runs_since(5)], ["c0"], {}, "Completed", id="well"),
        pytest.param(
            "OnFailure",
            [{"terminated": {"exitCode": 1}}, _runs_since(5)],
            ["c0"],
            {},
            "",
            id="it begins anew after a failure",
        ),
        pytest.param("Always", [_OVER, _runs_since(5)], ["c0"], {}, "", id="it begins anew"),
        pytest.param("Never", [_OVER, _runs_since(5)], ["c1"], {}, "", id="a helper ended"),
        pytest.param("Never", [_OVER, _runs_since(5)], [], {}, "", id="nobody knows the game"),
        pytest.param("Never", [_OVER], ["c0", "c1"], {}, "", id="one of two is not told of"),
        pytest.param(
            "Never", [_OVER, _runs_since(5)], ["c0"], {"hostNetwork": True}, "", id="its node's"
        ),
    ],
)
def test_a_game_that_ended_for_good_beside_a_container_that_runs_on(
    policy: str, states: list[Json], public: list[str], more: Json, ended: str
) -> None:
    pod = _public(_pod("False", 30, *states), *public)
    pod["spec"] |= {"restartPolicy": policy, **more}
    assert pod_of(pod).ended == ended


def test_when_a_game_ended_is_when_the_last_of_its_containers_did() -> None:
    times = ("1970-01-01T00:00:02Z", "1970-01-01T00:00:07Z")
    ends = [{"terminated": {"exitCode": 0, "finishedAt": at}} for at in times]
    assert pod_of(_public(_pod("False", 30, *ends, _runs_since(5)), "c0", "c1")).game_ended_at == 0
    over = _public(_pod("False", 30, *ends, _runs_since(5)), "c0", "c1")
    over["spec"]["restartPolicy"] = "Never"
    assert pod_of(over).game_ended_at == 7.0


def _ended(began: int | None, over: int) -> Json:
    end: Json = {"exitCode": 0, "finishedAt": f"1970-01-01T00:00:{over:02}Z"}
    if began is not None:
        end["startedAt"] = f"1970-01-01T00:00:{began:02}Z"
    return {"terminated": end}


@pytest.mark.parametrize(
    ("states", "brief"),
    [
        pytest.param([_ended(5, 14)], True, id="at once"),
        pytest.param([_ended(5, 15)], False, id="as long as the first wait"),
        pytest.param([_ended(5, 9), _ended(8, 16)], False, id="from the first to the last"),
        pytest.param([_ended(None, 14)], False, id="nobody tells when it began"),
        pytest.param([_ended(30, 14)], False, id="its clock was set back meanwhile"),
        pytest.param([_runs_since(5)], False, id="it runs"),
    ],
)
def test_a_game_that_is_over_was_brief_by_its_own_two_times(
    states: list[Json], brief: bool
) -> None:
    public = [f"c{n}" for n in range(len(states))]
    beside = _public(_pod("False", 30, *states, _runs_since(1)), *public)
    beside["spec"]["restartPolicy"] = "Never"
    assert pod_of(beside).brief is brief
    ended = _public(_pod("False", 30, *states, _ended(1, 40)), *public)
    ended["spec"]["restartPolicy"] = "Never"
    ended["status"]["phase"] = "Succeeded"
    assert pod_of(ended).brief is brief


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"restartPolicy": "Always"}, id="a policy of its own"),
        pytest.param({"restartPolicyRules": [{"action": "Restart"}]}, id="rules of its own"),
    ],
)
def test_a_game_that_its_own_rules_begin_anew_is_not_over(more: Json) -> None:
    pod = _public(_pod("False", 30, _OVER, _runs_since(5)), "c0")
    pod["spec"]["restartPolicy"] = "Never"
    pod["spec"]["containers"][0] |= more
    assert not pod_of(pod).ended


def test_a_container_beside_it_that_declares_a_port_may_be_the_game() -> None:
    pod = _public(_pod("False", 30, _OVER, _runs_since(5)), "c0")
    pod["spec"]["restartPolicy"] = "Never"
    pod["spec"]["containers"][1]["ports"] = [{"containerPort": 9000}]
    assert not pod_of(pod).ended
