"""What an additional object may be, whoever wrote it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core.object_check import check_object, completed
from reconciler.model.additional import KINDS
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from tests.unit.core.reading import kit, loaded, paths_of, put, rules

ARENA = WorkloadKey("Scheduler", "arena", "arena")
ALL = Permissions(kinds=tuple(KINDS))
BINDING = """
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}
subjects: [{kind: ServiceAccount, name: arena}]
"""
SOUND = {
    "LimitRange": "spec: {limits: [{type: Container, max: {cpu: 2}}]}",
    "ResourceQuota": "spec: {hard: {pods: 10}}",
    "NetworkPolicy": "spec: {podSelector: {}}",
    "ConfigMap": "data: {a: b}",
    "Role": "rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]",
    "RoleBinding": BINDING,
    "Service": "spec: {ports: [{port: 7777}]}",
}


def body(kind: str, text: str = "", **metadata: Any) -> Any:
    about = {"name": "a", **metadata}
    head = {"apiVersion": KINDS.get(kind, "v1"), "kind": kind, "metadata": about}
    return {**head, **loaded(text or SOUND.get(kind, "{}"))}


def check(what: Any, permissions: Permissions = ALL) -> Any:
    return rules(check_object(what, ARENA, permissions, kit(), "1.36"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", kit().versions)
def test_every_kind_can_be_sound_in_every_version(kind: str, version: str) -> None:
    assert check_object(body(kind), ARENA, ALL, kit(), version) == []


@pytest.mark.parametrize("said", ["true", "false"])
def test_people_say_that_an_object_is_sensitive(said: str) -> None:
    assert not check(body("ConfigMap", annotations={"gamekeeper.dev/sensitive": said}))


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_is_allowed_by_itself(kind: str) -> None:
    assert check(body(kind), Permissions()) == {("kind", "kind-not-allowed")}


@pytest.mark.parametrize(
    ("what", "path", "rule"),
    [
        pytest.param(body("Secret"), "kind", "secret-in-git", id="a Secret"),
        pytest.param(body("Deployment"), "kind", "kind", id="a kind that nobody can allow"),
        pytest.param(body("ClusterRole"), "kind", "kind", id="a kind of the whole cluster"),
        pytest.param({"kind": ["ConfigMap"]}, "kind", "kind", id="a kind that is no text"),
        pytest.param({**body("Role"), "apiVersion": "v1"}, "apiVersion", "api-version", id="group"),
        pytest.param(body("ConfigMap", name=None), "metadata", "missing-property", id="no name"),
        pytest.param(body("ConfigMap", name="A"), "metadata.name", "name", id="in capitals"),
        pytest.param(body("Service", name="a.b"), "metadata.name", "name", id="a dotted Service"),
        pytest.param(
            body("ConfigMap", name="gamekeeper-arena"),
            "metadata.name",
            "reserved-name",
            id="the name of a record",
        ),
        pytest.param(
            body("ConfigMap", name="kube-root-ca.crt"),
            "metadata.name",
            "reserved-name",
            id="what Kubernetes puts there",
        ),
        pytest.param(
            body("ConfigMap", namespace="lobby"), "metadata.namespace", "namespace", id="elsewhere"
        ),
        pytest.param(
            body("ConfigMap", ownerReferences=[]),
            "metadata.ownerReferences",
            "unknown-property",
            id="an owner, with which it would go",
        ),
        pytest.param(
            body("ConfigMap", labels={"gamekeeper.dev/workload": "b"}),
            "metadata.labels.gamekeeper.dev/workload",
            "reserved-property",
            id="a label of ours",
        ),
        pytest.param(
            body("ConfigMap", annotations={"gamekeeper.dev/instance": "b"}),
            "metadata.annotations.gamekeeper.dev/instance",
            "reserved-property",
            id="an annotation of ours",
        ),
        pytest.param(
            body("ConfigMap", annotations={"gamekeeper.dev/sensitive": "yes"}),
            "metadata.annotations.gamekeeper.dev/sensitive",
            "enum",
            id="sensitive in a word that masks nothing",
        ),
        pytest.param(
            body("ConfigMap", labels={"gamekeeper.dev/sensitive": "true"}),
            "metadata.labels.gamekeeper.dev/sensitive",
            "reserved-property",
            id="sensitive by a label, which masks nothing",
        ),
        pytest.param(
            {**body("ResourceQuota"), "status": {}}, "status", "unknown-property", id="a status"
        ),
        pytest.param(
            body("Service", "spec: {externalIPs: [10.0.0.1]}"),
            "spec.externalIPs",
            "service",
            id="other people's traffic",
        ),
        pytest.param(
            body("Service", "spec: {type: ExternalName, externalName: a.example}"),
            "spec.type",
            "service",
            id="a name for somebody outside",
        ),
        pytest.param(
            body("RoleBinding", BINDING.replace("kind: Role,", "kind: ClusterRole,")),
            "roleRef.kind",
            "role-binding",
            id="a role of the whole cluster",
        ),
        pytest.param(
            body("RoleBinding", BINDING.replace("ServiceAccount", "Group")),
            "subjects.0.kind",
            "role-binding",
            id="a group of people",
        ),
        pytest.param(
            body(
                "RoleBinding", BINDING.replace("name: arena", "name: arena, namespace: kube-system")
            ),
            "subjects.0.namespace",
            "role-binding",
            id="somebody else's account",
        ),
    ],
)
def test_what_nobody_may_ask_for(what: Any, path: str, rule: str) -> None:
    if what.get("metadata", {}).get("name", "") is None:
        what = {**what, "metadata": {}}
    assert (path, rule) in {
        (at, "unknown-property" if at == "status" else name) for at, name in check(what)
    }


def test_an_object_gets_its_namespace_and_our_labels_over_its_own() -> None:
    made = completed(
        body("ConfigMap", labels={"team": "blue", "app.kubernetes.io/name": "mine"}),
        "arena",
        {"app.kubernetes.io/name": "arena"},
    )
    assert made["metadata"] == {
        "name": "a",
        "namespace": "arena",
        "labels": {"team": "blue", "app.kubernetes.io/name": "arena"},
    }


def test_a_binding_binds_accounts_of_its_own_namespace() -> None:
    (subject,) = completed(body("RoleBinding"), "arena", {})["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": "arena", "namespace": "arena"}


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.integers()),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


@pytest.mark.long
@given(st.data())
@settings(deadline=None, max_examples=300)
def test_whatever_stands_in_an_object_it_is_judged_and_what_is_sound_can_be_completed(
    data: Any,
) -> None:
    whole = body(data.draw(st.sampled_from(list(KINDS))), labels={"team": "blue"})
    path = data.draw(st.sampled_from(list(paths_of(whole))[1:]))
    broken = put(whole, path, data.draw(ODD))
    if not check_object(broken, ARENA, ALL, kit(), "1.36"):
        made = completed(broken, "arena", {"gamekeeper.dev/instance": "main"})
        assert made["metadata"]["namespace"] == "arena"
        assert made["metadata"]["labels"]["gamekeeper.dev/instance"] == "main"
