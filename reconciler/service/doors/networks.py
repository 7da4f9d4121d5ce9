"""Who may speak for a room without showing anything: the setting `--rooms-without-token`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from reconciler.model.errors import Misconfigured
from reconciler.model.live import ENDED_PHASES, LivePod
from reconciler.ports import LiveView
from reconciler.service.doors.guesses import Address, address_of

REINDEX_SECONDS = 1.0
_WIDEST_BITS = {4: 8, 6: 7}
"""The prefixes of 10.0.0.0/8 and fc00::/7: no wider network is of one owner alone."""


@dataclass(frozen=True, slots=True)
class Silent:
    """Whose word counts without a token or code: nobody's, a pod's own, or a network's."""

    own_address: bool = False
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def read(cls, text: str) -> "Silent":
        """Read the setting. Raises Misconfigured."""
        if text in ("", "refuse"):
            return NOBODY
        if text == "pod-address":
            return cls(own_address=True)
        return cls(networks=tuple(_network(part.strip()) for part in text.split(",")))

    @property
    def of_everybody(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """Those of the networks in which strangers are."""
        return tuple(net for net in self.networks if net.prefixlen < _WIDEST_BITS[net.version])


NOBODY = Silent()


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise Misconfigured(
            f"--rooms-without-token: {text!r} is no network ({error}): write refuse, pod-address, "
            "or networks as 10.1.0.0/16,fd00::/64"
        ) from error


class Neighbours:
    """Tells whether an address is a room's own. `elapsed` is a monotonic clock in seconds."""

    def __init__(self, view: LiveView, elapsed: Callable[[], float]) -> None:
        self._view = view
        self._elapsed = elapsed
        self._owners: dict[str, str] = {}
        self._indexed_at: float | None = None

    def home(self, namespaces: Sequence[str], name: str, peer: str) -> str:
        """Return in which of some namespaces the room `name` has this address, "" for none."""
        address = address_of(peer)
        for namespace in namespaces if address is not None else ():
            found = self._view.room(namespace, name)
            if found is not None and address is not None and self.is_own(found[1], address):
                return namespace
        return ""

    def is_own(self, pod: LivePod, peer: Address) -> bool:
        """Tell whether only this pod can have spoken from `peer`.

        Not where it shares its node's address, nor where another room is said to have the same:
        of a node that is lost the pods keep an address that others may have by now.
        """
        address = address_of(pod.pod_ip)
        if address is None or address != peer or pod.host_network or pod.phase in ENDED_PHASES:
            return False
        node = self._view.node(pod.node)
        of_node = {pod.host_ip, *(text for _, text in (node.addresses if node else ()))}
        if any(address_of(text) == peer for text in of_node):
            return False
        return self._owner(pod.pod_ip) in (pod.uid, None)

    def _owner(self, pod_ip: str) -> str | None:
        """Return the uid of the one room with this address, "" of several, None of none yet."""
        now = self._elapsed()
        if self._indexed_at is None or now - self._indexed_at >= REINDEX_SECONDS:
            self._indexed_at = now
            self._owners = self._index()
        return self._owners.get(pod_ip)

    def _index(self) -> dict[str, str]:
        owners: dict[str, str] = {}
        for key in self._view.workloads():
            for pod in self._view.of(key).pods:
                if pod.pod_ip and not pod.host_network and pod.phase not in ENDED_PHASES:
                    owners[pod.pod_ip] = "" if pod.pod_ip in owners else pod.uid
        return owners


def speaks_silently(silent: Silent, neighbours: Neighbours, pod: LivePod | None, peer: str) -> bool:
    """Tell whether who speaks from `peer` is believed for this room without showing anything."""
    address = address_of(peer)
    if address is None:
        return False
    if silent.own_address:
        return pod is not None and neighbours.is_own(pod, address)
    return any(address.version == net.version and address in net for net in silent.networks)
