"""Who is believed without showing anything: nobody, a pod from its own address, or a network."""

from dataclasses import replace

import pytest

from reconciler.model.errors import Misconfigured
from reconciler.model.live import Phase
from reconciler.service.doors.networks import NOBODY, Silent
from tests.unit.service_doors.gate import NOTHING, Gate, bearer, code, refusal


async def test_by_default_nobody_is() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    assert pod.pod_ip
    for peer in (pod.pod_ip, "127.0.0.1"):
        assert (await refusal(gate.door, pod, NOTHING, peer=peer))[0] == 401


async def test_a_game_that_shows_nothing_is_told_of_in_the_log_once_a_workload(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = Gate()
    pod, other = await gate.room("arena-1"), await gate.room("arena-2")
    for each in (pod, other):
        assert (await refusal(gate.door, each, NOTHING, peer="10.1.2.3"))[0] == 401
    await refusal(gate.door, None, NOTHING, "arena-99", peer="10.1.2.3")
    [line] = caplog.messages
    assert line.startswith("somebody at 10.1.2.3 speaks for room arena/arena-1 without a token")
    assert "--rooms-without-token" in line


async def test_a_pod_is_believed_from_its_own_address() -> None:
    gate = Gate("pod-address")
    pod, other = await gate.room("arena-1"), await gate.room("arena-2")
    assert pod.pod_ip != other.pod_ip
    assert (await refusal(gate.door, pod, NOTHING, peer=pod.pod_ip))[0] == 200
    assert (await refusal(gate.door, pod, NOTHING, peer=f"::ffff:{pod.pod_ip}"))[0] == 200
    refused = {
        await refusal(gate.door, pod, NOTHING, peer=other.pod_ip),
        await refusal(gate.door, pod, NOTHING, peer=""),
        await refusal(gate.door, None, NOTHING, "arena-3", peer=pod.pod_ip),
        await refusal(gate.door, replace(pod, pod_ip=""), NOTHING, peer=""),
    }
    assert [status for status, _ in refused] == [401]


async def test_a_pod_with_its_nodes_address_is_not() -> None:
    gate = Gate("pod-address")
    pod = await gate.room("arena-1", hostNetwork=True)
    assert pod.host_network
    assert (await refusal(gate.door, pod, NOTHING, peer=pod.pod_ip or pod.host_ip))[0] == 401
    # Said otherwise: behind address translation everybody speaks from a node's address.
    node = gate.view.node(pod.node)
    assert node is not None
    for address in (pod.host_ip, *(text for _, text in node.addresses)):
        fake = replace(pod, host_network=False, pod_ip=address)
        assert (await refusal(gate.door, fake, NOTHING, peer=address))[0] == 401


async def test_a_pod_that_has_ended_or_shares_a_network_speaks_from_nowhere() -> None:
    gate = Gate("pod-address")
    pod = await gate.room("arena-1")
    unlike = [replace(pod, host_network=True), replace(pod, phase=Phase.SUCCEEDED)]
    for each in unlike:
        assert (await refusal(gate.door, each, NOTHING, peer=pod.pod_ip))[0] == 401


async def test_an_address_that_two_rooms_are_said_to_have_is_nobodys() -> None:
    gate = Gate("pod-address")
    pod, other = await gate.room("arena-1"), await gate.room("arena-2")
    status = {**gate.ask("GET", "/api/v1/namespaces/arena/pods/arena-2")}
    status["status"] = {**status["status"], "podIP": pod.pod_ip, "podIPs": [{"ip": pod.pod_ip}]}
    gate.ask("PUT", "/api/v1/namespaces/arena/pods/arena-2/status", status)
    await gate.view.read()
    gate.time.passed += 2
    for each in (gate.live("arena-1"), gate.live("arena-2")):
        assert each.pod_ip == pod.pod_ip
        assert (await refusal(gate.door, each, NOTHING, each.name, pod.pod_ip))[0] == 401
    ended = {**status, "status": {**status["status"], "phase": "Failed"}}
    ended["metadata"] = gate.ask("GET", "/api/v1/namespaces/arena/pods/arena-2")["metadata"]
    gate.ask("PUT", "/api/v1/namespaces/arena/pods/arena-2/status", ended)
    await gate.view.read()
    gate.time.passed += 2
    assert (await refusal(gate.door, gate.live("arena-1"), NOTHING, peer=pod.pod_ip))[0] == 200
    over = gate.live("arena-2")
    assert over.phase is Phase.FAILED
    assert (await refusal(gate.door, over, NOTHING, "arena-2", pod.pod_ip))[0] == 401
    assert other.uid == over.uid


async def test_a_network_is_believed_for_any_room() -> None:
    gate = Gate("127.0.0.0/8, fd00::/64")
    pod = await gate.room("arena-1")
    for peer in ("127.0.0.1", "127.9.9.9", "::ffff:127.0.0.1", "fd00::7"):
        assert (await refusal(gate.door, pod, NOTHING, peer=peer))[0] == 200
        assert (await refusal(gate.door, None, NOTHING, "arena-3", peer))[0] == 200
    for peer in ("10.0.0.1", pod.pod_ip, "fd01::7", "unix"):
        assert (await refusal(gate.door, pod, NOTHING, peer=peer))[0] == 401


@pytest.mark.parametrize("silent", ["127.0.0.0/8", "pod-address"])
async def test_who_shows_something_wrong_is_not_let_in_by_the_address(silent: str) -> None:
    gate = Gate(silent)
    pod = await gate.room("arena-1")
    peer = pod.pod_ip if silent == "pod-address" else "127.0.0.1"
    assert (await refusal(gate.door, pod, NOTHING, peer=peer))[0] == 200
    for shown in (bearer("junk"), code("wrong")):
        assert (await refusal(gate.door, pod, shown, peer=peer))[0] == 401


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param("refuse", NOBODY, id="refuse"),
        pytest.param("", NOBODY, id="nothing"),
        pytest.param("pod-address", Silent(own_address=True), id="the pod's own"),
    ],
)
def test_the_setting_says(text: str, read: Silent) -> None:
    assert Silent.read(text) == read


