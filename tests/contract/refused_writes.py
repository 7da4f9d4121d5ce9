"""Writes that an API server refuses, and its words for it."""

from __future__ import annotations

import pytest

from tests.contract.api_server_world import (
    APPLY,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    config_map,
    pod,
)

_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

# method, path below the namespace, body, media type, then status, reason, message
REFUSED_WRITES = [
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
]
