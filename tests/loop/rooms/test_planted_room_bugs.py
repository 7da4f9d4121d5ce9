"""Defects that throw players out, planted one at a time: the checks of this folder catch each."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reconciler.adapters.http import maestro
from reconciler.core import budget_objects, fence, flips, hearing, room_holds, room_state
from reconciler.core import rooms as sorting
from reconciler.core.fence import Verdict
from reconciler.model.live import LivePod
from reconciler.service.cluster_lane import ClusterLane
from reconciler.service.rooms.ears import Silence
from reconciler.service.rooms.pages import Pages
from reconciler.service.rooms.suspicion import UNSUSPECTED, Suspicion, Tally
from reconciler.service.rooms.turned_away import TurnedAway
from tests.loop.planting import Plant, caught
from tests.loop.rooms import (
    test_cut_off_workload,
    test_deafness,
    test_drain_deadline,
    test_late_leader,
    test_rooms_weather,
    test_turned_away,
)
from tests.loop.rooms.truth import Warden
from tests.loop.sweeps import part
from tests.loop.virtual_time import in_virtual_time

pytestmark = pytest.mark.long

SEEDS = 30
"""As many as are needed: one in three tells the bug that is found least."""
Check = Callable[[], None]


def weather() -> None:
    """Play some seeds."""
    for seed in range(SEEDS):
        in_virtual_time(test_rooms_weather.play(seed))


def guests() -> None:
    """Play some seeds of which is judged who was lost, not how it came to that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Warden, "_unasked", lambda self, actor, since: ())
        weather()


def deafness() -> None:
    test_deafness.test_players_that_come_and_go_while_we_are_deaf_are_not_thrown_out(0)


def late_leader() -> None:
    test_late_leader.test_a_leader_that_sees_late_learns_what_rooms_told_the_one_before(
        "full", True
    )


def turned_away() -> None:
    test_turned_away.test_players_of_whom_a_game_told_in_vain_keep_its_room(40.0, 11.0)


def deadline() -> None:
    test = test_drain_deadline
    test.test_it_is_as_long_as_git_says_though_a_new_process_leads_and_machines_clocks_are_apart(
        -3000.0, 3000.0
    )


def no_fence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fence, "verdict", lambda *arguments: Verdict(True, "planted"))


def answered_before_it_stands(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(flips, "is_prompt", lambda pod, heard: False)


def every_report_confirms(patch: pytest.MonkeyPatch) -> None:
    lay = hearing.lay
    patch.setattr(
        hearing, "lay", lambda *arguments: replace(lay(*arguments), confirmed_at=arguments[3])
    )
    # When such a word came is looked at by the fence as well: each of both would do.
    patch.setattr(fence, "is_known_empty", lambda pod, workload, heard, since: heard.confirmed_at)


def nothing_is_protected(patch: pytest.MonkeyPatch) -> None:
    judge = room_state.judge

    def bare(*arguments: Any) -> Any:
        return replace(judge(*arguments), protected="")

    patch.setattr(sorting, "judge", bare)
    patch.setattr(sorting.Sorted, "_plain", lambda self, pod: None)


def workload() -> None:
    test_cut_off_workload.test_rooms_that_fill_up_in_a_namespace_that_is_cut_off_are_not_replaced(1)


def workloads_are_not_suspected(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Tally, "_unheard_of", lambda self, cut_off: {})


def deafness_is_not_suspected(patch: pytest.MonkeyPatch) -> None:
    async def never(self: Any, *arguments: Any) -> Suspicion:
        return UNSUSPECTED

    patch.setattr(Silence, "_suspected", never)
    # So many that fail at once hold removals too: each of both would do.
    patch.setattr(room_holds, "frozen", lambda *arguments: ())


def kept_reports_are_read_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Pages, "renew", lambda self, line, pod: None)


def deadlines_count_from_the_start(patch: pytest.MonkeyPatch) -> None:
    overdue = fence.is_overdue

    def early(pod: LivePod, *arguments: Any) -> bool:
        told = pod.seen.left > 0
        return overdue(replace(pod, seen=replace(pod.seen, left=1.0)) if told else pod, *arguments)

    patch.setattr(fence, "is_overdue", early)


def budgets_count_nobody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(budget_objects, "min_available", lambda workload, total, occupied: 0)


def turned_away_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TurnedAway, "note", lambda self, *arguments: None)


def who_terminates_has_no_match(patch: pytest.MonkeyPatch) -> None:
    told = maestro._report
    patch.setattr(maestro, "_report", lambda said, matches: told(said, matches or 0))


def a_word_without_a_count_is_none(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fence, "_may_begin", lambda pod, judged, heard: False)


def the_machine_says_when(patch: pytest.MonkeyPatch) -> None:
    begin = ClusterLane.__init__

    def by_its_own_clock(self: Any, lane: Any, clock: Any, *rest: Any, **more: Any) -> None:
        begin(self, lane, clock, *rest, **more)
        self._now = clock.now

    patch.setattr(ClusterLane, "__init__", by_its_own_clock)


PLANTED = [
    pytest.param(no_fence, weather, id="a room goes as soon as it is to leave"),
    pytest.param(answered_before_it_stands, weather, id="answered before it stands"),
    pytest.param(every_report_confirms, weather, id="what it said before the fence counts"),
    pytest.param(every_report_confirms, guests, id="players on their way are thrown out"),
    pytest.param(nothing_is_protected, weather, id="nothing is protected"),
    pytest.param(deadlines_count_from_the_start, weather, id="deadlines count from the start"),
    pytest.param(budgets_count_nobody, weather, id="budgets let busy rooms go"),
    pytest.param(who_terminates_has_no_match, weather, id="who terminates has no match"),
    pytest.param(a_word_without_a_count_is_none, weather, id="a word without a count is none"),
    pytest.param(deafness_is_not_suspected, deafness, id="our own ears are not suspected"),
    pytest.param(workloads_are_not_suspected, workload, id="no workload is suspected"),
    pytest.param(turned_away_is_forgotten, turned_away, id="who was turned away is forgotten"),
    pytest.param(the_machine_says_when, deadline, id="a machine's clock says since when"),
    pytest.param(kept_reports_are_read_once, late_leader, id="kept reports are read once"),
]


@pytest.mark.parametrize(("plant", "check"), part(PLANTED, 5))
def test_a_planted_bug_is_caught(
    plant: Plant, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caught(plant, monkeypatch):
        check()
