"""The keys of rooms' codes: made once, kept, rotated, and never told."""

import base64
import logging

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.core.codes import code_of
from reconciler.model.errors import Denied, Gone, PortError, Unavailable
from reconciler.model.refs import Json
from reconciler.service.doors.codes import Keys, RoomCodes
from tests.unit.service_doors.gate import NOTHING, Gate, code, refusal

SECRETS = "/api/v1/namespaces/gamekeeper/secrets"
SECRET = f"{SECRETS}/gamekeeper-room-codes"


def text(key: bytes) -> str:
    return base64.b64encode(key).decode()


def secret(**data: str) -> Json:
    return {"metadata": {"name": "gamekeeper-room-codes"}, "data": data}


async def reread(gate: Gate) -> None:
    """Let the keys grow old, and be read again behind what asks for them."""
    gate.time.passed += 61
    await gate.codes.of("arena", "arena-1")
    task = gate.codes._again
    assert task is not None
    await task


async def test_a_room_speaks_with_its_own_code_and_no_other() -> None:
    gate = Gate()
    pod, other = await gate.room("arena-1"), await gate.room("arena-2")
    own = code(await gate.codes.of("arena", "arena-1"))
    assert await refusal(gate.door, pod, own) == (200, "")
    wrong = [
        await refusal(gate.door, other, own, "arena-2"),
        await refusal(gate.door, pod, code("0" * 32)),
        await refusal(gate.door, None, code("0" * 32), "arena-3"),
        await refusal(gate.door, pod, NOTHING),
        await refusal(gate.door, pod, code("")),
    ]
    assert len(set(wrong)) == 1
    assert wrong[0][0] == 401


async def test_the_code_of_a_room_that_is_no_more_is_told_so() -> None:
    gate = Gate()
    own = code(await gate.codes.of("arena", "arena-1"))
    with pytest.raises(Gone, match="arena-1"):
        await refusal(gate.door, None, own)


async def test_the_key_is_made_once_and_whoever_comes_second_takes_it() -> None:
    gate = Gate()
    first = await gate.codes.of("arena", "arena-1")
    assert len(base64.b64decode(gate.ask("GET", SECRET)["data"]["current"])) == 32
    again = RoomCodes(gate.cluster, "gamekeeper", gate.time.elapsed)
    assert await again.of("arena", "arena-1") == first


async def test_two_who_make_it_at_once_end_with_one_key() -> None:
    gate = Gate()

    def another_is_faster(number: int, call: Call) -> None:
        if call.method == "POST":
            gate.transport.before = lambda number, call: None
            gate.make(SECRETS, secret(current=text(b"k" * 32)))

    gate.transport.before = another_is_faster
    made = await gate.codes.of("arena", "arena-1")
    assert made == code_of(b"k" * 32, "local", "arena", "arena-1")


async def test_the_steady_path_asks_nobody() -> None:
    gate = Gate()
    pod, own = await gate.room("arena-1"), code(await gate.codes.of("arena", "arena-1"))
    before = len(gate.asked())
    for _ in range(100):
        assert await refusal(gate.door, pod, own) == (200, "")
    assert len(gate.asked()) == before


async def test_the_code_of_before_stays_good_while_a_key_is_rotated() -> None:
    gate = Gate()
    pod, old = await gate.room("arena-1"), await gate.codes.of("arena", "arena-1")
    key = gate.ask("GET", SECRET)["data"]["current"]
    gate.ask("DELETE", SECRET)
    gate.make(SECRETS, secret(current=text(b"n" * 32), previous=key))
    await reread(gate)
    new = await gate.codes.of("arena", "arena-1")
    assert new != old
    for shown in (old, new):
        assert (await refusal(gate.door, pod, code(shown)))[0] == 200
    gate.ask("DELETE", SECRET)
    gate.make(SECRETS, secret(current=text(b"n" * 32)))
    await reread(gate)
    assert (await refusal(gate.door, pod, code(new)))[0] == 200
    assert (await refusal(gate.door, pod, code(old)))[0] == 401


async def test_a_secret_that_somebody_deleted_is_made_again_with_the_same_keys() -> None:
    gate = Gate()
    before = await gate.codes.of("arena", "arena-1")
    data = gate.ask("GET", SECRET)["data"]
    gate.ask("DELETE", SECRET)
    await reread(gate)
    assert await gate.codes.of("arena", "arena-1") == before
    assert gate.ask("GET", SECRET)["data"] == data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param({}, "no data key 'current'", id="nothing in it"),
        pytest.param({"current": text(b"short")}, "at least 16 bytes", id="too short"),
        pytest.param({"current": ""}, "no data key 'current'", id="empty"),
        pytest.param(
            {"current": text(b"k" * 32), "previous": text(b"s")}, "'previous'", id="one is wrong"
        ),
    ],
)
async def test_a_secret_that_holds_no_key_is_told_with_what_to_do(
    data: dict[str, str], said: str
) -> None:
    gate = Gate()
    gate.make(SECRETS, secret(**data))
    with pytest.raises(Unavailable, match=said) as told:
        await gate.codes.of("arena", "arena-1")
    assert "delete the Secret" in str(told.value)
    assert not [value for value in data.values() if value and value in str(told.value)]


async def test_what_was_known_stays_good_when_the_secret_is_spoiled() -> None:
    gate = Gate()
    before = await gate.codes.of("arena", "arena-1")
    gate.ask("DELETE", SECRET)
    gate.make(SECRETS, secret(current=text(b"short")))
    await reread(gate)
    assert await gate.codes.of("arena", "arena-1") == before


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(Unavailable("down"), id="down"),
        pytest.param(Denied("forbidden"), id="not allowed"),
    ],
)
async def test_without_the_secret_nobody_is_called_a_stranger(error: PortError) -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    gate.fails("secrets", lambda: error)
    before = len(gate.asked())
    for _ in range(20):
        with pytest.raises(Unavailable, match=str(error)):
            await refusal(gate.door, pod, code("0" * 32))
    assert len(gate.asked()) - before <= 1, "a crowd of guesses is no crowd of requests"
    gate.transport.before = lambda number, call: None
    gate.time.passed += 3
    assert (await refusal(gate.door, pod, code("0" * 32)))[0] == 401


async def test_no_key_and_no_code_is_ever_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    gate = Gate()
    made = await gate.codes.of("arena", "arena-1")
    key = gate.ask("GET", SECRET)["data"]["current"]
    assert "made Secret gamekeeper/gamekeeper-room-codes" in caplog.text
    assert made not in caplog.text
    assert key not in caplog.text
    assert repr(Keys(b"secret key")) == "Keys(***)"


async def test_keys_that_were_made_again_from_memory_are_as_old_as_they_were() -> None:
    gate = Gate()
    made_at = await gate.codes.made_at()
    assert made_at > 0
    gate.ask("DELETE", SECRET)
    gate.time.passed += 3600
    await reread(gate)
    assert await gate.codes.made_at() == made_at
