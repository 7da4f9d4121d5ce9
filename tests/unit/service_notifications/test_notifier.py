"""People are told once a state, by whoever leads, whatever becomes of a target."""

import asyncio
import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from reconciler.core.plan import plan
from reconciler.kube.schemas import Schemas
from reconciler.model.errors import Denied, Unavailable
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.outbox import Outbox
from reconciler.service.notifications.line import MOST_WAITING
from reconciler.service.notifications.memory import ENDED_SECONDS, MOST_WRITTEN, Told
from reconciler.service.notifications.troubles import troubles_of
from tests.loop.virtual_time import VirtualLoop
from tests.unit.core.making import NOW, a_situation, a_workload, port_range, waiting_for_port
from tests.unit.service_notifications.house import (
    ARENA,
    CHAT,
    DUEL,
    FIRST,
    SECOND,
    THIRD,
    House,
    running,
    targets,
)

HOUR = 3600.0
REFUSED = Hold(HoldKind.OVER_BUDGET, ARENA.key, "takes 12 of 40 rooms", "abc")
FAILING = Hold(HoldKind.FAILING, ARENA.key, "3 of 4 rooms failed")
LATER = replace(ARENA, spec_json='{"other": 1}')


def test_a_commit_is_told_of_once_it_is_applied_and_not_at_every_tick(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        house.heard(FIRST, ARENA, DUEL)
        house.done(ARENA)
        await asyncio.sleep(30)
        assert house.post.events() == []
        house.done(DUEL)
        for _ in range(100):
            house.done(ARENA, DUEL)
            house.heard(FIRST, ARENA, DUEL)
            await asyncio.sleep(7)
        assert house.post.events() == ["applied"]
        house.heard(SECOND, ARENA, DUEL)  # changes nothing of any workload
        await asyncio.sleep(30)
        house.heard(THIRD, LATER, DUEL)
        await asyncio.sleep(30)
        assert house.post.events() == ["applied"]
        house.done(LATER, ready=2)
        await asyncio.sleep(30)
        house.done(LATER)
        await asyncio.sleep(30)
        assert house.post.events() == ["applied", "applied"]
        assert house.post.delivered[-1][1].body["commit"] == THIRD

    running(house, story)


def test_a_refusal_is_told_and_then_that_it_was_taken_back_and_then_again(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        house.heard(FIRST, ARENA)
        house.done(ARENA)
        await asyncio.sleep(10)
        for commit in (SECOND, THIRD):
            counts_move = replace(REFUSED, reason=f"of {commit[:2]} rooms")
            house.heard(commit, ARENA, holds=[counts_move])
            await asyncio.sleep(10)
        assert house.post.events() == ["applied", "refused"]
        assert house.post.delivered[-1][1].body["approve"] == "abc"
        house.heard(FIRST, ARENA)
        await asyncio.sleep(10)
        house.heard(SECOND, ARENA, holds=[REFUSED])
        await asyncio.sleep(10)
        assert house.post.events() == ["applied", "refused", "applied", "refused"]

    running(house, story)


def test_what_flaps_is_told_once_and_what_comes_back_much_later_again(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        house.heard(FIRST, ARENA)
        for _ in range(20):
            house.done(ARENA, holds=(FAILING,), ready=1)
            await asyncio.sleep(30)
            house.done(ARENA, ready=1)
            await asyncio.sleep(30)
        assert house.post.events() == ["held"]
        await asyncio.sleep(ENDED_SECONDS + 60)
        house.done(ARENA, holds=(FAILING,), ready=1)
        await asyncio.sleep(30)
        assert house.post.events() == ["held", "held"]

    running(house, story)


def test_who_leads_next_says_nothing_twice(tmp_path: Path) -> None:
    first = House(tmp_path, CHAT, board=True)

    async def told() -> None:
        first.heard(FIRST, ARENA)
        first.done(ARENA)
        first.heard(SECOND, ARENA, holds=[REFUSED])
        await asyncio.sleep(30)

    running(first, told)
    second = House(tmp_path, CHAT, told=first.note, board=True)

    async def after() -> None:
        second.heard(SECOND, ARENA, holds=[REFUSED])
        await asyncio.sleep(30)
        assert second.post.delivered == []
        assert second.board is not None
        assert second.board.shown == []

    assert first.post.events() == ["refused"]
    running(second, after)


def test_who_does_not_lead_tells_nobody_and_reads_first_what_was_told(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        house.leads = False
        house.heard(FIRST, ARENA, holds=[REFUSED])
        await asyncio.sleep(60)
        assert house.post.delivered == []
        assert house.notifier.notes() == {}  # what another one wrote stays
        house.leads = True
        house.notifier.forget()
        await asyncio.sleep(60)
        assert house.post.delivered == []  # nothing was seen in this term
        house.heard(FIRST, ARENA, holds=[REFUSED])
        await asyncio.sleep(60)
        assert house.post.events() == ["refused"]

    running(house, story)


@pytest.mark.parametrize("error", [Denied("no right to get the Lease"), ValueError("a defect")])
def test_nobody_is_told_before_what_was_told_is_known(
    tmp_path: Path, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        house.unread = error
        house.heard(FIRST, ARENA, holds=[REFUSED])
        await asyncio.sleep(HOUR)
        assert house.post.tried == []
        assert house.notifier.notes() == {}
        assert len(caplog.records) <= 60  # an hour's log
        house.unread = None
        await asyncio.sleep(120)
        assert house.post.events() == ["refused"]

    running(house, story)


def test_a_message_in_hand_is_not_sent_by_who_leads_no_more(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        house.post.fails = lambda target: Unavailable("chat is away")
        house.heard(FIRST, ARENA, holds=[REFUSED])
        await asyncio.sleep(10)
        tried = len(house.post.tried)
        assert tried > 1
        house.leads = False
        house.notifier.forget()
        await asyncio.sleep(HOUR)
        assert len(house.post.tried) == tried

    running(house, story)


def test_a_dead_target_delays_nobody_and_is_told_later(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT, "{name: ops, webhook: {url: 'https://ops.example.com'}}")

    async def story() -> None:
        dead = True
        house.post.waits = lambda target: 10.0 if target.name == "chat" and dead else 0.0
        house.post.fails = lambda target: (
            Unavailable("chat did not answer") if target.name == "chat" and dead else None
        )
        house.heard(FIRST, ARENA, holds=[REFUSED])
        await asyncio.sleep(5)
        assert house.post.events("ops") == ["refused"]
        await asyncio.sleep(HOUR)
        (trouble,) = troubles_of(house.notifier.notes())
        assert (trouble.name, trouble.error) == ("chat", "chat did not answer")
        assert len(house.post.tried) < 40  # not at every tick
        dead = False
        await asyncio.sleep(400)
        assert house.post.events("chat") == ["refused"]
        assert troubles_of(house.notifier.notes()) == ()

    running(house, story)


def test_what_a_target_asks_for_is_waited(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        asked = [Unavailable("chat answers 429", 600.0)]
        house.post.fails = lambda target: asked.pop() if asked else None
        house.heard(FIRST, ARENA, holds=[REFUSED])
        await asyncio.sleep(590)
        assert len(house.post.tried) == 1
        await asyncio.sleep(30)
        assert house.post.events() == ["refused"]

    running(house, story)


def test_a_message_is_given_up_and_that_is_told(tmp_path: Path) -> None:
    house = House(tmp_path, "{name: chat, slack: {urlFile: /x}, giveUpHours: 1}")

    async def story() -> None:
        house.post.fails = lambda target: Denied("chat answers 403: it refuses us")
        house.heard(FIRST, ARENA, holds=[REFUSED])
        await asyncio.sleep(2 * HOUR)
        assert ("slack", "given-up") in house.counted
        assert troubles_of(house.notifier.notes())[0].gave_up == 1
        tried = len(house.post.tried)
        await asyncio.sleep(HOUR)
        assert len(house.post.tried) == tried

    running(house, story)


def test_of_too_many_the_oldest_are_summed_up(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)
    many = [a_workload(f"arena-{n}") for n in range(MOST_WAITING + 13)]

    async def story() -> None:
        holds = [Hold(HoldKind.FINDING, each.key, f"line {n}") for n, each in enumerate(many)]
        house.heard(FIRST, *many, holds=holds)
        await asyncio.sleep(120)
        left_out = [message.body["leftOut"] for _, message in house.post.delivered]
        assert len(left_out) == MOST_WAITING
        assert sum(int(str(number)) for number in left_out) == 13
        assert "(and 13 more before it)" in house.post.delivered[0][1].text
        times = [at for _, at in house.post.tried]
        assert all(later - at >= 1.0 for at, later in pairwise(times))

    running(house, story)


def test_that_a_range_of_ports_is_full_is_told_once_however_many_ask_for_it(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, CHAT)
    workload = a_workload("arena", replicas=1, port_range=port_range(7000, 7001))
    waiting = [waiting_for_port(0, 7000)]

    async def story() -> None:
        house.heard(FIRST, workload)
        for asked in range(4, 104):
            in_use = Counter({7000: 5, 7001: asked})
            situation = a_situation(workload, waiting, in_use=in_use)
            house.seen.planned("local", plan(situation, Schemas({}), NOW))
            await asyncio.sleep(7)
        assert house.post.events() == ["ports-exhausted"]
        (_, message), *_ = house.post.delivered
        assert message.body["workload"] == {
            "kind": "Scheduler", "namespace": "arena", "name": "arena",
        }  # fmt: skip
        full = "host ports exhausted Scheduler/arena: host ports 7000-7001 are all taken"
        assert full in message.text

    running(house, story)


def test_a_target_hears_of_its_workloads_alone(tmp_path: Path) -> None:
    house = House(tmp_path, "{name: chat, slack: {urlFile: /x}, workloads: [duel]}")

    async def story() -> None:
        house.heard(FIRST, ARENA, DUEL)
        house.done(DUEL, ARENA, holds=(FAILING,))
        await asyncio.sleep(10)
        house.heard(SECOND, LATER, DUEL)
        house.done(LATER, DUEL)
        await asyncio.sleep(10)
        assert house.post.events() == ["applied"]  # the second commit is none of its business

    running(house, story)


def test_write_back_that_fails_is_told_once(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        house.heard(FIRST, ARENA)
        house.outbox = Outbox(error="a protected branch", failing_since=house.clock.now())
        await asyncio.sleep(50)
        assert house.post.events() == []
        for n in range(100):
            house.outbox = replace(house.outbox, error=f"try {n}")
            await asyncio.sleep(20)
        assert house.post.events() == ["write-back-failing"]

    running(house, story)


def test_a_file_that_changes_acts_and_one_with_a_mistake_changes_nothing(tmp_path: Path) -> None:
    house = House(tmp_path, CHAT)

    async def story() -> None:
        house.heard(FIRST, ARENA, holds=[REFUSED])
        await asyncio.sleep(10)
        house.path.write_text("spec: {")
        await asyncio.sleep(10)
        (trouble,) = troubles_of(house.notifier.notes())
        assert "notifications.yaml:2" in trouble.error
        house.heard(SECOND, ARENA, holds=[replace(REFUSED, change_hash="def")])
        await asyncio.sleep(10)
        assert house.post.events() == ["refused", "refused"]
        house.path.write_text(targets(CHAT, "{name: late, slack: {urlFile: /x}}"))
        await asyncio.sleep(10)
        assert house.post.events("late") == ["refused"]
        assert len(house.post.events("chat")) == 2
        house.path.unlink()
        await asyncio.sleep(10)
        assert "cannot be read" in troubles_of(house.notifier.notes())[0].error

    running(house, story)


def test_a_commit_has_one_status_and_another_only_where_it_changes(tmp_path: Path) -> None:
    house = House(tmp_path, board=True)

    async def story() -> None:
        assert house.board is not None
        house.heard(FIRST, ARENA)
        await asyncio.sleep(10)
        house.done(ARENA)
        for _ in range(50):
            await asyncio.sleep(5)
            house.done(ARENA)
        house.heard(SECOND, ARENA, holds=[REFUSED])
        for n in range(50):
            await asyncio.sleep(5)
            house.heard(SECOND, ARENA, holds=[replace(REFUSED, reason=f"of {n} rooms")])
        house.heard(SECOND, LATER)  # approved
        await asyncio.sleep(10)
        house.done(LATER)
        await asyncio.sleep(10)
        assert house.board.states == [
            ("a", "pending"), ("a", "success"), ("b", "failure"), ("b", "success"),
        ]  # fmt: skip

    running(house, story)


def test_a_status_of_an_older_commit_is_dropped_while_the_host_is_away(tmp_path: Path) -> None:
    house = House(tmp_path, board=True)

    async def story() -> None:
        assert house.board is not None
        house.board.error = Unavailable("gitea answers 502")
        house.heard(FIRST, ARENA)
        await asyncio.sleep(60)
        house.heard(SECOND, ARENA)
        await asyncio.sleep(600)
        house.board.error = None
        await asyncio.sleep(400)
        assert house.board.states == [("b", "pending")]

    running(house, story)


@pytest.mark.long
def test_more_states_than_are_written_down_are_told_once_and_hold_nobody_up(
    tmp_path: Path,
) -> None:
    names = [f"team-{n}" for n in range(20)]
    house = House(tmp_path, *(f"{{name: {name}, slack: {{urlFile: /x}}}}" for name in names))
    many = [a_workload(f"arena-{n}") for n in range(300)]

    async def story() -> None:
        for commit in (FIRST, SECOND, THIRD):
            twice = [Hold(HoldKind.FINDING, each.key, f"{n}") for each in many for n in (2, 1)]
            house.heard(commit, *many, holds=twice if commit != SECOND else twice[::-1])
            await asyncio.sleep(300)
        for name in names:
            assert len(house.post.events(name)) == MOST_WAITING
        assert len(house.note) < 20_000

    running(house, story)


def test_memory_is_bounded_and_what_cannot_be_read_was_never_told() -> None:
    told = Told()
    for n in range(10_000):
        told.tell("chat", f"place {n}", "identity")
    text = told.written()
    assert sum(map(len, json.loads(text).values())) == MOST_WRITTEN
    assert len(text) < 20_000
    again = Told()
    again.load(text)
    assert again.knows("chat", "place 9999", "identity")
    assert not again.knows("chat", "place 9999", "another")


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, '{"a": 1}', "nonsense", "null"])
def test_a_damaged_note_is_none(text: str) -> None:
    told = Told()
    told.load(text)
    assert told.written() == "{}"


def test_what_somebody_else_wrote_is_not_written_again() -> None:
    """On a Lease that is too large no renewal is taken, and nobody leads."""
    ours = Told()
    ours.tell("commit status", "place", "identity")
    rows = json.loads(ours.written())
    rows |= {"é" * 100_000: {"0" * 12: "0" * 12}, "chat": {"é" * 100_000: "0" * 12, "a": ["b"]}}
    rows |= {f"target-{n}": {"0" * 12: "0" * 12} for n in range(2 * MOST_WRITTEN)}
    again = Told()
    again.load(json.dumps(rows))
    assert len(again.written()) < 30_000
    again.load(json.dumps(dict(list(rows.items())[:3])))
    assert again.written() == ours.written()


def test_who_is_told_to_end_while_its_lines_end_does_end(tmp_path: Path) -> None:
    """A line whose target takes its time at its end holds the notifier, which hears us all the
    same."""
    house = House(tmp_path, CHAT)

    async def lingering() -> None:
        house.heard(FIRST, ARENA)
        house.done(ARENA)
        house.post.lingers_seconds = 10.0
        house.post.waits = lambda target: 3600.0
        await asyncio.sleep(30)
        house.leads = False
        await asyncio.sleep(5)

    async def played() -> None:
        task = asyncio.create_task(house.notifier.run())
        await lingering()
        task.cancel()
        ended, _ = await asyncio.wait({task}, timeout=60.0)
        task.cancel()
        assert ended == {task}

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(played())
