"""What runs in pods is started, asked to end, killed and forgotten as a kubelet does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reconciler.sandbox.requests import Json
from tests.unit.sandbox.virtual import PODS, Virtual, virtual


@dataclass
class Scripted:
    """Notes what it is asked; `codes` are the exit codes of what has ended."""

    asked: list[str] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    stopping: set[str] = field(default_factory=set)

    def start(self, pod: Json, now: float) -> None:
        uid = pod["metadata"]["uid"]
        self.names[uid] = pod["metadata"]["name"]
        self.asked.append(f"start {self.names[uid]} at {pod['status']['podIP']}")
        self.running.add(uid)
        self.codes.pop(uid, None)

    def runs(self, uid: str) -> bool:
        return uid in self.running

    def ended(self, uid: str) -> int | None:
        return self.codes.get(uid)

    def stop(self, uid: str) -> None:
        if uid not in self.stopping:
            self.stopping.add(uid)
            self.asked.append(f"stop {self.names[uid]}")

    def kill(self, uid: str) -> None:
        self.asked.append(f"kill {self.names[uid]}")
        self.running.discard(uid)

    def forget(self, uid: str) -> None:
        self.asked.append(f"forget {self.names[uid]}")
        self.running.discard(uid)

    def printed(self, uid: str, container: str) -> Sequence[tuple[str, str]]:
        return [("2027-01-15T08:00:03Z", f"{container} says hello")]

    def end(self, v: Virtual, name: str, code: int) -> None:
        uid = next(uid for uid, known in self.names.items() if known == name)
        self.codes[uid] = code
        self.running.discard(uid)
        v.sandbox.notice("default", name)


def _scene(**behaviour: Any) -> tuple[Virtual, Scripted]:
    v, runtime = virtual(start_seconds=1, **behaviour), Scripted()
    v.sandbox.run_with(runtime)
    return v, runtime


def test_what_runs_in_a_pod_is_started_once_its_address_is_known() -> None:
    v, runtime = _scene()
    v.pod("a")
    v.let(0.5)
    assert runtime.asked == []
    v.let(1)
    assert runtime.asked == ["start a at 10.244.0.2"]


def test_an_end_by_itself_ends_the_pod_as_its_restart_policy_says() -> None:
    for policy, code, phase in (("Never", 3, "Failed"), ("Never", 0, "Succeeded")):
        v, runtime = _scene()
        v.pod("a", restartPolicy=policy)
        v.let(3)
        runtime.end(v, "a", code)
        v.let(0.5)
        assert v.status("a")["phase"] == phase
        ended = v.status("a")["containerStatuses"][0]["state"]["terminated"]
        assert ended["exitCode"] == code


def test_an_end_by_itself_is_followed_by_a_back_off_and_another_start() -> None:
    v, runtime = _scene(backoff_seconds=5)
    v.pod("a")
    v.let(3)
    runtime.end(v, "a", 1)
    v.let(1)
    assert v.status("a")["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    v.let(6)
    assert [line.partition(" at")[0] for line in runtime.asked] == ["start a", "kill a", "start a"]
    assert v.status("a")["phase"] == "Running"


def test_a_deleted_pod_stays_until_what_runs_in_it_has_ended() -> None:
    v, runtime = _scene(stop_seconds=0)
    v.pod("a", terminationGracePeriodSeconds=20)
    v.let(3)
    v.ask("DELETE", f"{PODS}/a")
    v.let(10)
    assert runtime.asked[-1] == "stop a"
    assert v.ask("GET", f"{PODS}/a").status == 200
    runtime.end(v, "a", 0)
    v.let(0.5)
    assert v.ask("GET", f"{PODS}/a").status == 404
    assert runtime.asked[-1] == "forget a"


def test_a_deleted_pod_is_killed_when_its_grace_is_over() -> None:
    v, runtime = _scene()
    v.pod("a", terminationGracePeriodSeconds=20)
    v.let(3)
    v.ask("DELETE", f"{PODS}/a")
    v.let(19)
    assert v.ask("GET", f"{PODS}/a").status == 200
    v.let(2)
    assert v.ask("GET", f"{PODS}/a").status == 404
    assert runtime.asked[-1] == "forget a"


def test_what_a_process_prints_stands_in_the_log() -> None:
    v, _ = _scene()
    v.pod("a")
    v.let(3)
    assert b"c says hello\n" in v.ask("GET", f"{PODS}/a/log").body
