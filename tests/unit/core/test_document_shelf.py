"""What a document is about, and what several of them claim at once."""

import pytest

from reconciler.model.refs import WorkloadKey
from tests.unit.core.reading import SPEC, read

ARENA = WorkloadKey("Scheduler", "arena", "arena")
LOBBY = SPEC.replace("name: arena", "name: lobby")
FLEET = SPEC.replace("kind: Scheduler", "kind: Fleet")
SHARED = "  namespace: servers\n"


def test_fleets_may_share_a_namespace_and_a_name_is_unique_in_it() -> None:
    files = {
        "schedulers/a.yaml": FLEET + SHARED,
        "schedulers/b.yaml": LOBBY.replace("kind: Scheduler", "kind: Fleet") + SHARED,
        "schedulers/c.yaml": FLEET + "  namespace: events\n",
        "schedulers/d.yaml": FLEET + "  namespace: twice\n---\n" + FLEET + "  namespace: twice\n",
    }
    reading = read(files)

    assert [str(key) for key in reading.workloads] == [
        "Fleet/events/arena",
        "Fleet/servers/arena",
        "Fleet/servers/lobby",
    ]
    assert [str(key) for key in reading.invalid] == ["Fleet/twice/arena"]
    assert 'the name "arena" in namespace "twice" is also taken' in reading.findings[0].message


@pytest.mark.parametrize(
    ("fleet", "line"),
    [
        pytest.param(FLEET.replace("name: arena", "name: duel") + "  namespace: arena\n", 14,
                     id="by its namespace"),
        pytest.param(FLEET, 4, id="by its name"),
    ],
)  # fmt: skip
def test_a_fleet_in_a_schedulers_namespace_is_held_and_so_is_the_scheduler(
    fleet: str, line: int
) -> None:
    reading = read({"schedulers/a.yaml": SPEC, "schedulers/b.yaml": fleet})

    assert reading.workloads == {}
    assert {key.kind for key in reading.invalid} == {"Fleet", "Scheduler"}
    assert {(one.file, one.line) for one in reading.findings} == {
        ("schedulers/a.yaml", 4),
        ("schedulers/b.yaml", line),
    }
    assert f"schedulers/b.yaml:{line}" in reading.invalid[ARENA][0].message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(FLEET + "  namespace: [a]\n", id="a list"),
        pytest.param(FLEET + "  namespace: A\n", id="a capital"),
        pytest.param(FLEET + "  namespace: a\n  namespace: b\n", id="two"),
        pytest.param(FLEET + "  namespace: !x a\n", id="a tag"),
        pytest.param(FLEET + "  <<: {namespace: b}\n", id="a merge key"),
        pytest.param(FLEET + "spec: {namespace: b}\n", id="two specs"),
    ],
)
def test_while_the_namespace_of_a_fleet_cannot_be_told_its_file_is_unreadable(text: str) -> None:
    reading = read({"schedulers/a.yaml": text})

    assert reading.unreadable == ("schedulers/a.yaml",)
    assert reading.errors
