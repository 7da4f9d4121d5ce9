"""What was decided of a workload's count and does not stand in Git yet."""

from collections.abc import Collection

from reconciler.model.intents import Scaling, Step


def pending_of(scaling: Scaling, commits: Collection[str]) -> tuple[Step, ...]:
    """Return the steps that no commit of a log tells; `commits` are the ids there.

    An answer to a push may have been lost: its steps stand in Git once its commit is in the log.
    """
    intent = scaling.intent
    if intent is None:
        return ()
    told = [each.decided_at for each in scaling.landings if each.commit in commits]
    return tuple(step for step in intent.untold if step.at > max(told, default=0.0))
