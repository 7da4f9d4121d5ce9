"""A name in two namespaces is warned of where a game may have to be told apart by it."""

import pytest

from reconciler.model.findings import Severity
from tests.unit.core.reading import SPEC, read

HEARD = SPEC.replace("reports: none", "reports: required")
MUTE_FLEET = SPEC.replace("kind: Scheduler", "kind: Fleet") + "  namespace: servers\n"
FLEET = HEARD.replace("kind: Scheduler", "kind: Fleet") + "  namespace: servers\n"
ELSEWHERE = FLEET.replace("namespace: servers", "namespace: events")


@pytest.mark.parametrize(
    ("one", "other", "warned"),
    [
        pytest.param(HEARD, FLEET, True, id="a scheduler and a fleet"),
        pytest.param(FLEET, ELSEWHERE, True, id="fleets in two namespaces"),
        pytest.param(HEARD, MUTE_FLEET, True, id="one of them does not report"),
        pytest.param(SPEC, MUTE_FLEET, False, id="none of them reports"),
        pytest.param(HEARD, FLEET.replace("arena", "duel"), False, id="another name"),
        pytest.param(FLEET, FLEET.replace("name: arena", "name: duel"), False, id="one namespace"),
    ],
)
def test_a_name_in_two_namespaces(one: str, other: str, warned: bool) -> None:
    reading = read({"schedulers/a.yaml": one, "schedulers/b.yaml": other})

    assert len(reading.workloads) == 2, "a warning holds nobody"
    assert [(found.file, found.rule, found.severity) for found in reading.findings] == (
        [
            ("schedulers/a.yaml", "namesake", Severity.WARNING),
            ("schedulers/b.yaml", "namesake", Severity.WARNING),
        ]
        if warned
        else []
    )
    if warned:
        assert "in schedulers/b.yaml:4" in reading.findings[0].message
        assert "in schedulers/a.yaml:4" in reading.findings[1].message


def test_of_a_hundred_namesakes_each_names_five() -> None:
    fleets = [FLEET.replace("servers", f"servers-{number}") for number in range(100)]
    reading = read({f"schedulers/{number}.yaml": text for number, text in enumerate(fleets)})

    assert len(reading.findings) == 100
    assert {found.message.count("Fleet/") for found in reading.findings} == {5}
