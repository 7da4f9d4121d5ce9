"""The contract of the `Cluster` port: the same on the sandbox and on the real API server."""

import asyncio
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.model.errors import (
    AlreadyExists,
    Conflict,
    Denied,
    Expired,
    Misconfigured,
    Unavailable,
)
from reconciler.model.refs import Followed, Json, ObjectRef, ref_of
from reconciler.ports import WatchEvent
from tests.canaries.places import canary
from tests.contract.cluster_world import (
    ApiServer,
    config_map,
    make_namespace,
    pod,
    sandbox_server,
)


async def test_a_created_object_comes_back_with_uid_and_version(
    cluster: KubernetesCluster, namespace: str
) -> None:
    made = await cluster.create(pod(namespace, "room-1"))
    assert made["metadata"]["uid"]
    assert made["metadata"]["resourceVersion"].isdecimal()
    found = await cluster.get(ref_of(made))
    assert found is not None
    assert (found["apiVersion"], found["kind"]) == ("v1", "Pod")
    assert found["metadata"]["uid"] == made["metadata"]["uid"]


async def test_a_taken_name_is_already_there(cluster: KubernetesCluster, namespace: str) -> None:
    await cluster.create(pod(namespace, "room-1"))
    with pytest.raises(AlreadyExists, match=f"create Pod {namespace}/room-1"):
        await cluster.create(pod(namespace, "room-1"))


@pytest.mark.parametrize("verb", ["create", "apply"])
async def test_writing_into_a_missing_namespace_may_work_later(
    cluster: KubernetesCluster, verb: str
) -> None:
    with pytest.raises(Unavailable, match='namespaces "nowhere" not found'):
        await getattr(cluster, verb)(config_map("nowhere", "a", {}))


async def test_a_pod_without_its_service_account_may_work_later(
    cluster: KubernetesCluster, namespace: str
) -> None:
    body = pod(namespace, "room-1")
    body["spec"]["serviceAccountName"] = "not-yet"
    with pytest.raises(Unavailable, match="service account"):
        await cluster.create(body)


async def test_a_terminating_namespace_takes_nothing_but_may_come_back(
    cluster: KubernetesCluster, namespace: str
) -> None:
    # A finalizer on an object keeps the namespace terminating.
    kept = await cluster.create(config_map(namespace, "kept", {}, finalizers=["test.dev/keep"]))
    found = await cluster.get(ObjectRef("v1", "Namespace", "", namespace))
    assert found is not None
    metadata = found["metadata"]
    assert await cluster.delete(ref_of(found), metadata["uid"], metadata["resourceVersion"])
    with pytest.raises(Unavailable, match="terminat"):
        await cluster.create(config_map(namespace, "late", {}))
    await cluster.merge_patch(ref_of(kept), {"metadata": {"finalizers": None}})


async def test_what_is_not_there_is_none(cluster: KubernetesCluster, namespace: str) -> None:
    assert await cluster.get(ObjectRef("v1", "Pod", namespace, "none")) is None
    assert await cluster.get(ObjectRef("v1", "Pod", "nowhere", "none")) is None


async def test_a_kind_that_is_not_served_is_never_taken_for_an_absent_object(
    cluster: KubernetesCluster,
) -> None:
    with pytest.raises(Misconfigured, match=r"unknown\.dev/v1"):
        await cluster.get(ObjectRef("unknown.dev/v1", "Thing", "default", "none"))
    with pytest.raises(Misconfigured, match="serves no Thing"):
        await cluster.list("v1", "Thing")


async def test_what_a_server_serves_is_known_from_its_discovery(
    cluster: KubernetesCluster,
) -> None:
    assert await cluster.serves("v1", "Pod")
    assert await cluster.serves("v1", "Secret")
    assert not await cluster.serves("v1", "Thing")
    assert not await cluster.serves("unknown.dev/v1", "Thing")


async def test_a_kind_we_never_use_is_looked_up(cluster: KubernetesCluster, namespace: str) -> None:
    secret = {"name": "s", "namespace": namespace}
    await cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": secret})
    listing = await cluster.list("v1", "Secret", namespace)
    assert [item["metadata"]["name"] for item in listing.items] == ["s"]


