"""A real API server holds a namespace's delete back, and a workload comes into it meanwhile."""

from pathlib import Path

import pytest
import yaml

from tests.controlplane.cluster import ControlPlane
from tests.e2e.real_rooms import Installation, installation, scheduler
from tests.e2e.real_webhooks import DELETE, reviewing

pytestmark = pytest.mark.real

SPACE, GOES, COMES, CALM = "shared-servers", "quake", "doom", "remains"
HELD_SECONDS = 25.0
"""So long the webhook thinks: less than the 30 s that a server waits for one at most."""
CONFLICT = 409


def fleet(name: str, replicas: int) -> str:
    """The text of a Fleet in the namespace that both share."""
    document = yaml.safe_load(scheduler(name, replicas))
    document["kind"] = "Fleet"
    document["spec"]["namespace"] = SPACE
    return yaml.safe_dump(document, sort_keys=False)


def test_the_delete_of_a_namespace_that_a_webhook_holds_back_ends_no_match_that_began_since(
    deployed: ControlPlane, tmp_path: Path
) -> None:
    api, path = deployed.api, f"/api/v1/namespaces/{SPACE}"
    for name in (GOES, COMES, CALM):
        deployed.add_nodes(1, labels={"pool": name})
    with (
        installation(deployed, tmp_path, GOES) as there,
        reviewing(api, SPACE, tmp_path, "namespaces", DELETE, 30) as hook,
    ):
        there.commit(**{GOES: fleet(GOES, 1), CALM: scheduler(CALM, 1)})
        there.start()
        there.stand(SPACE, 1)
        there.stand(CALM, 1)
        hook.seconds = HELD_SECONDS
        (there.git.tree / "schedulers" / f"{GOES}.yaml").unlink()
        there.commit()
        there.wait("its delete is held back", lambda: hook.asked[DELETE], 120.0)
        before = api.demand("GET", path)["metadata"]
        assert "deletionTimestamp" not in before

        there.commit(**{COMES: fleet(COMES, 2)})
        there.wait("they come", lambda: len(there.house.rooms(SPACE)) == 2)
        rooms = there.stand(SPACE, 2)
        there.play(rooms)
        assert _answers(there, "delete") == [], "it is held back yet"
        there.wait("it is answered", lambda: _answers(there, "delete"), 2 * HELD_SECONDS)
        assert _answers(there, "delete") == [CONFLICT]
        after = api.demand("GET", path)["metadata"]
        assert after["uid"] == before["uid"]
        assert after["annotations"]["gamekeeper.dev/joined"].startswith(f"Fleet/{SPACE}/{COMES} ")
        assert after["resourceVersion"] != before["resourceVersion"]
        assert "deletionTimestamp" not in after
        assert there.house.rooms(SPACE) == rooms
        assert [there.house.state(room) for room in rooms] == ["busy"] * 2
        assert len(there.judge(SPACE)) == 1, "the idle room that left Git"


def _answers(there: Installation, verb: str) -> list[int]:
    """Return how the server answered each request of a verb about the namespace itself."""
    events = there.cluster.audited(f'"name":"{SPACE}"', f'"verb":"{verb}"')
    return [
        event["responseStatus"]["code"]
        for event in events
        if event["objectRef"]["resource"] == "namespaces"
    ]
