"""What an API server answers to readers: pages, selectors, watches, tables, discovery."""

from __future__ import annotations

import json

import pytest

from tests.contract.api_server_world import MERGE, TABLE, Json, Speaker, config_map, pod


def _names(items: list[Json]) -> list[str]:
    return [one["metadata"]["name"] for one in items]


def _told(events: list[Json]) -> list[tuple[str, str]]:
    return [(one["type"], one["object"]["metadata"].get("name", "")) for one in events]


def test_pages_show_one_moment(api: Speaker, space: str) -> None:
    for name in "abcd":
        api.make(f"{space}/configmaps", config_map(f"p{name}"))
    path = f"{space}/configmaps?limit=2"
    first = api.ask("GET", path).body
    api.ask("DELETE", f"{space}/configmaps/pc")
    api.make(f"{space}/configmaps", config_map("pe"))
    seen, token = _names(first["items"]), first["metadata"]["continue"]
    assert first["metadata"]["remainingItemCount"] == 3
    while token:
        page = api.ask("GET", f"{path}&continue={token}").body
        assert page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        seen += _names(page["items"])
        token = page["metadata"].get("continue")
    assert seen == ["kube-root-ca.crt", "pa", "pb", "pc", "pd"]


def test_items_of_a_list_do_not_repeat_their_kind(api: Speaker, space: str) -> None:
    api.make(f"{space}/configmaps", config_map("a"))
    listed = api.ask("GET", f"{space}/configmaps").body
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert all("kind" not in one and "apiVersion" not in one for one in listed["items"])


@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param("labelSelector=app%3Da", ["x", "y"], id="by a label"),
        pytest.param("labelSelector=app%20notin%20(a)", [], id="by the lack of a value"),
        pytest.param("fieldSelector=metadata.name%3Dx", ["x"], id="by name"),
        pytest.param(
            "fieldSelector=status.phase%3DPending%2Cspec.nodeName!%3Dz", ["x", "y"], id="by fields"
        ),
        pytest.param("fieldSelector=spec.nodeName%3Dz", [], id="by a node that has none"),
    ],
)
def test_selectors_choose(api: Speaker, space: str, query: str, names: list[str]) -> None:
    for name in ("x", "y"):
        api.make(f"{space}/pods", pod(name))
    assert _names(api.ask("GET", f"{space}/pods?{query}").body["items"]) == names


def test_a_watch_goes_on_from_a_list(api: Speaker, space: str) -> None:
    path = f"{space}/configmaps"
    revision = api.ask("GET", path).metadata["resourceVersion"]
    made = api.make(path, config_map("w"))
    api.ask("PATCH", f"{path}/w", {"data": {"a": "1"}}, MERGE)
    api.ask("PATCH", f"{path}/w", {"data": {"a": "1"}}, MERGE)
    api.ask("DELETE", f"{path}/w")
    events = api.watch(f"{path}?resourceVersion={revision}")
    assert _told(events) == [("ADDED", "w"), ("MODIFIED", "w"), ("DELETED", "w")]
    revisions = [int(one["object"]["metadata"]["resourceVersion"]) for one in events]
    assert revisions == sorted(set(revisions))
    assert revisions[0] == int(made["metadata"]["resourceVersion"])


def test_a_watch_from_nowhere_begins_with_what_is_there(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("w"))
    assert _told(api.watch(f"{space}/pods")) == [("ADDED", "w")]


def test_leaving_a_selector_looks_like_deletion(api: Speaker, space: str) -> None:
    path = f"{space}/pods"
    revision = api.ask("GET", path).metadata["resourceVersion"]
    api.make(path, pod("w"))
    for value in ("b", "a"):
        api.ask("PATCH", f"{path}/w", {"metadata": {"labels": {"app": value}}}, MERGE)
    events = api.watch(f"{path}?resourceVersion={revision}&labelSelector=app%3Da")
    assert _told(events) == [("ADDED", "w"), ("DELETED", "w"), ("ADDED", "w")]


def test_a_watch_list_marks_where_the_present_begins(api: Speaker, space: str) -> None:
    api.make(f"{space}/configmaps", config_map("w"))
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    events = api.watch(f"{space}/configmaps?{query}")
    assert _told(events) == [("ADDED", "kube-root-ca.crt"), ("ADDED", "w"), ("BOOKMARK", "")]
    mark = events[-1]["object"]
    assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert mark["kind"] == "ConfigMap"


