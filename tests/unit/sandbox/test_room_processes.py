"""A command per pod: its environment, its log, its end, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reconciler.sandbox.requests import Json
from reconciler.sandbox.room_environment import environment_of
from reconciler.sandbox.room_processes import RoomProcesses

POD: Json = {
    "metadata": {
        "uid": "u1",
        "name": "arena-0",
        "namespace": "arena",
        "labels": {"gamekeeper.dev/workload": "arena"},
    },
    "spec": {"nodeName": "n1"},
    "status": {"hostIP": "10.0.0.1", "podIP": "10.244.0.2", "podIPs": [{"ip": "10.244.0.2"}]},
}
PATIENCE_SECONDS = 60.0


class _Plain:
    def __init__(self, **more: str) -> None:
        self._more = more

    def environment(self, pod: Json) -> Mapping[str, str]:
        return {"ROOM": pod["metadata"]["name"], **self._more}

    def forget(self, uid: str) -> None:
        """Nothing was made."""


@asynccontextmanager
async def _running(*command: str, **more: str) -> AsyncIterator[RoomProcesses]:
    told: list[str] = []
    async with RoomProcesses(
        command, _Plain(**more), lambda space, name: told.append(name)
    ) as rooms:
        rooms.start(POD, 0.0)
        yield rooms


async def _until(check: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not check():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def _printed(rooms: RoomProcesses) -> list[str]:
    return [text for _, text in rooms.printed("u1", "game")]


def _is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


async def test_a_command_has_its_rooms_environment_and_its_end_is_told() -> None:
    async with _running("sh", "-c", 'echo "I am $ROOM"; echo oops >&2; exit 7') as rooms:
        assert rooms.runs("u1")
        await _until(lambda: rooms.ended("u1") is not None)
        assert rooms.ended("u1") == 7
        assert _printed(rooms) == ["I am arena-0", "oops"]


async def test_a_command_is_not_read_by_a_shell() -> None:
    async with _running("printf", "%s", "$ROOM; echo no") as rooms:
        await _until(lambda: rooms.ended("u1") is not None)
        assert _printed(rooms) == ["$ROOM; echo no"]


async def test_a_command_that_is_not_there_ends_as_in_a_container() -> None:
    async with _running("/no/such/game") as rooms:
        await _until(lambda: rooms.ended("u1") is not None)
        assert rooms.ended("u1") == 127
        assert "/no/such/game" in _printed(rooms)[0]


async def test_a_process_gets_the_bytes_of_a_variable_that_is_no_text() -> None:
    async with _running("sh", "-c", 'printf %s "$KEY" | od -An -tx1', KEY="\udcff!") as rooms:
        await _until(lambda: rooms.ended("u1") is not None)
        assert _printed(rooms) == [" ff 21"]


async def test_a_variable_that_no_process_can_have_ends_the_room_as_no_command_does() -> None:
    async with _running("true", KEY="a\0b") as rooms:
        await _until(lambda: rooms.ended("u1") is not None)
        assert rooms.ended("u1") == 127
        assert _printed(rooms) == ["cannot be started: embedded null byte"]


async def test_a_room_is_asked_to_end_and_may_take_its_time() -> None:
    script = 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done'
    async with _running("sh", "-c", script) as rooms:
        await _until(lambda: "up" in _printed(rooms))
        rooms.stop("u1")
        rooms.stop("u1")
        await _until(lambda: rooms.ended("u1") is not None)
        assert rooms.ended("u1") == 0
        assert _printed(rooms) == ["up", "bye"]


async def test_a_room_that_does_not_listen_is_killed_with_its_children() -> None:
    script = 'trap "" TERM; sleep 1000 & echo $!; wait; wait'
    async with _running("sh", "-c", script) as rooms:
        await _until(lambda: _printed(rooms))
        child = int(_printed(rooms)[0])
        rooms.stop("u1")
        await asyncio.sleep(0.1)
        assert rooms.runs("u1")
        rooms.kill("u1")
        await _until(lambda: rooms.ended("u1") == 137)
        await _until(lambda: _is_gone(child))


@pytest.mark.long
async def test_nothing_is_left_when_the_sandbox_ends() -> None:
    async with _running("sh", "-c", 'trap "" TERM; echo $$; sleep 1000; sleep 1000') as rooms:
        await _until(lambda: _printed(rooms))
        leader = int(_printed(rooms)[0])
    await _until(lambda: _is_gone(leader))


SANDBOX = textwrap.dedent(
    """
    import asyncio
    from tests.unit.sandbox.test_room_processes import _printed, _running, _until

    async def main():
        async with _running("sh", "-c", "sleep 1000 & echo $$ $!; wait") as rooms:
            await _until(lambda: _printed(rooms))
            print(_printed(rooms)[0], flush=True)
            await asyncio.sleep(1000)

    asyncio.run(main())
    """
)


def test_nothing_is_left_when_the_sandbox_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SANDBOX], stdout=subprocess.PIPE, text=True
    ) as sandbox:
        assert sandbox.stdout is not None
        pids = [int(word) for word in sandbox.stdout.readline().split()]
        assert len(pids) == 2
        os.kill(sandbox.pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not all(_is_gone(pid) for pid in pids):
        assert time.monotonic() < deadline, f"{pids} live on"
        time.sleep(0.02)


def _found(kind: str, name: str) -> Json | None:
    if kind == "Secret":
        return {"kind": kind, "data": {"key": "aHVzaA==", "binary": "/wBo"}}
    return {"kind": kind, "data": {"map": "de_dust"}} if name == "settings" else None


@pytest.mark.parametrize(
    ("entries", "made"),
    [
        pytest.param([{"name": "A", "value": "1"}], {"A": "1"}, id="a value"),
        pytest.param([{"name": "A"}], {"A": ""}, id="nothing is the empty text"),
        pytest.param(
            [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}],
            {"IP": "10.0.0.1"},
            id="a field of the pod",
        ),
        pytest.param(
            [
                {
                    "name": "W",
                    "valueFrom": {
                        "fieldRef": {"fieldPath": "metadata.labels['gamekeeper.dev/workload']"}
                    },
                }
            ],
            {"W": "arena"},
            id="a label",
        ),
        pytest.param(
            [{"name": "IPS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIPs"}}}],
            {"IPS": "10.244.0.2"},
            id="a list of addresses",
        ),
        pytest.param(
            [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)/$(NO)/$$(A)"}],
            {"A": "1", "B": "1/$(NO)/$(A)"},
            id="an earlier variable is put in",
        ),
        pytest.param(
            [{"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "key"}}}],
            {"S": "hush"},
            id="a key of a Secret",
        ),
        pytest.param(
            [{"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "binary"}}}],
            {"B": "\udcff\x00h"},
            id="bytes that are no text",
        ),
        pytest.param(
            [{"name": "M", "valueFrom": {"configMapKeyRef": {"name": "none", "key": "map"}}}],
            {},
            id="a key that is not there",
        ),
    ],
)
def test_an_environment_is_made_as_a_kubelet_does(
    entries: list[Json], made: dict[str, str]
) -> None:
    assert environment_of(POD, {"env": entries}, _found) == made


def test_a_whole_config_map_comes_with_its_prefix() -> None:
    sources = [{"configMapRef": {"name": "settings"}, "prefix": "X_"}]
    assert environment_of(POD, {"envFrom": sources}, _found) == {"X_map": "de_dust"}