async def test_a_list_of_metadata_holds_names_and_no_secret(
    cluster: KubernetesCluster, namespace: str
) -> None:
    names = {f"s-{number}" for number in range(103)}
    await _all(
        cluster.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": namespace, "labels": {"of": name}},
                "stringData": {"password": canary("object Secret")},
            }
        )
        for name in names
    )
    listing = await cluster.list_metadata("v1", "Secret", namespace)
    assert {item["metadata"]["name"] for item in listing.items} == names
    assert {tuple(sorted(item)) for item in listing.items} == {("apiVersion", "kind", "metadata")}
    assert {(item["apiVersion"], item["kind"]) for item in listing.items} == {("v1", "Secret")}
    assert listing.resource_version.isdecimal()
    assert (await cluster.list_metadata("v1", "Secret", "nowhere")).items == []
    chosen = (await cluster.list_metadata("v1", "Secret", namespace, f"of={min(names)}")).items
    assert [item["metadata"]["name"] for item in chosen] == [min(names)]


async def test_a_list_is_complete_over_many_pages(
    cluster: KubernetesCluster, namespace: str
) -> None:
    names = {f"c-{number}" for number in range(1003)}
    mark = {"test.dev/page": namespace}
    await _all(cluster.create(config_map(namespace, name, {}, labels=mark)) for name in names)
    pages = [
        page
        async for page in cluster.pages(Followed("v1", "ConfigMap", f"test.dev/page={namespace}"))
    ]
    assert [len(page.items) for page in pages] == [*[50] * 20, 3]
    assert len({page.resource_version for page in pages}) == 1
    listing = await cluster.list("v1", "ConfigMap", namespace, f"test.dev/page={namespace}")
    assert {item["metadata"]["name"] for item in listing.items} == names
    assert {(item["apiVersion"], item["kind"]) for item in listing.items} == {("v1", "ConfigMap")}


async def test_lists_are_narrowed_by_label_field_and_namespace(
    cluster: KubernetesCluster, namespace: str
) -> None:
    await cluster.create(config_map(namespace, "a", {}, labels={"test.dev/x": "1"}))
    await cluster.create(config_map(namespace, "b", {}, labels={"test.dev/x": "2"}))

    async def names(labels: str = "", fields: str = "") -> list[str]:
        listing = await cluster.list("v1", "ConfigMap", namespace, labels, fields)
        found = [item["metadata"]["name"] for item in listing.items]
        return sorted(name for name in found if name != "kube-root-ca.crt")

    assert await names() == ["a", "b"]
    assert await names("test.dev/x in (2,3)") == ["b"]
    assert await names(fields="metadata.name=a") == ["a"]
    assert (await cluster.list("v1", "ConfigMap", "nowhere")).items == []


async def test_a_watch_tells_what_happened_after_the_list(
    cluster: KubernetesCluster, namespace: str
) -> None:
    mark = f"test.dev/watch={namespace}"
    listing = await cluster.list("v1", "ConfigMap", labels=mark)
    seen: list[WatchEvent] = []

    async def follow() -> None:
        version = listing.resource_version
        async for event in cluster.watch(Followed("v1", "ConfigMap", mark), version):
            seen.append(event)
            if event.type == "DELETED":
                return

    watcher = asyncio.create_task(follow())
    body = config_map(namespace, "a", {"n": "1"}, labels={"test.dev/watch": namespace})
    made = await cluster.create(body)
    await cluster.create(config_map(namespace, "unmarked", {}))
    changed = await cluster.merge_patch(ref_of(made), {"data": {"n": "2"}})
    metadata = changed["metadata"]
    await cluster.delete(ref_of(made), metadata["uid"], metadata["resourceVersion"])
    await asyncio.wait_for(watcher, 60)
    types = [event.type for event in seen if event.type != "BOOKMARK"]
    assert seen[0].type == "BOOKMARK"
    assert types == ["ADDED", "MODIFIED", "DELETED"]
    assert [event.object.get("data", {}).get("n") for event in seen[1:]] == ["1", "2", "2"]
    assert {event.object["kind"] for event in seen} == {"ConfigMap"}


