"""What a run reads: objects, lists with selectors and pages, tables, watches, discovery."""

from __future__ import annotations

from random import Random
from urllib.parse import quote

from tests.contract.differential.places import CORE, EVENT, NAMESPACE, NODE, POD, SECRET, Place
from tests.contract.differential.steps import (
    METADATA,
    METADATA_LIST,
    TABLE,
    Step,
    continuation,
    revision,
)

LABEL_SELECTORS = (
    "app=a", "app==b", "app!=a", "app", "!app", "app in (a,b)", "app notin (a)", "tier=",
    "app=a,tier!=one", "app in ()", "app=a=b", "x y", "in", "app in (a", "example.com/team", ",",
    "app>1", "a/b/c=d", "-bad=1", "app=-bad",
)  # fmt: skip
FIELD_SELECTORS = (
    "metadata.name=a", "metadata.name!=a", "metadata.namespace!=x", "bogus=1", "metadata.uid=1",
    "metadata.name", "metadata.name=a,metadata.name!=b", "=", "metadata.name==b",
)  # fmt: skip
OWN_FIELDS = {
    POD: ("spec.nodeName=n1", "status.phase=Pending", "status.phase!=Running", "spec.nodeName=",
          "spec.restartPolicy=Always", "spec.hostNetwork=false", "spec.schedulerName!=nobody"),
    SECRET: ("type=Opaque", "type!=Opaque"),
    EVENT: ("involvedObject.name=a", "reason=Killing", "type=Normal", "source=kubelet"),
    NODE: ("spec.unschedulable=true", "spec.unschedulable!=true"),
    NAMESPACE: ("status.phase=Active", "status.phase=Terminating"),
}  # fmt: skip
ACCEPTS = (
    TABLE,
    METADATA,
    METADATA_LIST,
    "application/json",
    "text/html",
    "*/*",
    f"{TABLE},application/json",
    "application/json;as=Bogus;v=v1;g=meta.k8s.io",
)


def get(rng: Random, place: Place, path: str) -> Step:
    """Read one object, perhaps in another form."""
    if rng.random() < 0.25:
        include = rng.choice(("", "?includeObject=None", "?includeObject=Object"))
        return Step("GET", path + include, headers={"Accept": rng.choice(ACCEPTS)})
    below = "/status" if place.has_status and rng.random() < 0.2 else ""
    return Step("GET", path + below)


def listing(rng: Random, place: Place, namespace: str, marker: str) -> list[Step]:
    """Read a list: whole, selected, in pages or in another form; `marker` selects ours alone."""
    words = [f"labelSelector={marker}"] if not place.namespaced else []
    if rng.random() < 0.4 and not words:
        words.append(f"labelSelector={quote(rng.choice(LABEL_SELECTORS))}")
    if rng.random() < 0.3:
        known = FIELD_SELECTORS + OWN_FIELDS.get(place, ()) * 2
        words.append(f"fieldSelector={quote(rng.choice(known))}")
    headers = {"Accept": rng.choice(ACCEPTS)} if rng.random() < 0.2 else {}
    path = place.collection(namespace)
    if rng.random() < 0.4:
        return _pages(rng, path, words, headers)
    if rng.random() < 0.2:
        wrong = rng.choice(WRONG_VERSIONS)
        asked = Step("GET", joined(path, [*words, wrong]), headers=headers)
        # Whoever takes any revision may be told an old one, unless somebody has just read anew.
        return [Step("GET", joined(path, words)), asked] if "Version=0" in wrong else [asked]
    return [Step("GET", joined(path, words), headers=headers)]


WRONG_VERSIONS = (
    "resourceVersion=abc", "resourceVersionMatch=Exact", "resourceVersion=0",
    "resourceVersion=0&resourceVersionMatch=Exact", "resourceVersion=1&resourceVersionMatch=Odd",
    "sendInitialEvents=true", "resourceVersion=0&resourceVersionMatch=NotOlderThan",
    "limit=-1", "limit=x", "continue=bogus", "resourceVersion=5&continue=bogus",
    "timeoutSeconds=x", "resourceVersion=-1",
)  # fmt: skip


