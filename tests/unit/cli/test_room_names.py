"""Which room or workload a word means: the one it names, or an error that lists."""

import pytest

from reconciler.adapters.kubernetes.client import KubernetesCluster
from reconciler.cli.failures import Failure
from reconciler.cli.room_names import Numbers, gone, namespace_in, of_record, of_room, of_workload
from reconciler.cli.room_reading import Around, SeenRoom, see
from reconciler.loop.record_places import Places
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.errors import Denied
from reconciler.model.records import Ordinals
from reconciler.model.refs import Json, ObjectRef, WorkloadKey
from tests.loop.world import World, spec
from tests.unit.core.making import a_pod

ARENA = WorkloadKey("Scheduler", "arena", "arena")
DUEL_EU, DUEL_US = WorkloadKey("Fleet", "eu", "duel"), WorkloadKey("Fleet", "us", "duel")


def rooms() -> list[SeenRoom]:
    pods = [(ARENA, a_pod(0)), (ARENA, a_pod(10)), (ARENA, a_pod(2))]
    for key in (DUEL_EU, DUEL_US):
        pods.append((key, a_pod(0, namespace=key.namespace, name="duel-0", workload="duel")))
    return see(pods, Around())


def test_rooms_stand_in_the_order_of_their_numbers() -> None:
    names = [room.name for room in rooms() if room.key == ARENA]
    assert names == ["arena/arena-0", "arena/arena-2", "arena/arena-10"]


@pytest.mark.parametrize("word", ["arena-2", "arena/arena-2", "pod/arena-2", "pods/arena-2"])
def test_a_room_is_named_with_its_namespace_or_without(word: str) -> None:
    assert of_room(word, rooms()).pod.name == "arena-2"


def test_a_name_that_two_rooms_have_is_an_error_that_lists_both() -> None:
    with pytest.raises(Failure, match="Write one of eu/duel-0, us/duel-0"):
        of_room("duel-0", rooms())
    assert of_room("us/duel-0", rooms()).key == DUEL_US


def test_a_room_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(Failure) as raised:
        of_room("arema-10", rooms())
    assert str(raised.value) == (
        'no room "arema-10" of this instance was found in any namespace. Did you mean '
        '"arena-10"? gamekeeper rooms lists all.'
    )
    with pytest.raises(Failure, match="was found in the namespace lobby"):
        of_room("lobby/arena-100", rooms())


@pytest.mark.parametrize(
    "word", ["arena-1", "arena/arena-1", "pod/arena-1", "arena-100", "arema-1", "arena1"]
)
def test_no_room_is_guessed_whose_number_is_another(word: str) -> None:
    with pytest.raises(Failure, match=r"was found in .*\. gamekeeper rooms lists all") as raised:
        of_room(word, rooms())
    assert "Did you mean" not in str(raised.value)


GIVEN = {
    ARENA: Ordinals(12, outstanding=frozenset({11})),
    DUEL_EU: Ordinals(1),
    DUEL_US: Ordinals(4),
}


class Named(KubernetesCluster):
    """A cluster with one pod of the asked name or none, or in which none may be read."""

    pod: Json | None = None
    is_denied = False

    async def get(self, ref: ObjectRef) -> Json | None:
        if self.is_denied:
            raise Denied(f"get {ref}: forbidden")
        return self.pod


async def told(
    word: str, numbers: Numbers = GIVEN, pod: Json | None = None, *, is_denied: bool = False
) -> str:
    """Return what is said of a word that no room's labels tell of."""
    cluster = Named((await World().process()).transport, "main")
    cluster.pod, cluster.is_denied = pod, is_denied
    was = await gone(cluster, "main", word, rooms(), numbers)
    with pytest.raises(Failure) as raised:
        of_room(word, rooms(), was)
    return str(raised.value)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        pytest.param(
            "arena-1",
            "room arena-1 of Scheduler/arena is not there (any more); no room will have that name. "
            "gamekeeper rooms Scheduler/arena/arena lists those that are there.",
            id="below what was given",
        ),
        pytest.param("arena/arena-1", "room arena-1 of Scheduler/arena is not there", id="in full"),
        pytest.param("pod/arena-1", "room arena-1 of Scheduler/arena is not", id="as kubectl"),
        pytest.param("us/arena-1", 'no room "us/arena-1" of this', id="in another namespace"),
        pytest.param(
            "arena-11",
            "room arena-11 of Scheduler/arena is not there yet, or was given up. gamekeeper "
            "explain Scheduler/arena/arena says what is made, and what holds it.",
            id="on its way, or refused",
        ),
        pytest.param("arena-12", 'no room "arena-12" of this instance', id="never given"),
        pytest.param("arena-01", 'no room "arena-01" of this instance', id="no name of ours"),
        pytest.param("duel-3", "room duel-3 of Fleet/us/duel is not there", id="of one of two"),
    ],
)
async def test_of_a_name_that_was_given_it_is_told_that_it_is_not_there(
    word: str, said: str
) -> None:
    assert (await told(word)).startswith(said)


async def test_of_two_workloads_of_one_name_both_are_told() -> None:
    numbers = {DUEL_EU: Ordinals(4), DUEL_US: Ordinals(4, outstanding=frozenset({3}))}
    assert await told("duel-3", numbers) == (
        "room duel-3 of Fleet/eu/duel is not there (any more); no room will have that name; "
        "room duel-3 of Fleet/us/duel is not there yet, or was given up. "
        "gamekeeper rooms Fleet/eu/duel lists those that are there. "
        "gamekeeper explain Fleet/us/duel says what is made, and what holds it."
    )


