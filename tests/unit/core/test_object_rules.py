"""What a worker made of an object is held to what it was asked for, without any schema."""

from typing import Any

import pytest

from reconciler.core.object_check import completed
from reconciler.core.object_rules import check_completed
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Permissions

ARENA = WorkloadKey("Scheduler", "arena", "arena")
ALLOWED = Permissions(kinds=("ConfigMap", "Service"))
LABELS = {"gamekeeper.dev/instance": "main"}
WRITTEN: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "motd", "labels": {"team": "blue"}},
    "data": {"motd": "hello"},
}
SOUND = completed(WRITTEN, "arena", LABELS)


def _with(**metadata: Any) -> Json:
    return {**SOUND, "metadata": {**SOUND["metadata"], **metadata}}


def test_what_was_completed_is_what_was_asked_for() -> None:
    assert check_completed(SOUND, ARENA, ALLOWED, LABELS) == []


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(WRITTEN, id="not completed"),
        pytest.param(_with(namespace="lobby"), id="in another namespace"),
        pytest.param(_with(labels={"team": "blue"}), id="for nobody"),
        pytest.param(_with(labels={"gamekeeper.dev/instance": "test"}), id="for somebody else"),
        pytest.param(_with(name="kube-root-ca.crt"), id="under a name that is not free"),
        pytest.param(_with(finalizers=["a.example/b"]), id="with more than may be written"),
        pytest.param({**SOUND, "kind": "Secret"}, id="of a kind that nobody may make"),
        pytest.param({**SOUND, "kind": "Role"}, id="of a kind that is not allowed"),
        pytest.param(
            {**SOUND, "kind": "Service", "spec": {"externalIPs": ["10.0.0.1"]}},
            id="doing what nobody may ask for",
        ),
    ],
)
def test_what_was_not_asked_for_is_refused(made: Json) -> None:
    assert check_completed(made, ARENA, ALLOWED, LABELS)
