"""The RBAC that a configuration needs."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.core.grants import Needs, cluster_rules, manifests, own_rules, plural
from reconciler.model.additional import KINDS
from reconciler.settings import Settings
from reconciler.wiring.permits import content_kinds_of

DEPLOYED = Path(__file__).parents[3] / "deploy/gamekeeper.yaml"
NEEDS = Needs("gamekeeper", ("gamekeeper", "gamekeeper"), contents=content_kinds_of(Settings()))


def granted(rules: Iterable[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for rule in rules:
        for verb in rule["verbs"]:
            for page in rule.get("nonResourceURLs", ()):
                yield page, verb
            for group in rule.get("apiGroups", ()):
                for resource in rule["resources"]:
                    yield group, resource, verb, *rule.get("resourceNames", ())


def test_what_is_deployed_has_neither_more_nor_less() -> None:
    documents = [
        each
        for each in yaml.safe_load_all(DEPLOYED.read_text())
        if each["apiVersion"].startswith("rbac.")
    ]
    made = manifests(NEEDS)
    assert [each["kind"] for each in made] == [each["kind"] for each in documents]
    for ours, theirs in zip(made, documents, strict=True):
        assert ours["metadata"] == theirs["metadata"]
        assert sorted(granted(ours.get("rules", ()))) == sorted(granted(theirs.get("rules", ())))
        for part in ("roleRef", "subjects"):
            assert ours.get(part) == theirs.get(part)


@pytest.mark.parametrize("kind", KINDS)
def test_an_allowed_kind_may_be_seen_made_changed_and_removed(kind: str) -> None:
    without = set(granted(cluster_rules(NEEDS)))
    rules = cluster_rules(Needs("gamekeeper", NEEDS.account, (kind,), NEEDS.contents))
    group = KINDS[kind].rpartition("/")[0]
    for verb in ("get", "list", "watch", "create", "patch", "delete"):
        assert (group, plural(kind), verb) in set(granted(rules))
    assert {each[:2] for each in set(granted(rules)) - without} == {(group, plural(kind))}


def test_who_hears_no_room_asks_nobody_whose_token_it_is() -> None:
    deaf = Needs("gamekeeper", NEEDS.account, contents=NEEDS.contents, hears=False)
    missing = set(granted(cluster_rules(NEEDS))) - set(granted(cluster_rules(deaf)))
    assert {each[-2] for each in missing} == {
        "/.well-known/openid-configuration",
        "/openid/v1/jwks",
        "tokenreviews",
        "subjectaccessreviews",
    }


def test_who_takes_no_lease_may_not() -> None:
    rules = own_rules(Needs("gamekeeper", NEEDS.account, leads=False))
    assert "leases" not in {each[1] for each in granted(rules)}


def test_another_namespace_has_roles_of_its_own_name() -> None:
    made = manifests(Needs("games-ops", ("games-ops", "keeper")))
    assert {each["metadata"]["name"] for each in made} == {"gamekeeper-games-ops"}
    assert made[3]["subjects"] == [
        {"kind": "ServiceAccount", "name": "keeper", "namespace": "games-ops"}
    ]


@pytest.mark.parametrize(
    ("kind", "word"),
    [("Ingress", "ingresses"), ("NetworkPolicy", "networkpolicies"), ("Role", "roles")],
)
def test_kinds_are_called_as_kubectl_guesses(kind: str, word: str) -> None:
    assert plural(kind) == word


def more_for(*copies: str) -> set[tuple[str, ...]]:
    """What is granted on top for what may be copied; names stand behind the verb."""
    plain = set(granted(cluster_rules(NEEDS)))
    return set(granted(cluster_rules(replace(NEEDS, copies=copies)))) - plain


def test_who_copies_may_write_secrets_and_lists_nobodys() -> None:
    for copies in (("shared",), ("shared", "shared/pull"), ("more/pull", "shared")):
        assert more_for(*copies) == {
            ("", "configmaps", "patch"),
            *(("", "secrets", verb) for verb in ("get", "create", "patch", "delete")),
        }


def test_who_copies_objects_of_names_reads_and_writes_those_alone() -> None:
    names = ("maps", "pull")
    assert more_for("shared/pull", "more/maps", "more/pull") == {
        ("", "configmaps", "patch", *names),
        ("", "secrets", "create"),
        *(("", "secrets", verb, *names) for verb in ("get", "patch", "delete")),
    }
