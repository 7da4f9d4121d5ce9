"""Which rooms, workload or node a word of the command line means."""

from collections.abc import Iterable, Sequence

from reconciler.cli.failures import Failure
from reconciler.cli.reading import counted
from reconciler.cli.room_reading import SeenRoom
from reconciler.kube.names import nearest
from reconciler.model.refs import WorkloadKey

_KINDS = frozenset({"fleet", "fleets", "scheduler", "schedulers", "pod", "pods"})
"""What stands before a name as kubectl has it, and is no namespace there."""


def namespace_in(word: str) -> str:
    """Return the namespace that a word names, "" where it names none.

    `arena/arena-7` is namespace and room; `Scheduler/arena` is kind and name, as status prints it,
    and `scheduler/arena` as kubectl does.
    """
    first, slash, rest = word.partition("/")
    named = slash and rest and "/" not in rest and first == first.lower()
    return first if named and first not in _KINDS else ""


def names_of(key: WorkloadKey) -> tuple[str, ...]:
    """Return every way to write a workload, the full one last."""
    kind = key.kind.lower()
    return (
        key.name,
        f"{key.namespace}/{key.name}",
        f"{kind}/{key.name}",
        f"{kind}s/{key.name}",
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
    fix = "gamekeeper status lists all"
    raise unknown("workload", word, [key.name for key in known], "workloads", fix)


def rooms_of(word: str, rooms: Iterable[SeenRoom]) -> list[SeenRoom]:
    """Return the rooms that a word may mean."""
    names = word.removeprefix("pods/").removeprefix("pod/"), word
    return [room for room in rooms if room.pod.name in names or room.name == word]


def of_room(word: str, rooms: Sequence[SeenRoom]) -> SeenRoom:
    """Return the room that a word means. Raises Failure where it means none, or several."""
    found = rooms_of(word, rooms)
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
    names, fix = [room.pod.name for room in rooms], "gamekeeper rooms lists all"
    raise unknown("room", word, names, "rooms", fix)


def unknown(kind: str, word: str, known: Iterable[str], those: str, fix: str) -> Failure:
    """Return the failure of a word that means nothing: what was looked for, and among what."""
    namespace, names = namespace_in(word), list(dict.fromkeys(known))
    where = f"in the namespace {namespace}" if namespace else "in any namespace"
    near = nearest(word.rpartition("/")[2], names)
    hint = f'Did you mean "{near}"?' if near else ""
    if not names:
        hint = f"There are no {those} of this instance there"
    return Failure(f'no {kind} "{word}" of this instance was found {where}', hint, fix)
