"""The RBAC that a configuration needs: no rule that it does not use, and none short.

deploy/gamekeeper.yaml holds what this gives for its own settings, with the reasons as comments;
a test keeps the two the same, and the end-to-end suite runs under it alone.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from reconciler.core.codes import KEYS
from reconciler.model.additional import ALLOWABLE
from reconciler.model.refs import Json

RBAC = "rbac.authorization.k8s.io"

_LIST, _SEEN = ("list",), ("list", "watch")
_OWNED = ("get", "list", "watch", "create", "patch", "delete")
_RECORDED = ("get", "list", "watch", "create", "update", "delete")
_VERBS = (*_RECORDED[:4], "update", "patch", "delete")

_ALWAYS = (
    ("", "pods", _OWNED),
    ("", "nodes", _SEEN),
    ("", "namespaces", _OWNED),
    ("", "serviceaccounts", _OWNED),
    ("policy", "poddisruptionbudgets", _OWNED),
    ("", "configmaps", _RECORDED),
    ("", "events", ("create",)),
)
_HEARING = (
    ("authentication.k8s.io", "tokenreviews", ("create",)),
    ("authorization.k8s.io", "subjectaccessreviews", ("create",)),
)
_COPYING = (
    ("", "secrets", ("get", "create", "patch", "delete")),
    ("", "configmaps", ("patch",)),
)
"""Copies stand beside rooms, and those may be in any namespace: sources can be read by it, too.
For copies nobody's Secrets are listed or watched; the `list` is that of `Needs.contents`."""
_COPYING_NAMED = (("secrets", ("get", "patch", "delete")), ("configmaps", ("patch",)))
"""What may be said of names alone, where all are known: a copy has the name of its source. Whether
something may be created RBAC does not judge by its name."""
_KEY_PAGES = ("/.well-known/openid-configuration", "/openid/v1/jwks")


@dataclass(frozen=True, slots=True)
class Needs:
    """What a configuration uses of a cluster.

    `kinds` are those that repositories may make or add to; `contents` are looked at before a
    namespace is removed, as (apiVersion, kind). `hears` says whether rooms report to this process,
    `leads` whether it takes the Lease in `namespace`, where its records stand. `copies` are what
    may be copied, each a NAMESPACE or a NAMESPACE/NAME.
    """

    namespace: str
    account: tuple[str, str]
    kinds: tuple[str, ...] = ()
    contents: tuple[tuple[str, str], ...] = ()
    hears: bool = True
    leads: bool = True
    copies: tuple[str, ...] = ()


def manifests(needs: Needs) -> list[Json]:
    """Return the roles and who has them, as manifests, in the order in which to apply them.

    Two installations of one cluster have roles of two names, each that of its namespace.
    """
    name = needs.namespace if needs.namespace == "gamekeeper" else f"gamekeeper-{needs.namespace}"
    made = []
    for kind, where, rules in (
        ("ClusterRole", {}, cluster_rules(needs)),
        ("Role", {"namespace": needs.namespace}, own_rules(needs)),
    ):
        metadata = {"name": name, **where}
        made.append(_manifest(kind, metadata, {"rules": rules}))
        made.append(_manifest(f"{kind}Binding", metadata, _binding(kind, name, needs.account)))
    return made


def cluster_rules(needs: Needs) -> list[Json]:
    """Return what is needed in every namespace: rooms may be anywhere, and are read as one list."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for group, resource, verbs in _cluster_grants(needs):
        found[group, resource].update(verbs)
    rules = list(_gathered(found))
    names = _names_copied(needs)
    if names:
        for resource, verbs in _COPYING_NAMED:
            rules.append({**_rule("", [resource], list(verbs)), "resourceNames": list(names)})
    if needs.hears:
        rules.append({"nonResourceURLs": list(_KEY_PAGES), "verbs": ["get"]})
    return rules


def own_rules(needs: Needs) -> list[Json]:
    """Return what is needed in the namespace of our own records alone."""
    rules = []
    if needs.leads:
        rules.append(_rule("coordination.k8s.io", ["leases"], ["get", "create", "update"]))
    # `gamekeeper reconcile` is answered by an annotation.
    rules.append(_rule("", ["configmaps"], ["patch"]))
    # RBAC cannot name what is yet to be made.
    rules.append({**_rule("", ["secrets"], ["get"]), "resourceNames": [KEYS]})
    rules.append(_rule("", ["secrets"], ["create"]))
    return rules


def plural(kind: str) -> str:
    """Return the name of a kind in paths, by the rule with which kubectl guesses it as well."""
    lower = kind.lower()
    if lower.endswith("s"):
        return f"{lower}es"
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


def _cluster_grants(needs: Needs) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    yield from _ALWAYS
    for version, kind in needs.contents:
        yield _group(version), plural(kind), _LIST
    for kind in needs.kinds:
        yield _group(ALLOWABLE[kind]), plural(kind), _OWNED
    if _names_copied(needs):
        yield "", "secrets", ("create",)
    elif needs.copies:
        yield from _COPYING
    if needs.hears:
        yield from _HEARING


def _names_copied(needs: Needs) -> tuple[str, ...]:
    """Return the names of all that may be copied; none where all of a namespace may."""
    names = {entry.partition("/")[2] for entry in needs.copies}
    return () if "" in names else tuple(sorted(names))


def _gathered(found: dict[tuple[str, str], set[str]]) -> Iterator[Json]:
    """Yield one rule for all resources of a group that need the same verbs."""
    rules: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (group, resource), verbs in found.items():
        rules[group, tuple(verb for verb in _VERBS if verb in verbs)].append(resource)
    for (group, ordered), resources in rules.items():
        yield _rule(group, resources, list(ordered))


def _group(version: str) -> str:
    return version.rpartition("/")[0]


def _rule(group: str, resources: list[str], verbs: list[str]) -> Json:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _manifest(kind: str, metadata: Json, rest: Json) -> Json:
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata, **rest}


def _binding(kind: str, name: str, account: tuple[str, str]) -> Json:
    subject = {"kind": "ServiceAccount", "name": account[1], "namespace": account[0]}
    return {"roleRef": {"apiGroup": RBAC, "kind": kind, "name": name}, "subjects": [subject]}
