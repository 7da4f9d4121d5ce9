"""deploy/grafana: every query of the board names series and labels that the service serves."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reconciler.model.changes import Cause
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plans import Counts, DeleteRoom, Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Outcome, Report, Settled
from reconciler.model.rooms import Mark
from reconciler.service.metrics import Metrics
from tests.unit.core.making import a_key, a_pod
from tests.unit.service_faces.hall import Hall

BOARD = json.loads(
    (Path(__file__).parents[2] / "deploy" / "grafana" / "gamekeeper-rooms.json").read_text()
)
PANELS: list[dict[str, Any]] = BOARD["panels"]
QUERIES = [(panel["title"], each["expr"]) for panel in PANELS for each in panel["targets"]]


def served() -> dict[str, set[str]]:
    """Every series of a service in which everything happened once, with its labels."""
    hall = Hall("Fleet")
    hall.put(0, mark="busy", leaving="scale-in")
    hall.sweep()
    hall.rooms.reported("maestro", "taken")
    hall.rooms.flipped(Mark.BUSY, "done", 0.01)
    metrics = hall.metrics
    _happen(metrics, a_key())
    found: dict[str, set[str]] = {}
    for family in hall.registry.collect():
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def _happen(metrics: Metrics, key: WorkloadKey) -> None:
    gone = DeleteRoom(a_pod(0), Cause.DEADLINE, "")
    hold = Hold(HoldKind.NEEDS_INTERVENTION, key, "too many fail")
    plan = Plan(key, Counts(desired=1), removals=(gone,), holds=(hold,))
    metrics.planned("local", plan)
    metrics.passed("local", 1, 0.01)
    metrics.crashed("local", key, RuntimeError())
    done = Outcome(key, "delete", gone.what, "")
    metrics.settled(Report("local", "c", (Settled(plan, (done,)),)))


SERVED = served()


@pytest.mark.parametrize(("title", "expr"), QUERIES, ids=[title for title, _ in QUERIES])
def test_a_query_names_series_and_labels_that_there_are(title: str, expr: str) -> None:
    series = re.findall(r"\b(gamekeeper_\w+)", expr)
    assert series
    assert [name for name in series if name not in SERVED] == []
    labels = set().union(*(SERVED[name] for name in series))
    asked = set(re.findall(r"([a-z_]+)=~?\"", expr))
    asked.update(*(words.split(", ") for words in re.findall(r"by \(([a-z_, ]+)\)", expr)))
    assert asked - labels == set()


def test_what_the_variables_ask_for_is_served() -> None:
    asked = [each["definition"] for each in BOARD["templating"]["list"] if "definition" in each]
    names = [name for text in asked for name in re.findall(r"\b(gamekeeper_\w+)", text)]
    assert len(names) == 2
    assert set(names) <= SERVED.keys()


@pytest.mark.parametrize(
    "about",
    [
        pytest.param(r"gamekeeper_(rooms?_|rooms$|fleet_|host_ports|deaf)", id="rooms"),
        pytest.param(
            r"gamekeeper_(intents?|commits?|edits|decisions?|policies)(_|$)", id="scaling"
        ),
    ],
)
def test_every_number_stands_on_the_board(about: str) -> None:
    shown = {name.removesuffix("_bucket") for _, e in QUERIES for name in re.findall(r"\w+", e)}
    families = {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in SERVED}
    there = {name for name in families if re.match(about, name)}
    assert len(there) > 6
    missing = there - shown
    assert {name for name in missing if f"{name}_total" not in SERVED} == set()


def test_a_legend_uses_labels_that_its_query_keeps() -> None:
    for panel in PANELS:
        for each in panel["targets"]:
            for label in re.findall(r"\{\{(\w+)\}\}", each["legendFormat"]):
                assert label in each["expr"], panel["title"]


def test_panels_have_their_own_place_and_number() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