def _pages(rng: Random, path: str, words: list[str], headers: dict[str, str]) -> list[Step]:
    limit = rng.choice((1, 2, 500))
    first = Step("GET", joined(path, [*words, f"limit={limit}"]), headers=headers)
    if limit == 500 or headers:
        return [first]
    token = f"continue={continuation(path)}"
    more = Step("GET", joined(path, [*words, f"limit={limit}", token]))
    extra = rng.choice(("", "&resourceVersion=3"))
    return [first, more, Step("GET", joined(path, [*words, token]) + extra)]


def watching(rng: Random, place: Place, namespace: str, name: str) -> list[Step]:
    """Watch what became of an object since it was last told of."""
    path = place.collection(namespace)
    since = revision(f"{path}/{name}")
    return [
        Step("GET", f"{path}/{name}"),
        Step("PATCH", f"{path}/{name}", {"metadata": {"labels": {"seen": "1"}}},
             "application/merge-patch+json"),
        Step("GET", f"{path}?watch=true&resourceVersion={since}&timeoutSeconds=1"),
    ]  # fmt: skip


def joined(path: str, words: list[str]) -> str:
    """Put a query behind a path."""
    return f"{path}?{'&'.join(words)}" if words else path


def oddities(rng: Random, namespace: str) -> Step:
    """Ask for what is not there, in every way."""
    space = f"{CORE}/namespaces/{namespace}"
    review = {"spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}}
    authorization = "/apis/authorization.k8s.io/v1"
    choices = (
        Step("GET", "/api"),
        Step("GET", "/apis/policy"),
        Step("GET", "/apis/nothing.example/v1"),
        Step("GET", "/apis/policy/v9/poddisruptionbudgets"),
        Step("GET", f"{space}/nothings"),
        Step("GET", f"{space}/pods/a/nothing"),
        Step("GET", f"{CORE}/nodes/none"),
        Step("GET", f"{CORE}/pods/a"),
        Step("POST", f"{space}/pods/a", {}),
        Step("POST", f"{CORE}/pods", {"metadata": {"name": "a"}}),
        Step("PUT", f"{space}/pods", {"metadata": {"name": "a"}}),
        Step("PATCH", f"{space}/pods", {}, "application/merge-patch+json"),
        Step("DELETE", f"{CORE}/namespaces"),
        Step("DELETE", f"{CORE}/pods"),
        Step("DELETE", f"{space}/pods/a/status"),
        Step("POST", f"{space}/pods/a/status", {}),
        Step("GET", f"{space}/pods/a/log"),
        Step("GET", f"{space}/pods/a/log?container=zz"),
        Step("GET", f"{space}/pods/zz/log"),
        Step("GET", f"{space}/pods/a/binding"),
        Step("GET", "/healthz"),
        Step("GET", "/nothing"),
        Step("GET", f"{CORE}/namespaces/no-such-place/pods"),
        Step("GET", f"{CORE}/namespaces/no-such-place"),
        Step("POST", f"{CORE}/namespaces/no-such-place/configmaps", {"metadata": {"name": "a"}}),
        Step("POST", f"{authorization}/selfsubjectaccessreviews", review),
        Step("POST", f"{authorization}/selfsubjectaccessreviews", {"spec": {}}),
        Step("POST", f"{authorization}/selfsubjectaccessreviews",
             {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/healthz"}}}),
        Step("GET", f"{authorization}/selfsubjectaccessreviews"),
        Step("POST", f"{authorization}/selfsubjectrulesreviews",
             {"spec": {"namespace": namespace}}),
        Step("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}),
    )  # fmt: skip
    return rng.choice(choices)
