"""Canaries: texts that stand where secrets stand, and are looked for in all that a run says.

Each is 32 characters that nothing else holds. All begin with one mark, so that looking for all of
them is looking for that, as it is and as base64 and hex write it.
"""

import base64
import hashlib
import re
from collections.abc import Iterator

MARK = "q7Zk3vXw9RtB"
PLACES = {
    "admin token": "--rooms-admin-tokens-file: who may read, drain and commit",
    "certificate key": "the key of a client certificate in a kubeconfig",
    "cluster password": "basic authentication at the API server",
    "cluster token": "the bearer token of a kubeconfig",
    "commit status token": "--commit-status-token-file",
    "container value": "an environment variable of a room with a secret's name",
    "git password": "--git-token-file, and what the host asks for",
    "git URL": "userinfo in --repo",
    "notification URL": "urlFile of a Slack target",
    "notification secret": "secretFile of a webhook target",
    "object Secret": "data of somebody's Secret in the cluster",
    "Prometheus token": "--prometheus-token-file",
    "proxy password": "userinfo of the proxy that leads to the API server",
    "room code": "API_SERVER_CODE, as a room shows it",
    "room codes' key": "what the codes of rooms are made with",
    "room token": "the bearer token of a room",
    "signing key": "the SSH key that signs commits",
    "ssh key": "--git-ssh-key-file",
    "webhook secret": "--webhook-secret-file",
}
HOLDERS = ("/secrets", "/tokenreviews")
"""Of the API server: where a secret belongs, written and read."""
PLANTED: dict[str, str] = {}
"""The place of each canary of this process."""


def canary(place: str, which: str = "") -> str:
    """Plant a canary and return it: the same one for the same place, `which` being one of several.

    It begins with a letter, and letters and digits are all that it has.
    """
    assert place in PLACES, f"no secret stands at {place!r}"
    digest = hashlib.sha256(f"{place}/{which}".encode()).hexdigest()
    text = f"{MARK}{digest[:20]}"
    PLANTED[text] = place
    return text


def _forms() -> Iterator[bytes]:
    """Yield the mark as it is, in hex, and in base64 behind nothing, one byte and two."""
    mark = MARK.encode()
    yield mark
    yield mark.hex().encode()
    for before in range(3):
        # Of the first and last character a neighbour may have some bits.
        first, past = -(-before * 8 // 6), (before + len(mark)) * 8 // 6
        yield base64.b64encode(bytes(before) + mark)[first:past]


FORMS = tuple(_forms())
TEXTS = tuple(form.decode() for form in FORMS)
_WHOLE = re.compile(rf"{MARK}[0-9a-f]{{20}}")


def places_in(content: bytes) -> tuple[str, ...]:
    """Return the places of the canaries that stand in `content`; nearly always none."""
    if not any(form in content for form in FORMS):
        return ()
    whole = _WHOLE.findall(content.decode(errors="replace"))
    return tuple(sorted({PLANTED.get(text, "another process") for text in whole} or {"encoded"}))
