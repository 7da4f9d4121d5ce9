"""Render the additional objects of a repository in workers; one that kills its worker is told."""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reconciler.adapters.compiler.codec import decode, encode
from reconciler.adapters.compiler.context import context_of, key_in
from reconciler.adapters.compiler.frames import Garbled
from reconciler.adapters.compiler.limits import MEBIBYTE, Ending, Limits, Patience
from reconciler.adapters.compiler.workers import WorkerLost, hired
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.core import object_intake
from reconciler.core.object_rules import check_completed
from reconciler.core.spec_files import MOST_SPEC_BYTES
from reconciler.model.additional import Made, Outcome, Template
from reconciler.model.errors import Unavailable
from reconciler.model.findings import Finding
from reconciler.model.readings import Reading
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.specs import Config, Permissions, Workload
from reconciler.model.trees import Tree

OUTPUT_BYTES = MOST_SPEC_BYTES
"""What one template may render to: a spec with its objects may not be longer."""
MOST_KEPT_BYTES = 64 * MEBIBYTE
"""What all of one reading may render to, and what is remembered: both are held in memory."""
_CACHED = 4096
_MOST_KILLERS = 8
"""Templates that may kill a worker in one reading; those after them are not tried."""
_TEMPLATE_SECONDS = 0.05

_Result = Made | tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One template for one workload; `digest` names everything that its result depends on.

    What comes of it may be what `permissions` say.
    """

    template: Template
    context: Json
    permissions: Permissions
    digest: str

    @property
    def question(self) -> Json:
        """What a worker is asked."""
        return {
            "file": self.template.file,
            "source": self.template.text,
            "context": self.context,
        }


class ObjectRenderer:
    """Renders additional objects; results are remembered by their content."""

    def __init__(self, zygote: Zygote, slots: asyncio.Semaphore, patience: Patience) -> None:
        self._zygote = zygote
        self._slots = slots
        self._seconds = patience.render_seconds
        self._cache: OrderedDict[str, _Result] = OrderedDict()
        self._cached_bytes = 0

    async def complete(self, reading: Reading, tree: Tree, permissions: Permissions) -> Reading:
        """Return a reading with the additional objects that its workloads ask for.

        Raises Unavailable.
        """
        if not any(workload.templates for workload in reading.workloads.values()):
            return reading
        # In threads: of a thousand workloads each is too long a stretch for a serving loop.
        asked = await asyncio.to_thread(object_intake.asked_for, reading, tree)
        setup = setup_of(reading, permissions)
        questions = await asyncio.to_thread(all_questions, reading, asked, permissions)
        wanted = {one.digest: one for each in questions.values() for one in each}
        results = await self._results(wanted, setup)
        outcomes = [
            outcome_of(key, templates, [results[one.digest] for one in questions[key]])
            for key, templates in asked.items()
        ]
        return await asyncio.to_thread(object_intake.take_in, reading, outcomes)

    async def _results(
        self, wanted: Mapping[str, Asked], setup: Mapping[str, Any]
    ) -> Mapping[str, _Result]:
        known = {digest: self._cache[digest] for digest in wanted if digest in self._cache}
        room = MOST_KEPT_BYTES - sum(map(_size, known.values()))
        left = [one for digest, one in wanted.items() if digest not in known]
        killers, suspect = 0, ""
        while left:
            if killers >= _MOST_KILLERS:
                return known | {one.digest: (_untried(one.template),) for one in left}
            if room <= 0:
                return known | {one.digest: (_too_much(one.template),) for one in left}
            part = left[:1] if left[0].digest == suspect else left
            results, ending = await self._work(part, {**setup, "cpu_seconds": self._seconds}, room)
            for one, result in zip(part, results, strict=False):
                self._keep(known, one, result)
                room -= _size(result)
            left = left[len(results) :]
            if ending is None:
                continue
            if ending.is_certain:
                killers += 1
                self._keep(known, left[0], (self._killed(left[0].template, ending),))
                left = left[1:]
            elif left[0].digest == suspect:
                raise Unavailable(
                    f"Rendering {left[0].template.file} {ending}; the machine has too little to "
                    "give just now. It is tried again."
                )
            else:
                suspect = left[0].digest  # a machine under load proves nothing: once more, alone
        return known

    def _keep(self, known: dict[str, _Result], one: Asked, result: _Result) -> None:
        known[one.digest] = self._cache[one.digest] = result
        self._cached_bytes += _size(result)
        while len(self._cache) > _CACHED or self._cached_bytes > MOST_KEPT_BYTES:
            self._cached_bytes -= _size(self._cache.popitem(last=False)[1])

    async def _work(
        self, asked: Sequence[Asked], setup: Mapping[str, Any], room: int
    ) -> tuple[list[_Result], Ending | None]:
        """Return the results of `asked`, from the first on, and how the worker ended too early.

        It goes on for as long as there is `room` for what comes, in bytes.
        """
        # A template computes and never waits: its CPU limit ends it, also on a machine under load.
        wall = 10 * self._seconds + _TEMPLATE_SECONDS * len(asked)
        results: list[_Result] = []
        async with (
            self._slots,
            hired(self._zygote, Limits(wall, int(wall) + 2), _questions(setup, asked)) as worker,
        ):
            try:
                for one in asked:
                    results.append(result_of(await worker.answer(), one))
                    room -= _size(results[-1])
                    if room <= 0:
                        break
            except Garbled:
                return results, Ending(code=1)
            except WorkerLost as lost:
                if not lost.ending.heard:
                    raise Unavailable(
                        "The compiler's process ended or could not start a worker; it is tried "
                        "again."
                    ) from lost
                return results, lost.ending
        return results, None

    def _killed(self, template: Template, ending: Ending) -> Finding:
        given = f"a render has {self._seconds:g} s of CPU and 512 MiB of memory"
        fix = "make the template smaller"
        return Finding(template.file, 0, 0, "", f"it {ending}; {given}", fix, "template")


def setup_of(reading: Reading, permissions: Permissions) -> dict[str, Any]:
    """Return what a worker is told first."""
    return {
        "task": "objects",
        "permissions": encode(Permissions, permissions),
        "instance": permissions.instance,
        "version": (reading.config or Config()).kubernetes_version,
        "output_bytes": OUTPUT_BYTES,
    }


def all_questions(
    reading: Reading,
    asked: Mapping[WorkloadKey, Sequence[Template]],
    permissions: Permissions,
) -> dict[WorkloadKey, list[Asked]]:
    """Return what is to be rendered for each workload: the templates that can be read."""
    setup = setup_of(reading, permissions)
    return {
        key: _questions_of(reading.workloads[key], templates, permissions, setup)
        for key, templates in asked.items()
    }


def _questions_of(
    workload: Workload,
    templates: Sequence[Template],
    permissions: Permissions,
    setup: Mapping[str, Any],
) -> list[Asked]:
    context = context_of(workload, permissions.instance)
    return [
        Asked(template, context, permissions, _digest(template, context, setup))
        for template in templates
        if template.problem is None
    ]


def outcome_of(
    key: WorkloadKey, templates: Sequence[Template], results: Sequence[_Result]
) -> Outcome:
    """Return what came of the templates of one workload."""
    made = tuple(result for result in results if isinstance(result, Made))
    found = [one.problem for one in templates if one.problem is not None]
    for result in results:
        found.extend(() if isinstance(result, Made) else result)
    return Outcome(key, made, tuple(found))


def result_of(answer: Mapping[str, Any], one: Asked) -> _Result:
    """Read one answer of a worker: a template that took it over may say anything.

    Raises Garbled where it is none to what was asked.
    """
    if "made" not in answer:
        return decode(tuple[Finding, ...], answer.get("findings"))
    made, context = decode(Made, answer["made"]), one.context
    try:
        body, key = json.loads(made.text), key_in(context)
        mistakes = check_completed(body, key, one.permissions, context["labels"])
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise Garbled("no manifest") from error
    if mistakes or made.file != one.template.file or len(made.text) > OUTPUT_BYTES:
        raise Garbled("another manifest than was asked for")
    return made


def _questions(setup: Mapping[str, Any], asked: Sequence[Asked]) -> Iterator[Any]:
    yield setup
    for one in asked:
        yield one.question


def _digest(template: Template, context: Json, setup: Mapping[str, Any]) -> str:
    content = json.dumps([template.file, template.text, context, setup], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _size(result: _Result) -> int:
    return len(result.text) if isinstance(result, Made) else 0


def _too_much(template: Template) -> Finding:
    most = MOST_KEPT_BYTES // MEBIBYTE
    message = f"all templates of the repository together render to more than {most} MiB"
    return Finding(template.file, 0, 0, "", message, "make the objects smaller", "size")


def _untried(template: Template) -> Finding:
    message = f"it was not tried, for {_MOST_KILLERS} other templates could not be rendered"
    return Finding(template.file, 0, 0, "", message, "mend those first", "template")
