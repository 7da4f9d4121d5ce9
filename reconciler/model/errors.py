"""What may leave a port. Library errors never do.

    PortError
    ├── Unavailable      back off and try again (down, slow, throttled)
    │   ├── Unseen       a room is not seen as ours now: its game asks again
    │   ├── Withheld     refused for as long as something lasts (quota, terminating, no account)
    │   ├── Unanswered   it may have been done all the same: look before doing it again
    │   └── Expired      the position asked for is gone; read everything again (410)
    ├── Conflict         somebody was faster; decide again on a fresh read (409)
    │   ├── AlreadyExists
    │   └── RecordChanged    a record of ours: somebody else wrote it, and it was read again
    ├── Denied           our credentials do not allow it; wait for a change, yet ask again
    │   └── Unauthenticated  nobody knows who we are, so what was asked for was not judged (401)
    ├── Misconfigured    the request can never work as it is (422, bad URL, unknown branch)
    │   ├── Mistaken     a file of the operator's, with each mistake on lines of its own
    │   ├── Unreadable   a record of ours that stands there, and says nothing that we can read
    │   └── Unserved     the server has no such kind
    ├── NotFound         asked for by name, and never was (404)
    └── Gone             asked for by name, and is no more (410)

User mistakes are no exceptions: they are `findings.Finding` values.
"""


class PortError(Exception):
    """Something outside did not do as asked; the message says what, where and what to do."""


class Unavailable(PortError):
    """The other side cannot answer now; `retry_after_seconds` is what it asked for, if it did."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Unseen(Unavailable):
    """A room is not seen as ours now, though it may be. It is told without names to anybody."""

    def __init__(self) -> None:
        super().__init__(
            "the room is not seen now: it is being made, somebody changed its labels, or the "
            "cluster or what is wanted there is read anew"
        )


class Withheld(Unavailable):
    """It was judged and refused, and will be for as long as its cause lasts (403)."""


class Unanswered(Unavailable):
    """The answer was lost, late or no verdict: what was asked for may have been done."""


class Expired(Unavailable):
    """The resourceVersion or continue token is too old: list again."""


class Conflict(PortError):
    """The object changed under us: decide again on a fresh read."""


class AlreadyExists(Conflict):
    """The name is taken."""


class RecordChanged(Conflict):
    """A record of ours was written by somebody else; it was read again."""


class Denied(PortError):
    """Our credentials are refused for this."""


class Unauthenticated(Denied):
    """Our credentials are accepted for nothing at all."""


class Misconfigured(PortError):
    """The request can never succeed as it is written."""


class Mistaken(Misconfigured):
    """A file of the operator's has mistakes: the message has each on lines of its own."""


class Unreadable(Misconfigured):
    """A record of ours is damaged, or of a newer version: what hangs on it waits."""


class Unserved(Misconfigured):
    """The server has no such kind."""


class NotFound(PortError):
    """There never was such a thing."""


class Gone(PortError):
    """It was there and is no more; its name never comes back."""
