"""What every namespace is given: the account `default` and the certificate of the cluster."""

from __future__ import annotations

from reconciler.sandbox.kinds import CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT
from reconciler.sandbox.requests import Json
from reconciler.sandbox.store import Change
from reconciler.sandbox.world import World

_ACCOUNT, _CERTIFICATE = "default", "kube-root-ca.crt"
_TEXT = "-----BEGIN CERTIFICATE-----\nc2FuZGJveA==\n-----END CERTIFICATE-----\n"
_WHY = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


class Accounts:
    """Keeps both in every namespace that is not on its way out."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._fresh: dict[str, None] = {}

    @property
    def busy(self) -> bool:
        """Tell whether something waits to be done."""
        return bool(self._fresh)

    def saw(self, change: Change) -> None:
        """Note a new namespace, or the loss of what it was given."""
        if change.kind is NAMESPACE and change.verb == "ADDED":
            self._fresh[change.stored.name] = None
        lost = change.verb == "DELETED" and change.kind in (SERVICE_ACCOUNT, CONFIG_MAP)
        if lost and change.stored.name in (_ACCOUNT, _CERTIFICATE):
            self._fresh[change.stored.namespace] = None

    def step(self, now: float) -> float | None:
        """Give what is missing."""
        for namespace in [*self._fresh]:
            del self._fresh[namespace]
            stored = self._world.store.get(NAMESPACE, "", namespace)
            if stored is not None and stored.fields[0] == "Active":
                self._give(namespace, now)
        return None

    def _give(self, namespace: str, now: float) -> None:
        store = self._world.store
        if store.get(SERVICE_ACCOUNT, namespace, _ACCOUNT) is None:
            value: Json = {"metadata": {"name": _ACCOUNT, "namespace": namespace}}
            self._world.add(SERVICE_ACCOUNT, value, now)
        if store.get(CONFIG_MAP, namespace, _CERTIFICATE) is None:
            notes = {"kubernetes.io/description": _WHY}
            metadata = {"name": _CERTIFICATE, "namespace": namespace, "annotations": notes}
            value = {"metadata": metadata, "data": {"ca.crt": _TEXT}}
            self._world.add(CONFIG_MAP, value, now)
