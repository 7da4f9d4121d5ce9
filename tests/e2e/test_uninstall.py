"""`gamekeeper uninstall` as people type it, with kubectl beside it."""

import json
import re
from pathlib import Path

import pytest

from tests.canaries.places import canary
from tests.e2e.commands import commit, gamekeeper
from tests.e2e.test_commands import SPEC, Place, applied, place, wait_until

pytestmark = pytest.mark.long

__all__ = ["applied", "place"]
OURS = "gamekeeper.dev/instance=main"


def records(place: Place) -> list[str]:
    listed = place.kubectl("get", "configmaps", "-A", "-l", OURS, "-o", "name")
    return listed.splitlines()


def test_shown_first_and_nothing_is_written(applied: Place) -> None:
    before = applied.everything()
    done = applied.run("uninstall")
    assert done.returncode == 2, done.stderr
    assert "1 record of the repository" in done.stdout
    assert "2 rooms in arena would run on" in done.stdout
    assert "Nothing was written. --yes does it." in done.stdout
    refused = applied.run("uninstall", "--yes", "--as", "nobody")
    assert (refused.returncode, refused.stderr.startswith("error: ")) == (1, True)
    assert applied.everything() == before


def test_a_cluster_that_is_not_reached_is_an_error(tmp_path: Path) -> None:
    nowhere = tmp_path / "kubeconfig"
    cluster = {"name": "it", "cluster": {"server": "http://127.0.0.1:9"}}
    context = {"name": "it", "context": {"cluster": "it", "user": "it"}}
    user = {"name": "it", "user": {"token": canary("cluster token")}}
    kinds = {"apiVersion": "v1", "kind": "Config", "current-context": "it"}
    lists = {"clusters": [cluster], "contexts": [context], "users": [user]}
    nowhere.write_text(json.dumps({**kinds, **lists}))
    settings = {"KUBECONFIG": str(nowhere), "GAMEKEEPER_INSTANCE": "main"}
    done = gamekeeper("uninstall", "--yes", cwd=tmp_path, more=settings)
    assert done.returncode == 1
    assert "has no records here" not in done.stdout
    assert "try again" in done.stderr


def test_rooms_run_on_and_apply_takes_them_over(applied: Place) -> None:
    rooms = applied.uids(OURS)
    done = applied.run("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    assert "1 record of a workload\n" in done.stdout
    assert "2 rooms in arena run on, with all around them." in done.stdout
    assert records(applied) == []
    assert "gamekeeper" not in applied.kubectl("get", "leases", "-A", "-o", "name")
    assert applied.uids(OURS) == rooms
    assert "poddisruptionbudget" in applied.kubectl("get", "pdb", "-n", "arena", "-o", "name")
    again = applied.run("uninstall", "--yes")
    assert again.returncode == 0
    assert "Instance main has no records here." in again.stdout
    assert applied.run("apply", "--yes").returncode == 0
    assert applied.uids(OURS) == rooms
    assert applied.json("diff", "--live")["workloads"] == []


def test_what_is_left_goes_by_the_lines_that_it_prints(applied: Place) -> None:
    done = applied.run("uninstall", "--yes")
    lines = re.findall(r"kubectl (delete .*)", done.stdout)
    assert len(lines) == 5
    for line in lines[:4]:
        applied.kubectl(*line.split())
    left = "pods,serviceaccounts,poddisruptionbudgets"
    assert applied.kubectl("get", left, "-A", "-l", OURS, "-o", "name") == ""
    wait_until(lambda: "namespace/arena" not in applied.kubectl("get", "ns", "-o", "name"))


def test_what_another_instance_shares_is_in_none_of_the_lines(applied: Place) -> None:
    """Its rooms speak by the same keys, and its loop is of the same manifest."""
    of_another = ("configmap", "gamekeeper-other", "--namespace", "gamekeeper")
    applied.kubectl("create", *of_another)
    marks = ("gamekeeper.dev/instance=other", "gamekeeper.dev/record=repository")
    applied.kubectl("label", *of_another, *marks)
    done = applied.run("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Instance other has records in namespace gamekeeper." in done.stdout
    assert "gamekeeper-room-codes" not in done.stdout
    assert "deploy/gamekeeper.yaml" not in done.stdout
    assert len(re.findall(r"kubectl (delete .*)", done.stdout)) == 3


def test_a_namespace_that_people_gave_stands_in_no_line(place: Place) -> None:
    place.kubectl("create", "namespace", "arena")
    place.kubectl("annotate", "namespace", "arena", "gamekeeper.dev/adopt=main")
    assert place.run("apply", "--yes").returncode == 0
    done = place.run("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    assert "delete namespaces" not in done.stdout
    assert "Not ours, and no line for it: namespace arena." in done.stdout


def test_while_a_loop_leads_it_names_it_and_does_nothing(place: Place) -> None:
    with place.loop():
        wait_until(lambda: place.run("reconcile", "--wait").returncode == 0)
        wait_until(lambda: len(place.uids(OURS)) == 2)
        before = records(place)
        done = place.run("uninstall", "--yes")
        assert done.returncode == 1
        assert "is held by" in done.stderr
        assert records(place) == before


def test_in_another_namespace_beneath_a_loop_nothing_goes(applied: Place) -> None:
    before = applied.everything()
    for words in ((), ("--yes",)):
        done = applied.run("uninstall", *words, "--namespace", "gk2")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith("Pass --namespace gamekeeper.\n")
    assert applied.everything() == before


def test_where_nothing_is_to_do_it_says_what_is_and_which_instances_there_are(
    applied: Place,
) -> None:
    done = applied.run("uninstall", "--yes", "--instance", "mian")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "Instance mian has no records here.",
        "There are no rooms.",
        "Instance main has records in namespace gamekeeper.",
    ]
    applied.run("uninstall", "--yes")
    again = applied.run("uninstall", "--yes")
    assert "2 rooms in arena run on, with all around them." in again.stdout


def test_of_a_lease_that_is_left_it_is_told_what_goes(applied: Place) -> None:
    applied.kubectl("delete", "configmaps", "-A", "-l", OURS)
    done = applied.run("uninstall")
    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        "Of instance main would go its Lease: it has no records.",
        "2 rooms in arena would run on, with all around them.",
        "Nothing was written. --yes does it.",
    ]
    assert applied.run("uninstall", "--yes").returncode == 0
    assert "gamekeeper" not in applied.kubectl("get", "leases", "-A", "-o", "name")


def test_objects_go_with_the_rooms_that_are_no_more(applied: Place) -> None:
    commit(applied.repository, SPEC, "replicas: 2", "replicas: 0")
    assert applied.run("apply", "--yes").returncode == 0
    wait_until(lambda: not applied.kubectl("get", "pods", "-n", "arena", "-o", "name"))
    shown = applied.run("uninstall", "--remove-objects")
    assert "all that was made for Scheduler/arena" in shown.stdout
    done = applied.run("uninstall", "--remove-objects", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Removed Namespace arena." in done.stdout
    assert "There are no rooms." in done.stdout
    wait_until(lambda: "namespace/arena" not in applied.kubectl("get", "ns", "-o", "name"))
    assert records(applied) == []
