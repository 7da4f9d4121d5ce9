"""TLS contexts from the entries of a kubeconfig."""

import base64
import binascii
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reconciler.adapters.kubernetes.kubeconfig import Chosen
from reconciler.model.errors import Misconfigured


def context_of(chosen: Chosen) -> ssl.SSLContext:
    """Return the context of a kubeconfig's cluster and user.

    Raises Misconfigured naming the entry that is of no use.
    """
    context = trust(chosen.cluster, chosen.origin)
    certificate = _pem(chosen.user, "client-certificate", chosen.origin)
    key = _pem(chosen.user, "client-key", chosen.origin)
    if certificate or key:
        load_client_certificate(context, certificate or "", key or "", chosen.origin)
    return context


def trust(cluster: Mapping[str, Any], origin: str) -> ssl.SSLContext:
    """Return a context that trusts the authority of a cluster entry, the system's if it has none.

    Raises Misconfigured when the authority cannot be read.
    """
    authority = _pem(cluster, "certificate-authority", origin)
    if authority and cluster.get("insecure-skip-tls-verify"):
        raise Misconfigured(
            f"{origin} has both a certificate-authority and insecure-skip-tls-verify: keep the "
            "authority, or check nothing"
        )
    try:
        context = ssl.create_default_context(cadata=authority)
    except (ssl.SSLError, ValueError) as error:
        raise Misconfigured(f"{origin}: its certificate-authority is no PEM certificate") from error
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def authority_data(cluster: Mapping[str, Any], origin: str) -> str:
    """Return the authority of a cluster entry in base64, "" if it has none.

    Raises Misconfigured when it cannot be read.
    """
    authority = _pem(cluster, "certificate-authority", origin)
    return base64.b64encode(authority.encode()).decode() if authority else ""


def load_client_certificate(
    context: ssl.SSLContext, certificate: str, key: str, origin: str
) -> None:
    """Make new connections of `context` present this certificate (PEM text).

    Raises Misconfigured when the pair is of no use.
    """
    if not certificate or not key:
        raise Misconfigured(
            f"{origin}: a client certificate and its key go together: one of them is missing"
        )
    if "ENCRYPTED" in key:  # else OpenSSL would ask for the passphrase at the terminal
        raise Misconfigured(f"{origin}: its client key has a passphrase: use one without")
    # OpenSSL reads private keys from files only; this one lives for the length of the call. It
    # skips the words around the blocks, in whatever letters; within one none but ASCII is right.
    with tempfile.NamedTemporaryFile(
        "w", encoding="ascii", errors="replace", suffix=".pem"
    ) as file:
        file.write(f"{certificate}\n{key}\n")
        file.flush()
        try:
            context.load_cert_chain(file.name)
        except ssl.SSLError as error:
            raise Misconfigured(
                f"{origin}: its client certificate and key do not go together ({error.reason})"
            ) from error


def _pem(entry: Mapping[str, Any], key: str, origin: str) -> str | None:
    try:
        if entry.get(f"{key}-data"):
            return base64.b64decode(entry[f"{key}-data"], validate=True).decode("ascii")
        if entry.get(key):
            return Path(entry[key]).read_text(encoding="ascii")
    except OSError as error:
        raise Misconfigured(
            f"{origin}: {key} {entry[key]} cannot be read: {error.strerror}"
        ) from error
    except (binascii.Error, UnicodeDecodeError) as error:
        raise Misconfigured(f"{origin}: {key} is not PEM text") from error
    return None
