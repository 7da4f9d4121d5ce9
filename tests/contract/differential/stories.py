"""Stories about one claim each: they lead to where the claim shows, which chance seldom does."""

from __future__ import annotations

import base64
import json
from random import Random

from tests.contract.differential.places import ACCOUNT, BUDGET, CONFIG_MAP, NODE, POD, Place
from tests.contract.differential.steps import (
    APPLY,
    MERGE,
    STRATEGIC,
    Json,
    Step,
    continuation,
    revision,
    uid,
)

_DRY = "dryRun=All"
_LONG_AGO = "2020-02-03T04:05:06Z"
GIVEN_UP = "apply: fields given up"
BY_KEY = "apply: lists by their keys"


def _pod(name: str) -> Json:
    containers = [{"name": name, "image": "game:1"} for name in ("c", "d")]
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": {"containers": containers}}


def evictions(rng: Random, space: str) -> list[Step]:
    """Evict a running pod: before its budget is seen, against it, and with it."""
    pods, budgets = POD.collection(space), BUDGET.collection(space)
    pod, budget = f"{pods}/e", f"{budgets}/e"
    ready = {"type": "Ready", "status": rng.choice(("True", "True", "False"))}
    running = {"phase": "Running", "conditions": [ready]}
    bound = {"metadata": {"name": "e"}, "target": {"kind": "Node", "name": "n1"}}
    wanted = rng.choice(({"minAvailable": 1}, {"maxUnavailable": 0}, {"minAvailable": "100%"}))
    spec = {"selector": {"matchLabels": {"app": "e"}}, **wanted}
    evict = Step("POST", f"{pod}/eviction", _eviction())
    odd = rng.choice(
        (
            {"preconditions": {"uid": "bogus"}},
            {"preconditions": {"resourceVersion": "1"}},
            {"gracePeriodSeconds": -1, "dryRun": ["All"]},
            {"dryRun": ["Some"]},
        )
    )
    return [
        Step("POST", pods, _pod("e")),
        Step("POST", f"{pod}/binding", bound),
        Step("PATCH", f"{pod}/status", {"status": running}, STRATEGIC),
        Step("POST", budgets, {"metadata": {"name": "e"}, "spec": spec}),
        evict,
        _observed(budget, allowed=0),
        evict,
        Step("POST", f"{pod}/eviction?{_DRY}", _eviction()),
        Step("POST", f"{pod}/eviction", _eviction(odd)),
        _observed(budget, allowed=1),
        Step("POST", f"{pod}/eviction?{_DRY}", _eviction()),
        Step("POST", f"{pod}/eviction", _eviction({"preconditions": {"uid": uid(pod)}})),
        Step("GET", budget),
        Step("GET", pod),
        evict,
        Step("DELETE", f"{pod}?gracePeriodSeconds=0"),
        Step("DELETE", budget),
    ]


def _eviction(options: Json | None = None) -> Json:
    head: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "e"}}
    return head if options is None else {**head, "deleteOptions": options}


def _observed(budget: str, *, allowed: int) -> Step:
    counts = {"currentHealthy": 1 + allowed, "desiredHealthy": 1, "expectedPods": 1}
    seen = {"observedGeneration": 1, "disruptionsAllowed": allowed, **counts}
    return Step("PATCH", f"{budget}/status", {"status": seen}, MERGE)


def owners(rng: Random, space: str) -> list[Step]:
    """Let two managers share an object, quarrel about it and leave it."""
    chosen = rng.choice((_data, _accounts, _conditions, _containers))
    return chosen(rng, space)


def _applied(
    path: str, place: Place, manager: str, body: Json, *, claim: str = "", force: bool = False
) -> Step:
    name = path.removesuffix("/status").rsplit("/", 1)[1]
    head: Json = {"apiVersion": place.api_version, "kind": place.kind, "metadata": {"name": name}}
    whole = {**head, **body, "metadata": {**head["metadata"], **body.get("metadata", {})}}
    query = f"?fieldManager={manager}{'&force=true' if force else ''}"
    return Step("PATCH", path + query, whole, APPLY, claim=claim)


