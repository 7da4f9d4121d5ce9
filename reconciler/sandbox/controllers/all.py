"""All controllers together: they see every change and act when they are stepped."""

from __future__ import annotations

from reconciler.sandbox.controllers.accounts import Accounts
from reconciler.sandbox.controllers.budgets import Budgets
from reconciler.sandbox.controllers.collector import Collector
from reconciler.sandbox.controllers.kubelets import Kubelets
from reconciler.sandbox.controllers.lifecycle import Lifecycle
from reconciler.sandbox.controllers.namespaces import Namespaces
from reconciler.sandbox.controllers.nodes import Nodes
from reconciler.sandbox.controllers.scheduler import Scheduler
from reconciler.sandbox.store import Change
from reconciler.sandbox.world import World


class Controllers:
    """Every controller of one sandbox."""

    def __init__(self, world: World) -> None:
        self._kubelets = Kubelets(world)
        self._nodes = Nodes(world)
        self._all = (
            Accounts(world),
            Namespaces(world),
            self._nodes,
            Lifecycle(world),
            Scheduler(world),
            self._kubelets,
            Budgets(world),
            Collector(world),
        )
        world.store.listeners.append(self._saw)

    def _saw(self, change: Change) -> None:
        for controller in self._all:
            controller.saw(change)

    def notice(self, key: str) -> None:
        """Look at a pod (`namespace/name`) at the next step."""
        self._kubelets.notice(key)

    def silence(self, node: str) -> None:
        """Let the kubelet of a node fall silent."""
        self._nodes.silence(node)

    def wake(self, node: str) -> None:
        """Let the kubelet of a node speak again."""
        self._nodes.wake(node)

    def step(self, now: float) -> float | None:
        """Let each act once; tells when the next has something to do (Unix seconds)."""
        dues = [controller.step(now) for controller in self._all]
        dues += [now for controller in self._all if controller.busy]
        return min((due for due in dues if due is not None), default=None)
