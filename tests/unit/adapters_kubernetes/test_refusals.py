"""What refusals mean: bodies are the real server's (kubectl.md §4)."""

from typing import Any

import pytest

from reconciler.adapters.kubernetes.refusals import refusal
from reconciler.model.errors import (
    AlreadyExists,
    Conflict,
    Denied,
    Expired,
    Misconfigured,
    PortError,
    Unanswered,
    Unauthenticated,
    Unavailable,
    Withheld,
)
from reconciler.model.refs import Json
from tests.canaries.places import canary


def status(reason: str, message: str, **details: Any) -> Json:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
    }


TERMINATING = {"reason": "NamespaceTerminating", "message": "namespace n is being terminated"}


@pytest.mark.parametrize(
    ("code", "body", "kind"),
    [
        pytest.param(
            401, status("Unauthorized", "Unauthorized"), Unauthenticated, id="a bad token"
        ),
        pytest.param(
            403,
            status("Forbidden", 'pods is forbidden: User "u" cannot list resource "pods"'),
            Denied,
            id="a missing role",
        ),
        pytest.param(
            403,
            status("Forbidden", 'pods "a" is forbidden: violates PodSecurity "baseline:latest"'),
            Denied,
            id="an admission rule",
        ),
        pytest.param(
            403,
            status(
                "Forbidden",
                'pods "a" is forbidden: error looking up service account n/s: '
                'serviceaccount "s" not found',
            ),
            Withheld,
            id="a service account that is not there yet",
        ),
        pytest.param(
            403,
            status("Forbidden", 'pods "a" is forbidden: exceeded quota: q, requested: pods=1'),
            Withheld,
            id="a full quota",
        ),
        pytest.param(
            403,
            status("Forbidden", "pods is forbidden: status unknown for quota: q, resources: pods"),
            Withheld,
            id="a quota that nobody has counted yet",
        ),
        pytest.param(
            403,
            status(
                "Forbidden",
                'pods "a" is forbidden: failed quota: q: must specify memory for: game',
            ),
            Withheld,
            id="a quota of what the room does not say",
        ),
        pytest.param(
            403,
            status("Forbidden", "pods is forbidden: insufficient quota to consume: pods"),
            Withheld,
            id="a resource that needs a quota and has none",
        ),
        pytest.param(
            403,
            status("Forbidden", 'configmaps "y" is forbidden: unable', causes=[TERMINATING]),
            Withheld,
            id="a terminating namespace",
        ),
        pytest.param(
            404,
            status("NotFound", 'namespaces "n" not found', name="n", kind="namespaces"),
            Unavailable,
            id="a write into a missing namespace",
        ),
        pytest.param(
            404,
            status("NotFound", 'pods "a" not found', name="a", kind="pods"),
            Conflict,
            id="a write to an object that went away",
        ),
        pytest.param(
            404,
            status("NotFound", "the server could not find the requested resource"),
            Misconfigured,
            id="a kind that is not served",
        ),
        pytest.param(404, {}, Misconfigured, id="a page that is no API server's"),
        pytest.param(
            409,
            status("AlreadyExists", 'pods "a" already exists', name="a", kind="pods"),
            AlreadyExists,
            id="a taken name",
        ),
        pytest.param(
            409,
            status("Conflict", 'Operation cannot be fulfilled on pods "a"', name="a"),
            Conflict,
            id="a stale version",
        ),
        pytest.param(410, status("Expired", "too old resource version"), Expired, id="too old"),
        pytest.param(
            422,
            status("Invalid", "x", causes=[{"field": "metadata.uid", "message": "immutable"}]),
            Conflict,
            id="a patch of another uid",
        ),
        pytest.param(
            422,
            status("Invalid", "x", causes=[{"field": "spec.containers", "message": "Required"}]),
            Misconfigured,
            id="an invalid field",
        ),
        pytest.param(429, status("TooManyRequests", "later"), Unavailable, id="too many requests"),
        pytest.param(
            500,
            status("", "failed to create typed patch object (n/a; /v1, Kind=Pod): .x: field not"),
            Misconfigured,
            id="an unknown field in an apply, which is a 500",
        ),
        pytest.param(500, status("InternalError", "etcd failed"), Unanswered, id="a fault"),
        pytest.param(503, {}, Unanswered, id="a proxy without a server"),
        pytest.param(
            504, status("Timeout", "Too large resource version"), Unanswered, id="a lagging server"
        ),
        pytest.param(400, status("BadRequest", "strict decoding error"), Misconfigured, id="a 400"),
        pytest.param(302, {}, Misconfigured, id="a redirect"),
    ],
)
def test_a_refusal_is_read_by_its_cause(code: int, body: Json, kind: type[PortError]) -> None:
    error = refusal("create Pod n/a", code, body)
    assert type(error) is kind
    assert str(error).startswith("create Pod n/a: ")
    assert str(code) in str(error)