def _data(rng: Random, space: str) -> list[Step]:
    path = f"{CONFIG_MAP.collection(space)}/o"
    first, second, third = rng.sample("klmn", 3)
    one = {"data": {first: "1", second: "2"}, "metadata": {"labels": {"app": "a"}}}
    two = {"data": {first: "other", third: "3"}}

    def apply(manager: str, body: Json, claim: str = "", *, force: bool = False) -> Step:
        return _applied(path, CONFIG_MAP, manager, body, claim=claim, force=force)

    return [
        apply("m1", one),
        apply("m2", {"data": {third: "3", second: "2"}}),
        apply("m2", two),
        apply("m2", two, force=True),
        apply("m1", one),
        apply("m1", {"data": {second: "2"}}, GIVEN_UP),
        apply("m2", {"data": {third: "4"}}, GIVEN_UP),
        apply("m1", {}, GIVEN_UP),
        Step("PATCH", path, {"data": {third: "5"}}, MERGE),
        apply("m2", {"data": {third: "6"}}),
        apply("m2", {}, GIVEN_UP),
        Step("GET", path),
        Step("DELETE", path),
    ]


def _accounts(rng: Random, space: str) -> list[Step]:
    path, part = f"{ACCOUNT.collection(space)}/o", rng.choice(("imagePullSecrets", "secrets"))

    def apply(manager: str, names: str, claim: str = BY_KEY, *, force: bool = False) -> Step:
        body = {part: [{"name": name} for name in names]}
        return _applied(path, ACCOUNT, manager, body, claim=claim, force=force)

    return [
        apply("m1", "ab"),
        apply("m2", "bc"),
        apply("m1", "b", GIVEN_UP),
        apply("m2", "c", GIVEN_UP),
        apply("m1", "ca", force=rng.random() < 0.5),
        apply("m2", "", GIVEN_UP),
        Step("GET", path),
        Step("DELETE", path),
    ]


def _conditions(rng: Random, space: str) -> list[Step]:
    nodes = NODE.collection("")
    path = f"{nodes}/{space}-o"
    first, second = rng.sample(("Ready", "Odd", "Late"), 2)

    def apply(manager: str, claim: str, *types: str, state: str = "True", force: bool) -> Step:
        times = {"lastHeartbeatTime": _LONG_AGO, "lastTransitionTime": _LONG_AGO}
        listed = [{"type": one, "status": state, **times} for one in types]
        body = {"status": {"conditions": listed}}
        return _applied(f"{path}/status", NODE, manager, body, claim=claim, force=force)

    return [
        Step("POST", nodes, {"metadata": {"name": f"{space}-o", "labels": {"life": space}}}),
        apply("m1", BY_KEY, first, second, force=False),
        apply("m2", BY_KEY, second, force=False),
        apply("m2", "", second, state="False", force=False),
        apply("m2", BY_KEY, second, state="False", force=True),
        apply("m1", GIVEN_UP, second, state="False", force=False),
        apply("m1", GIVEN_UP, force=False),
        Step("GET", path),
        Step("DELETE", path),
    ]


def _containers(rng: Random, space: str) -> list[Step]:
    path = f"{POD.collection(space)}/o"
    ports = [{"containerPort": 7000, "protocol": one} for one in ("UDP", "TCP")]
    env = [{"name": name, "value": "1"} for name in rng.sample("ABC", 2)]
    one = {"name": "c", "image": "game:1", "ports": ports, "env": env}
    two = {"name": "c", "image": rng.choice(("game:1", "game:2"))}

    def apply(manager: str, *containers: Json, claim: str = BY_KEY, force: bool = False) -> Step:
        body = {"spec": {"containers": containers}}
        return _applied(path, POD, manager, body, claim=claim, force=force)

    return [
        apply("m1", one, {"name": "d", "image": "game:1"}),
        apply("m2", two),
        apply("m2", two, force=True),
        apply("m1", {**one, "env": env[:1]}),
        apply("m1", {"name": "c", "image": "game:3"}, claim=""),
        apply("m2", claim=GIVEN_UP),
        Step("GET", path),
        Step("DELETE", f"{path}?gracePeriodSeconds=0"),
    ]


