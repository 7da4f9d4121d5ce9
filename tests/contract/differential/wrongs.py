"""Wrong inputs of every kind: what is broken in a body, a query or a media type."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from random import Random
from typing import Any

from tests.contract.differential.objects import body
from tests.contract.differential.places import Place
from tests.contract.differential.steps import APPLY, JSON, JSON_PATCH, MERGE, STRATEGIC, Json, Step

_VALUES: tuple[Any, ...] = (None, 5, "text", True, [], {}, ["x"], {"x": "y"}, -1, "", 1.5)
_BODIES = (b"", b"{", b"[]", b"null", b'"text"', b"{}", b'{"metadata":null}', b"a: b", b"5")
_QUERIES = (
    "dryRun=Some", "fieldValidation=Odd", f"fieldManager={'m' * 130}", "dryRun=All&dryRun=All",
    "force=true", "fieldManager=a%0Ab", "pretty=true", "fieldValidation=Strict", "bogus=1",
    "fieldValidation=Ignore",
)  # fmt: skip


WRONG = "wrong input"


def wrong(rng: Random, place: Place, name: str, namespace: str) -> Step:
    """Write a request that is wrong somehow (a few are right after all), and mark it so."""
    return replace(_broken_somehow(rng, place, name, namespace), claim=WRONG)


def _broken_somehow(rng: Random, place: Place, name: str, namespace: str) -> Step:
    collection = place.collection(namespace)
    path, made = f"{collection}/{name}", body(rng, place, name, namespace)
    method = rng.choice(("POST", "POST", "PUT", "APPLY", "PATCH"))
    kind = rng.randrange(6)
    if kind == 0:
        sent: Any = rng.choice(_BODIES)
    elif kind == 1:
        sent = _misnamed(rng, made)
    elif kind == 2:
        sent = _doubled(made)
    else:
        sent = broken(rng, made)
    query = f"?{rng.choice(_QUERIES)}" if rng.random() < 0.25 else ""
    media = rng.choice(("text/plain", "application/xml")) if rng.random() < 0.05 else JSON
    if method == "POST":
        return Step("POST", collection + query, sent, media)
    if method == "PUT":
        return Step("PUT", path + query, sent, media)
    if method == "APPLY":
        joint = "&" if query else "?"
        return Step("PATCH", f"{path}{query}{joint}fieldManager=m1", sent, APPLY)
    if media == JSON:
        media = rng.choice((MERGE, STRATEGIC, JSON_PATCH))
    return Step("PATCH", path + query, sent, media)


def _misnamed(rng: Random, made: Json) -> Json:
    changes: tuple[Json, ...] = (
        {"kind": "Other"},
        {"kind": "Node"},
        {"apiVersion": "v9"},
        {"apiVersion": "policy/v1"},
        {"kind": ""},
        {"metadata": {**made["metadata"], "name": "other"}},
        {"metadata": {**made["metadata"], "name": "Bad_Name"}},
        {"metadata": {**made["metadata"], "name": ""}},
        {"metadata": {**made["metadata"], "name": "x" * 260}},
        {"metadata": {**made["metadata"], "namespace": "elsewhere"}},
        {"metadata": {**made["metadata"], "resourceVersion": "1"}},
        {"metadata": {**made["metadata"], "uid": "bogus"}},
        {"metadata": {**made["metadata"], "labels": {"a b": "c"}}},
        {"metadata": {**made["metadata"], "labels": {"ok": "not ok!"}}},
        {"metadata": {**made["metadata"], "annotations": {"a/b/c": "1"}}},
        {"metadata": {**made["metadata"], "finalizers": ["plain"]}},
        {"metadata": {**made["metadata"], "managedFields": [{}]}},
    )
    return {**made, **rng.choice(changes)}


def _doubled(made: Json) -> bytes:
    text = json.dumps({**made, "bogus": 1})
    return text.replace('"metadata": {', '"metadata": {"name": "first", ', 1).encode()


def broken(rng: Random, made: Json) -> Json:
    """Break a valid object in one place."""
    # Parts that an object holds twice become two: one mistake, told in one order.
    result: Json = json.loads(json.dumps(made))
    places = [place for place in _places(result) if place[1] not in ("kind", "apiVersion", "name")]
    holder, key = rng.choice(places)
    if isinstance(holder, dict) and rng.random() < 0.2:
        holder["bogus"] = 1
    elif rng.random() < 0.25:
        del holder[key]
    else:
        holder[key] = copy.deepcopy(rng.choice(_VALUES))
    return result


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in pairs:
        found.append((value, key))
        if isinstance(part, dict | list):
            found += _places(part)
    return found
