"""docs/rooms-api.md names every variable that a room finds, and no other."""

import json
import re
from pathlib import Path

import pytest

from reconciler.core.reach import Reach
from reconciler.core.stamp import stamp_room
from reconciler.model.plans import RoomSeat
from reconciler.model.refs import Json
from tests.unit.core.making import a_workload

PAGE = (Path(__file__).parents[2] / "docs" / "rooms-api.md").read_text(encoding="utf-8")
VARIABLE = re.compile(r"`([A-Z][A-Z_]+(?:<NAME>)?)`")
PORTS = [{"name": "game", "containerPort": 7777}, {"containerPort": 7778}]
OWN: Json = {"name": "ROOMS_API_ADDRESS", "value": "$(GAMEKEEPER_API_URL)"}


def _tables() -> list[set[str]]:
    """The names in the first column of each table of the section."""
    section = PAGE.split("## What a room finds in its environment\n")[1].split("\n## ")[0]
    tables = section.split("|---|---|\n")[1:]
    rows = [[row.split("|")[1] for row in table.splitlines() if "|" in row] for table in tables]
    return [{name for cell in cells for name in VARIABLE.findall(cell)} for cells in rows]


def _found(reports: str) -> list[str]:
    template = {"spec": {"containers": [{"name": "game", "ports": PORTS, "env": [OWN]}]}}
    workload = a_workload(template=template, reports=reports)
    room = json.dumps({"metadata": {}, **template})
    pod = stamp_room(room, workload, RoomSeat(7, (20000, 20001)), Reach("http://rooms", "code"))
    return [each["name"] for each in pod["spec"]["containers"][0]["env"]]


@pytest.mark.parametrize("reports", ["none", "required"], ids=["it reports not", "it reports"])
def test_the_tables_are_what_a_room_finds(reports: str) -> None:
    always, heard = _tables()
    found = _found(reports)
    ports = {name for name in found if name.startswith("GAMEKEEPER_PORT_")}
    assert ports == {"GAMEKEEPER_PORT_GAME", "GAMEKEEPER_PORT_7778"}
    told = {"GAMEKEEPER_PORT_<NAME>", OWN["name"], *found} - ports
    assert told - {OWN["name"]} == always | (heard if reports == "required" else set())


def test_what_a_spec_sets_may_use_ours_for_it_comes_later() -> None:
    found = _found("required")
    assert found.index("GAMEKEEPER_API_URL") < found.index(OWN["name"])
    assert OWN["value"] in PAGE
