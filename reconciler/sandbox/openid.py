"""Service-account tokens: the cluster's key, the pages that tell it, and the claims of a token.

The key follows from the seed, so that a sandbox that is started again takes the tokens it gave.
It is an elliptic one: to make an RSA key would cost more than all the rest of a start.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from reconciler.sandbox.refusals import encode
from reconciler.sandbox.requests import Json, Request, Response

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

ISSUER = "https://kubernetes.default.svc.cluster.local"
ALGORITHM = "ES256"
CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"
LEAST_SECONDS = 600
USUAL_SECONDS = 3600
_CACHED = (("Cache-Control", "public, max-age=3600"),)


@dataclass(frozen=True, slots=True)
class Signer:
    """The key of one sandbox."""

    key: EllipticCurvePrivateKey
    kid: str

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Write a token."""
        import jwt  # late: most sandboxes sign nothing

        # The real server's tokens carry no `typ` either.
        headers = {"kid": self.kid, "typ": None}
        return jwt.encode(dict(claims), self.key, algorithm=ALGORITHM, headers=headers)

    def claims(self, token: str, now: float) -> Json | None:
        """Read a token that this key signed and that is good now; None of any other."""
        import jwt

        try:
            claims: Json = jwt.decode(
                token,
                self.key.public_key(),
                algorithms=[ALGORITHM],
                issuer=ISSUER,
                # Time is virtual here, and whom it is for is the reviewer's question.
                options={
                    "verify_aud": False,
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.PyJWTError:
            return None
        return claims if claims["nbf"] <= now < claims["exp"] else None

    def page(self) -> Json:
        """Write the public key as a JSON Web Key Set."""
        numbers = self.key.public_key().public_numbers()
        point = {"x": _number(numbers.x), "y": _number(numbers.y)}
        head = {"use": "sig", "kty": "EC", "kid": self.kid, "crv": "P-256", "alg": ALGORITHM}
        return {"keys": [{**head, **point}]}


@lru_cache(maxsize=8)
def signer(seed: int) -> Signer:
    """Make the key of a sandbox from its seed."""
    from cryptography.hazmat.primitives.asymmetric import ec

    digest = hashlib.sha256(f"gamekeeper sandbox {seed}".encode()).digest()
    key = ec.derive_private_key(int.from_bytes(digest) >> 1, ec.SECP256R1())
    public = key.public_key().public_numbers()
    kid = hashlib.sha256(f"{public.x}/{public.y}".encode()).digest()
    return Signer(key, _text(kid))


def describe(request: Request, seed: int) -> Response | None:
    """Answer an OpenID page; None when the path is none."""
    if request.path == CONFIGURATION:
        page = {
            "issuer": ISSUER,
            "jwks_uri": ISSUER + KEYS,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
        }
        return Response(200, encode(page), headers=_CACHED)
    if request.path == KEYS:
        page = signer(seed).page()
        return Response(200, encode(page), "application/jwk-set+json", headers=_CACHED)
    return None


def claims_of(
    account: Json, pod: Json | None, audiences: Sequence[str], times: tuple[int, int], jti: str
) -> Json:
    """Write the claims of a token; `times` are its beginning and end (Unix seconds)."""
    metadata = account["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    bound: Json = {"namespace": namespace}
    if pod is not None:
        node = pod["spec"].get("nodeName")
        bound |= {"node": {"name": node}} if node else {}
        bound["pod"] = {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
    bound["serviceaccount"] = {"name": name, "uid": metadata["uid"]}
    begins, ends = times
    return {
        "aud": list(audiences),
        "exp": ends,
        "iat": begins,
        "iss": ISSUER,
        "jti": jti,
        "kubernetes.io": bound,
        "nbf": begins,
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _number(value: int) -> str:
    return _text(value.to_bytes(32))
