"""Which rooms, workload or node a word of the command line means."""

import re
from collections.abc import Iterable, Mapping, Sequence

from reconciler.cli.failures import Failure
from reconciler.cli.reading import counted
from reconciler.cli.room_reading import SeenRoom
from reconciler.core.ordinals import ordinal_of
from reconciler.kube.names import nearest
from reconciler.model.records import Ordinals
from reconciler.model.refs import WorkloadKey

_KINDS = frozenset({"fleet", "fleets", "scheduler", "schedulers", "pod", "pods"})
"""What stands before a name as kubectl has it, and is no namespace there."""
_NUMBERED = re.compile(r"(.*)-\d+")
Numbers = Mapping[WorkloadKey, Ordinals]
NO_NUMBERS: Numbers = {}


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


def of_room(word: str, rooms: Sequence[SeenRoom], numbers: Numbers = NO_NUMBERS) -> SeenRoom:
    """Return the room that a word means. Raises Failure where it means none, or several.

    `numbers` are as `gone` wants them.
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
    raise gone(word, numbers) or unknown("room", word, names, "rooms", fix)


def gone(word: str, numbers: Numbers) -> Failure | None:
    """Return the failure of a word that names a room that was, None where no record tells of it.

    `numbers` are read before the rooms among which it was looked for: one that was made in between
    would be told as gone.
    """
    namespace, name = namespace_in(word), word.rpartition("/")[2]
    for key, given in sorted(numbers.items()):
        number = ordinal_of(name, key.name)
        if namespace not in ("", key.namespace) or not 0 <= number < given.next:
            continue
        if number in given.outstanding:
            return Failure(f"room {name} of {key} is being made", fix="Ask again in some seconds")
        fix = f"gamekeeper rooms {names_of(key)[-1]} lists those that are there"
        return Failure(f"room {name} of {key} is no more; its name never comes back", fix=fix)
    return None


def unknown(kind: str, word: str, known: Iterable[str], those: str, fix: str) -> Failure:
    """Return the failure of a word that means nothing: what was looked for, and among what.

    No room is guessed whose number alone is another: the one that was meant may be gone, and who
    takes the guess has another one leave.
    """
    namespace, names = namespace_in(word), list(dict.fromkeys(known))
    where = f"in the namespace {namespace}" if namespace else "in any namespace"
    meant = word.rpartition("/")[2]
    stem = _stem(meant)
    near = nearest(meant, [name for name in names if not stem or _stem(name) != stem])
    hint = f'Did you mean "{near}"?' if near else ""
    if not names:
        hint = f"There are no {those} of this instance there"
    return Failure(f'no {kind} "{word}" of this instance was found {where}', hint, fix)


def _stem(name: str) -> str:
    """Return what stands before the number of a name, "" where it has none."""
    found = _NUMBERED.fullmatch(name)
    return found[1] if found else ""
