"""Who may speak for a room and who may look: the door of the rooms' API, from the settings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from reconciler.settings import Settings
from reconciler.wiring.clock import SystemClock

if TYPE_CHECKING:
    from reconciler.service.doors.door import RoomDoor
    from reconciler.service.leader_label import LeaderLabel
    from reconciler.wiring.clusters import OneCluster

POD_NAME, POD_NAMESPACE = "GAMEKEEPER_POD_NAME", "GAMEKEEPER_POD_NAMESPACE"
"""What `deploy/` tells a pod of itself; they are no settings, for nobody decides them."""


def make_door(settings: Settings, one: OneCluster) -> RoomDoor:
    """Return the door of a cluster's rooms.

    Raises Misconfigured for networks that are none, and for a mistake in the tokens file.
    """
    from reconciler.service.doors.admins import Admins
    from reconciler.service.doors.door import Rules, open_door
    from reconciler.service.doors.networks import Silent

    admins = Admins(settings.rooms_admin_tokens_file)
    admins.load()
    silent = Silent.read(settings.rooms_without_token)
    rules = Rules(settings.instance, silent, settings.rooms_list_needs_code)
    # A way of its own: who knocks waits for no crowd of creates.
    cluster = one.cluster.apart()
    return open_door(cluster, one.view, SystemClock(), time.monotonic, rules, one.codes, admins)


def make_label(
    settings: Settings,
    one: OneCluster,
    leading: Callable[[], bool],
    environment: Mapping[str, str] = os.environ,
) -> LeaderLabel | None:
    """Return the label of our own pod; None where nobody told us which that is."""
    from reconciler.service.leader_label import LeaderLabel

    pod, namespace = environment.get(POD_NAME, ""), environment.get(POD_NAMESPACE, "")
    if not pod:
        return None
    place = namespace or settings.namespace
    return LeaderLabel(one.cluster.apart(), place, pod, SystemClock(), leading)
