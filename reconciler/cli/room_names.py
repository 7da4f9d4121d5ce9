"""Which rooms, workload or node a word of the command line means."""

import re
from collections.abc import Iterable, Mapping, Sequence

from reconciler.cli.failures import Failure
from reconciler.cli.reading import counted
from reconciler.cli.room_reading import SeenRoom
from reconciler.core.intake import unreadable_record
from reconciler.core.ordinals import ordinal_of
from reconciler.kube.names import nearest
from reconciler.loop.store import RecordStore
from reconciler.model import labels
from reconciler.model.errors import Denied, Unauthenticated
from reconciler.model.records import Ordinals
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.ports import Cluster

_KINDS = frozenset({"fleet", "fleets", "scheduler", "schedulers", "pod", "pods"})
"""What stands before a name as kubectl has it, and is no namespace there."""
_NUMBER = re.compile(r"\d+")
_MOST_ASKED = 5
Numbers = Mapping[WorkloadKey, Ordinals]


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


def of_record(word: str, store: RecordStore) -> WorkloadKey:
    """Return the workload on record that a word means.

    Raises Failure where it means none, or several, and where a record of it cannot be read.
    """
    unreadable = store.unreadable_workloads()
    key = of_workload(word, [*store.states(), *unreadable])
    if key in unreadable:
        raise Failure(unreadable_record(key, unreadable[key]).reason)
    return key


def rooms_of(word: str, rooms: Iterable[SeenRoom]) -> list[SeenRoom]:
    """Return the rooms that a word may mean."""
    names = word.removeprefix("pods/").removeprefix("pod/"), word
    return [room for room in rooms if room.pod.name in names or room.name == word]


def of_room(word: str, rooms: Sequence[SeenRoom], was: Failure | None = None) -> SeenRoom:
    """Return the room that a word means. Raises Failure where it means none, or several.

    `was` is what `gone` tells of it.
    """
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
    raise was or unknown("room", word, names, "rooms", fix)


async def gone(
    cluster: Cluster, instance: str, word: str, rooms: Sequence[SeenRoom], numbers: Numbers
) -> Failure | None:
    """Return the failure of a word that names no room that is there, and one that was given.

    None where no record tells of it. `numbers` are read before `rooms`: one that was made in
    between would be told as gone. Rooms are found by their labels, which anybody can change, so
    it is asked for by its name: nobody is to take one that runs for gone.
    """
    if rooms_of(word, rooms):
        return None
    namespace, name = namespace_in(word), word.rpartition("/")[2]
    given = [
        (key, number in numbers[key].outstanding)
        for key in sorted(numbers)
        if namespace in ("", key.namespace)
        and 0 <= (number := ordinal_of(name, key.name)) < numbers[key].next
    ]
    if len(given) > _MOST_ASKED:
        what = f"no room {name} was found, and {len(given)} workloads gave that name"
        return Failure(what, fix=f"Write it with its namespace: NAMESPACE/{name}")
    told = [await _where(cluster, instance, key, name, waits) for key, waits in given]
    if not told:
        return None
    whats, fixes = zip(*told, strict=True)
    return Failure("; ".join(whats), fix=". ".join(dict.fromkeys(fixes)))


async def _where(
    cluster: Cluster, instance: str, key: WorkloadKey, name: str, waits: bool
) -> tuple[str, str]:
    """Return what is to say of a name that was given, and what to do."""
    room, full = f"room {name} of {key}", names_of(key)[-1]
    lists = f"gamekeeper rooms {full} lists those that are there"
    try:
        pod = await cluster.get(ObjectRef("v1", "Pod", key.namespace, name))
    except Unauthenticated:
        raise
    except Denied:
        return (
            f"{room} was not found, and whether a pod of that name is there may not be read",
            lists,
        )
    if pod is None and waits:
        fix = f"gamekeeper explain {full} says what is made, and what holds it"
        return f"{room} is not there yet, or was given up", fix
    if pod is None:
        return f"{room} is not there (any more); no room will have that name", lists
    ours = {labels.INSTANCE: instance, labels.WORKLOAD: key.name, labels.KIND: key.kind}
    has = pod["metadata"].get("labels") or {}
    lacks = [f"{label}={value}" for label, value in ours.items() if has.get(label) != value]
    if not lacks:
        return f"{room} has just come", "Ask again"
    pod_there = f"pod {key.namespace}/{name}"
    if has.get(labels.INSTANCE, instance) != instance:
        whose = has[labels.INSTANCE]
        what = f"{room} was not found by its labels: {pod_there} says that it is of instance"
        return f"{what} {whose!r}", lists
    command = f"kubectl label pod -n {key.namespace} {name} --overwrite {' '.join(lacks)}"
    fix = f"Where it is that room, set them again: {command}"
    what = f"{room} was not found by its labels, but {pod_there} is there"
    return f"{what} without {', '.join(lacks)}", fix


def unknown(kind: str, word: str, known: Iterable[str], those: str, fix: str) -> Failure:
    """Return the failure of a word that means nothing: what was looked for, and among what."""
    namespace, names = namespace_in(word), list(dict.fromkeys(known))
    where = f"in the namespace {namespace}" if namespace else "in any namespace"
    hint = guess(word.rpartition("/")[2], names)
    if not names:
        hint = f"There are no {those} of this instance there"
    return Failure(f'no {kind} "{word}" of this instance was found {where}', hint, fix)


def guess(word: str, known: Iterable[str]) -> str:
    """Return the question after the name that was likely meant, "" where none is near.

    No name is guessed that has another number: the one that was meant may be gone, and who takes
    the guess has another one leave.
    """
    numbers = _NUMBER.findall(word)
    near = nearest(word, [name for name in known if _NUMBER.findall(name) == numbers])
    return f'Did you mean "{near}"?' if near else ""
