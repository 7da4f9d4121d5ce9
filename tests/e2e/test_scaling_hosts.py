"""Hosts that refuse, stall, cut and lie, and people who push in the midst: on real git, https."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.hosted import PASSWORD, Busybody, Hosted, Person, hosted
from tests.e2e.processes import free_address, until
from tests.e2e.surge import AMOUNT, Players, surging
from tests.gitservers.http import Fault
from tests.loop.scaling.commits import foreign_bytes, steps_of
from tests.loop.scaling.counts import count_of

pytestmark = pytest.mark.long

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {writeBack: {quietSeconds: 1}}\n"
FILE = "schedulers/arena.yaml"
PUSH = "/git-receive-pack"
SECONDS = 60.0
RETRIED_SECONDS = 330.0
"""A host that failed often is asked again after five minutes at the latest."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Hosted]:
    with hosted(tmp_path) as made:
        made.there.commit(gamekeeper=CONFIG, schedulers__arena=surging())
        yield made


@pytest.fixture
def players(served: Hosted) -> Iterator[Players]:
    """Rooms whose players a test sends, and a process that hears them."""
    address = free_address()
    words = ("--no-lease", "--poll-seconds", "1", "--listen", "127.0.0.1:0")
    rooms = ("--rooms-listen", address, "--rooms-without-token", "127.0.0.0/8")
    hasty = ("--git-timeout-seconds", "5")
    served.there.start_loop("cache", *words, *rooms, *hasty, *served.flags())
    with Players(served.there, [address]) as made:
        until("two rooms", lambda: made.follow, SECONDS)
        yield made


def _count(served: Hosted) -> int:
    return count_of(served.texts()[FILE])


def _hook(served: Hosted, *lines: str) -> None:
    """Have the host ask a script whether it takes a push."""
    path = served.bare.path / "hooks" / "pre-receive"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def _rejects(served: Hosted) -> None:
    refuse = "echo 'every commit names a ticket' >&2; exit 1"
    _hook(
        served,
        "read -r _ new _",
        f"git log -1 --format=%s $new | grep -q person || {{ {refuse}; }}",
    )


def _expires(served: Hosted) -> None:
    (served.there.folder / "token").write_text("of yesterday\n")


def _takes_no_push(served: Hosted) -> None:
    served.bare.git("config", "http.receivepack", "false")


def _mend(served: Hosted) -> None:
    (served.bare.path / "hooks" / "pre-receive").unlink(missing_ok=True)
    (served.there.folder / "token").write_text(f"{PASSWORD}\n")
    served.bare.git("config", "http.receivepack", "true")


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        pytest.param(_rejects, "every commit names a ticket", id="a hook that rejects"),
        pytest.param(_expires, "whether it has expired", id="a token that expires"),
        pytest.param(_takes_no_push, "403", id="a mirror that takes no push"),
    ],
)
def test_a_host_that_refuses_is_told_and_stops_no_room(
    served: Hosted, players: Players, begin: Callable[[Hosted], None], words: str
) -> None:
    # What refuses us takes the pushes of people, who reach the repository by another way.
    person = Person(served.there.folder / "person", str(served.bare.path), {})
    begin(served)
    with Busybody(person, [FILE]) as busybody:
        players.busy = 2
        until("four rooms", lambda: players.follow, SECONDS)
        until("the trouble is told", lambda: words in served.there.log(), SECONDS)
        assert PASSWORD not in served.there.log()
        assert _count(served) == AMOUNT
        until("a person pushes all the same", lambda: bool(busybody.lines), SECONDS)
        players.busy = 3
        until("five rooms", lambda: players.follow, SECONDS)
        _mend(served)
        until("five in Git", lambda: _count(served) == 5, SECONDS)
    commits, text = served.commits(), served.texts()[FILE]
    assert foreign_bytes(commits) == []
    assert [line for line in busybody.lines if f"{line}\n" not in f"{text}\n"] == []
    ours = [commit for commit in commits if commit.ours]
    steps = [step for commit in ours for step in steps_of(commit.message)]
    assert (steps[0][1], steps[-1][2]) == (AMOUNT, 5)
    assert [step[1] for step in steps[1:]] == [step[2] for step in steps[:-1]]
    # A try that was under way at the mending carries what was decided when it began.
    assert len(ours) <= 2
    assert served.bare.forced_updates() == 0


