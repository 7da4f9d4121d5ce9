"""Users of the sandbox and what their rules let them do."""

import json

import pytest

from reconciler.sandbox.access import ADMIN, Rule, User
from tests.unit.sandbox.virtual import PODS, Virtual, virtual

READER = User("reader", rules=(Rule(("get", "list"), ("",), ("pods", "pods/log")),))
REVIEWS = "/apis/authorization.k8s.io/v1"


def _world(token: str) -> Virtual:
    v = virtual(tokens={"admin": ADMIN, "reader": READER})
    v.headers["authorization"] = f"Bearer {token}"
    return v


def test_without_tokens_everybody_is_the_administrator() -> None:
    assert virtual().ask("GET", PODS).status == 200


@pytest.mark.parametrize("token", ["", "other"], ids=["no token", "an unknown token"])
def test_an_unknown_token_is_nobody(token: str) -> None:
    assert _world(token).ask("GET", PODS).status == 401


def test_health_needs_no_token() -> None:
    assert _world("").ask("GET", "/readyz").status == 200


def test_rules_decide() -> None:
    v = _world("reader")
    assert v.ask("GET", PODS).status == 200
    answer = v.ask("DELETE", f"{PODS}/a")
    assert answer.status == 403
    assert json.loads(answer.body)["message"] == (
        'pods "a" is forbidden: User "reader" cannot delete resource "pods" '
        'in API group "" in the namespace "default"'
    )
    assert v.ask("GET", f"{PODS}?watch=true").status == 403
    assert json.loads(v.ask("GET", "/api/v1/nodes").body)["message"] == (
        'nodes is forbidden: User "reader" cannot list resource "nodes" '
        'in API group "" at the cluster scope'
    )


@pytest.mark.parametrize(
    ("verb", "resource", "allowed"),
    [
        pytest.param("list", "pods", True, id="what the rules name"),
        pytest.param("delete", "pods", False, id="a verb that they do not"),
        pytest.param("get", "secrets", False, id="a resource that they do not"),
    ],
)
def test_reviews_say_the_same_as_the_rules(verb: str, resource: str, allowed: bool) -> None:
    asked = {"spec": {"resourceAttributes": {"verb": verb, "resource": resource}}}
    v = _world("reader")
    assert v.make(f"{REVIEWS}/selfsubjectaccessreviews", asked)["status"] == {"allowed": allowed}


def test_rules_can_be_listed() -> None:
    v = _world("reader")
    body = {"spec": {"namespace": "default"}}
    rules = v.make(f"{REVIEWS}/selfsubjectrulesreviews", body)["status"]["resourceRules"]
    assert rules[-1:] == [
        {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "pods/log"]}
    ]


def test_one_may_be_only_whom_the_rules_name() -> None:
    may = Rule(("impersonate",), ("",), ("users", "groups"), names=("reader", "gamers"))
    v = virtual(tokens={"reader": READER, "other": User("other", rules=(may,))})
    v.headers |= {"authorization": "Bearer other", "impersonate-user": "reader"}
    assert v.ask("GET", PODS).status == 200  # what the reader may do
    assert v.ask("DELETE", f"{PODS}/a").status == 403
    v.headers["impersonate-group"] = "gamers"
    assert v.ask("GET", PODS).status == 200
    v.headers["impersonate-group"] = "gamers\nsystem:masters"
    assert json.loads(v.ask("GET", PODS).body)["message"] == (
        'pods is forbidden: User "other" cannot impersonate-on:user-info:list resource "pods" '
        'in API group "" in the namespace "default"'
    )
    assert json.loads(v.ask("GET", "/api").body)["message"] == (
        'forbidden: User "other" cannot impersonate-on:user-info:get path "/api"'
    )
