"""What the sandbox says it serves: aggregated discovery, and the older lists."""

from __future__ import annotations

from reconciler.sandbox import kinds
from reconciler.sandbox.kinds import Kind, Subresource
from reconciler.sandbox.refusals import encode
from reconciler.sandbox.requests import JSON_TYPE, Json, Request, Response

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_FORMS = (("v2", "v=v2;as="), ("v2beta1", "v=v2beta1;as="))


def discover(request: Request) -> Response | None:
    """Answer a discovery path; None when the path is none."""
    parts = request.path.strip("/").split("/")
    if parts in (["api"], ["apis"]):
        return _aggregated(request, core=parts == ["api"]) or _roots(core=parts == ["api"])
    if parts[0] == "api" and len(parts) == 2 and parts[1] in kinds.versions(""):
        return _json(_resources("", parts[1]))
    if parts[0] != "apis" or len(parts) not in (2, 3) or not kinds.versions(parts[1]):
        return None
    if len(parts) == 2:
        return _json({"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1])})
    if parts[2] not in kinds.versions(parts[1]):
        return None
    return _json(_resources(parts[1], parts[2]))


def _json(value: Json) -> Response:
    return Response(200, encode(value), JSON_TYPE)


def _aggregated(request: Request, *, core: bool) -> Response | None:
    accept = request.headers.get("accept", "")
    clauses = accept.replace(" ", "").split(",")
    for clause in clauses:
        if clause.split(";")[0] == JSON_TYPE and "as=" not in clause:
            return None
        for version, mark in _FORMS:
            if mark in clause and "g=apidiscovery.k8s.io" in clause:
                return Response(
                    200, encode(_groups(version, core=core)), _AGGREGATED.replace("v2", version)
                )
    return None


def _groups(version: str, *, core: bool) -> Json:
    groups = [group for group in kinds.GROUPS if (group == "") == core]
    items = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {
                    "version": served,
                    "resources": [
                        _described(kind) for kind in kinds.KINDS if _is(kind, group, served)
                    ],
                    "freshness": "Current",
                }
                for served in kinds.versions(group)
            ],
        }
        for group in groups
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": items,
    }


def _is(kind: Kind, group: str, version: str) -> bool:
    return kind.group == group and kind.version == version


def _described(kind: Kind) -> Json:
    described: Json = {
        "resource": kind.plural,
        "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        described["shortNames"] = list(kind.short_names)
    if kind.categories:
        described["categories"] = list(kind.categories)
    if kind.subresources:
        described["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": {
                    "group": sub.group or kind.group,
                    "version": sub.version or kind.version,
                    "kind": sub.kind,
                },
                "verbs": list(sub.verbs),
            }
            for sub in kind.subresources
        ]
    return described


def _roots(*, core: bool) -> Response:
    if core:
        return _json({"kind": "APIVersions", "versions": list(kinds.versions(""))})
    groups = [_group(group) for group in kinds.GROUPS if group]
    return _json({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})


def _group(group: str) -> Json:
    served = [
        {"groupVersion": f"{group}/{version}", "version": version}
        for version in kinds.versions(group)
    ]
    return {"name": group, "versions": served, "preferredVersion": served[0]}


def _resources(group: str, version: str) -> Json:
    listed: list[Json] = []
    for kind in kinds.KINDS:
        if _is(kind, group, version):
            listed.append(_legacy(kind))
            listed.extend(_legacy_sub(kind, sub) for sub in kind.subresources)
    place = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": place} | {
        "resources": listed
    }


def _legacy(kind: Kind) -> Json:
    value: Json = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        value["shortNames"] = list(kind.short_names)
    if kind.categories:
        value["categories"] = list(kind.categories)
    return value


def _legacy_sub(kind: Kind, sub: Subresource) -> Json:
    value: Json = {
        "name": f"{kind.plural}/{sub.name}",
        "singularName": "",
        "namespaced": kind.namespaced,
    }
    if sub.group:
        value |= {"group": sub.group, "version": sub.version}
    return value | {"kind": sub.kind, "verbs": list(sub.verbs)}
