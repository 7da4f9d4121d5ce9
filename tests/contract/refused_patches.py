"""Patches and applies that an API server cannot read, and its words for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.api_server_world import APPLY, JSON_PATCH, MERGE, STRATEGIC, Json, pod

_IGNORE = "?fieldValidation=Ignore"
_UNREAD = (
    "failed to convert new object (/k; /v1, Kind=Pod) to proper version: unable to convert "
    "unstructured object to /v1, Kind=Pod: "
)
_NO_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def _patch(what: str, media: str, sent: Any, *answer: Any, query: str = "") -> Any:
    return pytest.param("PATCH", f"/pods/a{query}", sent, media, *answer, id=what)


def _apply(what: str, told: str, **container: Any) -> Any:
    sent = pod("k", containers=[{"name": "c", "image": "i", **container}])
    path = "/pods/k?fieldManager=m"
    return pytest.param("PATCH", path, sent, APPLY, 500, None, _UNREAD + told, id=what)


def _secret(text: str) -> Json:
    head = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    return {**head, "data": {"k": text}}


REFUSED_PATCHES = [
    _patch("a merge of null", MERGE, b"null", 400, "BadRequest", "Invalid JSON Patch"),
    _patch(
        "a merge of text, mistakes ignored",
        MERGE,
        b'"text"',
        400,
        "BadRequest",
        "Invalid JSON Patch",
        query=_IGNORE,
    ),
    _patch(
        "a JSON patch that is no JSON, mistakes ignored",
        JSON_PATCH,
        b"",
        400,
        "BadRequest",
        "unexpected end of JSON input",
        query=_IGNORE,
    ),
    _patch(
        "a JSON patch of nothing",
        JSON_PATCH,
        b"[null]",
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
    ),
    _patch(
        "a list item without its key",
        STRATEGIC,
        {"spec": {"containers": [{"x": "y"}]}},
        500,
        None,
        "map: map[x:y] does not contain declared merge key: name",
    ),
    _apply(
        "an apply of no quantity", _NO_QUANTITY, resources={"requests": {"cpu": "", "memory": "1"}}
    ),
    _apply(
        "an apply of half a port",
        "cannot convert float64 to int32",
        ports=[{"containerPort": 1.5}],
    ),
    _apply(
        "an apply of a list where a number or a name belongs",
        "json: cannot unmarshal array into Go value of type int32",
        livenessProbe={"httpGet": {"port": []}},
    ),
    pytest.param(
        "PATCH",
        "/pods/a?fieldManager=m",
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "uid": "bogus"}},
        APPLY,
        422,
        "Invalid",
        'Pod "a" is invalid: metadata.uid: Invalid value: "bogus": field is immutable',
        id="an apply to another object of that name",
    ),
    pytest.param(
        "PATCH",
        "/secrets/s?fieldManager=m",
        _secret("x"),
        APPLY,
        500,
        None,
        "failed to convert new object (/s; /v1, Kind=Secret) to proper version: unable to convert "
        "unstructured object to /v1, Kind=Secret: error decoding from json: "
        "illegal base64 data at input byte 0",
        id="an apply of no base64",
    ),
    pytest.param(
        "PATCH",
        "/configmaps/s?fieldManager=m",
        {"kind": None},
        APPLY,
        400,
        "BadRequest",
        "invalid object type: /, Kind=",
        id="an apply of a null kind",
    ),
]