async def test_a_watch_from_a_forgotten_version_expires(tmp_path: Path) -> None:
    # Of the sandbox alone: a real server forgets after minutes (its answer: kubectl.md §4).
    async with sandbox_server(tmp_path) as server:
        assert server.sandbox is not None
        cluster = server.client()
        await make_namespace(cluster)
        server.sandbox.expire_history()
        with pytest.raises(Expired):
            await _first_change(cluster, "Namespace", "1")


async def test_a_record_is_replaced_only_in_the_version_that_was_read(
    cluster: KubernetesCluster, namespace: str
) -> None:
    made = await cluster.create(config_map(namespace, "record", {"n": "1"}))
    second = await cluster.replace({**made, "data": {"n": "2"}})
    with pytest.raises(Conflict, match=f"replace ConfigMap {namespace}/record"):
        await cluster.replace({**made, "data": {"n": "3"}})
    assert (await _there(cluster, ref_of(made)))["data"] == {"n": "2"}
    metadata = second["metadata"]
    await cluster.delete(ref_of(made), metadata["uid"], metadata["resourceVersion"])
    with pytest.raises(Conflict):
        await cluster.replace({**second, "data": {"n": "4"}})


async def test_a_record_is_never_replaced_blindly(
    cluster: KubernetesCluster, namespace: str
) -> None:
    await cluster.create(config_map(namespace, "record", {"n": "1"}))
    with pytest.raises(Misconfigured, match="resourceVersion"):
        await cluster.replace(config_map(namespace, "record", {"n": "2"}))


async def test_applying_twice_changes_nothing(cluster: KubernetesCluster, namespace: str) -> None:
    first = await cluster.apply(config_map(namespace, "a", {"n": "1"}))
    again = await cluster.apply(config_map(namespace, "a", {"n": "1"}))
    assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_an_apply_conflict_names_managers_and_fields(
    api_server: ApiServer, cluster: KubernetesCluster, namespace: str
) -> None:
    await api_server.client("neighbour").apply(config_map(namespace, "a", {"n": "1", "m": "1"}))
    with pytest.raises(Conflict, match=r'"gamekeeper-neighbour" owns \.data\.m, \.data\.n'):
        await cluster.apply(config_map(namespace, "a", {"n": "2", "m": "2"}))
    forced = await cluster.apply(config_map(namespace, "a", {"n": "2"}), force=True)
    assert forced["data"] == {"n": "2", "m": "1"}


async def test_an_apply_is_fenced_by_uid_and_version(
    cluster: KubernetesCluster, namespace: str
) -> None:
    made = (await cluster.apply(config_map(namespace, "a", {"n": "1"})))["metadata"]
    seen = {name: made[name] for name in ("uid", "resourceVersion")}
    await cluster.merge_patch(ObjectRef("v1", "ConfigMap", namespace, "a"), {"data": {"m": "1"}})
    for fence in (seen, {"uid": "6d4b1f4e-0000-4000-8000-000000000000"}):
        body = config_map(namespace, "a", {"n": "2"})
        with pytest.raises(Conflict):
            await cluster.apply({**body, "metadata": {**body["metadata"], **fence}}, force=True)
    body = config_map(namespace, "gone", {"n": "2"})
    with pytest.raises(Conflict):
        await cluster.apply({**body, "metadata": {**body["metadata"], **seen}}, force=True)


async def test_a_dry_run_leaves_nothing(cluster: KubernetesCluster, namespace: str) -> None:
    ref = ObjectRef("v1", "ConfigMap", namespace, "a")
    assert (await cluster.create(config_map(namespace, "a", {"n": "1"}), dry_run=True))["data"]
    assert (await cluster.apply(config_map(namespace, "a", {"n": "1"}), dry_run=True))["data"]
    assert await cluster.get(ref) is None


