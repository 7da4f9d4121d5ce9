"""Render workloads in workers, cached by everything that a template can see of them."""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reconciler.adapters.compiler.context import context_of
from reconciler.adapters.compiler.limits import MEBIBYTE, Ending, Limits, Patience
from reconciler.adapters.compiler.workers import Worker, WorkerLost, hired
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.errors import Misconfigured, Unavailable
from reconciler.model.readings import Rendered
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Workload

ROOM_TEMPLATE = "pod.yaml.j2"
SUFFIX = ".yaml.j2"
_FIRST = ("namespace.yaml.j2", "serviceaccount.yaml.j2")

OUTPUT_BYTES = MEBIBYTE
_ALLOWANCE_SECONDS = 0.25
_WORKLOAD_SECONDS = 0.05
_BATCH = 16
"""A second worker pays from so many workloads on."""
_CACHED = 256
"""Renders kept at least; more where one call asks for more."""
_STRETCH = 32


@dataclass(frozen=True, slots=True)
class _Asked:
    key: WorkloadKey
    digest: str
    context: Json


class Renderer:
    """Renders through one set of templates."""

    def __init__(
        self,
        zygote: Zygote,
        templates: Mapping[str, str],
        slots: asyncio.Semaphore,
        patience: Patience,
    ) -> None:
        """Take the templates; they are compiled in workers only.

        Raises Misconfigured.
        """
        self._zygote = zygote
        self._seconds = patience.render_seconds
        self._slots = slots
        self._templates = _ordered(templates)
        self._cache: OrderedDict[str, Rendered] = OrderedDict()

    async def render(
        self, workloads: Sequence[Workload], instance: str
    ) -> Mapping[WorkloadKey, Rendered]:
        """Render `workloads`; what succeeds is cached even where another one raises.

        Raises Misconfigured, Unavailable.
        """
        digests: dict[WorkloadKey, str] = {}
        known: dict[str, Rendered] = {}
        missing: list[_Asked] = []
        for number, workload in enumerate(workloads):
            if number % _STRETCH == 0:
                await asyncio.sleep(0)  # hashing a thousand is too long a stretch for a loop
            asked = _asked(workload, instance)
            digests[asked.key] = asked.digest
            if asked.digest in self._cache:
                known[asked.digest] = self._cache[asked.digest]
            else:
                missing.append(asked)
        middle = len(missing) // 2 if len(missing) > _BATCH else 0
        batches = [part for part in (missing[:middle], missing[middle:]) if part]
        outcomes = await asyncio.gather(
            *(self._batch(part, known) for part in batches), return_exceptions=True
        )
        self._keep(known)
        for failure in filter(None, outcomes):
            raise failure
        return {key: known[digest] for key, digest in digests.items()}

    def _keep(self, used: Mapping[str, Rendered]) -> None:
        for digest, rendered in used.items():
            self._cache[digest] = rendered
            self._cache.move_to_end(digest)
        while len(self._cache) > max(_CACHED, 2 * len(used)):
            self._cache.popitem(last=False)

    async def _batch(self, asked: Sequence[_Asked], known: dict[str, Rendered]) -> None:
        """Render `asked` into `known`; one that outlives its deadline in company is tried alone."""
        left = list(asked)
        alone = False
        while left:
            part = left[:1] if alone else left
            try:
                async with self._slots:
                    await self._work(part, known)
            except _Late as late:
                if len(part) == 1:
                    raise Misconfigured(str(late)) from late
                alone = True
            else:
                alone = False
            left = [one for one in left if one.digest not in known]

    async def _work(self, asked: Sequence[_Asked], known: dict[str, Rendered]) -> None:
        wall = self._seconds + _ALLOWANCE_SECONDS + _WORKLOAD_SECONDS * (len(asked) - 1)
        limits = Limits(wall, int(wall) + 2)
        async with hired(self._zygote, limits, self._questions(asked)) as worker:
            for name in self._templates:
                await self._heard(worker, name, None)
            for one in asked:
                texts = [await self._heard(worker, name, one) for name in self._templates]
                known[one.digest] = Rendered(one.key, tuple(texts[:-1]), texts[-1])

    def _questions(self, asked: Sequence[_Asked]) -> Iterator[Any]:
        yield {
            "task": "render",
            "templates": list(self._templates.items()),
            "cpu_seconds": self._seconds,
            "output_bytes": OUTPUT_BYTES,
        }
        for one in asked:
            yield one.context

    async def _heard(self, worker: Worker, name: str, asked: _Asked | None) -> str:
        try:
            answer = await worker.answer()
        except WorkerLost as lost:
            raise self._blame(lost.ending, name, asked) from lost
        if "error" in answer:
            raise Misconfigured(_told(name, asked, answer))
        return str(answer.get("json", ""))

    def _blame(self, ending: Ending, name: str, asked: _Asked | None) -> Exception:
        if not ending.heard:
            return Unavailable(
                "The compiler's process ended or could not start a worker; it is asked again."
            )
        message = (
            f"templates/{name}: {_for(asked)}it {ending}; a render has {self._seconds:g} s of CPU "
            "and 512 MiB of memory. Make the template smaller."
        )
        return Misconfigured(message) if ending.is_certain else _Late(message)


class _Late(Exception):
    """A deadline passed; on a machine under load that proves nothing yet."""


def _told(name: str, asked: _Asked | None, answer: Mapping[str, Any]) -> str:
    line = f":{answer['line']}" if answer.get("line") else ""
    place = (
        f" (line {answer['rendered_line']} of its output)" if answer.get("rendered_line") else ""
    )
    return f"templates/{name}{line}: {_for(asked)}{answer['error']}{place}. Correct the template."


def _for(asked: _Asked | None) -> str:
    return f"for {asked.key} " if asked else ""


def _asked(workload: Workload, instance: str) -> _Asked:
    context = context_of(workload, instance)
    text = json.dumps(context, separators=(",", ":"), allow_nan=False)
    return _Asked(workload.key, hashlib.sha256(text.encode()).hexdigest(), context)


def _ordered(templates: Mapping[str, str]) -> dict[str, str]:
    for name in templates:
        if not name.endswith(SUFFIX) or name != name.lower() or name == SUFFIX:
            raise Misconfigured(
                f"templates/{name}: a template is named after the Kubernetes kind it renders, in "
                f"small letters, as in {ROOM_TEMPLATE}. Rename it."
            )
    if ROOM_TEMPLATE not in templates:
        raise Misconfigured(f"templates/{ROOM_TEMPLATE} is missing: rooms are made from it.")
    first = [name for name in _FIRST if name in templates]
    rest = sorted(set(templates) - set(first) - {ROOM_TEMPLATE})
    return {name: templates[name] for name in (*first, *rest, ROOM_TEMPLATE)}