def rehearsals(rng: Random, space: str) -> list[Step]:
    """Write with dryRun in every way, and see that nothing happened."""
    path = f"{CONFIG_MAP.collection(space)}/r"
    changed = {"metadata": {"name": "r", "labels": {"n": rng.choice("12")}}, "data": {"k": "2"}}
    return [
        Step("POST", f"{CONFIG_MAP.collection(space)}?{_DRY}", {"metadata": {"name": "r"}}),
        Step("GET", path),
        Step("POST", CONFIG_MAP.collection(space), {"metadata": {"name": "r"}}),
        Step("POST", f"{CONFIG_MAP.collection(space)}?{_DRY}", {"metadata": {"name": "r"}}),
        Step("PUT", f"{path}?{_DRY}", changed),
        Step("PATCH", f"{path}?{_DRY}", {"data": {"k": "3"}}, MERGE),
        Step("PATCH", f"{path}?{_DRY}", {"data": {"k": "3"}}, STRATEGIC),
        Step("PATCH", f"{path}?{_DRY}&fieldManager=m1", _named(changed), APPLY),
        Step("DELETE", f"{path}?{_DRY}"),
        Step("DELETE", path, {"dryRun": ["All"], "preconditions": {"uid": uid(path)}}),
        Step("DELETE", f"{CONFIG_MAP.collection(space)}?{_DRY}"),
        Step("GET", path),
        Step("DELETE", path),
    ]


def _named(body: Json) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", **body}


def preconditions(rng: Random, space: str) -> list[Step]:
    """Change and delete an object under conditions that hold, and that do not."""
    place, name = rng.choice((CONFIG_MAP, BUDGET, POD, ACCOUNT)), "p"
    path = f"{place.collection(space)}/{name}"
    body = _pod(name) if place is POD else {"metadata": {"name": name}}
    marked = {"metadata": {"labels": {"m": "1"}, "resourceVersion": revision(path)}}

    def delete(**conditions: str) -> Step:
        return Step("DELETE", path, {"preconditions": conditions})

    return [
        Step("POST", place.collection(space), body),
        Step("PATCH", path, marked, MERGE),
        Step("PATCH", path, {"metadata": {"resourceVersion": "1", "labels": {"m": "2"}}}, MERGE),
        Step("PATCH", path, {"metadata": {"uid": "bogus"}}, MERGE),
        Step("PUT", path, {"metadata": {"name": name, "resourceVersion": "1"}}),
        Step("PUT", path, {"metadata": {"name": name, "uid": "bogus"}}),
        delete(uid="bogus"),
        delete(resourceVersion="1"),
        delete(uid=uid(path), resourceVersion="1"),
        delete(uid=uid(path), resourceVersion=revision(path)),
        Step("GET", path),
    ]


def pages(rng: Random, space: str) -> list[Step]:
    """Read a list in pages while it changes, and go on where the past is forgotten."""
    path = CONFIG_MAP.collection(space)
    names = [f"q{number}" for number in range(5)]
    limit, token = rng.choice((1, 2, 3)), f"continue={continuation(path)}"
    expired = f"continue={forgotten('/q1')}"
    return [
        *(Step("POST", path, {"metadata": {"name": name, "labels": {"q": "1"}}}) for name in names),
        Step("GET", f"{path}?limit={limit}"),
        Step("DELETE", f"{path}/{rng.choice(names)}"),
        Step("POST", path, {"metadata": {"name": "q9"}}),
        Step("GET", f"{path}?limit={limit}&{token}"),
        Step("GET", f"{path}?limit={rng.choice((1, 2))}&{token}"),
        Step("GET", f"{path}?{token}"),
        Step("GET", f"{path}?labelSelector=q%3D1&limit={limit}"),
        Step("GET", f"{path}?labelSelector=q%3D1&limit={limit}&{token}"),
        Step("GET", f"{path}?limit={limit}&{expired}"),
        Step("GET", f"{path}?limit={limit}&{token}"),
        Step("GET", f"{path}?limit={limit}&{token}"),
        Step("GET", f"{path}?limit=500&{expired}"),
        Step("GET", f"{path}?resourceVersion=1&resourceVersionMatch=Exact"),
        Step("DELETE", f"{path}?labelSelector=q"),
    ]


def forgotten(start: str) -> str:
    """Write a continue token of the first revision, which both servers have forgotten."""
    place = {"v": "meta.k8s.io/v1", "rv": 1, "start": f"{start}\x00"}
    text = json.dumps(place, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")
