"""Namespaces that come with what belongs to them, and end with all they hold."""

from tests.unit.sandbox.virtual import virtual

ROOM = "/api/v1/namespaces/room"


def test_a_namespace_is_given_its_account_and_certificate() -> None:
    v = virtual()
    v.make("/api/v1/namespaces", {"metadata": {"name": "room"}})
    v.let(0.1)
    assert v.ask("GET", f"{ROOM}/serviceaccounts/default").status == 200
    assert v.ask("DELETE", f"{ROOM}/configmaps/kube-root-ca.crt").status == 200
    v.let(0.1)
    assert v.ask("GET", f"{ROOM}/configmaps/kube-root-ca.crt").status == 200


def test_a_full_namespace_empties_in_steps() -> None:
    v = virtual(namespace_seconds=1)
    v.make("/api/v1/namespaces", {"metadata": {"name": "room"}})
    v.let(0.1)
    for number in range(250):
        v.make(f"{ROOM}/configmaps", {"metadata": {"name": f"m{number}"}})
    v.ask("DELETE", ROOM)
    v.let(0.5)
    assert len(v.read("GET", f"{ROOM}/configmaps")["items"]) == 251
    v.let(0.7)
    assert 0 < len(v.read("GET", f"{ROOM}/configmaps")["items"]) < 251
    v.let(1)
    assert v.ask("GET", ROOM).status == 404


def test_a_finalizer_keeps_a_namespace() -> None:
    v = virtual(namespace_seconds=0)
    v.make("/api/v1/namespaces", {"metadata": {"name": "room"}})
    body = {"metadata": {"name": "m", "finalizers": ["x.io/f"]}}
    v.make(f"{ROOM}/configmaps", body)
    v.ask("DELETE", ROOM)
    v.let(2)
    assert v.read("GET", ROOM)["status"]["phase"] == "Terminating"
    patch = {"metadata": {"finalizers": None}}
    v.ask("PATCH", f"{ROOM}/configmaps/m", patch, "application/merge-patch+json")
    v.let(1)
    assert v.ask("GET", ROOM).status == 404


def test_leases_of_nodes_are_renewed() -> None:
    v = virtual(heartbeat_seconds=10)
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1"
    before = v.read("GET", path)["spec"]["renewTime"]
    v.let(11)
    assert v.read("GET", path)["spec"]["renewTime"] > before
