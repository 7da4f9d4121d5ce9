import copy
import json

from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.stamp import room_name, stamp_room
from reconciler.model.plans import RoomSeat
from reconciler.model.refs import Json
from tests.unit.core.making import a_workload

TCP_AND_UDP: list[Json] = [
    {"name": "game", "containerPort": 7777, "protocol": "UDP"},
    {"name": "query", "containerPort": 7777, "protocol": "TCP"},
]


def a_room(*containers: Json, init: tuple[Json, ...] = ()) -> Json:
    spec = {"containers": [*containers], **({"initContainers": [*init]} if init else {})}
    metadata = {"labels": {"team": "blue"}, "annotations": {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def stamped(room: Json, *host_ports: int, ordinal: int = 7) -> Json:
    workload = a_workload(template={"spec": room["spec"]})
    return stamp_room(json.dumps(room), workload, RoomSeat(ordinal, host_ports))


def environment(pod: Json, container: int = 0) -> dict[str, object]:
    entries = pod["spec"]["containers"][container]["env"]
    assert len({entry["name"] for entry in entries}) == len(entries)
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in entries}


def test_a_room_has_its_name_and_place() -> None:
    pod = stamped(a_room({"name": "game"}), ordinal=1_800_000_000)
    assert pod["metadata"] == {
        "labels": {"team": "blue"},
        "annotations": {},
        "name": "arena-1800000000",
        "namespace": "arena",
    }
    assert environment(pod)["GAMEKEEPER_ROOM"] == room_name("arena", 1_800_000_000)


def test_a_name_of_the_longest_workload_fits_for_the_next_two_centuries() -> None:
    assert len(room_name("a" * 52, 9_999_999_999)) == 63


def test_tcp_and_udp_of_one_port_share_a_host_port() -> None:
    pod = stamped(a_room({"name": "game", "ports": TCP_AND_UDP}), 20_001)
    assert [port["hostPort"] for port in pod["spec"]["containers"][0]["ports"]] == [20_001] * 2
    assert environment(pod)["GAMEKEEPER_PORT_GAME"] == "20001"
    assert environment(pod)["GAMEKEEPER_PORT_QUERY"] == "20001"


def test_a_port_that_is_not_exposed_has_no_host_port() -> None:
    ports = [{"containerPort": 7777, "name": "game"}, {"containerPort": 9100, "name": "metrics"}]
    room = a_room({"name": "game", "ports": ports})
    workload = a_workload(template={"spec": room["spec"]}, ports_to_expose=(9100,))
    pod = stamp_room(json.dumps(room), workload, RoomSeat(7, (20_001,)))
    (game, metrics) = pod["spec"]["containers"][0]["ports"]
    assert "hostPort" not in game
    assert metrics["hostPort"] == 20_001
    assert "GAMEKEEPER_PORT_GAME" not in environment(pod)


def test_every_container_learns_every_port() -> None:
    one = {"name": "game", "ports": [{"containerPort": 7777, "name": "game-udp"}]}
    two = {"name": "side", "ports": [{"containerPort": 9000}]}
    pod = stamped(a_room(one, two, init=({"name": "fetch"},)), 20_001, 20_002)
    for found in (environment(pod, 0), environment(pod, 1)):
        assert found["GAMEKEEPER_PORT_GAME_UDP"] == "20001"
        assert found["GAMEKEEPER_PORT_9000"] == "20002"
        assert found["GAMEKEEPER_HOST_IP"] == {"fieldRef": {"fieldPath": "status.hostIP"}}
    assert pod["spec"]["initContainers"][0]["env"] == pod["spec"]["containers"][0]["env"]


def test_without_a_range_no_port_is_given_out() -> None:
    pod = stamped(a_room({"name": "game", "ports": TCP_AND_UDP}))
    assert pod["spec"]["containers"][0]["ports"] == TCP_AND_UDP
    assert not [name for name in environment(pod) if "PORT" in name]


def test_what_the_user_sets_stays_and_may_refer_to_ours() -> None:
    own = [
        {"name": "GAMEKEEPER_WORKLOAD", "value": "mine"},
        {"name": "ADDRESS", "value": "$(GAMEKEEPER_HOST_IP):$(GAMEKEEPER_PORT_GAME)"},
    ]
    pod = stamped(a_room({"name": "game", "ports": TCP_AND_UDP, "env": own}), 20_001)
    entries = pod["spec"]["containers"][0]["env"]
    assert entries[-2:] == own, "ours come first: $(NAME) refers to what stands before it"
    assert environment(pod)["GAMEKEEPER_WORKLOAD"] == "mine"


names = st.text("abz09-", min_size=1, max_size=8)
some_ports = st.lists(
    st.fixed_dictionaries(
        {"containerPort": st.integers(1, 5)}, optional={"name": names, "protocol": st.just("UDP")}
    ),
    max_size=4,
)
some_env = st.lists(
    st.fixed_dictionaries({"name": names, "value": st.text(max_size=9)}),
    max_size=3,
    unique_by=lambda entry: entry["name"],
)
containers = st.fixed_dictionaries(
    {"name": names, "image": st.text(max_size=9)},
    optional={"ports": some_ports, "env": some_env, "args": st.lists(st.text(max_size=9))},
)


@given(st.lists(containers, min_size=1, max_size=3), st.integers(0, 3))
def test_a_stamp_adds_values_only_and_leaves_the_template_alone(
    found: list[Json], ports: int
) -> None:
    room = a_room(*found)
    template = {"spec": copy.deepcopy(room["spec"])}
    workload = a_workload(template=template)
    seat = RoomSeat(7, tuple(range(20_000, 20_000 + ports)))
    pod = stamp_room(json.dumps(room), workload, seat)
    assert workload.template == {"spec": room["spec"]}
    for before, after in zip(room["spec"]["containers"], pod["spec"]["containers"], strict=True):
        own = {entry["name"] for entry in before.get("env", [])}
        kept = [entry for entry in after.pop("env") if entry["name"] in own]
        assert kept == before.get("env", [])
        for port in after.get("ports", []):
            assert port.pop("hostPort", 20_000) in range(20_000, 20_003)
        assert after == {key: value for key, value in before.items() if key != "env"}