def test_a_watch_of_the_future_is_silent(api: Speaker, space: str) -> None:
    assert api.watch(f"{space}/pods?resourceVersion=99999999") == []


@pytest.mark.long
def test_a_list_of_the_future_times_out(api: Speaker, space: str) -> None:
    reply = api.ask("GET", f"{space}/pods?resourceVersion=99999999")
    assert (reply.status, reply.body["reason"]) == (504, "Timeout")
    assert reply.message.startswith("Timeout: Too large resource version: 99999999, current: ")


def test_a_table_has_the_columns_that_kubectl_prints(api: Speaker, space: str) -> None:
    api.make(f"{space}/pods", pod("t"))
    table = api.ask("GET", f"{space}/pods", Accept=TABLE).body
    columns = [(one["name"], one["priority"]) for one in table["columnDefinitions"]]
    assert columns == [
        ("Name", 0),
        ("Ready", 0),
        ("Status", 0),
        ("Restarts", 0),
        ("Age", 0),
        ("IP", 1),
        ("Node", 1),
        ("Nominated Node", 1),
        ("Readiness Gates", 1),
    ]
    (row,) = table["rows"]
    assert row["cells"][:4] == ["t", "0/1", "Pending", "0"]
    assert row["cells"][5:] == ["<none>"] * 4
    assert row["object"]["kind"] == "PartialObjectMetadata"


def test_a_watched_table_names_its_columns_once(api: Speaker, space: str) -> None:
    for name in ("x", "y"):
        api.make(f"{space}/pods", pod(name))
    reply = api.ask("GET", f"{space}/pods?watch=true&timeoutSeconds=2", Accept=TABLE)
    events = [json.loads(line) for line in reply.body.splitlines()]
    assert [bool(one["object"]["columnDefinitions"]) for one in events] == [True, False]


def test_an_unknown_form_is_not_acceptable(api: Speaker, space: str) -> None:
    assert api.ask("GET", f"{space}/pods", Accept="text/html").status == 406


def test_discovery_names_what_drain_looks_for(api: Speaker) -> None:
    listed = api.ask("GET", "/api/v1", Accept="application/json").body
    (eviction,) = [one for one in listed["resources"] if one["name"] == "pods/eviction"]
    assert (eviction["group"], eviction["version"], eviction["kind"]) == (
        "policy",
        "v1",
        "Eviction",
    )


def test_discovery_comes_in_one_piece_when_asked_so(api: Speaker) -> None:
    form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    reply = api.ask("GET", "/apis", Accept=form)
    assert reply.headers["content-type"] == form
    groups = {one["metadata"]["name"]: one for one in reply.body["items"]}
    (version,) = groups["policy"]["versions"]
    assert version["resources"][0]["resource"] == "poddisruptionbudgets"


def test_health_is_plain_text(api: Speaker) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        assert api.ask("GET", path).body == "ok"


def test_access_is_reviewed(api: Speaker) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    asked = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    assert api.make(path, asked)["status"]["allowed"] is True


def test_pods_of_a_node_are_found_by_an_index_on_the_first_page(api: Speaker, space: str) -> None:
    """So what follows on other nodes is no reason for another page; later ones have no index."""
    for name, node in (("a", "n1"), ("b", "n2"), ("c", "n1"), ("d", "n2")):
        api.make(f"{space}/pods", pod(name, nodeName=node))
    path = f"{space}/pods?fieldSelector=spec.nodeName%3Dn1"

    def page(limit: int, *more: str) -> tuple[list[str], str]:
        answer = api.ask("GET", "&".join((f"{path}&limit={limit}", *more))).body
        names = [each["metadata"]["name"] for each in answer["items"]]
        return names, answer["metadata"].get("continue", "")

    assert page(2) == (["a", "c"], "")
    first, token = page(1)
    assert (first, bool(token)) == (["a"], True)
    second, token = page(1, f"continue={token}")
    assert (second, bool(token)) == (["c"], True)
    assert page(1, f"continue={token}") == ([], "")
