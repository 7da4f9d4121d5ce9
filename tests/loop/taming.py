"""What makes a run of the whole service the same on every machine: one chance, one time."""

import random

import pytest

from reconciler.adapters.kubernetes import client
from reconciler.service import cluster_lane
from tests.loop.virtual_time import elapsed


class _Still:
    """The `time` of a module in which no real time may pass."""

    @staticmethod
    def monotonic() -> float:
        """Return what the virtual loop says."""
        return elapsed()


def tame(patch: pytest.MonkeyPatch) -> None:
    """Let chance come from the global `random`, which a test seeds, and time from the loop."""
    patch.setattr(client, "_CHANCE", random)
    patch.setattr(cluster_lane, "time", _Still)
