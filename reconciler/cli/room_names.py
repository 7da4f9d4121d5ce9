"""Which rooms, workload or node a word of the command line means."""

from collections.abc import Iterable, Sequence

from reconciler.cli.failures import Failure
from reconciler.cli.reading import counted
from reconciler.cli.room_reading import SeenRoom
from reconciler.kube.names import nearest
from reconciler.model.refs import WorkloadKey

SHOWN = 5


def namespace_in(word: str) -> str:
    """Return the namespace that a word names, "" where it names none.

    `arena/arena-7` is namespace and room; `Scheduler/arena` is kind and name, as status prints it.
    """
    first, slash, rest = word.partition("/")
    return first if slash and rest and "/" not in rest and first == first.lower() else ""


def names_of(key: WorkloadKey) -> tuple[str, ...]:
    """Return every way to write a workload, the full one last."""
    return (
        key.name,
        f"{key.namespace}/{key.name}",
        str(key),
        f"{key.kind}/{key.namespace}/{key.name}",
    )


def of_workload(word: str, keys: Iterable[WorkloadKey]) -> WorkloadKey:
    """Return the workload that a word means. Raises Failure where it means none, or several."""
    known = sorted(set(keys))
    found = [key for key in known if word in names_of(key)]
    if len(found) == 1:
        return found[0]
    if found:
        raise Failure(
            f'"{word}" means {counted(len(found), "workload")}',
            fix="Write one of " + ", ".join(names_of(key)[-1] for key in found),
        )
    raise _unknown(f'there is no workload "{word}"', word, [key.name for key in known])


def of_room(word: str, rooms: Sequence[SeenRoom]) -> SeenRoom:
    """Return the room that a word means. Raises Failure where it means none, or several."""
    found = [room for room in rooms if word in (room.pod.name, room.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise Failure(
            f'"{word}" means {counted(len(found), "room")}',
            fix="Write one of " + ", ".join(room.name for room in found),
        )
    if any(word in names_of(room.key) for room in rooms):
        raise Failure(
            f'"{word}" is a workload, and a room is asked for',
            fix=f"Name one of its rooms: gamekeeper rooms {word} lists them",
        )
    raise _unknown(f'there is no room "{word}"', word, [room.pod.name for room in rooms])


def _unknown(what: str, word: str, known: Sequence[str]) -> Failure:
    near = nearest(word.rpartition("/")[2], list(dict.fromkeys(known)))
    hint = f'Did you mean "{near}"?' if near else ""
    if not known:
        hint = "There are no rooms of this instance there"
    return Failure(what, hint, "gamekeeper rooms lists all")
