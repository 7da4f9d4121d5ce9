"""Who asks to be seen as somebody else: the same on the sandbox and on the real API server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.kubernetes.calls import Call, Limits
from reconciler.adapters.kubernetes.connect import connect
from reconciler.adapters.kubernetes.kubeconfig import ConnectionFlags
from reconciler.adapters.kubernetes.transport import Transport
from reconciler.model.errors import Denied
from reconciler.model.refs import Json
from tests.contract.api_server_world import Speaker
from tests.contract.cluster_world import ApiServer

ABOUT_ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
WHAT_MAY_I = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
MAY_I = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ME = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
ANN = {"Impersonate-User": "ann"}


async def seen_as(kubeconfig: Path, **flags: Any) -> Json:
    transport = Transport(
        connect(ConnectionFlags(kubeconfig=str(kubeconfig), **flags)), Limits(), "impersonation"
    )
    try:
        call = Call("create", "POST", "SelfSubjectReview", ABOUT_ME, "ask who we are", ME)
        _, answer = await transport.send(call)
    finally:
        await transport.close()
    seen: Json = answer["status"]["userInfo"]
    return seen


async def test_groups_uid_and_extras_arrive_all_and_in_order(api_server: ApiServer) -> None:
    assert await seen_as(
        api_server.admin,
        as_user="ann",
        as_groups=("builders", "testers"),
        as_uid="7",
        as_user_extra=("example.com/Scope=a", "example.com/Scope=b"),
    ) == {
        "username": "ann",
        "uid": "7",
        "groups": ["builders", "testers", "system:authenticated"],
        "extra": {"example.com/scope": ["a", "b"]},
    }


async def test_who_may_do_nothing_may_not_be_another(api_server: ApiServer) -> None:
    for name, mode in (("ann", "user-info"), ("system:serviceaccount:ns:bob", "serviceaccount")):
        said = f'cannot impersonate-on:{mode}:create resource "selfsubjectreviews"'
        with pytest.raises(Denied, match=said):
            await seen_as(api_server.stranger, as_user=name)


@pytest.mark.parametrize(
    ("name", "groups", "seen"),
    [
        pytest.param("ann", "", ["system:authenticated"], id="a person"),
        pytest.param(
            "system:serviceaccount:ns:bob",
            "",
            ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
            id="an account has the groups of accounts",
        ),
        pytest.param(
            "system:serviceaccount:ns:bob",
            "a",
            ["a", "system:authenticated"],
            id="an account of which groups are named has those",
        ),
        pytest.param(
            "system:serviceaccount:ns",
            "",
            ["system:authenticated"],
            id="half the name of an account is a person",
        ),
        pytest.param(
            "system:anonymous",
            "system:masters",
            ["system:masters", "system:unauthenticated"],
            id="nobody is not logged in",
        ),
        pytest.param(
            "ann", "system:authenticated", ["system:authenticated"], id="no group comes twice"
        ),
    ],
)
def test_the_server_adds_the_groups_that_a_name_brings(
    api: Speaker, name: str, groups: str, seen: list[str]
) -> None:
    asked = {"Impersonate-User": name} | ({"Impersonate-Group": groups} if groups else {})
    reply = api.ask("POST", ABOUT_ME, ME, **asked)
    assert reply.body["status"]["userInfo"] == {"username": name, "groups": seen}


def test_somebody_unheard_of_may_do_nothing_but_ask(api: Speaker, space: str) -> None:
    namespace = space.rsplit("/", 1)[1]
    reply = api.ask("GET", f"{space}/pods", **ANN)
    assert (reply.status, reply.message) == (
        403,
        'pods is forbidden: User "ann" cannot list resource "pods" in API group "" '
        f'in the namespace "{namespace}"',
    )
    assert api.ask("POST", f"{space}/configmaps", {"metadata": {"name": "a"}}, **ANN).status == 403
    assert api.ask("GET", f"{space}/configmaps/a").status == 404
    asked = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    assert api.ask("POST", MAY_I, asked, **ANN).body["status"] == {"allowed": False}
    assert api.ask("GET", "/api", **ANN).status == 200


def test_a_master_may_do_everything(api: Speaker, space: str) -> None:
    master = {**ANN, "Impersonate-Group": "system:masters"}
    assert api.ask("GET", f"{space}/pods", **master).status == 200


@pytest.mark.parametrize(
    ("who", "path", "message"),
    [
        pytest.param(
            {"Impersonate-User": "system:anonymous"},
            "/api",
            'forbidden: User "system:anonymous" cannot get path "/api"',
            id="who is not logged in does not see what there is",
        ),
        pytest.param(
            {**ANN, "Impersonate-Group": "system:unauthenticated"},
            ABOUT_ME,
            'selfsubjectreviews.authentication.k8s.io is forbidden: User "ann" cannot create '
            'resource "selfsubjectreviews" in API group "authentication.k8s.io" '
            "at the cluster scope",
            id="who is not logged in is told nothing of himself",
        ),
    ],
)
def test_who_is_not_logged_in_learns_nothing(
    api: Speaker, who: dict[str, str], path: str, message: str
) -> None:
    method, body = ("POST", ME) if path == ABOUT_ME else ("GET", None)
    reply = api.ask(method, path, body, **who)
    assert (reply.status, reply.message) == (403, message)


@pytest.mark.parametrize(
    ("header", "value", "printed"),
    [
        pytest.param(
            "Group", "a<b", 'UID:"", Groups:[]string{"a<b"}, Extra:map[string][]string(nil)',
            id="a group",
        ),
        pytest.param(
            "Uid", "7", 'UID:"7", Groups:[]string(nil), Extra:map[string][]string(nil)', id="a uid"
        ),
        pytest.param(
            "Extra-Example.com%2FScope", "x",
            'UID:"", Groups:[]string(nil), '
            'Extra:map[string][]string{"example.com/scope":[]string{"x"}}',
            id="an extra",
        ),
    ],
)  # fmt: skip
def test_of_nobody_nothing_can_be_asked(
    api: Speaker, header: str, value: str, printed: str
) -> None:
    reply = api.ask("POST", ABOUT_ME, ME, **{f"Impersonate-{header}": value})
    assert (reply.status, reply.body["reason"]) == (400, "BadRequest")
    assert reply.message == (
        f'requested &user.DefaultInfo{{Name:"", {printed}}} without impersonating a user name'
    )


def test_an_empty_name_asks_for_nothing(api: Speaker) -> None:
    plain, empty = (api.ask("POST", ABOUT_ME, ME, **who) for who in ({}, {"Impersonate-User": ""}))
    assert empty.body["status"] == plain.body["status"]


@pytest.mark.parametrize(
    ("groups", "resources", "paths"),
    [
        pytest.param("system:authenticated", (), (), id="somebody unheard of"),
        pytest.param(
            "system:masters",
            ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},),
            ({"verbs": ["*"], "nonResourceURLs": ["*"]},),
            id="a master",
        ),
    ],
)
def test_what_one_may_do_can_be_listed(
    api: Speaker, groups: str, resources: tuple[Json, ...], paths: tuple[Json, ...]
) -> None:
    asked = {"spec": {"namespace": "default"}}
    listed = api.ask("POST", WHAT_MAY_I, asked, **ANN, **{"Impersonate-Group": groups})
    status = listed.body["status"]
    own = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"], ["selfsubjectreviews"]
    found = [rule for rule in status["resourceRules"] if rule not in resources]
    assert sorted(rule["resources"] for rule in found) == sorted(own)
    assert [rule for rule in status["resourceRules"] if rule in resources] == list(resources)
    # The real server's roles come in any order.
    found = [rule for rule in status["nonResourceRules"] if rule not in paths]
    assert sorted(len(rule["nonResourceURLs"]) for rule in found) == [5, 11]
    assert [rule for rule in status["nonResourceRules"] if rule in paths] == list(paths)
    assert all({"/healthz", "/version"} < set(rule["nonResourceURLs"]) for rule in found)
