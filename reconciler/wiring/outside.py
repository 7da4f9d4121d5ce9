"""Who outside may be asked by policies, and with which proofs: settings of the process alone."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.core.addresses import is_loopback
from reconciler.core.egress import Allowed, allowed_of, never_allowed, place_of
from reconciler.model.errors import Misconfigured
from reconciler.settings import Settings

if TYPE_CHECKING:
    from reconciler.adapters.outside.asking import HttpOutside, Prometheus


def make_outside(settings: Settings) -> HttpOutside:
    """Return who asks webhooks and Prometheus. Raises Misconfigured."""
    from reconciler.adapters.outside.asking import HttpOutside
    from reconciler.adapters.outside.exchange import Exchange
    from reconciler.adapters.outside.resolver import CheckedResolver
    from reconciler.core.addresses import never_asked

    trust = trust_of(settings.egress_certificate_authority_file)
    return HttpOutside(
        Exchange(CheckedResolver(never_asked), trust),
        egress_of(settings),
        # The operator named this one: it may stand where no repository leads us.
        Exchange(CheckedResolver(lambda address: ""), trust),
        _prometheus(settings),
    )


def egress_of(settings: Settings) -> tuple[Allowed, ...]:
    """Return whom webhooks may ask. Raises Misconfigured."""
    found = []
    for entry in settings.egress_hosts:
        allowed = allowed_of(entry)
        if allowed is None:
            raise Misconfigured(
                f"--egress-hosts {_without_secrets(entry)!r} is no host: write scaler.example.com, "
                "*.example.com, 10.0.0.7:8443, or http://scaler.tools.svc:8000 where nothing is "
                "encrypted"
            )
        refusal = never_allowed(allowed.origin)
        if refusal:
            raise Misconfigured(
                f"--egress-hosts {allowed.origin.written} is {refusal}, which is asked for nobody: "
                "take it out, and name the host that the webhook stands on"
            )
        found.append(allowed)
    return tuple(found)


def _prometheus(settings: Settings) -> Prometheus | None:
    from reconciler.adapters.outside.asking import Prometheus

    url, path = settings.prometheus_url.rstrip("/"), settings.prometheus_token_file
    if not url:
        return None
    place = place_of(url)
    if place is None or "?" in place.path:
        raise Misconfigured(
            f"--prometheus-url {_without_secrets(url)!r} is no address: write "
            "https://prometheus.example.com, without a user, a query or /api"
        )
    origin = place.origin
    is_here = is_loopback(origin.host) or origin.host == "localhost"
    if path and origin.scheme == "http" and not is_here:
        raise Misconfigured(
            "--prometheus-token-file goes over https only: plain http would show the token to "
            "everyone; write --prometheus-url https://…"
        )
    return Prometheus(place.url.rstrip("/"), _token_of(path))


def _token_of(path: str) -> Callable[[], str]:
    def read() -> str:
        if not path:
            return ""
        try:
            token = Path(path).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Misconfigured(f"--prometheus-token-file {path} cannot be read") from error
        if not token or not token.isprintable() or " " in token:
            raise Misconfigured(f"--prometheus-token-file {path} holds no token")
        return token

    return read


def trust_of(path: str, flag: str = "--egress-certificate-authority-file") -> ssl.SSLContext | None:
    """Return whom to trust beside the usual authorities, None for nobody.

    Raises Misconfigured, naming the flag that names the file.
    """
    if not path:
        return None
    try:
        context = ssl.create_default_context()
        context.load_verify_locations(cafile=path)
    except (OSError, ssl.SSLError) as error:
        raise Misconfigured(f"{flag} {path} cannot be read as PEM certificates") from error
    return context


def _without_secrets(url: str) -> str:
    return re.split("[?#]", url.rpartition("@")[2], maxsplit=1)[0][:200]
