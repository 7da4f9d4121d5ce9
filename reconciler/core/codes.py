"""The code of a room: what a game of the collections shows with all it says (`API_SERVER_CODE`).

It is worked out from a key and the room's name, so none is stored. A name never comes back
(DESIGN §2 rule 5): so the code of a room that is gone is nobody else's.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable

KEYS = "gamekeeper-room-codes"
"""The Secret in our namespace that holds the keys."""
LENGTH = 32
"""Letters of a code: 128 bits in hex."""


def code_of(key: bytes, cluster: str, namespace: str, room: str) -> str:
    """Return the code of one room; JSON keeps the names apart, whatever stands in them."""
    named = json.dumps(["gamekeeper.dev/room-code", cluster, namespace, room])
    return hmac.new(key, named.encode(), hashlib.sha256).hexdigest()[:LENGTH]


def is_code(expected: Iterable[str], shown: str) -> bool:
    """Tell whether `shown` is one of the codes; how long that takes tells nothing about them."""
    told = shown.encode("utf-8", "surrogatepass")
    # Every one is compared: which key fits must not show in the time either.
    fits = [hmac.compare_digest(code.encode(), told) for code in expected]
    return any(fits)
