"""Our word on pod templates against the real API server's: dry-run creates of sound and odd pods.

What we refuse although the server takes it is listed below, each with its reason.
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.core.compile import compile_workload
from reconciler.core.template_check import check_template
from reconciler.core.yaml_strict import parse_file
from reconciler.model.findings import Severity
from reconciler.model.refs import Json
from tests.controlplane.cluster import ControlPlane
from tests.golden.test_examples import EXAMPLES, GOOD
from tests.unit.core.reading import kit, paths_of, put

ODD = [True, 7, -1, 0, "word", "A b", "", None, ["word"], [], {}, {"unheard": 1}, "1Gi", 70000, 1.5]
PODS = 600
MOST_MISSED_SHARE = 0.06
"""Share of what the server refuses that we may leave to it; it may only shrink."""
OPINIONS = {
    "reference": "a probe of a port without that name fails for ever",
    "dns-label": "an empty name is a forgotten one",
    "dns-subdomain": "nothing of such a name can be there",
    "port-name": "an empty name is a forgotten one",
    "enum": "an empty choice is a forgotten one",
    "image": "no container runtime takes such a reference",
    "text": "no medium is called so",
    "type": "an empty item, or a null for text, is a forgotten one",
    "missing-property": "a pull secret without a name pulls nothing",
    "one-of": "a volume without source was meant to have one",
}


@pytest.fixture(scope="module")
def server(real_cluster: ControlPlane) -> ControlPlane:
    body: Json = {"metadata": {"name": "game-rooms"}, "value": 1000}
    real_cluster.api.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", body)
    body = {"metadata": {"name": "gvisor"}, "handler": "runsc"}
    real_cluster.api.ask("POST", "/apis/node.k8s.io/v1/runtimeclasses", body)
    return real_cluster


def refusal(server: ControlPlane, template: Json) -> str:
    """What the server says against a pod of this template; "" for nothing."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template.get("metadata", {}), "name": "template-check"},
        "spec": template["spec"],
    }
    path = "/api/v1/namespaces/default/pods?dryRun=All&fieldValidation=Strict"
    answer = server.api.ask("POST", path, pod)
    return "" if answer.status < 300 else str(answer.body["message"])


def templates() -> Iterator[tuple[str, Json]]:
    for folder in GOOD:
        for path in sorted(folder.glob("*/**/*.yaml")):
            for document in parse_file(path.name, path.read_bytes()).documents:
                value = document.value
                if value["kind"] in ("Scheduler", "Fleet"):
                    yield f"{folder.name}/{value['metadata']['name']}", value["spec"]["template"]


@pytest.mark.real
@pytest.mark.parametrize(
    "template", [pytest.param(template, id=name) for name, template in templates()]
)
def test_the_server_takes_every_good_example(server: ControlPlane, template: Json) -> None:
    assert refusal(server, template) == ""


@pytest.mark.real
def test_our_word_is_the_servers_save_for_opinions(server: ControlPlane) -> None:
    path = EXAMPLES / "good/everything-a-pod-can-have/schedulers/showcase.yaml"
    (document,) = parse_file(path.name, path.read_bytes()).documents
    spec = compile_workload(document).template["spec"]
    choose = random.Random(36)
    # Whether a class is there is for the server alone to know.
    classes = ("priorityClassName", "runtimeClassName")
    places = [place for place in paths_of(spec) if place and place[0] not in classes]
    refused, missed, stricter = 0, [], []
    for _ in range(PODS):
        place, value = choose.choice(places), choose.choice(ODD)
        template: Json = {"spec": put(spec, place, value)}
        ours: list[Any] = [
            mistake
            for mistake in check_template(template, kit().pod_spec("1.36"), "privileged", "1.36")
            if mistake.severity is Severity.ERROR
        ]
        theirs = refusal(server, template)
        refused += bool(theirs)
        if theirs and not ours:
            missed.append(f"{place} = {value!r}: {theirs}")
        if ours and not theirs:
            stricter += [f"{place} = {value!r}: {one}" for one in ours if one.rule not in OPINIONS]

    assert stricter == []
    assert refused > PODS / 2
    assert len(missed) <= refused * MOST_MISSED_SHARE, "\n".join(missed)
