"""The message of a commit that takes numbers back: a person's, like any other of theirs."""

from collections.abc import Sequence

from reconciler.model.undo import Undo

SUBJECT_CHARACTERS = 72


def message_of(undos: Sequence[Undo]) -> str:
    """Return the message; all of `undos` take back one commit."""
    commit = undos[0].commit
    parts = [f"{each.key.name} back to {each.back}" for each in undos]
    first = f"Undo {commit[:12]}: {', '.join(parts)}"
    if len(first) > SUBJECT_CHARACTERS:
        first = f"Undo {commit[:12]}: {len(parts)} counts"
    lines = [f"{each.key}: {each.now} -> {each.back}" for each in undos]
    why = f"What commit {commit} did to numbers is taken back."
    return "\n".join([first, "", *lines, "", why, ""])
