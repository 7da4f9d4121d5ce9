"""Client certificates that the API server of a control plane takes for who they name."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.controlplane.programs import ControlPlaneAbsent

_ELLIPTIC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


def write_authority(certificate: Path) -> None:
    """Write a certificate that signs others, and its key beside it.

    Raises:
        ControlPlaneAbsent: openssl is not installed.
    """
    _make(certificate, "/CN=controlplane-clients", ["-addext", "keyUsage=critical,keyCertSign"])


def issue(authority: Path, folder: Path, user: str, groups: Sequence[str]) -> ClientCertificate:
    """Write a certificate for a user in some groups, signed by `authority`."""
    certificate = folder / f"{user}.crt"
    subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
    signed = ["-CA", str(authority), "-CAkey", str(authority.with_suffix(".key"))]
    use = ["-addext", "basicConstraints=critical,CA:FALSE"]
    _make(certificate, subject, [*signed, *use, "-addext", "extendedKeyUsage=clientAuth"])
    return ClientCertificate(certificate, certificate.with_suffix(".key"))


def _make(certificate: Path, subject: str, options: Sequence[str]) -> None:
    if shutil.which("openssl") is None:
        raise ControlPlaneAbsent("openssl is not on PATH: install Debian package openssl")
    files = ["-keyout", str(certificate.with_suffix(".key")), "-out", str(certificate)]
    argv = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", subject]
    argv += [*_ELLIPTIC, *options, *files]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)
