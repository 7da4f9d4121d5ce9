"""The keys of rooms' codes: a Secret in our namespace, made once, read again a minute later.

Two keys are good while one is rotated: `current` makes the codes of new rooms, `previous` stays
good for the rooms that were made with it.
"""

import asyncio
import base64
import binascii
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from reconciler.core.codes import KEYS, code_of, is_code
from reconciler.model.errors import AlreadyExists, Misconfigured, PortError, Unavailable
from reconciler.model.refs import Json, ObjectRef
from reconciler.ports import Cluster
from reconciler.service.live_records import unix_seconds

log = logging.getLogger(__name__)

KEY_BYTES = 32
LEAST_KEY_BYTES = 16
KEYS_SINCE = "gamekeeper.dev/keys-since"
"""Annotation of a Secret that was made again from memory: since when its keys are good."""
REREAD_SECONDS = 60.0
RETRY_SECONDS = 2.0


def new_key() -> bytes:
    """Make a key that nobody can guess."""
    return secrets.token_bytes(KEY_BYTES)


@dataclass(frozen=True, slots=True)
class Keys:
    """The key that codes are made with, and the one before it."""

    current: bytes
    previous: bytes = b""

    def __repr__(self) -> str:
        return "Keys(***)"

    @property
    def all(self) -> tuple[bytes, ...]:
        """The keys that are good, always as many: which are there must not show in the time."""
        return (self.current, self.previous or self.current)


class RoomCodes:
    """Codes of the rooms of one cluster. `namespace` is ours; who may write makes a missing Secret.

    `elapsed` is a monotonic clock in seconds. The Secret is read when it is first needed.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        elapsed: Callable[[], float] = time.monotonic,
        make_key: Callable[[], bytes] = new_key,
    ) -> None:
        self._cluster = cluster
        self._ref = ObjectRef("v1", "Secret", namespace, KEYS)
        self._elapsed = elapsed
        self._make_key = make_key
        self._keys: Keys | None = None
        self._read_at: float | None = None
        self._problem: PortError | None = None
        self._reading = asyncio.Lock()
        self._again: asyncio.Task[None] | None = None
        self._made_at = 0.0

    async def of(self, namespace: str, room: str) -> str:
        """Return the code of a room. Raises Unavailable while no key is known."""
        keys = await self._known()
        return code_of(keys.current, self._cluster.name, namespace, room)

    async def made_at(self) -> float:
        """Return since when there are these keys (Unix seconds). Raises Unavailable.

        Rooms that are older have codes of keys that are lost, and cannot speak by them.
        """
        await self._known()
        return self._made_at

    async def fits(self, namespace: str, room: str, shown: str) -> bool:
        """Tell whether `shown` is the code of that room. Raises Unavailable."""
        keys, name = await self._known(), self._cluster.name
        expected = [code_of(key, name, namespace, room) for key in keys.all]
        return is_code(expected, shown)

    async def load(self) -> None:
        """Read the Secret, or make it. Raises Misconfigured and the cluster's errors.

        One that somebody deleted is made again with the keys that are remembered: the rooms that
        run have their codes from them. One that cannot be read as keys changes nothing here.
        """
        there = await self._cluster.get(self._ref)
        if there is None:
            with suppress(AlreadyExists):
                await self._cluster.create(self._body())
                log.info("made %s: the keys of the rooms' codes", self._ref)
            there = await self._cluster.get(self._ref)
        if there is None:
            raise Unavailable(f"{self._ref} is made and deleted at once: looked for again soon")
        self._keys = _keys_of(there, self._ref)
        self._made_at = _made_at(there)

    async def _known(self) -> Keys:
        """Return the keys; old ones stay good while they are read again, and when that fails."""
        if self._is_due():
            if self._keys is None:
                await self._read()
            elif self._again is None or self._again.done():
                self._again = asyncio.create_task(self._read(), name="codes of rooms")
        if self._keys is None:
            why = self._problem or f"{self._ref} is not there"
            raise Unavailable(f"codes of rooms are not known yet: {why}", RETRY_SECONDS)
        return self._keys

    def _is_due(self) -> bool:
        wait = RETRY_SECONDS if self._problem is not None else REREAD_SECONDS
        return self._read_at is None or self._elapsed() - self._read_at >= wait

    async def _read(self) -> None:
        async with self._reading:
            if not self._is_due():
                return  # another one has read it meanwhile
            before, self._problem = self._problem, None
            try:
                await self.load()
            except PortError as error:
                if str(error) != str(before):
                    log.warning("codes of rooms: %s", error)
                self._problem = error
            finally:
                self._read_at = self._elapsed()

    def _body(self) -> Json:
        keys = self._keys or Keys(self._make_key())
        data = {"current": _text(keys.current)}
        data |= {"previous": _text(keys.previous)} if keys.previous else {}
        metadata: Json = {"name": self._ref.name, "namespace": self._ref.namespace}
        if self._made_at:
            metadata["annotations"] = {KEYS_SINCE: f"{self._made_at:.0f}"}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


def _made_at(secret: Json) -> float:
    """Return since when there are the keys of a Secret, which may have been made again since."""
    metadata = secret["metadata"]
    noted = (metadata.get("annotations") or {}).get(KEYS_SINCE, "")
    made_at = unix_seconds(metadata.get("creationTimestamp"))
    return min(made_at, float(noted)) if noted.isdecimal() and len(noted) < 12 else made_at


def _text(key: bytes) -> str:
    return base64.b64encode(key).decode()


def _keys_of(secret: Json, ref: ObjectRef) -> Keys:
    """Read the two keys; nothing of them stands in an error. Raises Misconfigured."""
    data = secret.get("data") or {}
    found = {}
    for name in ("current", "previous"):
        try:
            found[name] = base64.b64decode(data.get(name) or "", validate=True)
        except (binascii.Error, TypeError, ValueError):
            found[name] = b"?"
        if data.get(name) and len(found[name]) < LEAST_KEY_BYTES:
            raise Misconfigured(
                f"{ref}: the data key {name!r} is no key of at least {LEAST_KEY_BYTES} bytes in "
                "base64: write one, or delete the Secret and one is made"
            )
    if not found["current"]:
        raise Misconfigured(
            f"{ref} has no data key 'current': write one, or delete the Secret and one is made"
        )
    return Keys(found["current"], found["previous"])
