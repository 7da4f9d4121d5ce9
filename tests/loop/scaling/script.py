"""A policy that says what the test says, and the processes of a scene that use it.

It stands in for any policy: what is tested is what becomes of a count once it is decided.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler import assets, registry
from reconciler.core.mistakes import Mistake
from reconciler.core.policies.policy import Ask, Facts, Policy
from reconciler.core.read import read_tree
from reconciler.core.spec_kit import SpecKit
from reconciler.model.readings import Reading
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look
from reconciler.model.specs import Permissions
from reconciler.model.trees import Tree
from tests.loop.compiler import InlineCompiler
from tests.loop.world import spec

Wanted = Callable[[str, float], int]
"""The count that a workload is to have at a time (Unix seconds)."""
SCHEMA: Json = {
    "type": "object",
    "properties": {"line": {"type": "string"}},
    "required": ["line"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Script:
    """The policy `script {line}`: for each line the test says a count."""

    wanted: Wanted
    schema: Json = field(default_factory=lambda: SCHEMA)
    name: str = "script"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return nothing."""
        return ()

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return nothing."""
        return ()

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return what the test says."""
        count = self.wanted(str(parameters["line"]), look.now)
        return Advice(count, f"the script says {count}")


def policies_with(wanted: Wanted) -> Mapping[str, Policy]:
    """Return all policies, and the script."""
    return {**registry.policies(), "script": Script(wanted)}


class ScriptedCompiler(InlineCompiler):
    """Reads specs that may ask for the script; each commit once."""

    def __init__(self, policies: Mapping[str, Policy]) -> None:
        self._kit = SpecKit(
            assets.schemas(), assets.KubernetesDefinitions(), policies, assets.TimeZones()
        )
        self._known: dict[tuple[str, Permissions], Reading] = {}

    async def read(self, tree: Tree, permissions: Permissions) -> Reading:
        """Read a tree."""
        known = (tree.commit, permissions)
        if known not in self._known:
            self._known[known] = read_tree(tree, permissions, self._kit)
        return self._known[known]


def scripted(name: str, replicas: int, low: int = 2, high: int = 60, **more: Any) -> str:
    """Return a spec whose count follows the script's line of its name, as fast as it may."""
    autoscaling = {
        "min": low,
        "max": high,
        "policy": {"script": {"line": name}},
        "scaleDown": {"stabilizationSeconds": 0},
    }
    return spec(name, replicas, autoscaling=autoscaling, **more)