@pytest.mark.parametrize("verb", ["get", "list", "watch", "create", "update", "patch", "delete"])
def test_a_verb_that_is_missing_is_named_with_what_prints_the_role_that_has_it(verb: str) -> None:
    lacks = f'cannot {verb} resource "poddisruptionbudgets" in API group "policy" in the namespace'
    said = f'forbidden: User "system:serviceaccount:gamekeeper:gamekeeper" {lacks} "arena"'
    error = refusal("apply PodDisruptionBudget arena/duel", 403, status("Forbidden", said))
    assert f'{lacks} "arena"' in str(error)
    assert "`gamekeeper rbac`" in str(error)


def test_what_the_server_asked_to_wait_is_passed_on() -> None:
    error = refusal("list Pod", 429, {}, 7.0)
    assert isinstance(error, Unavailable)
    assert error.retry_after_seconds == 7.0


def test_every_manager_of_an_apply_conflict_is_named_with_its_fields() -> None:
    causes = [
        {"reason": "FieldManagerConflict", "message": f'conflict with "{who}"', "field": field}
        for who, field in (("m1", ".data.a"), ("m1", ".data.b"), ("m2", ".data.c"))
    ]
    error = refusal("apply ConfigMap n/c", 409, status("Conflict", "Apply failed", causes=causes))
    assert '"m1" owns .data.a, .data.b; "m2" owns .data.c' in str(error)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param('Invalid value: "hunter2": must be empty', id="a string"),
        pytest.param('Invalid value: "a\\"hunter2": must be empty', id="a string with quotes"),
        pytest.param('Unsupported value: "hunter2": supported values: "x"', id="an enum"),
        pytest.param('Duplicate value: "hunter2"', id="a duplicate"),
        pytest.param('Invalid value: {"a":"hunter2: x"}: must be empty', id="an object"),
        pytest.param("x is invalid: spec: Forbidden: no\n  hunter2", id="a second line"),
        pytest.param('Invalid value: "hunter2" is too long', id="no colon behind it"),
        pytest.param('Invalid value: "a hunter2', id="a string that nothing ends"),
        pytest.param("Invalid value: [a: hunter2, b", id="a list that nothing ends"),
    ],
)
def test_a_value_that_may_be_secret_is_not_repeated(message: str) -> None:
    cause = {"field": "spec.containers[0].env[0].value", "message": message}
    error = refusal("create Pod n/a", 422, status("Invalid", message, causes=[cause]))
    assert "hunter2" not in str(error)
    assert "spec.containers[0].env[0].value" in str(error)


@pytest.mark.parametrize("code", [400, 403, 404, 409, 422, 429, 500])
def test_a_secret_among_the_words_of_a_strangers_webhook_is_not_repeated(code: int) -> None:
    hush = canary("container value", "of a webhook")
    message = f'admission webhook "x" denied the request: token={hush} is stale'
    cause = {"field": "spec.x", "message": message}
    for causes in [], [cause]:
        error = refusal("create Pod n/a", code, status("Invalid", message, causes=causes))
        assert 'webhook "x" denied the request: token=*** is stale' in str(error)


@pytest.mark.parametrize("code", [400, 403, 422, 500])
def test_the_cause_behind_a_field_that_is_named_like_a_secret_is_told(code: int) -> None:
    message = 'Pod "a" is invalid: spec.automountServiceAccountToken: Required value'
    cause = {"field": "spec.automountServiceAccountToken", "message": "Required value"}
    for causes in [], [cause]:
        error = refusal("create Pod n/a", code, status("Invalid", message, causes=causes))
        assert "spec.automountServiceAccountToken: Required value" in str(error)