def labelled(**marks: str) -> Json:
    return {"metadata": {"name": "arena-1", "namespace": "arena", "labels": marks}}


OURS = {labels.INSTANCE: "main", labels.WORKLOAD: "arena", labels.KIND: "Scheduler"}


async def test_a_room_whose_labels_somebody_changed_is_not_told_as_gone() -> None:
    assert await told("arena-1", GIVEN, labelled(**{**OURS, labels.WORKLOAD: "mine"})) == (
        "room arena-1 of Scheduler/arena was not found by its labels, but pod arena/arena-1 is "
        "there without gamekeeper.dev/workload=arena. Where it is that room, set them again: "
        "kubectl label pod -n arena arena-1 --overwrite gamekeeper.dev/workload=arena."
    )
    said = await told("arena-1", GIVEN, labelled())
    assert "instance=main, gamekeeper.dev/workload=arena, gamekeeper.dev/kind=Scheduler." in said


async def test_nobody_is_told_to_take_a_room_of_another_instance() -> None:
    said = await told("arena-1", GIVEN, labelled(**{**OURS, labels.INSTANCE: "theirs"}))
    assert "pod arena/arena-1 says that it is of instance 'theirs'" in said
    assert "kubectl" not in said


async def test_of_many_workloads_that_gave_a_name_none_is_asked_for() -> None:
    keys = [WorkloadKey("Fleet", f"shop-{number}", "arena") for number in range(6)]
    said = await told("arena-1", dict.fromkeys(keys, Ordinals(3)), is_denied=True)
    assert said == (
        "no room arena-1 was found, and 6 workloads gave that name. Write it with its namespace: "
        "NAMESPACE/arena-1."
    )


async def test_a_room_that_came_meanwhile_is_to_be_asked_for_again() -> None:
    said = await told("arena-1", GIVEN, labelled(**OURS))
    assert said == "room arena-1 of Scheduler/arena has just come. Ask again."


async def test_where_no_pod_may_be_read_none_is_told_as_gone() -> None:
    assert (await told("arena-1", is_denied=True)).startswith(
        "room arena-1 of Scheduler/arena was not found, and whether a pod of that name is there "
        "may not be read. gamekeeper rooms"
    )


async def test_a_room_that_is_there_is_not_asked_for_by_its_name() -> None:
    cluster = Named((await World().process()).transport, "main")
    cluster.is_denied = True
    assert await gone(cluster, "main", "arena-2", rooms(), GIVEN) is None


def test_a_workload_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(Failure) as raised:
        of_workload("fleet/dual", [ARENA, DUEL_EU])
    assert str(raised.value) == (
        'no workload "fleet/dual" of this instance was found in any namespace. Did you mean '
        '"duel"? gamekeeper status lists all.'
    )


@pytest.mark.parametrize("word", ["arena", "Scheduler/arena", "scheduler/arena"])
def test_a_workload_where_a_room_is_asked_for_is_called_one(word: str) -> None:
    with pytest.raises(Failure, match=f'"{word}" is a workload, and a room is asked for') as raised:
        of_room(word, rooms())
    assert f"gamekeeper rooms {word} lists them" in str(raised.value)


def test_where_there_are_no_rooms_that_is_said() -> None:
    with pytest.raises(Failure, match="There are no rooms of this instance there"):
        of_room("arena-1", [])


@pytest.mark.parametrize(
    "word",
    [
        "arena",
        "arena/arena",
        "Scheduler/arena",
        "Scheduler/arena/arena",
        "scheduler/arena",
        "schedulers/arena",
    ],
)
def test_a_workload_is_written_as_status_has_it_or_kubectl(word: str) -> None:
    assert of_workload(word, [ARENA, DUEL_EU, ARENA]) == ARENA


def test_a_workload_that_two_namespaces_have_is_an_error_that_lists_both() -> None:
    with pytest.raises(Failure, match="Write one of Fleet/eu/duel, Fleet/us/duel"):
        of_workload("duel", [DUEL_EU, DUEL_US])


@pytest.mark.parametrize(
    ("word", "namespace"),
    [
        pytest.param("arena/arena-2", "arena", id="of a room"),
        pytest.param("arena-2", "", id="of a bare name"),
        pytest.param("Scheduler/arena", "", id="a kind is none"),
        pytest.param("fleets/duel", "", id="nor is one as kubectl writes it"),
        pytest.param("pod/arena-2", "", id="nor is a pod"),
        pytest.param("Fleet/eu/duel", "", id="a full name is looked for everywhere"),
    ],
)
def test_only_a_namespace_that_is_named_narrows_what_is_read(word: str, namespace: str) -> None:
    assert namespace_in(word) == namespace


@pytest.mark.parametrize("data", [{"schema": "99", "writer": "9.9.9"}, {"schema": "1"}])
async def test_a_workload_whose_record_cannot_be_read_is_told_as_status_tells_it(
    data: dict[str, str],
) -> None:
    world = World()
    world.commit({"schedulers/arena.yaml": spec("arena", 1)})
    process = await world.process()
    await world.settle(process)
    store = RecordStore(process.cluster, "gamekeeper", "main")
    await store.load()
    assert of_record("arena", store) == ARENA
    ref = Places("local", "gamekeeper", "main").ordinals(ARENA)
    await process.cluster.merge_patch(ref, {"data": {"record": None, **data}})
    await store.load()
    with pytest.raises(Failure) as caught:
        of_record("arena", store)
    assert str(ref) in str(caught.value)
    assert "nothing of Scheduler/arena is written or deleted" in str(caught.value)
