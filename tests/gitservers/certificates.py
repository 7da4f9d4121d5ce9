"""A certificate for the loopback address, made by openssl for the length of a test."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path


class ToolAbsent(Exception):
    """A program that a Git server needs is not installed; the text names its Debian package."""


def make_certificate(folder: Path) -> Path:
    """Write a self-signed certificate and its key into one PEM file and return it.

    Raises:
        ToolAbsent: openssl is not installed.
    """
    if shutil.which("openssl") is None:
        raise ToolAbsent("openssl is not on PATH: install Debian package openssl")
    key, certificate = folder / "tls.key", folder / "tls.crt"
    argv = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    argv += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    argv += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    argv += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(argv, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return certificate


def server_context(certificate: Path) -> ssl.SSLContext:
    """Return the TLS settings of a server that shows the certificate of `make_certificate`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return context
