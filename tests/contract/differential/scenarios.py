"""A seeded life of one namespace: the same seed gives the same requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from tests.contract.differential import edits, reads, stories, watches
from tests.contract.differential.objects import body, labels
from tests.contract.differential.places import (
    ACCOUNT,
    BUDGET,
    CONFIG_MAP,
    CORE,
    NAMESPACE,
    NODE,
    PLACES,
    POD,
    SECRET,
    Place,
)
from tests.contract.differential.steps import (
    APPLY,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Json,
    Step,
    Together,
    revision,
    uid,
)
from tests.contract.differential.wrongs import wrong

NAMES = ("a", "b", "c")
_MANAGERS = ("m1", "m2", "m3")
_DRY = "dryRun=All"


class Scenario:
    """One namespace and what happens in it; cluster-wide objects carry its name."""

    def __init__(self, seed: str) -> None:
        self._rng = Random(seed)
        self._space = f"d-{seed.replace('/', '-')}"
        self._marker = f"life={self._space}"

    def steps(self, count: int) -> Iterator[Step | Together]:
        """Write the requests: a beginning, a story of every kind, and `count` by chance."""
        yield from self._begin()
        for story in self._rng.sample(_STORIES, len(_STORIES)):
            yield from story(self._rng, self._space)
        written = 0
        for batch in self._batches():
            yield from batch
            written += len(batch)
            if written >= count:
                break
        yield from self._end()

    def _batches(self) -> Iterator[list[Step]]:
        while True:
            place = self._rng.choices(PLACES, [one.weight for one in PLACES])[0]
            verb = self._rng.choices([one for one, _ in _VERBS], [rate for _, rate in _VERBS])[0]
            yield verb(self, place)

    def _begin(self) -> list[Step]:
        space = {"metadata": {"name": self._space, "labels": {"life": self._space}}}
        made = [Step("POST", f"{CORE}/namespaces", space)]
        made.append(
            Step("POST", ACCOUNT.collection(self._space), {"metadata": {"name": "default"}})
        )
        for place in (CONFIG_MAP, SECRET, POD, POD, BUDGET, NODE):
            made += self._create(place)
        return made

    def _end(self) -> Iterator[Step]:
        path = f"{CORE}/namespaces/{self._space}"
        yield Step("DELETE", path)
        yield Step("POST", CONFIG_MAP.collection(self._space), {"metadata": {"name": "late"}})
        yield Step("POST", POD.collection(self._space), {"metadata": {"name": "late"}})
        yield Step("DELETE", path)
        yield Step("GET", path)
        yield Step("PUT", f"{path}/finalize", {"metadata": {"name": self._space}, "spec": {}})
        yield Step("GET", path)

    def _name(self, place: Place) -> str:
        name = self._rng.choice(NAMES)
        return name if place.namespaced else f"{self._space}-{name}"

    def _path(self, place: Place) -> str:
        return f"{place.collection(self._space)}/{self._name(place)}"

    def _body(self, place: Place, name: str) -> Json:
        made = body(self._rng, place, name, self._space)
        if not place.namespaced:
            made["metadata"].setdefault("labels", {})["life"] = self._space
        return made

    def _query(self, *words: str) -> str:
        chosen = [word for word in words if word]
        if self._rng.random() < 0.15:
            chosen.append(_DRY)
        if self._rng.random() < 0.15:
            chosen.append("fieldValidation=Strict")
        return f"?{'&'.join(chosen)}" if chosen else ""

    def _create(self, place: Place) -> list[Step]:
        made = self._body(place, self._name(place))
        collection = place.collection(self._space)
        if self._rng.random() < 0.05:
            made["metadata"]["generateName"] = f"{made['metadata'].pop('name')}-"
            return [Step("POST", f"{collection}?{_DRY}", made)]
        manager = "fieldManager=hand" if self._rng.random() < 0.3 else ""
        return [Step("POST", collection + self._query(manager), made)]

    def _get(self, place: Place) -> list[Step]:
        return [reads.get(self._rng, place, self._path(place))]

    def _list(self, place: Place) -> list[Step]:
        return reads.listing(self._rng, place, self._space, self._marker)

    def _put(self, place: Place) -> list[Step]:
        path = self._path(place)
        made = self._body(place, path.rsplit("/", 1)[1])
        if place is BUDGET or self._rng.random() < 0.5:
            made["metadata"]["resourceVersion"] = self._rng.choice((revision(path),) * 3 + ("1",))
        if self._rng.random() < 0.15:
            made["metadata"]["uid"] = self._rng.choice((uid(path), "bogus"))
        return [Step("PUT", path + self._query(), made)]

    def _patch(self, place: Place) -> list[Step]:
        path, rng = self._path(place), self._rng
        media = rng.choice((MERGE, MERGE, STRATEGIC, STRATEGIC, JSON_PATCH))
        write: Callable[[Random, Place], Any] = {
            MERGE: edits.merge,
            STRATEGIC: edits.strategic,
            JSON_PATCH: edits.json_patch,
        }[media]
        sent = write(rng, place)
        if isinstance(sent, dict) and rng.random() < 0.1:
            known = {"resourceVersion": rng.choice((revision(path), "1"))}
            sent = {**sent, "metadata": {**(sent.get("metadata") or {}), **known}}
        manager = f"fieldManager={rng.choice(_MANAGERS)}" if rng.random() < 0.4 else ""
        return [Step("PATCH", path + self._query(manager), sent, media)]

    def _apply(self, place: Place) -> list[Step]:
        rng, path, made = self._rng, self._path(place), []
        for _ in range(rng.randrange(1, 4)):
            sent = edits.application(rng, place, path.rsplit("/", 1)[1], self._space)
            if not place.namespaced:
                sent["metadata"]["labels"] = {**labels(rng), "life": self._space}
            force = rng.choice(("", "force=true", "force=false"))
            query = self._query(f"fieldManager={rng.choice(_MANAGERS)}", force)
            made.append(Step("PATCH", path + query, sent, APPLY))
        return made

    def _status(self, place: Place) -> list[Step]:
        place = place if place.has_status else POD
        path, sent = self._path(place), edits.status(self._rng, place)
        media = self._rng.choice((MERGE, STRATEGIC))
        if self._rng.random() < 0.2:
            name = {"apiVersion": place.api_version, "kind": place.kind}
            sent = {**name, "metadata": {"name": path.rsplit("/", 1)[1]}, "status": sent["status"]}
            return [Step("PATCH", f"{path}/status?fieldManager=m2&force=true", sent, APPLY)]
        return [Step("PATCH", f"{path}/status{self._query()}", sent, media)]

    def _delete(self, place: Place) -> list[Step]:
        rng, path = self._rng, self._path(place)
        sent: Json | None = rng.choice(
            (
                None,
                None,
                {"gracePeriodSeconds": rng.choice((0, 5, 100, -1))},
                {"preconditions": {"uid": rng.choice((uid(path), "bogus"))}},
                {"preconditions": {"resourceVersion": rng.choice((revision(path), "1"))}},
                {"propagationPolicy": rng.choice(("Background", "Foreground", "Orphan", "Odd"))},
                {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]},
            )
        )
        query = rng.choice(("", "", "?gracePeriodSeconds=0", f"?{_DRY}", "?gracePeriodSeconds=x"))
        return [Step("DELETE", path + query, sent), Step("GET", path)]

    def _evict(self, place: Place) -> list[Step]:
        path = self._path(POD)
        name = path.rsplit("/", 1)[1]
        metadata: Json = {"name": name, "namespace": self._space}
        sent: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        if self._rng.random() < 0.4:
            sent["deleteOptions"] = self._rng.choice(
                (
                    {"gracePeriodSeconds": 7},
                    {"dryRun": ["All"]},
                    {"preconditions": {"uid": "bogus"}},
                )
            )
        if self._rng.random() < 0.1:
            metadata["name"] = "other"
        return [Step("POST", f"{path}/eviction", sent), *self._list(BUDGET)[:1], Step("GET", path)]

    def _bind(self, place: Place) -> list[Step]:
        path = self._path(POD)
        target = {"kind": "Node", "name": self._rng.choice(("n1", "n2"))}
        binding = {"metadata": {"name": path.rsplit("/", 1)[1]}, "target": target}
        return [Step("POST", f"{path}/binding", binding), Step("GET", path)]

    def _watch(self, place: Place) -> list[Step]:
        if not place.namespaced:
            place = CONFIG_MAP
        return reads.watching(self._rng, place, self._space, self._name(place))

    def _wrong(self, place: Place) -> list[Step]:
        return [wrong(self._rng, place, self._name(place), self._space)]

    def _odd(self, place: Place) -> list[Step]:
        return [reads.oddities(self._rng, self._space)]

    def _sweep(self, place: Place) -> list[Step]:
        if place is NAMESPACE:
            return self._get(place)
        selector = f"labelSelector={'app%3Da' if place.namespaced else self._marker}"
        query = self._rng.choice((f"&{_DRY}", "", f"&{_DRY}"))
        return [Step("DELETE", f"{place.collection(self._space)}?{selector}{query}")]


_STORIES: tuple[Callable[[Random, str], Sequence[Step | Together]], ...] = (
    stories.evictions,
    stories.owners,
    stories.rehearsals,
    stories.preconditions,
    stories.pages,
    watches.together,
)

_VERBS: tuple[tuple[Callable[[Scenario, Place], list[Step]], float], ...] = (
    (Scenario._create, 16),
    (Scenario._get, 10),
    (Scenario._list, 8),
    (Scenario._put, 7),
    (Scenario._patch, 16),
    (Scenario._apply, 9),
    (Scenario._status, 7),
    (Scenario._delete, 8),
    (Scenario._evict, 4),
    (Scenario._bind, 3),
    (Scenario._watch, 0.3),
    (Scenario._wrong, 14),
    (Scenario._odd, 4),
    (Scenario._sweep, 1),
)
