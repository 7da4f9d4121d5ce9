"""Hostile YAML: the CPU that each file of the corpus costs before it is refused.

And what is paid for it by what is not hostile: a template is rendered in a worker of its own.
"""

import asyncio
import time
from collections.abc import Mapping
from statistics import median

from benchmarks.results import Figure, Section, at_most
from reconciler.core.compile import canonical, workload_from_json
from reconciler.core.yaml_strict import MOST_BYTES, parse_file
from reconciler.model.specs import Source, Workload
from reconciler.wiring.compilers import make_compiler
from tests.unit.core.hostile_texts import hostile_texts

ROUNDS = 5
MOST_MS = 100.0
RENDERS = 100
MOST_RENDER_MS = 20.0
TO_THE_LAST = "100,001 values in two documents"
"""What of the corpus has no more than its size: as many values less one are taken."""


def measure() -> Section:
    """Measure each file of the corpus, and what fills a whole file of the largest size."""
    corpus = {name: content for name, (content, _) in hostile_texts().items()}
    sound = {TO_THE_LAST: corpus.pop(TO_THE_LAST), **_well_formed()}
    texts = {**corpus, **_large()}
    figures = [
        at_most(what, _least_ms(text.encode()), MOST_MS, "ms", 1) for what, text in texts.items()
    ]
    figures += [Figure(what, f"{_least_ms(text.encode()):.1f} ms") for what, text in sound.items()]
    took_ms = asyncio.run(_render_ms())
    figures += [
        at_most("a normal render, median", median(took_ms), MOST_RENDER_MS, "ms", 1),
        Figure("the same, longest", f"{max(took_ms):.1f} ms"),
    ]
    notes = [
        f"CPU of parsing until it is refused, the least of {ROUNDS}; a file may have"
        f" {MOST_BYTES >> 10} KiB, and those of 1 MiB fill it.",
        "The last three are sound up to their last line: they show what any file of that size"
        " costs.",
        f"{RENDERS} renders one after the other, of as many specs, by the packaged templates: the"
        " time from the call to the bodies of all objects, with the worker that is forked for it."
        " The first waits for the process that forks them.",
        "Hostile templates are ended by their workers: `tests/contract/test_compiler_hostile.py`.",
    ]
    return Section("hostile", "YAML that wants to run away", figures, notes)


def _least_ms(data: bytes) -> float:
    found = []
    for _ in range(ROUNDS):
        started = time.process_time()
        parsed = parse_file("hostile.yaml", data)
        found.append((time.process_time() - started) * 1000)
        if parsed.unreadable is None:
            raise RuntimeError(f"this was read and must not be: {data[:40]!r}")
    return min(found)


def _large() -> Mapping[str, str]:
    size = MOST_BYTES - 100
    return {
        "1 MiB of brackets": "[" * size,
        "1 MiB of nested lists": "- " * (size // 2),
        "1 MiB of duplicate keys": "a: 1\n" * (size // 5),
        "1 MiB of documents": "a: 1\n---\n" * (size // 9),
        "1 MiB of aliases": "a: &a [x]\nb: [" + "*a, " * (size // 4 - 10),
        "1 MiB in one unclosed quote": "a: '" + "x" * (size - 4),
    }


def _well_formed() -> Mapping[str, str]:
    size = MOST_BYTES - 100
    return {
        "1 MiB of anchors, then an alias of nothing": "".join(
            f"k{n}: &a{n} x\n" for n in range(size // 18)
        )
        + "z: *none\n",
        "1 MiB of items, then a tab": "- a\n" * (size // 4) + "\t- b\n",
    }


async def _render_ms() -> list[float]:
    compiler = make_compiler()
    try:
        took = []
        for number in range(RENDERS):
            started = time.perf_counter()
            await compiler.render([_workload(f"arena-{number}")], "prod")
            took.append((time.perf_counter() - started) * 1000)
        return took
    finally:
        await compiler.close()


def _workload(name: str) -> Workload:
    container = {"name": "game", "image": "registry.example.com/arena:1.4.2"}
    spec = {
        "game": "arena",
        "replicas": 3,
        "reports": "none",
        "template": {"spec": {"containers": [container]}},
    }
    document = {
        "apiVersion": "gamekeeper.dev/v1",
        "kind": "Scheduler",
        "metadata": {"name": name},
        "spec": spec,
    }
    return workload_from_json(canonical(document), Source("schedulers/arena.yaml", 1))
