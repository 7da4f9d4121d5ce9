"""The compiler's own work without its workers: real time may not enter a virtual world."""

import json
from collections.abc import Mapping, Sequence
from functools import cache

from reconciler import assets, registry
from reconciler.adapters.compiler.context import context_of
from reconciler.adapters.compiler.objecting import serve_objects
from reconciler.adapters.compiler.objects import all_questions, outcome_of, result_of, setup_of
from reconciler.adapters.compiler.rendering import serve_render
from reconciler.core import object_intake
from reconciler.core.known_tree import Known, known_of
from reconciler.core.read import read_tree
from reconciler.core.rereading import merged, part_of
from reconciler.core.spec_kit import SpecKit
from reconciler.model.readings import Reading, Rendered
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions, Workload
from reconciler.model.trees import Tree

ORDER = ("namespace", "serviceaccount", "poddisruptionbudget", "pod")


@cache
def spec_kit() -> SpecKit:
    return SpecKit(
        assets.schemas(), assets.KubernetesDefinitions(), registry.policies(), assets.TimeZones()
    )


class InlineCompiler:
    """Reads and renders with the real functions, here; of a new tree what was touched of it.

    All are pure, so what one process has read or rendered is remembered for all others: crash
    tests start thousands of them.
    """

    _last: Known | None = None

    async def read(self, tree: Tree, permissions: Permissions) -> Reading:
        known = self._touched(tree, permissions)
        if known is None:
            known = known_of(tree, permissions, _remembered(tree, permissions))
        self._last = known
        return with_objects(known.reading, tree, permissions)

    def _touched(self, tree: Tree, permissions: Permissions) -> Known | None:
        part = part_of(self._last, tree, permissions) if self._last is not None else None
        if self._last is None or part is None:
            return None
        return merged(self._last, part, _remembered(part.tree, permissions))

    async def render(
        self, workloads: Sequence[Workload], instance: str
    ) -> Mapping[WorkloadKey, Rendered]:
        return {workload.key: _rendered(workload, instance) for workload in workloads}

    async def close(self) -> None:
        return None


_READ: dict[tuple[str, tuple[tuple[str, str], ...], Permissions], Reading] = {}


def _remembered(tree: Tree, permissions: Permissions) -> Reading:
    known = (tree.commit, _content(tree), permissions)
    if known not in _READ:
        _READ[known] = read_tree(tree, permissions, spec_kit())
    return _READ[known]


def read_whole(tree: Tree, permissions: Permissions) -> Reading:
    """Read a tree with its additional objects."""
    return with_objects(read_tree(tree, permissions, spec_kit()), tree, permissions)


def with_objects(reading: Reading, tree: Tree, permissions: Permissions) -> Reading:
    """Return a reading with the additional objects of its tree."""
    asked, outcomes = object_intake.asked_for(reading, tree), []
    if not asked:
        return reading
    setup = {**setup_of(reading, permissions), "cpu_seconds": 0}
    questions = all_questions(reading, asked, permissions)
    for key, templates in asked.items():
        answers: list[dict[str, object]] = []
        serve_objects(setup, iter([one.question for one in questions[key]]), answers.append)
        pairs = zip(answers, questions[key], strict=True)
        outcomes.append(outcome_of(key, templates, [result_of(*pair) for pair in pairs]))
    return object_intake.take_in(reading, outcomes)


def _content(tree: Tree) -> tuple[tuple[str, str], ...]:
    return tuple((path, entry.blob) for path, entry in tree.entries.items())


def _rendered(workload: Workload, instance: str) -> Rendered:
    return Rendered(workload.key, *_texts(json.dumps(context_of(workload, instance))))


@cache
def _texts(context: str) -> tuple[tuple[str, ...], str]:
    sources = assets.templates()
    setup = {
        "templates": [(f"{kind}.yaml.j2", sources[f"{kind}.yaml.j2"]) for kind in ORDER],
        "cpu_seconds": 1000,
        "output_bytes": 1 << 20,
    }
    answers: list[dict[str, str]] = []
    serve_render(setup, iter([json.loads(context)]), answers.append)
    texts = [answer["json"] for answer in answers[len(ORDER) :]]
    return tuple(texts[:-1]), texts[-1]
