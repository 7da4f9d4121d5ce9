"""Ten wrong guesses a minute, from whatever addresses somebody has."""

import pytest

from reconciler.model.errors import Denied
from reconciler.room_ports import NotAdmitted
from reconciler.service.doors import guesses
from reconciler.service.doors.guesses import Guesses, household
from tests.unit.service_doors.gate import Gate, Time, bearer, code, refusal


@pytest.mark.parametrize(
    ("peer", "stands_for"),
    [
        pytest.param("10.0.0.1", "10.0.0.1", id="one address"),
        pytest.param("::ffff:10.0.0.1", "10.0.0.1", id="the same in IPv6 clothes"),
        pytest.param("2001:db8:1:2:3:4:5:6", "20010db800010002::/64", id="a network of IPv6"),
        pytest.param("2001:db8:1:2::1", "20010db800010002::/64", id="the same network"),
        pytest.param("fe80::1%eth0", "fe80000000000000::/64", id="with an interface"),
        pytest.param("unix", "unix", id="no address at all"),
    ],
)
def test_an_address_stands_for(peer: str, stands_for: str) -> None:
    assert household(peer) == stands_for


async def test_the_eleventh_guess_of_a_minute_has_to_wait() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    await gate.codes.of("arena", "arena-1")
    for number in range(10):
        assert (await refusal(gate.door, pod, code(f"wrong-{number}")))[0] == 401
        gate.time.passed += 1
    with pytest.raises(NotAdmitted) as refused:
        await gate.door.admit_room("arena", "arena-1", pod, code("wrong"), "10.244.9.9")
    assert refused.value.status == 429
    assert refused.value.retry_after_seconds == 50.0
    for unknown in (None, pod):
        assert (await refusal(gate.door, unknown, bearer("junk")))[0] == 429
    assert (await refusal(gate.door, pod, code("wrong"), peer="10.0.0.2"))[0] == 401
    gate.time.passed += 50.1
    assert (await refusal(gate.door, pod, code("wrong")))[0] == 401


async def test_a_right_credential_passes_from_an_address_that_guessed() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    own = code(await gate.codes.of("arena", "arena-1"))
    for _ in range(20):
        await refusal(gate.door, pod, code("wrong"))
    assert (await refusal(gate.door, pod, own))[0] == 200
    assert (await refusal(gate.door, pod, bearer(gate.token("arena-1"))))[0] == 200


async def test_who_shows_nothing_guesses_nothing() -> None:
    gate = Gate()
    pod = await gate.room("arena-1")
    for _ in range(20):
        assert (await refusal(gate.door, pod, code("")))[0] == 401


async def test_a_guesser_makes_the_api_server_work_ten_times_a_minute() -> None:
    gate = Gate()
    gate.fails("openid", lambda: Denied("no"))
    pod = await gate.room("arena-1")
    good = gate.token("arena-1")
    head, body, signature = good.split(".")
    before = len(gate.asked())
    for number in range(50):
        forged = f"{head}.{body}.{number:02}{signature[2:]}"
        assert (await refusal(gate.door, pod, bearer(forged)))[0] in (401, 429)
    assert len(gate.asked()) - before == 10


def test_the_table_stays_bounded_and_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "MOST_PEERS", 100)
    time = Time()
    table = Guesses(time.elapsed)
    for number in range(1000):
        for _ in range(10):
            table.failed(f"10.1.{number // 250}.{number % 250}", "wrong")
    assert len(table._failures) == 100
    assert table.wait_seconds("10.1.3.249") == 60.0
    assert table.wait_seconds("10.1.0.0") == 0.0


def test_what_was_good_for_something_else_was_no_guess() -> None:
    table = Guesses(Time().elapsed)
    for _ in range(9):
        table.failed("10.0.0.1", "guess")
    table.failed("10.0.0.1", "admin's token")
    assert table.wait_seconds("10.0.0.1") == 60.0
    table.forgive("10.0.0.1", "admin's token")
    assert table.wait_seconds("10.0.0.1") == 0.0
    table.failed("10.0.0.1", "guess")
    assert table.wait_seconds("10.0.0.1") == 60.0
    table.forgive("10.0.0.2", "guess")
    assert table.wait_seconds("10.0.0.1") == 60.0
