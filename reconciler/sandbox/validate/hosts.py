"""What a pod says of names and addresses: its DNS, its hosts file."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from reconciler.kube import names
from reconciler.sandbox.refusals import Cause, invalid_value, required
from reconciler.sandbox.requests import Json

_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def check_dns(spec: Json) -> Iterator[Cause]:
    """Check whom a pod asks for names."""
    path, wanted = "spec.dnsConfig", spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None" and wanted is None:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        return
    servers = (wanted or {}).get("nameservers") or ()
    if spec.get("dnsPolicy") == "None" and not servers:
        detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        yield required(f"{path}.nameservers", detail)
        return
    for index, server in enumerate(servers):
        yield from _address(server, f"{path}.nameservers[{index}]")
    for index, option in enumerate((wanted or {}).get("options") or ()):
        if not option.get("name"):
            yield required(f"{path}.options[{index}]", "must not be empty")


def check_aliases(spec: Json) -> Iterator[Cause]:
    """Check what a pod writes in its hosts file."""
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        place = f"spec.hostAliases[{index}]"
        yield from _address(alias.get("ip", ""), f"{place}.ip")
        for number, name in enumerate(alias.get("hostnames") or ()):
            told = names.subdomain_problem(name)
            if told:
                yield invalid_value(f"{place}.hostnames[{number}]", name, told)


def _address(text: str, path: str) -> Iterator[Cause]:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        yield invalid_value(path, text, _NO_ADDRESS)
