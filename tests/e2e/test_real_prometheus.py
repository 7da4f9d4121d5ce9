"""A real Prometheus: what policies ask it, what it knows of the past, and what the board asks."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.settings import Settings
from reconciler.wiring.outside import make_outside
from tests.controlplane.processes import free_ports
from tests.e2e.commands import gamekeeper
from tests.e2e.processes import Fleet, fleet, until
from tests.e2e.test_signals import CONFIG, FLAGS, asking, rooms
from tests.loop.world import spec
from tests.monitoring.loopback import served
from tests.monitoring.server import Exporter, Prometheus, prometheus

pytestmark = pytest.mark.real

BOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "gamekeeper-rooms.json"
QUEUE = 'queue_players{region="eu"} %d\nqueue_players{region="us"} %d\n'
SUBQUERY = "sum(queue_players)[1m:1s]"
QUARTER_SECONDS = 900


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Prometheus, Exporter]]:
    """A Prometheus that watches an exporter of two series."""
    with served(Exporter()) as numbers, prometheus([f"127.0.0.1:{numbers.server_port}"]) as server:
        numbers.text = QUEUE % (30, 40)
        until("a past", lambda: server.value(f"count_over_time({SUBQUERY})"), 30.0)
        yield server, numbers


@pytest.mark.parametrize(
    ("query", "value"),
    [
        pytest.param("sum(queue_players)", 70.0, id="a vector of one"),
        pytest.param("scalar(sum(queue_players))", 70.0, id="a scalar"),
        pytest.param(f"max_over_time({SUBQUERY})", 70.0, id="a subquery"),
        pytest.param(
            "-1 * sum(queue_players)", -70.0, id="a negative one is the policy's to judge"
        ),
    ],
)
async def test_one_number_is_a_signal_of_its_moment(
    watched: tuple[Prometheus, Exporter], query: str, value: float
) -> None:
    outside = make_outside(Settings(prometheus_url=watched[0].url))
    try:
        now = time.time()
        found = await outside.query(query, now)
    finally:
        await outside.close()
    assert (found.value, found.trouble) == (value, "")
    assert abs(found.at - now) < 30


@pytest.mark.parametrize(
    ("query", "why"),
    [
        pytest.param("queue_players", "gives 2 series", id="several series"),
        pytest.param("queue_of_nobody", "gives nothing", id="a metric that is not there"),
        pytest.param("sum(queue_players) / 0", "+Inf, which is no number", id="infinite"),
        pytest.param("0 / vector(0)", "NaN, which is no number", id="not a number"),
        pytest.param("queue_players[1m]", "gives a matrix", id="a range"),
        pytest.param('"seventy"', "gives a string", id="a word"),
        pytest.param("sum(queue_players", "refuses the query", id="a query that is none"),
    ],
)
async def test_all_else_is_trouble_in_words(
    watched: tuple[Prometheus, Exporter], query: str, why: str
) -> None:
    outside = make_outside(Settings(prometheus_url=watched[0].url))
    try:
        found = await outside.query(query, time.time())
    finally:
        await outside.close()
    assert found.value is None
    assert why in found.trouble


def test_a_metric_moves_a_count_and_an_exporter_that_fails_takes_no_room(
    watched: tuple[Prometheus, Exporter], tmp_path: Path
) -> None:
    server, numbers = watched
    metric = {"query": "sum(queue_players)", "targetPerRoom": 10, "everySeconds": 5}
    with fleet(tmp_path) as made:
        made.commit(gamekeeper=CONFIG, schedulers__arena=asking("arena", {"metric": metric}))
        made.start_loop("cache", *FLAGS, "--prometheus-url", server.url)
        until("seven rooms", lambda: rooms(made, "arena") == 7, 60.0)
        numbers.text = QUEUE % (50, 40)
        until("nine rooms", lambda: rooms(made, "arena") == 9, 60.0)
        numbers.text = ""
        until("no series", lambda: server.value("sum(queue_players)") is None, 60.0)
        until("it is told", lambda: "the query gives nothing" in made.log(), 60.0)
        assert rooms(made, "arena") == 9
        # As it comes back after a restart: with nobody counted yet.
        numbers.text = QUEUE % (0, 0)
        until("a zero", lambda: server.value("sum(queue_players)") == 0, 60.0)
        time.sleep(12.0)
        assert rooms(made, "arena") == 9
        numbers.text = QUEUE % (30, 40)


def test_the_past_of_a_counter_is_the_demand_that_is_imported(tmp_path: Path) -> None:
    newest = int(time.time()) // QUARTER_SECONDS * QUARTER_SECONDS
    began, starts = newest - 8 * QUARTER_SECONDS, [5, 0, 12, 30, 7, 7]
    with prometheus(past=_counted(began, starts)) as server, fleet(tmp_path) as made:
        answer = server.ask(
            "/api/v1/query_range",
            query="sum(increase(matches_started_total[15m]))",
            start=began + QUARTER_SECONDS,
            end=began + len(starts) * QUARTER_SECONDS,
            step=QUARTER_SECONDS,
        )
        file = tmp_path / "answer.json"
        file.write_text(json.dumps(answer))
        made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 2))
        made.start_loop()
        until("two rooms", lambda: rooms(made, "arena") == 2, 60.0)
        here = {"KUBECONFIG": str(made.kubeconfig), "GAMEKEEPER_INSTANCE": "main"}
        words = ("demand", "import", "arena", "--prometheus-json", str(file))
        done = gamekeeper(*words, cwd=made.tree, more=here)
        assert done.returncode == 0, done.stderr
        told = gamekeeper("demand", "export", "arena", cwd=made.tree, more=here).stdout
    assert told.splitlines()[1:] == [
        f"{began + number * QUARTER_SECONDS},{count}" for number, count in enumerate(starts)
    ]


def _counted(began: int, starts: list[int]) -> str:
    """A counter that is read each half minute and grows by so much in each quarter."""
    lines, total = ["# TYPE matches_started counter", f"matches_started_total 0 {began}"], 0.0
    for quarter, count in enumerate(starts):
        for step in range(1, QUARTER_SECONDS // 30 + 1):
            at = began + quarter * QUARTER_SECONDS + step * 30
            lines.append(f"matches_started_total {total + count * step * 30 / 900} {at}")
        total += count
    return "\n".join([*lines, "# EOF", ""])


def test_every_query_of_the_board_is_one_and_those_of_a_fleet_tell_something(
    tmp_path: Path,
) -> None:
    board = json.loads(BOARD.read_text())
    asked = [(each["title"], one["expr"]) for each in board["panels"] for one in each["targets"]]
    (port,) = free_ports(1)
    with fleet(tmp_path) as made, prometheus([f"127.0.0.1:{port}"]) as server:
        _serve(made, port)
        until("it is asked", lambda: server.value("sum(gamekeeper_rooms_up)") == 3, 60.0)
        # A rate needs two samples.
        until("twice", lambda: (server.value("count_over_time(up[1m])") or 0) > 5, 60.0)
        told = {title: 0 for title, _ in asked}
        for title, query in asked:
            answer = server.ask("/api/v1/query", query=_without_variables(query))
            assert answer["status"] == "success", (title, query)
            told[title] += len(answer["data"]["result"])
        for each in board["templating"]["list"]:
            if found := re.fullmatch(r"label_values\((.+), (\w+)\)", each.get("definition", "")):
                series, label = _without_variables(found[1]), found[2]
                answer = server.ask("/api/v1/series", **{"match[]": series})
                assert {one[label] for one in answer["data"]} in (
                    {"Scheduler/arena/arena"},
                    {"local"},
                )
    assert told["Rooms wanted"] == told["Rooms up"] == 1
    silent = {title for title, count in told.items() if not count}
    # Of reports, ports, fleets and steps that failed there are none in this one.
    assert silent <= MAY_BE_SILENT, silent - MAY_BE_SILENT


MAY_BE_SILENT = {
    "Age of the oldest last report",
    "Fleets by health",
    "Fleets by pod state",
    "Fleets: available rooms",
    "Flips",
    "Protections in force",
    "Reports",
    "Rooms deleted, by cause",
    "Rooms that leave, by why",
    "Steps that fail",
    "Use of host port ranges",
    "What is held",
}


def _serve(made: Fleet, port: int) -> None:
    made.commit(gamekeeper=CONFIG, schedulers__arena=spec("arena", 3))
    made.start_loop("cache", "--no-lease", "--poll-seconds", "1", "--listen", f"127.0.0.1:{port}")


def _without_variables(query: str) -> str:
    query = query.replace("$__rate_interval", "1m")
    return re.sub(r"\$(?:cluster|workload)", ".+", query)
