"""How a failure is told: one paragraph of what, where, why and what to do."""

import errno

from reconciler.model.errors import (
    Conflict,
    Denied,
    Misconfigured,
    Mistaken,
    PortError,
    Unavailable,
)
from reconciler.model.masks import redact
from reconciler.setting_rows import BadSetting


class Failure(Exception):
    """A command cannot go on. `what` follows `error: `; `why` and `fix` are sentences, or empty."""

    def __init__(self, what: str, why: str = "", fix: str = "") -> None:
        super().__init__(" ".join(_sentence(part) for part in (what, why, fix) if part))


KNOWN = (Failure, BadSetting, PortError, OSError)
"""What `main` tells as a paragraph. Anything else is a defect and shows its traceback."""

_ADVICE = (
    (Unavailable, "This may pass: try again."),
    (Conflict, "Somebody else changed it meanwhile: run the command again."),
    (Denied, "Check the credentials that the flags and the environment name."),
)


def paragraph_of(error: Exception) -> str:
    """Return the paragraph that tells an error of `KNOWN`; a file's mistakes keep their lines.

    Addresses stand in it as people gave them, with a password perhaps: that is masked.
    """
    if isinstance(error, OSError):
        return _os_error(error)
    if isinstance(error, Mistaken):
        return str(error)
    text = _sentence(redact(str(error)))
    if not isinstance(error, Misconfigured):
        # Messages of ports say what to do themselves where they know better.
        advice = next((said for kind, said in _ADVICE if isinstance(error, kind)), "")
        text = f"{text} {advice}".strip()
    return text


def known_of(group: BaseExceptionGroup[BaseException]) -> Exception | None:
    """Return the first error of a group that holds nothing but `KNOWN` ones, None of any other.

    Tasks side by side fail together: of one cause, as a rule.
    """
    known, others = group.split(KNOWN)
    if known is None or others is not None:
        return None
    first: BaseException = known
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, Exception) else None


def _os_error(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno in (errno.EMFILE, errno.ENFILE):
        reason = f"{reason}. Let this process open more: `ulimit -n 256` or higher"
    if error.filename is None:
        return _sentence(reason)
    return _sentence(f"{error.filename}: {reason}")


def _sentence(text: str) -> str:
    # No capital is made: the first word may be a name of the user's.
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."
