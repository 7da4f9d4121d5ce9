"""Which room or workload a word means: the one it names, or an error that lists."""

import pytest

from reconciler.cli.failures import Failure
from reconciler.cli.room_names import namespace_in, of_room, of_workload
from reconciler.cli.room_reading import Around, SeenRoom, see
from reconciler.model.records import Ordinals
from reconciler.model.refs import WorkloadKey
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


@pytest.mark.parametrize("word", ["arena-1", "arena/arena-1", "pod/arena-1", "arena-100"])
def test_no_room_is_guessed_whose_number_alone_is_another(word: str) -> None:
    with pytest.raises(Failure, match=r"was found in .*\. gamekeeper rooms lists all") as raised:
        of_room(word, rooms())
    assert "Did you mean" not in str(raised.value)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        pytest.param(
            "arena-1",
            "room arena-1 of Scheduler/arena is no more; its name never comes back. gamekeeper "
            "rooms Scheduler/arena/arena lists those that are there.",
            id="below what was given",
        ),
        pytest.param("arena/arena-1", "room arena-1 of Scheduler/arena is no more", id="in full"),
        pytest.param("pod/arena-1", "room arena-1 of Scheduler/arena is no more", id="as kubectl"),
        pytest.param("us/arena-1", 'no room "us/arena-1" of this', id="in another namespace"),
        pytest.param("arena-11", "room arena-11 of Scheduler/arena is being made", id="on its way"),
        pytest.param("arena-12", 'no room "arena-12" of this instance', id="never given"),
        pytest.param("arena-01", 'no room "arena-01" of this instance', id="no name of ours"),
        pytest.param("duel-3", "room duel-3 of Fleet/us/duel is no more", id="of one of two"),
    ],
)
def test_a_room_that_was_is_told_as_gone(word: str, said: str) -> None:
    numbers = {
        ARENA: Ordinals(12, outstanding=frozenset({11})),
        DUEL_EU: Ordinals(1),
        DUEL_US: Ordinals(4),
    }
    with pytest.raises(Failure) as raised:
        of_room(word, rooms(), numbers)
    assert str(raised.value).startswith(said)


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
