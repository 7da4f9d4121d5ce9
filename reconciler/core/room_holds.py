"""What is held of a workload's rooms, each with the reason that status shows.

No counts in reasons: they stand in conditions, which are written whenever they change.
"""

from dataclasses import replace

from reconciler.core import host_ports, rooms
from reconciler.core.failing import Failing
from reconciler.core.grounds import Ground
from reconciler.model import additional
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.live import ENDED_PHASES
from reconciler.model.plans import Plan, Situation
from reconciler.model.specs import Workload

FAILING_PERCENT = 30
FAILING_ROOMS = 3
"""So many rooms ended at once (and at least so many) freeze every voluntary removal."""

UNREAD_LOOK_SECONDS = 2.0
MOST_NODES_NAMED = 3


def crowded(situation: Situation, workload: Workload, ground: Ground) -> tuple[Hold, ...]:
    """Say why rooms wait for ports that nobody can give them: it stops nothing.

    `ground` is where they may stand.
    """
    # One that terminates keeps its ports until it is gone.
    pods = (pod for pod in situation.live.pods if pod.phase not in ENDED_PHASES)
    reason = host_ports.crowding(workload, pods, ground)
    if not reason:
        return ()
    return (Hold(HoldKind.CROWDED_PORTS, situation.key, reason),)


def needs_people(situation: Situation, broken: Failing) -> tuple[Hold, ...]:
    """Say that failed rooms are replaced no more."""
    if not broken.stuck:
        return ()
    reason = (
        "more rooms failed within failure.windowSeconds than failure.maxFailures: those beyond "
        "are not replaced until the window has passed or a commit changes the spec"
    )
    if broken.again_in_seconds is None:
        reason = (
            "a room failed, and failure.maxFailures is 0: none that fails by its own fault is "
            "replaced until a commit changes the spec"
        )
    return (Hold(HoldKind.NEEDS_INTERVENTION, situation.key, reason),)


def stuck(situation: Situation, there: rooms.Sorted) -> tuple[Hold, ...]:
    """Say that rooms do not end though they were deleted: Kubernetes does it, or people must."""
    limit = there.workload.timeouts.terminate_seconds
    late = [
        pod.name
        for pod in there.terminating
        if pod.seen.ending and situation.elapsed - pod.seen.ending > limit
    ]
    if not late:
        return ()
    reason = (
        f"rooms do not end within terminateSeconds ({limit:.0f} s) of being deleted: look whether "
        "their node is gone or a finalizer keeps them (kubectl get pods). They are replaced"
    )
    return (Hold(HoldKind.STUCK, situation.key, reason),)


def never_heard(situation: Situation, there: rooms.Sorted) -> tuple[Hold, ...]:
    """Say that rooms never spoke: they may be full, so that nothing ends them by itself."""
    if not there.unspoken:
        return ()
    limit = rooms.first_word_seconds(there.workload)
    reason = (
        "rooms are up for longer than initializeSeconds and pingSeconds together "
        f"({limit:.0f} s) and were never heard: they may be full, so they stay, and what waits for "
        "them waits. Look whether their image reports, and reaches --rooms-url (gamekeeper "
        "explain ROOM). Where nobody plays there, delete their pods, or set "
        "timeouts.silentBusySeconds"
    )
    return (Hold(HoldKind.NEVER_HEARD, situation.key, reason),)


def deaf(situation: Situation) -> tuple[Hold, ...]:
    """Say that our own ears are suspect, or what reaches them of it or from nodes it is on."""
    ears = situation.ears
    reason = ears.deaf or ears.deaf_here
    if ears.deaf_on and not reason:
        nodes = sorted({pod.node for pod in situation.live.pods} & ears.deaf_on.keys())
        reason = "; ".join(ears.deaf_on[node] for node in nodes[:MOST_NODES_NAMED])
    return (Hold(HoldKind.DEAF, situation.key, reason),) if reason else ()


def frozen(situation: Situation, there: rooms.Sorted) -> tuple[Hold, ...]:
    """Say that so many rooms failed at once that nothing is removed voluntarily."""
    ended = len(there.failed)
    total = len(there.members) + len(there.leaving) + ended
    if ended < FAILING_ROOMS or ended * 100 < FAILING_PERCENT * total:
        return ()
    reason = f"{FAILING_PERCENT} % of the rooms or more ended at once: removals wait"
    return (Hold(HoldKind.FAILING, situation.key, reason),)


def unread(base: Plan, situation: Situation, consequence: str) -> Plan:
    """Hold what a complete read of the cluster must come before."""
    reason = f"the cluster was not read completely: {consequence}"
    hold = Hold(HoldKind.INCOMPLETE_READ, situation.key, reason)
    # No event says that everything is followed again.
    return replace(base, holds=(*base.holds, hold), wake_in_seconds=UNREAD_LOOK_SECONDS)


def unserved(situation: Situation) -> tuple[Hold, ...]:
    """Say that the server lacks kinds that are followed: without them nothing is seen whole.

    An API server that begins, or one of several that is older, may have them in a moment.
    """
    if not situation.unserved:
        return ()
    reason = (
        f"the API server has no {', '.join(situation.unserved)}: nothing is deleted until it does"
    )
    allowed = [kind for kind in situation.unserved if kind in additional.KINDS]
    if allowed:
        reason += f", or --allow-kinds does not name {', '.join(allowed)} any more"
    if len(allowed) < len(situation.unserved):
        reason += ". Its version is too old, or that API is switched off there (--runtime-config)"
    return (Hold(HoldKind.UNSERVED, situation.key, reason),)


def stranger(situation: Situation, names: list[str]) -> Hold:
    """Say that pods carry our labels and are none of our rooms."""
    shown = ", ".join(sorted(names)[:3])
    reason = (
        f"{shown} carry our labels and are no rooms that we made: the namespace waits until "
        "somebody deletes them"
    )
    return Hold(HoldKind.FOREIGN, situation.key, reason)