async def test_a_patch_is_fenced_by_uid_and_version(
    cluster: KubernetesCluster, namespace: str
) -> None:
    made = await cluster.create(pod(namespace, "room-1"))
    mark = {"labels": {"test.dev/x": "1"}}
    with pytest.raises(Conflict):
        await cluster.merge_patch(ref_of(made), {"metadata": {"uid": "other", **mark}})
    with pytest.raises(Conflict):
        await cluster.merge_patch(ref_of(made), {"metadata": {"resourceVersion": "1", **mark}})
    patched = await cluster.merge_patch(ref_of(made), {"metadata": mark})
    assert patched["metadata"]["labels"] == {"test.dev/x": "1"}
    with pytest.raises(Conflict):
        await cluster.merge_patch(ObjectRef("v1", "Pod", namespace, "none"), {"metadata": mark})


async def test_a_delete_is_fenced_by_uid_and_version(
    cluster: KubernetesCluster, namespace: str
) -> None:
    made = await cluster.create(config_map(namespace, "a", {}))
    uid, version = made["metadata"]["uid"], made["metadata"]["resourceVersion"]
    await cluster.merge_patch(ref_of(made), {"data": {"n": "1"}})
    with pytest.raises(Conflict):
        await cluster.delete(ref_of(made), uid, version)
    live = await _there(cluster, ref_of(made))
    with pytest.raises(Conflict):
        await cluster.delete(ref_of(made), "other", live["metadata"]["resourceVersion"])
    assert await cluster.delete(ref_of(made), uid, live["metadata"]["resourceVersion"])
    assert not await cluster.delete(ref_of(made), uid, live["metadata"]["resourceVersion"])
    with pytest.raises(Misconfigured):
        await cluster.delete(ref_of(made), uid, "")


async def test_an_invalid_object_is_named_with_its_fields_and_without_their_values(
    cluster: KubernetesCluster, namespace: str
) -> None:
    body = pod(namespace, "room-1")
    body["spec"]["containers"][0]["imagePullPolicy"] = "hunter2"
    with pytest.raises(Misconfigured, match=r"spec\.containers\[0\]\.imagePullPolicy") as caught:
        await cluster.create(body)
    assert f"create Pod {namespace}/room-1" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_a_field_that_the_server_does_not_know_is_refused_and_not_dropped(
    cluster: KubernetesCluster, namespace: str
) -> None:
    body = pod(namespace, "room-1")
    body["spec"]["maxPlayers"] = 8
    with pytest.raises(Misconfigured, match=r"spec\.maxPlayers"):
        await cluster.create(body)
    with pytest.raises(Misconfigured, match=r"\.bogus"):
        await cluster.apply({**config_map(namespace, "a", {}), "bogus": 1})


async def test_credentials_that_are_not_accepted_are_denied(api_server: ApiServer) -> None:
    with pytest.raises(Denied, match="401"):
        await api_server.client_with_token("wrong").list("v1", "Namespace")


async def test_what_our_role_does_not_allow_is_denied(api_server: ApiServer) -> None:
    stranger = api_server.strangers_client()
    with pytest.raises(Denied, match=r"list Pod: .*cannot list"):
        await stranger.list("v1", "Pod")
    with pytest.raises(Denied, match="watch Pod"):
        await _first_change(stranger, "Pod", "0")


async def test_thirty_two_creates_are_in_flight_at_once(
    cluster: KubernetesCluster, namespace: str
) -> None:
    started = asyncio.get_running_loop().time()
    await _all(cluster.create(pod(namespace, f"room-{n}")) for n in range(96))
    assert asyncio.get_running_loop().time() - started < 5
    listing = await cluster.list("v1", "Pod", namespace)
    assert len(listing.items) == 96


async def _first_change(cluster: KubernetesCluster, kind: str, version: str) -> WatchEvent | None:
    async for event in cluster.watch(Followed("v1", kind), version):
        if event.type != "BOOKMARK":
            return event
    return None


async def _there(cluster: KubernetesCluster, ref: ObjectRef) -> Json:
    found = await cluster.get(ref)
    assert found is not None
    return found


async def _all(calls: Iterable[Coroutine[Any, Any, object]]) -> None:
    waiting = iter(calls)

    async def worker() -> None:
        for call in waiting:
            await call

    await asyncio.gather(*(worker() for _ in range(32)))
