"""What API servers and Prometheus say, of what others put there."""

import asyncio
import json
import math
import random
from collections.abc import Callable
from typing import Any

import aiohttp

from reconciler.adapters.kubernetes import answers, refusals
from reconciler.adapters.kubernetes.watch import events
from reconciler.core import prometheus_answers
from reconciler.core.kept_reports import heard_of
from reconciler.model import labels
from reconciler.model.errors import PortError
from reconciler.service.live_records import pod_of
from tests.fuzz.forging import Forge, altered, written
from tests.fuzz.playing import Target, search

STATUS: Any = {
    "kind": "Status",
    "status": "Failure",
    "message": 'Pod "a" is invalid: spec.x: Invalid value: "secret": must be {"a": 1}',
    "reason": "Invalid",
    "code": 422,
    "details": {
        "kind": "namespaces",
        "name": "arena",
        "causes": [
            {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl"', "field": ".a"},
            {"reason": "NamespaceTerminating", "message": "Invalid value: 3: no", "field": "a.b"},
        ],
    },
}
OBJECT: Any = {
    "type": "MODIFIED",
    "object": {"kind": "Pod", "metadata": {"name": "arena-1", "resourceVersion": "12"}},
}
ERROR = {"type": "ERROR", "object": STATUS}
CODES = (301, 400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 503, 504)
REASONS = ("AlreadyExists", "NotFound", "metadata.uid", "BOOKMARK", "ERROR", "exceeded quota: a")
LONG = (
    "a" * 60_000,
    "x value: [" * 6000,
    'a value: "' * 6000,
    "\\" * 60_000,
    "is being terminated",
)
NOTES = {
    labels.STATE: "occupied",
    labels.LEAVING: "request",
    labels.LEAVING_SINCE: "1760000000",
    labels.REPORT: json.dumps({"players": 3}),
    labels.REVISION: "1-0123456789ab",
    labels.WORKLOAD: "arena",
    labels.INSTANCE: "main",
}
SAMPLE: Any = {
    "status": "success",
    "data": {"resultType": "vector", "result": [{"value": [1760000000.1, "3"]}]},
}


def status_of(chance: random.Random) -> bytes:
    """Return the body of a refusal, a list or an object."""
    seed = chance.choice((STATUS, STATUS, OBJECT, {"items": [OBJECT["object"]]}))
    long = LONG if chance.random() < 0.001 else ()
    return written(altered(seed, chance, (*CODES, *REASONS, *long, STATUS)), chance)


def refused(data: bytes) -> None:
    """Every answer is an object or an error of ports, whatever its status."""
    body = answers.decoded(data)
    for status in CODES:
        error = refusals.refusal("GET pods", status, body)
        assert isinstance(error, PortError)
        str(error).encode("utf-8", "surrogatepass")
    refusals.is_absent(body)
    checks: tuple[Callable[[], Any], ...] = (
        lambda: answers.object_of(data, "GET pods"),
        lambda: answers.found("GET pods", 404, body),
        lambda: answers.object_with_metadata("GET pods", 200, body),
        lambda: answers.listing_of(body, "items", "GET pods"),
    )
    for check in checks:
        try:
            assert isinstance(check(), dict)
        except PortError:
            continue


def lines_of(chance: random.Random) -> bytes:
    """Return some lines of a watch."""
    seeds = (OBJECT, OBJECT, ERROR)
    lines = [
        written(altered(chance.choice(seeds), chance, (*CODES, *REASONS)), chance)
        if chance.random() < 0.5
        else json.dumps(chance.choice(seeds)).encode()
        for _ in range(chance.randint(1, 5))
    ]
    return chance.choice((b"\n", b"\n", b"\r\n", b"")).join(lines) + chance.choice((b"\n", b""))


async def watched(data: bytes) -> None:
    """A watch yields events, and ends with an error of ports where a line is none."""
    stream = aiohttp.StreamReader(Silent(), 2**30, loop=asyncio.get_running_loop())
    middle = len(data) // 2
    for piece in (data[:middle], data[middle:]):
        stream.feed_data(piece)
    stream.feed_eof()
    try:
        async for event in events(stream, "watch pods"):
            assert event.type in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK")
            assert isinstance(event.object, dict)
    except PortError as error:
        str(error).encode("utf-8", "surrogatepass")


class Silent(aiohttp.base_protocol.BaseProtocol):
    """A connection that nothing is asked of."""

    def __init__(self) -> None:
        super().__init__(asyncio.get_running_loop())


def notes_of(chance: random.Random) -> bytes:
    """Return the labels and annotations of a pod: API servers take any text there."""
    forge = Forge([text.encode() for text in NOTES.values()], (b"idle", b"1e999", b"nan"), 3000)
    changed = {
        name: forge(chance).decode("utf-8", "replace") if chance.random() < 0.4 else text
        for name, text in NOTES.items()
    }
    return json.dumps(changed).encode()


def noted(data: bytes) -> None:
    """Whatever is written on a pod, it is a room that is known."""
    notes = json.loads(data)
    metadata = {"uid": "u", "name": "arena-1", "namespace": "arena", "labels": notes}
    metadata |= {"annotations": notes, "resourceVersion": "1"}
    room = pod_of({"metadata": metadata, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}})

    assert room.name == "arena-1"
    assert 0 <= room.leaving_since < 253_402_300_800
    heard = heard_of(room.kept_report, room.created_at)
    assert heard is None or (heard.players >= 0 and heard.matches >= 0)


def sample_of(chance: random.Random) -> bytes:
    """Return an answer of Prometheus."""
    return written(altered(SAMPLE, chance, ("NaN", "+Inf", "1e400", "scalar", "matrix")), chance)


def sampled(data: bytes) -> None:
    """An answer is one finite number, or trouble in printable words."""
    signal = prometheus_answers.signal_of(answers.decoded(data), 1_760_000_000.0)
    if signal.trouble:
        assert signal.trouble.isprintable()
    else:
        assert isinstance(signal.value, float)
        assert math.isfinite(signal.value)


def test_no_answer_of_an_api_server_is_too_much() -> None:
    search(Target("answer", 126_000, status_of, refused))


def test_no_line_of_a_watch_is_too_much() -> None:
    with asyncio.Runner() as runner:
        search(Target("watch", 252_000, lines_of, lambda data: runner.run(watched(data))))


def test_nothing_that_is_written_on_a_pod_is_too_much() -> None:
    search(Target("pod", 210_000, notes_of, noted))


def test_no_answer_of_prometheus_is_too_much() -> None:
    search(Target("prometheus", 420_000, sample_of, sampled))
