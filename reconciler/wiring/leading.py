"""Who decides: the Lease of the instance, or a promise to be alone."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from reconciler.model.refs import ObjectRef
from reconciler.settings import Settings
from reconciler.wiring.clock import SystemClock

if TYPE_CHECKING:
    from reconciler.adapters.kubernetes.client import KubernetesCluster
    from reconciler.service.app import Leadership


def make_leadership(
    settings: Settings,
    cluster: KubernetesCluster,
    changed: Callable[[], None],
    notes: Callable[[], Mapping[str, str]] = dict,
) -> Leadership:
    """Return the Lease of the instance, or with `--no-lease` a promise to be alone.

    `notes` are the annotations that whoever leads writes on it.

    The Lease goes a way of its own: else a Retry-After for a crowd of creates would lose it.
    """
    from reconciler.service.lease import Lease, NoLease

    identity = f"{socket.gethostname()}-{os.getpid()}"
    if not settings.lease:
        return NoLease(identity)
    apart, ref = cluster.apart(), lease_ref(settings)
    return Lease(apart, ref, identity, SystemClock(), changed=changed, notes=notes)


def lease_ref(settings: Settings) -> ObjectRef:
    """Return where the Lease of the instance stands."""
    from reconciler.service.lease import API_VERSION

    return ObjectRef(API_VERSION, "Lease", settings.namespace, f"gamekeeper-{settings.instance}")
