"""Reads and deletions that an API server refuses, and its words for it."""

from __future__ import annotations

import pytest

# method, path below the namespace, body, media type, then status, reason, message
REFUSED_READS = [
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
