"""The cluster's own keys for service-account tokens, as its OpenID pages tell them.

Both pages are the API server's: where an issuer points elsewhere (a cloud's bucket), the same keys
stand here too, and nothing outside is asked.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import jwt

from reconciler.model.errors import Denied, Misconfigured, PortError, Unavailable
from reconciler.model.refs import Json
from reconciler.ports import Cluster

log = logging.getLogger(__name__)

CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"
ALGORITHMS = frozenset({"RS256", "ES256"})
REFETCH_SECONDS = 10.0
"""How long an unknown key is unknown: else every forged token would be a request."""
FRESH_SECONDS = 3600.0
"""After this the keys are asked for again: one that was taken back is good no more."""
ABSENT_SECONDS = 600.0


class NoKeys(Exception):
    """This cluster does not tell its keys (403 or 404): each token has to be reviewed."""


@dataclass(frozen=True, slots=True)
class Issued:
    """Who issues, and the keys by their id."""

    issuer: str
    keys: Mapping[str, jwt.PyJWK] = field(repr=False)


class Issuer:
    """Fetches the keys when one is asked for; `elapsed` is a monotonic clock in seconds."""

    def __init__(self, cluster: Cluster, elapsed: Callable[[], float]) -> None:
        self._cluster = cluster
        self._elapsed = elapsed
        self._issued: Issued | None = None
        self._asked_at: float | None = None
        self._failure: PortError | None = None
        self._absent_until: float | None = None
        self._asking = asyncio.Lock()

    async def key(self, kid: str) -> tuple[str, jwt.PyJWK] | None:
        """Return the issuer and its key of this id, None where it has none.

        Raises NoKeys, and Unavailable where neither can be told now.
        """
        if self._absent_until is not None and self._elapsed() < self._absent_until:
            raise NoKeys
        if self._is_due(kid):
            async with self._asking:
                if self._is_due(kid):  # another one may have asked meanwhile
                    await self._ask()
        if self._absent_until is not None:
            raise NoKeys
        known = self._issued.keys.get(kid) if self._issued else None
        if self._issued is not None and known is not None:
            return self._issued.issuer, known
        if self._failure is not None:
            raise Unavailable(f"the keys of tokens cannot be read: {self._failure}", 2.0)
        return None

    def _is_due(self, kid: str) -> bool:
        if self._asked_at is None:
            return True
        age = self._elapsed() - self._asked_at
        known = self._issued is not None and kid in self._issued.keys
        return age >= (FRESH_SECONDS if known and self._failure is None else REFETCH_SECONDS)

    async def _ask(self) -> None:
        try:
            configuration = await self._cluster.raw_get(CONFIGURATION)
            keys = await self._cluster.raw_get(KEYS)
        except (Denied, Misconfigured) as error:
            self._none(str(error))
        except PortError as error:
            self._failure = error
        else:
            if configuration is None or keys is None:
                self._none("the API server has no such page")
            else:
                self._took(configuration, keys)
        finally:
            # Only now: who comes while we ask waits for the answer.
            self._asked_at = self._elapsed()

    def _took(self, configuration: Json, keys: Json) -> None:
        issuer = configuration.get("issuer")
        if not isinstance(issuer, str) or not issuer:
            self._none(f"{CONFIGURATION} names no issuer")
            return
        self._failure = self._absent_until = None
        self._issued = Issued(issuer, keys_of(keys))

    def _none(self, why: str) -> None:
        if self._absent_until is None:
            log.warning(
                "the keys of tokens cannot be read (%s): every token is asked about at the API "
                "server. Allow get of %s and %s to read them",
                *(why, CONFIGURATION, KEYS),
            )
        self._failure = self._issued = None
        self._absent_until = self._elapsed() + ABSENT_SECONDS


def keys_of(page: Json) -> dict[str, jwt.PyJWK]:
    """Read a JSON Web Key Set; keys that we do not use are left out."""
    found = {}
    listed = page.get("keys")
    for entry in listed if isinstance(listed, list) else ():
        try:
            # Of another algorithm nothing is read: PyJWT has some that read no key ("none").
            if entry.get("alg") is not None and entry["alg"] not in ALGORITHMS:
                continue
            key = jwt.PyJWK(entry)
        except (jwt.PyJWTError, AttributeError, KeyError, TypeError, ValueError):
            continue
        # A `kid` that is no text is nobody's: PyJWT takes any value for one.
        name: object = key.key_id
        if isinstance(name, str) and name and key.algorithm_name in ALGORITHMS:
            found[name] = key
    return found
