"""Watches of every kind, open at the same time while their objects come, change and go."""

from __future__ import annotations

from random import Random

from tests.contract.differential.places import BUDGET, CONFIG_MAP, LEASE, POD, SECRET
from tests.contract.differential.steps import MERGE, METADATA, TABLE, Step, Together, revision

_INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
_MARKS = "allowWatchBookmarks=true"
_WRONG = (
    "sendInitialEvents=true", "resourceVersionMatch=Exact&resourceVersion=1",
    f"{_INITIAL}&resourceVersion=x", "resourceVersion=-1", "labelSelector=x%20y",
    "fieldSelector=bogus%3D1", "limit=x", "resourceVersionMatch=NotOlderThan",
)  # fmt: skip


def together(rng: Random, space: str) -> list[Step | Together]:
    """Write some objects, open watches on them, and let them live."""
    place = rng.choice((CONFIG_MAP, POD, POD, BUDGET, LEASE, SECRET))
    path = place.collection(space)
    since = f"resourceVersion={revision(f'{path}/w0')}"
    # The last bookmark comes two seconds before the end, after all that is written meanwhile.
    seconds = rng.choice((1, 1, 4))
    asked = (
        "", "resourceVersion=0", since, f"{since}&{_MARKS}", _INITIAL, f"{_INITIAL}&{_MARKS}",
        f"{_INITIAL}&{_MARKS}&labelSelector=app%3Da", f"{since}&labelSelector=app%3Da",
        f"{since}&labelSelector=app%3Db", f"{since}&labelSelector=app%21%3Da",
        "labelSelector=app", f"{since}&fieldSelector=metadata.name%3Dw1", "resourceVersion=1",
        f"resourceVersion=1&{_MARKS}", f"{_MARKS}&resourceVersion=0",
        f"sendInitialEvents=false&resourceVersionMatch=NotOlderThan&{since}&{_MARKS}",
        f"{_INITIAL}&{_MARKS}&resourceVersion=1", rng.choice(_WRONG),
    )  # fmt: skip
    watches = [_watch(path, query, seconds) for query in asked]
    watches += [
        _watch(path, f"{since}&{_MARKS}", seconds, METADATA),
        _watch(path, f"{_INITIAL}&{_MARKS}", seconds, METADATA),
        _watch(path, since, seconds, TABLE),
    ]

    def made(name: str, app: str) -> Step:
        body = {"metadata": {"name": name, "labels": {"app": app}}}
        spec = {"spec": {"containers": [{"name": "c", "image": "game:1"}]}}
        return Step("POST", path, body | (spec if place is POD else {}))

    def turned(name: str, app: str | None) -> Step:
        return Step("PATCH", f"{path}/{name}", {"metadata": {"labels": {"app": app}}}, MERGE)

    before = [made("w0", "b"), made("w1", "a"), made("w2", "b"), turned("w1", "b")]
    before += [turned("w1", "a"), Step("DELETE", f"{path}/w2"), Step("GET", path)]
    meanwhile = [made("w3", rng.choice("ab")), turned("w1", rng.choice(("b", None)))]
    meanwhile += [turned("w0", "a"), turned("w0", "a"), Step("DELETE", f"{path}/w1")]
    rng.shuffle(meanwhile)
    after = [Step("DELETE", f"{path}?labelSelector=app"), Step("DELETE", f"{path}/w1")]
    return [*before, Together(tuple(watches), tuple(meanwhile)), *after]


def _watch(path: str, query: str, seconds: int, accept: str = "") -> Step:
    joint = f"&{query}" if query else ""
    headers = {"Accept": accept} if accept else {}
    return Step("GET", f"{path}?watch=true&timeoutSeconds={seconds}{joint}", headers=headers)
