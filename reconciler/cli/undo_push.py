"""Push an undo over whatever others push at the same time, and never what nobody agreed to."""

import time
from collections.abc import Awaitable, Callable

from reconciler.cli.failures import Failure
from reconciler.cli.log_reading import GitSide
from reconciler.cli.undo_diff import Edited
from reconciler.core.undo_text import message_of
from reconciler.model.errors import Conflict
from reconciler.model.pushes import Change, Person, Pushed, SigningKey

TRIES = 5
AGAIN = "Run the command again, and look at what it shows"


async def push_undo(
    side: GitSide,
    agreed: Edited,
    again: Callable[[], Awaitable[Edited]],
    author: Person,
    signing: SigningKey | None = None,
) -> Pushed:
    """Commit and push what was agreed to; where others were first, what `again` makes of it there.

    Raises Failure where that is another change, or an unsigned one on a head that is signed by now,
    and what `push` raises.
    """
    if side.writable is None:
        raise Failure("a checkout cannot push", fix="Name the repository with --repo")
    change, tries_left = agreed, TRIES
    while True:
        message, at = message_of(change.undos), int(time.time())
        made = Change(change.base, change.branch, change.files, message, author, at, signing)
        tries_left -= 1
        try:
            return await side.writable.push(made)
        except Conflict:
            if not tries_left:
                raise
        await side.look()
        change = await again()
        if change.undos != agreed.undos:
            raise Failure(
                "somebody else changed the number since it was shown",
                fix=AGAIN,
            )
        if change.signed and not agreed.signed and signing is None:
            raise Failure(
                "somebody else pushed a signed commit since it was shown, and this one will not be "
                "signed: a loop with --verify-commits would take nothing of the branch in",
                fix=AGAIN,
            )
