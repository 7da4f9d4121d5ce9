"""deploy/monitoring.yaml: what it asks is there to be asked, and its alerts name what is served."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from reconciler.model.changes import Cause
from reconciler.model.holds import HoldKind
from reconciler.service.room_metrics import Flipped
from tests.unit.test_grafana_board import SERVED

RESULTS = get_args(Flipped)
DEPLOY = Path(__file__).parents[2] / "deploy"
MONITOR, RULE = yaml.safe_load_all((DEPLOY / "monitoring.yaml").read_text())
(GROUP,) = RULE["spec"]["groups"]
ALERTS: list[dict[str, Any]] = GROUP["rules"]
OF_THE_TARGET = {"namespace"}
"""What the Prometheus Operator adds to each series of a PodMonitor."""


@pytest.mark.parametrize("alert", ALERTS, ids=[each["alert"] for each in ALERTS])
def test_an_alert_names_series_labels_and_values_that_there_are(alert: dict[str, Any]) -> None:
    expr, summary = alert["expr"], alert["annotations"]["summary"]
    series = re.findall(r"\b(gamekeeper_\w+)", expr)
    assert series
    assert [name for name in series if name not in SERVED] == []
    labels = set().union(*(SERVED[name] for name in series)) | OF_THE_TARGET
    kept = {word for words in re.findall(r"by \(([a-z_, ]+)\)", expr) for word in words.split(", ")}
    matched = dict(re.findall(r'([a-z_]+)[=!]~?"([^"]+)"', expr))
    assert kept | matched.keys() <= labels
    assert set(re.findall(r"\$labels\.(\w+)", summary)) <= kept
    known: dict[str, set[str]] = {"kind": {*HoldKind}, "cause": {*Cause}, "result": {*RESULTS}}
    for label, text in matched.items():
        assert set(text.split("|")) <= known[label]


def test_the_pods_that_are_asked_are_those_of_the_deployment() -> None:
    documents = yaml.safe_load_all((DEPLOY / "gamekeeper.yaml").read_text())
    (deployment,) = (each for each in documents if each["kind"] == "Deployment")
    pod = deployment["spec"]["template"]
    selector = MONITOR["spec"]["selector"]["matchLabels"]
    assert selector.items() <= pod["metadata"]["labels"].items()
    assert MONITOR["metadata"]["namespace"] == deployment["metadata"]["namespace"]
    ports = {port["name"] for port in pod["spec"]["containers"][0]["ports"]}
    assert {each["port"] for each in MONITOR["spec"]["podMetricsEndpoints"]} <= ports
