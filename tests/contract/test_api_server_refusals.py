"""What an API server refuses, and in which words: the same on the sandbox and the real one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.api_server_world import (
    APPLY,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Speaker,
    config_map,
    pod,
)

_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

# method, path below the namespace, body, media type, then status, reason, message
REFUSED = [
    pytest.param(
        "GET", "/pods/zz", None, "", 404, "NotFound", 'pods "zz" not found', id="a missing pod"
    ),
    pytest.param(
        "GET",
        "/bogus",
        None,
        "",
        404,
        "NotFound",
        "the server could not find the requested resource",
        id="a resource that its group does not have",
    ),
    pytest.param(
        "POST",
        "/pods",
        pod("a"),
        "",
        409,
        "AlreadyExists",
        'pods "a" already exists',
        id="a name that is taken",
    ),
    pytest.param(
        "POST",
        "/pods",
        pod("e", containers=[]),
        "",
        422,
        "Invalid",
        'Pod "e" is invalid: spec.containers: Required value',
        id="a pod without containers",
    ),
    pytest.param(
        "POST",
        "/pods",
        {"spec": {"containers": [{"name": "c", "image": "x"}]}},
        "",
        422,
        "Invalid",
        'Pod "" is invalid: metadata.name: Required value: name or generateName is required',
        id="an object without a name",
    ),
    pytest.param(
        "POST",
        "/pods",
        pod("E_"),
        "",
        422,
        "Invalid",
        f'Pod "E_" is invalid: metadata.name: Invalid value: "E_": {_RULE}',
        id="a name that DNS would not take",
    ),
    pytest.param(
        "POST",
        "/pods",
        pod("i", containers=[{"name": "c", "image": 5}]),
        "",
        400,
        "BadRequest",
        'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go '
        "struct field Container.spec.containers.image of type string",
        id="a number where text belongs",
    ),
    pytest.param(
        "POST",
        "/pods?fieldValidation=Strict",
        pod("g", bogus=1),
        "",
        400,
        "BadRequest",
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
        'unknown field "spec.bogus"',
        id="an unknown field, strictly",
    ),
    pytest.param(
        "POST",
        "/configmaps?fieldValidation=Strict",
        b'{"metadata":{"name":"h","name":"h"}}',
        "",
        400,
        "BadRequest",
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        'duplicate field "metadata.name"',
        id="a field written twice, strictly",
    ),
    pytest.param(
        "POST",
        "/pods",
        {**pod("k"), "metadata": {"name": "k", "resourceVersion": "5"}},
        "",
        500,
        None,
        "resourceVersion should not be set on objects to be created",
        id="a new object that claims a revision",
    ),
    pytest.param(
        "POST",
        "/pods",
        {**pod("k"), "metadata": {"name": "k", "namespace": "other"}},
        "",
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
        id="a body of another namespace",
    ),
    pytest.param(
        "PUT",
        "/pods/a",
        pod("other"),
        "",
        400,
        "BadRequest",
        "the name of the object (other) does not match the name on the URL (a)",
        id="a body of another name",
    ),
    pytest.param(
        "PUT",
        "/pods/a",
        {**pod("a"), "metadata": {"name": "a", "resourceVersion": "1"}},
        "",
        409,
        "Conflict",
        'Operation cannot be fulfilled on pods "a": the object has been modified; please apply '
        "your changes to the latest version and try again",
        id="a replacement of an old revision",
    ),
    pytest.param(
        "PATCH",
        "/pods/a",
        {"metadata": {"resourceVersion": "1"}},
        MERGE,
        409,
        "Conflict",
        'Operation cannot be fulfilled on pods "a": the object has been modified; please apply '
        "your changes to the latest version and try again",
        id="a patch of an old revision",
    ),
    pytest.param(
        "PATCH",
        "/pods/a",
        {"metadata": {"uid": "bogus"}},
        MERGE,
        422,
        "Invalid",
        'Pod "a" is invalid: metadata.uid: Invalid value: "bogus": field is immutable',
        id="a patch of another uid",
    ),
    pytest.param(
        "PATCH",
        "/pods/a",
        [{"op": "test", "path": "/metadata/labels/app", "value": "n"}],
        JSON_PATCH,
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
        id="a JSON patch whose test fails",
    ),
    pytest.param(
        "PATCH",
        "/pods/zz",
        {"metadata": {}},
        STRATEGIC,
        404,
        "NotFound",
        'pods "zz" not found',
        id="a patch of nothing",
    ),
    pytest.param(
        "PATCH",
        "/pods/a",
        {},
        "text/plain",
        415,
        "UnsupportedMediaType",
        "415: Unsupported Media Type",
        id="a patch of an unknown type",
    ),
    pytest.param(
        "PATCH",
        "/configmaps/s",
        config_map("s"),
        APPLY,
        422,
        "Invalid",
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: '
        "is required for apply patch",
        id="an apply without a manager",
    ),
    pytest.param(
        "PATCH",
        "/configmaps/s?fieldManager=m",
        {**config_map("s"), "bogus": 1},
        APPLY,
        500,
        None,
        "failed to create typed patch object (/s; /v1, Kind=ConfigMap): .bogus: "
        "field not declared in schema",
        id="an apply of an unknown field",
    ),
    pytest.param(
        "PATCH",
        "/configmaps/s?fieldManager=m",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": [{}]}},
        APPLY,
        400,
        "BadRequest",
        "metadata.managedFields must be nil",
        id="an apply that brings its owners",
    ),
    pytest.param(
        "GET",
        "/pods?fieldSelector=metadata.uid%3Dx",
        None,
        "",
        400,
        "BadRequest",
        "field label not supported: metadata.uid",
        id="a field that pods are not selected by",
    ),
    pytest.param(
        "GET",
        "/configmaps?fieldSelector=data.x%3Dx",
        None,
        "",
        400,
        "BadRequest",
        '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        id="a field that nothing is selected by",
    ),
    pytest.param(
        "GET",
        "/pods?resourceVersionMatch=Exact",
        None,
        "",
        422,
        "Invalid",
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
        "resourceVersionMatch is forbidden unless resourceVersion is provided",
        id="an exact list of no revision",
    ),
    pytest.param(
        "GET",
        "/pods?watch=true&sendInitialEvents=true",
        None,
        "",
        422,
        "Invalid",
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        id="a watch list that forgets its match",
    ),
    pytest.param(
        "GET",
        "/pods/a/log?container=zzz",
        None,
        "",
        400,
        "BadRequest",
        "container zzz is not valid for pod a",
        id="the log of no container",
    ),
    pytest.param(
        "DELETE",
        "/pods/a?dryRun=some",
        None,
        "",
        422,
        "Invalid",
        'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["some"]: '
        'supported values: "All"',
        id="a dry run of another kind",
    ),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "media", "status", "reason", "message"), REFUSED
)
def test_a_refusal_has_the_words_of_the_real_server(
    api: Speaker,
    space: str,
    method: str,
    path: str,
    body: Any,
    media: str,
    status: int,
    reason: str | None,
    message: str,
) -> None:
    api.make(f"{space}/pods", pod("a"))
    reply = api.ask(method, space + path, body, media or "application/json")
    assert (reply.status, reply.body.get("reason"), reply.message) == (status, reason, message)
    assert (reply.body["kind"], reply.body["status"]) == ("Status", "Failure")
    assert reply.body["code"] == status


def test_a_pod_without_its_account_is_forbidden(api: Speaker, space: str) -> None:
    reply = api.ask("POST", f"{space}/pods", pod("j", serviceAccountName="nope"))
    name = space.rsplit("/", 1)[1]
    assert reply.status == 403
    assert reply.message == (
        f'pods "j" is forbidden: error looking up service account {name}/nope: '
        'serviceaccount "nope" not found'
    )


def test_a_namespace_that_is_not_there_lists_empty_and_takes_nothing(api: Speaker) -> None:
    listed = api.ask("GET", "/api/v1/namespaces/no-such-place/pods")
    assert (listed.status, listed.body["items"]) == (200, [])
    made = api.ask("POST", "/api/v1/namespaces/no-such-place/pods", pod("a"))
    assert (made.status, made.message) == (404, 'namespaces "no-such-place" not found')


def test_most_fields_of_a_pod_are_fixed(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("a"))
    patch = {"spec": {"nodeSelector": {"a": "b"}}}
    reply = api.ask("PATCH", f"{space}/pods/a", patch, MERGE)
    assert reply.status == 422
    assert reply.message.startswith(
        'Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than '
        "`spec.containers[*].image`,`spec.initContainers[*].image`"
    )
    assert reply.body["details"]["causes"][0]["reason"] == "FieldValueForbidden"


def test_an_unknown_field_is_a_warning_by_default(api: Speaker, space: str) -> None:
    reply = api.ask("POST", f"{space}/pods", pod("w", bogus=1))
    assert reply.status == 201
    assert reply.headers["warning"] == '299 - "unknown field \\"spec.bogus\\""'


def test_an_unknown_group_is_no_part_of_the_api(api: Speaker) -> None:
    reply = api.ask("GET", "/apis/no.such.group/v1/things")
    assert (reply.status, reply.body) == (404, "404 page not found\n")


def test_the_default_namespace_cannot_be_deleted(api: Speaker) -> None:
    reply = api.ask("DELETE", "/api/v1/namespaces/default")
    assert (reply.status, reply.message) == (
        403,
        'namespaces "default" is forbidden: this namespace may not be deleted',
    )
