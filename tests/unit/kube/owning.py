"""Short ways to write applies and updates in tests; every one checks that its inputs are left."""

from typing import Any

from reconciler.kube.apply import Applied, Conflicts, apply, track_update
from reconciler.kube.json_types import Json, copied
from tests.unit.kube.definitions import schema_of


def try_apply(
    live: Json | None, wanted: Json, manager: str = "m", **more: Any
) -> Applied | Conflicts:
    """Apply as `manager`, without force."""
    asked = {"force": False, "now": "t2", **more}
    before = copied([live, wanted])
    outcome = apply(live, wanted, manager=manager, schema=schema_of(wanted), **asked)
    assert [live, wanted] == before
    return outcome


def applied(live: Json | None, wanted: Json, manager: str = "m", **more: Any) -> Json:
    """Apply as `manager` and give the object; a conflict fails the test."""
    outcome = try_apply(live, wanted, manager, **more)
    assert isinstance(outcome, Applied), outcome
    assert outcome.object["metadata"]["managedFields"] == outcome.managed_fields
    return outcome.object


def updated(live: Json | None, obj: Json, manager: str = "u", **more: Any) -> Json:
    """Create or update as `manager` and give the object with its managedFields."""
    asked = {"now": "t1", **more}
    entries = track_update(live, obj, manager=manager, schema=schema_of(obj), **asked)
    return {**obj, "metadata": {**obj["metadata"], "managedFields": entries}}


def owners_of(obj: Json) -> dict[str, Json]:
    """Give the fields of each `<manager> <operation>`."""
    return {
        f"{entry['manager']} {entry['operation']}": entry["fieldsV1"]
        for entry in obj["metadata"]["managedFields"]
    }


def bare(obj: Json) -> Json:
    """Give the object without its managedFields."""
    metadata = {key: part for key, part in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}
