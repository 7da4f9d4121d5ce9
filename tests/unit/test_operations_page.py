"""docs/operations.md names every kind of hold, and no metric that does not exist."""

import re
from pathlib import Path
from typing import get_args

from reconciler.core.validate import check_workload
from reconciler.model.holds import HoldKind
from reconciler.model.specs import Permissions, PodSecurity
from tests.unit.core.reading import SPEC, kit, loaded
from tests.unit.service_faces.hall import Hall

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()


def rows_of(heading: str) -> list[str]:
    section = PAGE.split(f"## {heading}")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_every_kind_of_hold_has_its_row_and_no_other() -> None:
    assert sorted(rows_of("What is held, and what ends it")) == sorted(HoldKind)


def test_every_metric_named_stands_on_the_page_of_metrics() -> None:
    served = re.findall(r"^# TYPE (\S+)", Hall().page(), re.MULTILINE)
    named = rows_of("What to watch")
    assert named
    assert [name for name in named if name not in served] == []


def test_what_it_says_that_no_level_stops_none_does() -> None:
    value = loaded(SPEC)
    passing = {
        "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists"}],
        "schedulingGates": [{"name": "example.com/gate"}],
        "automountServiceAccountToken": True,
    }
    assert [name for name in passing if name not in PAGE] == []
    sound = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    sound |= {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    pod = value["spec"]["template"]["spec"]
    pod |= {**passing, "volumes": [{"name": "theirs", "secret": {"secretName": "theirs"}}]}
    pod["containers"][0]["securityContext"] = sound
    for level in get_args(PodSecurity):
        assert check_workload(value, kit(), Permissions(pod_security=level), "1.36") == []
