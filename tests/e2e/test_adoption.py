"""docs/adoption.md does what it says: its lines are typed beside a loop, with kubectl."""

import json
import re
from pathlib import Path

import pytest

from tests.e2e.commands import commit
from tests.e2e.test_commands import SPEC, Place, place, wait_until
from tests.e2e.test_commands_page import typed

pytestmark = pytest.mark.long

__all__ = ["place"]
PAGE = Path(__file__).parents[2] / "docs" / "adoption.md"
OURS = "gamekeeper.dev/instance=main"
NAMES = ("web-7d9f-k7x2p", "web-7d9f-q9zzv")


def blocks() -> list[list[str]]:
    found = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return [block.splitlines() for block in found]


def start_pods(place: Place, namespace: str) -> None:
    place.kubectl("create", "namespace", namespace)
    wait_until(lambda: "default" in place.kubectl("get", "sa", "-n", namespace, "-o", "name"))
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d9f", "uid": "0a1b"}
    for name in NAMES:
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": {"app": namespace},
                "ownerReferences": [{**owner, "controller": True}],
            },
            "spec": {"containers": [{"name": "game", "image": "registry.example/game:0"}]},
        }
        file = place.folder / f"{name}.json"
        file.write_text(json.dumps(body))
        place.kubectl("create", "-f", str(file))


def is_up(place: Place) -> bool:
    """Whether the loop looks: its namespace comes with it."""
    return place.run("reconcile", "--wait").returncode == 0


def test_the_page_comes_true(place: Place) -> None:
    say, free, take, give = blocks()
    assert all("--cascade=orphan" in line for line in free)
    start_pods(place, "arena")
    before = place.uids("app=arena")
    commit(place.repository, SPEC, "reports: none", "reports: required")
    with place.loop():
        wait_until(lambda: is_up(place))
        given = "kubectl annotate namespace arena gamekeeper.dev/adopt=main"
        wait_until(lambda: given in place.run("status").stdout)
        assert given in typed(say, place.repository, **place.settings)
        typo = place.run("adopt", "arena", "--selector", "app=typo", "--yes")
        assert (typo.returncode, typo.stdout) == (1, "")
        assert typo.stderr == (
            'error: "app=typo" selects no pod in the namespace arena. What there is has '
            "app=arena (2). kubectl get pods --namespace arena --show-labels lists all.\n"
        )
        kept = place.run("adopt", "arena", "--selector", "app=arena", "--yes")
        assert kept.returncode == 1
        assert kept.stdout.count("is controlled by ReplicaSet web-7d9f") == 2
        for name in NAMES:
            patch = '{"metadata": {"ownerReferences": null}}'
            place.kubectl("patch", "pod", name, "-n", "arena", "--type", "merge", "-p", patch)
        assert "2 pods adopted. Nothing was restarted." in typed(
            take, place.repository, **place.settings
        )
        assert place.uids(OURS) == before
        rooms = typed(give, place.repository, **place.settings)
        assert all(name in rooms for name in NAMES)
        wait_until(lambda: len(place.uids(OURS)) == 3)
        assert before < place.uids(OURS), "one beside them, as maxSurge lets, and both stay"
        again = place.run("adopt", "arena", "--selector", "app=arena", "--yes")
        assert (again.returncode, "2 rooms of Scheduler/arena already" in again.stdout) == (0, True)


def test_what_means_nothing_is_told(place: Place) -> None:
    unknown = place.run("adopt", "arena", "--selector", "app=arena")
    assert (unknown.returncode, 'no workload "arena" of this instance' in unknown.stderr) == (
        1,
        True,
    )
    bad = place.run("adopt", "arena", "--selector", "app in")
    assert (bad.returncode, "is no label selector" in bad.stderr) == (1, True)
    everything = place.run("adopt", "arena", "--selector", "")
    assert (everything.returncode, "selects everything" in everything.stderr) == (1, True)