FAULTS = {
    "stalls every answer": Fault(stall_seconds=30.0),
    "stalls the push": Fault(stall_seconds=30.0, only=PUSH),
    "lies that it is a web page": Fault(page=b"<html>Log in</html>"),
    "lies in the middle of a push": Fault(page=b"<html>Wait</html>", only=PUSH),
    "cuts its answers": Fault(cut_after_bytes=40),
    "takes a push and says nothing": Fault(cut_after_bytes=0, only=PUSH),
    "hangs up in the middle of a push": Fault(hang_up=True, only=PUSH),
    "takes a push and falls": Fault(cut_after_bytes=0, only=PUSH, then_down=True),
    "has no gateway": Fault(status=502),
}
FAULT_SECONDS = 4.0


def test_a_proxy_that_stalls_lies_and_cuts_beside_people_who_push_loses_nothing(
    served: Hosted, players: Players, capsys: pytest.CaptureFixture[str]
) -> None:
    with Busybody(served.person(), [FILE]) as person:
        for fault in FAULTS.values():
            served.host.break_with(fault)
            players.busy += 1
            until("rooms follow", lambda: players.follow, SECONDS)
            time.sleep(FAULT_SECONDS)
            served.host.heal()
            players.busy += 1
            until("rooms follow", lambda: players.follow, SECONDS)
        wanted = players.busy + AMOUNT
        try:
            took = until("all in Git", lambda: _count(served) == wanted, RETRIED_SECONDS)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{served.there.log()}") from late
    assert took <= RETRIED_SECONDS
    commits, text = served.commits(), served.texts()[FILE]
    ours = [commit for commit in commits if commit.ours]
    steps = [step for commit in ours for step in steps_of(commit.message)]
    assert foreign_bytes(commits) == []
    assert served.bare.forced_updates() == 0
    assert [step[1] for step in steps] == [AMOUNT, *(step[2] for step in steps[:-1])]
    assert (steps[-1][2], players.rooms) == (wanted, wanted)
    assert [line for line in person.lines if f"{line}\n" not in f"{text}\n"] == []
    with capsys.disabled():
        print(
            f"\n{len(steps)} steps in {len(ours)} commits through {len(FAULTS)} faults, beside"
            f" {len(commits) - len(ours)} of a person; all in Git {took:.0f} s after the last"
        )


def _revert(text: str) -> str:
    return text.replace("replicas: 4\n", "replicas: 2\n", 1)


def _edit(text: str) -> str:
    return text.replace("replicas: 4\n", "replicas: 7\n", 1)


def _suspend(text: str) -> str:
    return f"{text}  suspend: true\n"


def _bound(text: str) -> str:
    return text.replace("max: 60", "max: 3", 1)


@pytest.mark.parametrize(
    ("act", "rooms", "in_git"),
    [
        # Three have players: those stay whatever the number is.
        pytest.param(_revert, 3, 2, id="revert"),
        pytest.param(_edit, 7, 7, id="edit"),
        pytest.param(_suspend, 5, 4, id="suspend"),
        pytest.param(_bound, 3, 3, id="bounds"),
    ],
)
def test_a_persons_push_in_the_middle_of_ours_wins_and_holds(
    served: Hosted, players: Players, act: Callable[[str], str], rooms: int, in_git: int
) -> None:
    players.busy = 2
    until("four in Git", lambda: _count(served) == 4, SECONDS)
    hold, pushing = served.bare.path / "hold", served.bare.path / "pushing"
    hold.touch()
    _hook(served, f"touch '{pushing}'", f"while [ -e '{hold}' ]; do sleep 0.05; done")
    players.busy = 3
    until("our push is on its way", pushing.exists, SECONDS)
    assert players.follow or until("five rooms", lambda: players.follow, SECONDS)
    served.bare.commit({FILE: act(served.texts()[FILE])}, "a person's word")
    hold.unlink()
    until("the person's word acts", lambda: players.rooms == rooms, SECONDS)
    until("and stands in Git", lambda: _count(served) == in_git, SECONDS)
    commits = len(served.commits())
    time.sleep(8.0)
    assert (players.rooms, _count(served)) == (rooms, in_git)
    assert len(served.commits()) == commits
    assert served.bare.forced_updates() == 0
