"""What a worker answers about an additional object, read by the process that asked."""

import json
from typing import Any

import pytest

from reconciler.adapters.compiler.context import context_of
from reconciler.adapters.compiler.frames import Garbled
from reconciler.adapters.compiler.objects import OUTPUT_BYTES, Asked, result_of
from reconciler.core.object_check import completed
from reconciler.model import labels
from reconciler.model.additional import Made, Template
from reconciler.model.specs import Permissions
from tests.unit.core.making import a_workload

FILE = "objects/arena/configmap.yaml.j2"
CONTEXT = context_of(a_workload(), "main")
PERMISSIONS = Permissions(kinds=("ConfigMap", "RoleBinding"), instance="main")
ASKED = Asked(Template(FILE, ""), CONTEXT, PERMISSIONS, "")
PLAIN = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
SOUND = completed(PLAIN, "arena", CONTEXT["labels"])


def answered(body: Any, file: str = FILE) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    return result_of({"made": [file, 1, 1, text]}, ASKED)


def with_metadata(**changes: Any) -> Any:
    return {**SOUND, "metadata": {**SOUND["metadata"], **changes}}


def with_labels(**changes: Any) -> Any:
    return with_metadata(labels={**SOUND["metadata"]["labels"], **changes})


def test_what_was_asked_for_is_taken_with_labels_of_its_own() -> None:
    body = with_labels(team="blue")
    assert answered(body) == Made(FILE, 1, 1, json.dumps(body))
    assert result_of({"findings": []}, ASKED) == ()


GRANT = {
    **completed(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "a"},
            "subjects": [{"kind": "ServiceAccount", "name": "arena"}],
        },
        "arena",
        CONTEXT["labels"],
    ),
    "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"},
}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(with_metadata(namespace="kube-system"), id="another namespace"),
        pytest.param(with_metadata(namespace=""), id="no namespace"),
        pytest.param({**SOUND, "kind": "Secret"}, id="a kind that is never allowed"),
        pytest.param({**SOUND, "kind": "Role"}, id="a kind that is not allowed here"),
        pytest.param({**SOUND, "apiVersion": "v2"}, id="another version of the API"),
        pytest.param(GRANT, id="rights of the whole cluster"),
        pytest.param(
            with_labels(**{labels.WORKLOAD: "lobby"}), id="the object of another workload"
        ),
        pytest.param(with_metadata(labels={}), id="nobody's object"),
        pytest.param(with_labels(**{labels.RECORD: "ordinals"}), id="one of our records"),
        pytest.param(with_metadata(ownerReferences=[]), id="an owner"),
        pytest.param(with_metadata(name="gamekeeper-arena"), id="a name that is ours"),
        pytest.param(with_metadata(name=["a"]), id="a list for a name"),
        pytest.param(with_metadata(name=None), id="no name"),
        pytest.param({**SOUND, "kind": ["ConfigMap"]}, id="a list for a kind"),
        pytest.param({**SOUND, "metadata": []}, id="a list for metadata"),
        pytest.param(with_metadata(labels=["a"]), id="a list for labels"),
        pytest.param(with_metadata(annotations=7), id="a number for annotations"),
        pytest.param([], id="a list"),
        pytest.param(None, id="null"),
        pytest.param("", id="no JSON"),
        pytest.param("[" * 100_000, id="deeper than one can look"),
        pytest.param({**SOUND, "data": {"k": "v" * OUTPUT_BYTES}}, id="larger than was allowed"),
    ],
)
def test_what_was_not_asked_for_is_refused(body: Any) -> None:
    with pytest.raises(Garbled):
        answered(body)


def test_the_object_of_another_template_is_refused() -> None:
    with pytest.raises(Garbled):
        answered(SOUND, "objects/lobby/configmap.yaml.j2")


@pytest.mark.parametrize(
    "answer", [{}, {"findings": None}, {"findings": [7]}, {"made": 7}, {"made": []}]
)
def test_what_is_no_answer_is_refused(answer: Any) -> None:
    with pytest.raises(Garbled):
        result_of(answer, ASKED)