@pytest.mark.parametrize("text", ["everybody", "10.0.0.1/8", "10.0.0.0/8,", "10.0.0.0/99"])
def test_a_setting_that_is_no_network_says_what_to_write(text: str) -> None:
    with pytest.raises(Misconfigured, match=r"--rooms-without-token.*write refuse, pod-address"):
        Silent.read(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("0.0.0.0/0", "0.0.0.0/0", id="everybody"),
        pytest.param("::/0, 10.0.0.0/8", "::/0", id="everybody of IPv6, beside a network"),
        pytest.param("0.0.0.0/1,128.0.0.0/1", "0.0.0.0/1,128.0.0.0/1", id="everybody in halves"),
        pytest.param("2000::/3", "2000::/3", id="the whole internet"),
    ],
)
async def test_a_network_of_everybody_is_told_when_the_door_opens(
    text: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate(text)
    pod = await gate.room("arena-1")

    [line] = caplog.messages
    assert line.startswith(f"--rooms-without-token {told} is everybody: who reaches ")
    assert "may say of any room that it is empty" in line
    assert "write pod-address" in line
    # A warning, no refusal: it is the operator's word.
    assert (await refusal(gate.door, pod, NOTHING, peer=_of(told)))[0] == 200


def _of(network: str) -> str:
    return str(Silent.read(network).networks[0][9])


@pytest.mark.parametrize("text", ["refuse", "pod-address", "10.0.0.0/8, fc00::/7, 127.0.0.0/8"])
def test_networks_that_one_has_to_oneself_are_not(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    Gate(text)

    assert caplog.messages == []
