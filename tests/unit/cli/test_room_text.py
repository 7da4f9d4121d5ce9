"""Rooms as a table, and as JSON: what is not known is a dash, or null."""

import pytest

from reconciler.cli.room_detail import report_of
from reconciler.cli.room_reading import Around, SeenRoom, see
from reconciler.cli.room_text import HEADS, Table, as_json, row_of
from reconciler.cli.rooms_api import Told
from reconciler.model.live import HostPort, LiveNode, LivePod
from reconciler.model.records import Accepted, StateRecord
from reconciler.model.rooms import Heard, Mark, Said, Why
from tests.unit.cli.screens import console, text_of
from tests.unit.core.making import NEW, NOW, OLD, a_heard, a_key, a_pod, a_workload

KEPT = '{"players":3,"health":"Healthy","at":1}'
NODE = LiveNode("node-1", True, False, (), (), (("ExternalIP", "203.0.113.9"),))
AROUND = Around(
    nodes={"node-1": NODE},
    states={a_key(): StateRecord(Accepted("{}", 3, "c" * 40, "schedulers/arena.yaml", 4))},
    specs={a_key(): a_workload(reports="required", revision=NEW)},
)


def seen(pod: LivePod, around: Around = AROUND) -> SeenRoom:
    return see([(a_key(), pod)], around)[0]


def cells(room: SeenRoom) -> dict[str, str]:
    return dict(zip(HEADS, row_of(room, NOW), strict=True))


def test_a_room_is_told_by_its_pod_its_node_and_its_record() -> None:
    ports = (HostPort(20001, "UDP", "game", 7777), HostPort(20002, "TCP"))
    row = cells(seen(a_pod(7, mark=Mark.BUSY, host_ports=ports, kept_report=KEPT)))
    assert row == {
        "room": "arena/arena-7",
        "state": "occupied",
        "players": "3",
        "matches": "0",
        "node": "node-1",
        "address": "203.0.113.9",
        "ports": "20001/UDP,20002/TCP",
        "revision": NEW,
        "age": "60 s",
        "leaving": "-",
    }


def test_what_is_not_known_is_a_dash() -> None:
    row = cells(seen(a_pod(7, node="", created_at=0.0, mark=Mark.IDLE), Around()))
    unknown = ("players", "matches", "node", "address", "ports", "age", "leaving")
    assert {row[name] for name in unknown} == {"-"}
    assert row["revision"] == NEW


def test_an_old_revision_and_a_reason_to_leave_are_said() -> None:
    pod = a_pod(7, revision=OLD, mark=Mark.BUSY, leaving=Why.ROLLOUT, leaving_since=NOW - 30)
    row = cells(seen(pod))
    assert row["revision"] == f"{OLD} (old)"
    assert row["leaving"] == "rollout 30 s"


def test_many_ports_are_cut_in_the_table_and_whole_in_json() -> None:
    room = seen(a_pod(7, host_ports=tuple(HostPort(20000 + n, "UDP") for n in range(5))))
    assert cells(room)["ports"] == "20000/UDP,20001/UDP,20002/UDP,+2"
    assert len(as_json(room, NOW)["ports"]) == 5


def test_what_the_api_says_goes_before_what_the_pod_says() -> None:
    told = Told(
        *("uid-7", "active", "1 of 4 matches run", "it plays", a_heard(players=9, matches=1)),
        spoke_at=NOW - 2,
    )
    around = Around(AROUND.nodes, AROUND.states, AROUND.specs, {("arena", "arena-7"): told})
    shown = as_json(seen(a_pod(7, mark=Mark.BUSY), around), NOW)
    assert (shown["state"], shown["players"], shown["matches"]) == ("active", 9, 1)
    assert shown["protectedBecause"] == "it plays"
    assert (shown["reportAgeSeconds"], shown["heardAgeSeconds"]) == (5, 2)


@pytest.mark.parametrize(
    ("heard", "shown"),
    [
        (a_heard(matches=1), None),
        (a_heard(matches=1, players=2), 2),
        (a_heard(said=Said.READY), 0),
        (a_heard(tells=False), None),
    ],
    ids=["a match without a number", "a match with one", "empty", "only known to be there"],
)
def test_players_that_nobody_told_are_no_0(heard: Heard, shown: int | None) -> None:
    told = Told("uid-7", "occupied", "1 of 1 matches run", "", heard)
    around = Around(AROUND.nodes, AROUND.states, AROUND.specs, {("arena", "arena-7"): told})
    room = seen(a_pod(7, mark=Mark.BUSY), around)
    assert as_json(room, NOW)["players"] == shown
    assert cells(room)["players"] == ("-" if shown is None else str(shown))
    said = "players not known" if shown is None else f"players {shown}"
    assert report_of(room, NOW).startswith(f"{said}, matches {heard.matches}")


def test_what_the_api_says_of_an_earlier_pod_of_that_name_is_nothing() -> None:
    told = Told("another-uid", "occupied", "", "", a_heard(players=9))
    around = Around(AROUND.nodes, AROUND.states, AROUND.specs, {("arena", "arena-7"): told})
    assert as_json(seen(a_pod(7, mark=Mark.IDLE), around), NOW)["players"] is None


def test_a_strangers_text_gives_a_terminal_no_orders() -> None:
    row = cells(seen(a_pod(7, node="node\x1b[2J")))
    assert "\x1b" not in row["node"]


def test_later_rows_keep_to_the_columns_of_the_first() -> None:
    screen = console()
    table = Table(screen)
    table.print([seen(a_pod(7)), seen(a_pod(1000))], NOW)
    table.add(seen(a_pod(8)), NOW, gone=True)
    lines = text_of(screen.out).splitlines()
    assert len({line.index(word) for line, word in zip(lines, _states(lines), strict=True)}) == 1
    assert lines[-1].split()[:2] == ["arena/arena-8", "gone"]


def test_a_table_that_grows_has_room_for_every_state() -> None:
    screen = console()
    table = Table(screen, grows=True)
    table.print([seen(a_pod(7, mark=Mark.IDLE))], NOW)
    table.add(seen(a_pod(7, mark=Mark.IDLE, terminating=True)), NOW + 600, gone=False)
    head, _, later = text_of(screen.out).splitlines()
    assert later.split()[1] == "terminating"
    assert later.index("node-1") == head.index("NODE")


def _states(lines: list[str]) -> list[str]:
    return [line.split()[1] for line in lines]
