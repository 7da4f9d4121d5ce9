"""SIGKILL of the loop at each point of a push over https: nothing is lost, told twice or forced."""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.hosted import Hosted, hosted
from tests.e2e.processes import until
from tests.gitservers.backend import Call, Reply
from tests.gitservers.http import Fault, HttpGitServer
from tests.loop.scaling.commits import foreign_bytes, steps_of
from tests.loop.scaling.house import scaled

pytestmark = pytest.mark.long

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {writeBack: {quietSeconds: 1}}\n"
FILE = "schedulers/arena.yaml"
FLAGS = ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")
ASK, PUSH, FETCH = "service=git-receive-pack", "/git-receive-pack", "/git-upload-pack"
POINTS = {
    "it fetches a person's commit": (FETCH, "before"),
    "it asks what the host has": (ASK, "before"),
    "it has heard what the host has": (ASK, "after"),
    "its pack comes in, and is cut": (PUSH, "within"),
    "its pack came in": (PUSH, "before"),
    "its pack is taken, and it was not told": (PUSH, "after"),
}
SECONDS = 90.0


class Striking(HttpGitServer):
    """A host that does something once, when a request gets to a point."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._point = ("", "")
        self._strike: Callable[[], None] = lambda: None

    def arm(self, point: tuple[str, str], strike: Callable[[], None]) -> None:
        """Have this done at this point."""
        self._point, self._strike = point, strike

    @property
    def struck(self) -> bool:
        """Whether it was done."""
        return not self._point[0]

    def take_fault(self, path: str) -> Fault | None:
        return Fault(hang_up=True) if self._gets(path, "within") else super().take_fault(path)

    def reply(self, call: Call, fault: Fault | None) -> Reply:
        self._gets(call.path, "before")
        reply = super().reply(call, fault)
        if reply.status == 200:  # who has not shown the password yet asks again
            self._gets(call.path, "after")
        return reply

    def _gets(self, path: str, when: str) -> bool:
        word, at = self._point
        if not word or when != at or not path.endswith(word):
            return False
        self._strike()
        self._point = ("", "")
        return True


def _start(served: Hosted) -> "subprocess.Popen[bytes]":
    return served.there.start_loop("cache", *FLAGS, *served.flags())


def _kill(loop: "subprocess.Popen[bytes]") -> None:
    loop.kill()
    loop.wait()


def _has(served: Hosted, count: int) -> bool:
    return bool(yaml.safe_load(served.texts()[FILE])["spec"]["replicas"] == count)


def _want(served: Hosted, count: int) -> None:
    """Have a person change what the policy wants, and leave the number as it stands."""
    person = served.person(f"person-{count}")
    while True:
        text = person.text(FILE)
        wanted = text.replace(f"- replicas: {count - 1}\n", f"- replicas: {count}\n")
        assert wanted != text
        if person.push({FILE: wanted}, f"{count} are wanted"):
            return


def test_a_kill_at_each_point_of_a_push_loses_nothing_and_forces_nothing(tmp_path: Path) -> None:
    with hosted(tmp_path, Striking) as served:
        host = served.host
        assert isinstance(host, Striking)
        served.there.commit(gamekeeper=CONFIG, schedulers__arena=scaled(2, [{"replicas": 3}]))
        loop = _start(served)
        until("three in Git", partial(_has, served, 3), SECONDS)
        for count, (name, point) in enumerate(POINTS.items(), start=4):
            host.arm(point, partial(_kill, loop))
            _want(served, count)
            until(name, lambda: host.struck, SECONDS)
            assert loop.poll() is not None
            loop = _start(served)
            until(f"{count} in Git after a kill when {name}", partial(_has, served, count), SECONDS)
        ours = [commit for commit in served.commits() if commit.ours]
        steps = [step[1:] for commit in ours for step in steps_of(commit.message)]
        last = 3 + len(POINTS)
        assert steps == [(count, count + 1) for count in range(2, last)], "each is told once"
        assert len(ours) == len(steps)
        assert foreign_bytes(ours) == []
        assert served.bare.forced_updates() == 0
        assert len(served.there.pods("arena")) == last
