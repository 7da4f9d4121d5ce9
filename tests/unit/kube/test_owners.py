from reconciler.kube.owners import owner_of
from reconciler.model import labels
from reconciler.model.refs import Json, WorkloadKey

ARENA = {labels.INSTANCE: "eu", labels.KIND: "Fleet", labels.WORKLOAD: "arena"}


def obj(namespace: str = "", **metadata: object) -> Json:
    return {
        "metadata": {"name": "games", **({"namespace": namespace} if namespace else {})} | metadata
    }


def test_the_owner_of_an_object_is_the_workload_of_the_instance_that_its_labels_name() -> None:
    assert owner_of(obj("games", labels=ARENA), "eu") == WorkloadKey("Fleet", "games", "arena")
    assert owner_of(obj("games", labels=ARENA), "us") is None
    assert owner_of(obj("games"), "eu") is None
    assert owner_of(obj("games", annotations={labels.ADOPT: "eu"}), "eu") is None


def test_a_shared_namespace_is_that_of_its_kind_and_another_object_of_no_name_nobodys() -> None:
    shared = {name: ARENA[name] for name in (labels.INSTANCE, labels.KIND)}
    assert owner_of(obj(labels=shared), "eu") == WorkloadKey("Fleet", "games", "")
    assert owner_of(obj("games", labels=shared), "eu") is None
    assert owner_of(obj("games", labels={labels.INSTANCE: "eu"}), "eu") is None
