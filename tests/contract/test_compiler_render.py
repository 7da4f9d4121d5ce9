"""Rendering, through the port: what rooms and objects our templates make."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model import labels
from reconciler.model.errors import Misconfigured
from reconciler.model.readings import Rendered
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.rooms import BUSY_MARKS
from reconciler.model.specs import Disruption, Workload
from tests.contract.compiler_world import OURS, ROOM, compiler, pod, with_spec, workload

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
OWNED = {
    "gamekeeper.dev/instance": "prod",
    "gamekeeper.dev/workload": "arena",
    "gamekeeper.dev/kind": "Scheduler",
}


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


async def rendered(zygote: Zygote, asked: Workload) -> Rendered:
    async with compiler(zygote=zygote) as made:
        return (await made.render([asked], "prod"))[asked.key]


async def room_of(zygote: Zygote, asked: Workload) -> Json:
    room: Json = json.loads((await rendered(zygote, asked)).room)
    return room


async def test_a_workload_has_a_namespace_an_account_and_a_budget_in_the_order_of_their_need(
    zygote: Zygote,
) -> None:
    objects = [json.loads(text) for text in (await rendered(zygote, workload())).objects]
    assert [(one["apiVersion"], one["kind"], one["metadata"]["name"]) for one in objects] == [
        ("v1", "Namespace", "arena"),
        ("v1", "ServiceAccount", "arena"),
        ("policy/v1", "PodDisruptionBudget", "arena"),
    ]
    assert [one["metadata"].get("namespace") for one in objects] == [None, "arena", "arena"]
    assert all(OWNED.items() <= one["metadata"]["labels"].items() for one in objects)
    assert objects[0]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert objects[1]["automountServiceAccountToken"] is False


async def test_the_budget_selects_the_rooms_of_its_workload_and_no_others(zygote: Zygote) -> None:
    asked = await rendered(zygote, workload())
    budget, room = json.loads(asked.objects[2]), json.loads(asked.room)
    selector = budget["spec"]["selector"]["matchLabels"]
    assert selector == {
        name: OWNED[name] for name in ("gamekeeper.dev/instance", "gamekeeper.dev/workload")
    }
    assert selector.items() <= room["metadata"]["labels"].items()


async def test_the_budget_of_rooms_that_report_selects_those_that_serve_players(
    zygote: Zygote,
) -> None:
    asked = replace(workload(), reports="required", disruption=Disruption("occupied"))
    budget = json.loads((await rendered(zygote, asked)).objects[2])
    assert budget["spec"]["selector"] == {
        "matchLabels": {
            name: OWNED[name] for name in ("gamekeeper.dev/instance", "gamekeeper.dev/workload")
        },
        "matchExpressions": [
            {"key": labels.STATE, "operator": "In", "values": sorted(BUSY_MARKS, reverse=True)}
        ],
    }


async def test_the_namespace_that_fleets_share_names_none_of_them(zygote: Zygote) -> None:
    def fleet(name: str) -> Workload:
        return replace(workload(name), key=WorkloadKey("Fleet", "servers", name))

    duel, quake = [await rendered(zygote, fleet(name)) for name in ("duel", "quake")]
    assert duel.objects[0] == quake.objects[0]
    metadata = json.loads(duel.objects[0])["metadata"]
    assert metadata["name"] == "servers"
    assert metadata["labels"] == {
        "gamekeeper.dev/instance": "prod",
        "gamekeeper.dev/kind": "Fleet",
        "app.kubernetes.io/managed-by": "gamekeeper",
        "pod-security.kubernetes.io/enforce": "privileged",
    }
    account, budget, room = map(json.loads, (*duel.objects[1:], duel.room))
    for one in (account, budget):
        assert (one["metadata"]["namespace"], one["metadata"]["name"]) == ("servers", "duel")
    for one in (account, budget, room):
        assert one["metadata"]["labels"]["gamekeeper.dev/workload"] == "duel"
    assert room["spec"]["serviceAccountName"] == "duel"


async def test_a_room_carries_its_revision_and_whose_it_is(zygote: Zygote) -> None:
    metadata = (await room_of(zygote, workload()))["metadata"]
    assert metadata["annotations"]["gamekeeper.dev/revision"] == "1-0123456789ab"
    assert OWNED.items() <= metadata["labels"].items()
    assert metadata["labels"]["app.kubernetes.io/part-of"] == "arena"
    assert "name" not in metadata


async def test_a_game_that_no_label_can_hold_is_left_out_of_the_labels(zygote: Zygote) -> None:
    metadata = (await room_of(zygote, workload(game="Arena of Doom!")))["metadata"]
    assert "app.kubernetes.io/part-of" not in metadata["labels"]


async def test_the_users_template_is_passed_through_whole(zygote: Zygote) -> None:
    spec = {
        "containers": [
            {"name": "game", "image": "arena:1", "args": ["{{ 7 * 7 }}", "a: b", "#c", "\u2028"]}
        ],
        "initContainers": [{"name": "fetch", "image": "fetch:2"}],
        "volumes": [{"name": "maps", "emptyDir": {}}],
        "tolerations": [],
        "terminationGracePeriodSeconds": 3,
    }
    room = await room_of(zygote, workload(template={"spec": spec}, packed=False))
    ours = {
        "restartPolicy": "Always",
        "serviceAccountName": "arena",
        "automountServiceAccountToken": False,
    }
    assert room["spec"] == spec | ours


LABELS_AND_ANNOTATIONS = [
    pytest.param(
        "labels", {"team": "red", "app.kubernetes.io/name": "mine"}, {}, id="the user's labels stay"
    ),
    pytest.param(
        "labels",
        {"gamekeeper.dev/instance": "evil"},
        {"gamekeeper.dev/instance": "prod"},
        id="nobody else says whose a room is",
    ),
    pytest.param(
        "annotations",
        {},
        {
            "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
            "karpenter.sh/do-not-disrupt": "true",
        },
        id="a room that cannot say whether it is empty is not to be evicted",
    ),
    pytest.param(
        "annotations",
        {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
        {"karpenter.sh/do-not-disrupt": "true"},
        id="unless the user says otherwise",
    ),
]


@pytest.mark.parametrize(("field", "written", "stands"), LABELS_AND_ANNOTATIONS)
async def test_labels_and_annotations(
    zygote: Zygote, field: str, written: dict[str, str], stands: dict[str, str]
) -> None:
    room = await room_of(zygote, workload(template={**ROOM, "metadata": {field: written}}))
    assert ({**written, **stands}).items() <= room["metadata"][field].items()


SPECS = [
    pytest.param({}, "automountServiceAccountToken", False, id="no token unless asked for"),
    pytest.param(
        {"automountServiceAccountToken": True},
        "automountServiceAccountToken",
        True,
        id="a token where asked for",
    ),
    pytest.param(
        {"automountServiceAccountToken": "true"},
        "automountServiceAccountToken",
        False,
        id="a word is no answer",
    ),
    pytest.param({}, "restartPolicy", "Always", id="rooms are restarted"),
    pytest.param({"restartPolicy": "Never"}, "restartPolicy", "Never", id="or as the user says"),
    pytest.param(
        {"serviceAccountName": "root"}, "serviceAccountName", "arena", id="the account is ours"
    ),
    pytest.param({"affinity": None}, "restartPolicy", "Always", id="null is nothing"),
]


@pytest.mark.parametrize(("written", "field", "stands"), SPECS)
async def test_the_spec_of_a_room(
    zygote: Zygote, written: dict[str, Any], field: str, stands: object
) -> None:
    room = await room_of(zygote, workload(template=with_spec(**written)))
    assert room["spec"][field] is stands or room["spec"][field] == stands


async def test_packed_rooms_draw_together_beside_what_the_user_prefers(zygote: Zygote) -> None:
    own = {"weight": 7, "podAffinityTerm": {"topologyKey": "zone"}}
    affinity = {
        "nodeAffinity": {"x": 1},
        "podAffinity": {PREFERRED: [own], "requiredDuringSchedulingIgnoredDuringExecution": []},
    }
    room = await room_of(zygote, workload(template=with_spec(affinity=affinity)))
    stands = room["spec"]["affinity"]
    first, second = stands["podAffinity"][PREFERRED]
    assert first == own
    assert second["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
    assert second["podAffinityTerm"]["labelSelector"]["matchLabels"] == {
        "gamekeeper.dev/instance": "prod"
    }
    assert stands["nodeAffinity"] == {"x": 1}
    assert stands["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] == []


async def test_distributed_rooms_have_the_users_affinity_alone(zygote: Zygote) -> None:
    affinity = {"nodeAffinity": {"x": 1}}
    room = await room_of(zygote, workload(template=with_spec(affinity=affinity), packed=False))
    assert room["spec"]["affinity"] == affinity


@pytest.mark.long
async def test_a_thousand_workloads_are_rendered_once_and_counts_render_nothing() -> None:
    fleet = [workload(f"w-{number}") for number in range(1000)]
    async with compiler() as made:
        first = await made.render(fleet, "prod")
        again = await made.render([replace(one, replicas=99) for one in fleet], "prod")
    assert list(first) == [one.key for one in fleet]
    assert all(again[key] is first[key] for key in first)


async def test_a_changed_template_or_instance_is_rendered_again() -> None:
    async with compiler() as made:
        one = await made.render([workload()], "prod")
        other_image = workload(template={"spec": {"containers": [{"name": "g", "image": "b"}]}})
        changed = await made.render([other_image], "prod")
        elsewhere = await made.render([workload()], "test")
    assert len({result[workload().key].room for result in (one, changed, elsewhere)}) == 3


@pytest.mark.long
async def test_a_compiler_whose_zygote_was_killed_starts_another() -> None:
    async with compiler() as made:
        await made.render([workload("one")], "prod")
        killed = made.zygote.pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        await asyncio.to_thread(os.waitid, os.P_PID, killed, os.WEXITED | os.WNOWAIT)
        again = await made.render([workload("two")], "prod")
        assert workload("two").key in again
        assert made.zygote.pid not in (None, killed)


async def test_rendering_nothing_starts_nothing() -> None:
    async with compiler() as made:
        assert await made.render([], "prod") == {}
        assert made.zygote.pid is None


NAMES = [
    pytest.param({}, "pod.yaml.j2 is missing", id="no template for rooms"),
    pytest.param(OURS | {"notes.txt": ""}, "templates/notes.txt", id="a file that is none"),
    pytest.param(OURS | {"Pod.yaml.j2": ""}, "templates/Pod.yaml.j2", id="capital letters"),
]


@pytest.mark.parametrize(("templates", "message"), NAMES)
async def test_templates_are_named_after_their_kind(
    templates: dict[str, str], message: str
) -> None:
    with pytest.raises(Misconfigured, match=message):
        async with compiler(templates):
            pass


WRONG = [
    pytest.param(
        OURS | {"namespace.yaml.j2": OURS["serviceaccount.yaml.j2"]},
        "templates/namespace.yaml.j2: for Scheduler/arena it renders to kind 'ServiceAccount'",
        id="another kind than the file's name says",
    ),
    pytest.param(pod("1") | {"service.yaml.j2": ""}, "0 documents", id="an empty file"),
    pytest.param(pod("1") | {"service.yaml.j2": "[]"}, "no object but to list", id="a list"),
    pytest.param(pod("1\n---\nkind: Pod"), "2 documents", id="two documents"),
    pytest.param(pod("1\nspec: 2"), '"spec" is written twice', id="a key twice"),
    pytest.param(pod("&a [*a]"), "contains itself", id="an alias without end"),
    pytest.param(pod("1", "{{ nothing }}"), "'nothing' is undefined", id="an undefined variable"),
    pytest.param(pod("\n  a: {{ nope }}"), "pod.yaml.j2:6", id="the line of an undefined one"),
    pytest.param(pod("{{ {'a': template.no} }}"), "no attribute 'no'", id="undefined deep inside"),
    pytest.param(pod("{% if %}"), "templates/pod.yaml.j2:5", id="broken Jinja"),
    pytest.param(pod("{{ template.items }}"), "is no JSON", id="a value that is no JSON"),
    pytest.param(pod("[}"), "not YAML", id="broken YAML"),
]


@pytest.mark.parametrize(("templates", "message"), WRONG)
async def test_a_broken_template_is_named_with_its_mistake(
    zygote: Zygote, templates: dict[str, str], message: str
) -> None:
    async with compiler(templates, zygote) as made:
        with pytest.raises(Misconfigured) as raised:
            await made.render([workload()], "prod")
    assert message in str(raised.value)
