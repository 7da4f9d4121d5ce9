"""At every request of every act a process dies, the request fails in every way, or a read is old.

The rooms report and are full throughout. Which part of all that is played, `shares` says.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from operator import itemgetter

import pytest

from reconciler.adapters.kubernetes.calls import Call
from reconciler.adapters.kubernetes.fence import WRITES
from reconciler.model.errors import Unavailable
from reconciler.model.labels import WORKLOAD
from reconciler.sandbox.faults import Fault
from tests.loop.failures import (
    APPLIED,
    CUT_SHORT,
    GONE,
    LATE,
    LATE_SECONDS,
    LONG_SECONDS,
    REFUSED,
    STALLS,
    Failure,
    cut_short,
    gone,
    no_answer,
)
from tests.loop.rooms.acts import (
    AMONG_ROOMS,
    BY_THE_CLOCK,
    NO_ROOM,
    WATCH,
    Act,
    Ending,
    PromptedHouse,
    Prompter,
    Rooms,
    Wrong,
    acts,
    cut_all_watches,
    play,
)
from tests.loop.rooms.beside import BESIDE
from tests.loop.rooms.branches import Branch, play_branches
from tests.loop.rooms.house import Playhouse
from tests.loop.rooms.wishes import Wish
from tests.loop.service import Service
from tests.loop.shares import share
from tests.loop.sweeps import part
from tests.loop.virtual_time import in_virtual_time
from tests.scorecard import score

pytestmark = pytest.mark.long

ACTS = (*AMONG_ROOMS, *BESIDE)
SHOWN = 5
Numbers = Callable[[Call], bool]

ALL = 1_000_000
"""More revisions than there ever were: what stands at the beginning of history."""
DEPTHS = (1, 2, 3, 5, 8, ALL)
READS = ("get", "list")
TAKEN_OVER = "taken over amid a scale-in"


def _held(there: Playhouse, wish: Wish) -> None:
    arena = wish.pieces["arena"]
    there.world.commit({arena.file: arena.text(4, 1).replace("replicas: 4", "replicas: many")})


def _mended(there: Playhouse, wish: Wish) -> None:
    wish.change("arena", 4, 1)


TOLD = Act("a spec that is held and mended", _held, ((20.0, _mended),))
"""Something to write an Event of."""
ALL_ANEW = tuple(
    replace(act, name=f"{act.name}, all watches broken", later=((2.0, cut_all_watches), *act.later))
    for act in ACTS
    if act.name in ("scale in", "roll out", "scale out")
)
"""Acts in which every watch is opened again, in the middle."""
MIXED = ("scale in and out again", "roll out and back", "roll out and scale at once")
"""Acts of many requests, all of which other acts send too: each of them fails in a third of all
ways, in turn."""
TIMED = (TOLD, *(act for act in ACTS if act.name in ("roll out and back", TAKEN_OVER)))
"""Acts in which Leases and Events are written; in others a Lease is no other."""


def _dies(house: PromptedHouse, service: Service, call: Call) -> None:
    house.dies(service)
    raise Unavailable("this process is dead")


def _fails(failure: Failure) -> Wrong:
    def fail(house: PromptedHouse, service: Service, call: Call) -> None:
        raise failure(call)

    return fail


def _no_answer(house: PromptedHouse, service: Service, call: Call) -> None:
    raise no_answer(call)


def _too_late(house: PromptedHouse, service: Service, call: Call) -> None:
    house.carry_out_late(service, call, LATE_SECONDS)
    _no_answer(house, service, call)


def _wrongs(calls: tuple[Call, ...], numbers: Numbers) -> Iterator[tuple[int, str, Prompter]]:
    """Yield all that can go wrong, at each request in turn."""
    for at, call in enumerate(calls):
        for name, failure in REFUSED.items():
            yield at, name, Prompter(at, before=_fails(failure), numbers=numbers)
        late = partial(Prompter, at, stall_seconds=LONG_SECONDS, numbers=numbers)
        yield at, STALLS, late(before=_no_answer)
        yield at, CUT_SHORT, Prompter(at, after=_fails(cut_short), numbers=numbers)
        if call.verb in WRITES:
            yield at, GONE, Prompter(at, before=_fails(gone), numbers=numbers)
            for name, failure in APPLIED.items():
                yield at, name, Prompter(at, after=_fails(failure), numbers=numbers)
            yield at, LATE, late(before=_too_late)


def _failures(act: Act) -> list[tuple[int, str, Prompter]]:
    """Return all that is to go wrong in an act by failures of one request."""
    every = list(_wrongs(_undisturbed(act).calls, acts))
    if act.name not in MIXED:
        return every
    return [point for number, point in enumerate(every) if (number + point[0]) % 3 == 0]


def _deaths(calls: tuple[Call, ...]) -> Iterator[tuple[int, str, Prompter]]:
    """Yield every death at a write: right before it, and right after."""
    for at, call in enumerate(calls):
        if call.verb in WRITES:
            yield at, "it dies before", Prompter(at, before=_dies)
            yield at, "it dies after", Prompter(at, after=_dies)


def _reads_old(depth: int) -> Wrong:
    def lag(house: PromptedHouse, service: Service, call: Call) -> None:
        house.world.sandbox.faults.plant(Fault(stale_revisions=depth))

    return lag


def _old_reads(calls: tuple[Call, ...]) -> Iterator[tuple[int, str, Prompter]]:
    """Yield every read at every depth: it tells what was there so many revisions ago."""
    for at, call in enumerate(calls):
        if call.verb in READS:
            for depth in DEPTHS:
                yield at, f"{depth} revisions old", Prompter(at, before=_reads_old(depth))


def _timed(call: Call) -> bool:
    return call.kind in BY_THE_CLOCK and call.verb != WATCH


def _opens(call: Call) -> bool:
    return call.verb == WATCH


def _unopened(calls: tuple[Call, ...]) -> Iterator[tuple[int, str, Prompter]]:
    """Yield all that can go wrong at each opening of a watch; what goes wrong later is row 3's."""
    for at in range(len(calls)):
        for name, failure in REFUSED.items():
            yield at, name, Prompter(at, before=_fails(failure), numbers=_opens)
        yield at, STALLS, Prompter(at, _no_answer, None, LONG_SECONDS, _opens)


@cache
def _undisturbed(act: Act, numbers: Numbers = acts) -> Ending:
    return _once(act, Prompter(numbers=numbers))


def _once(act: Act, prompter: Prompter, wanted: Ending | None = None) -> Ending:
    return in_virtual_time(play(act, prompter, wanted))


def _spare(wanted: Ending, late: Call) -> Rooms:
    """Return the room that may be one more in the end, where its POST is carried out late.

    By then another was made in its place. While a roll-out waits for the end of matches it stays,
    above the surge, as a ReplicaSet that is not above its count does: no more are wanted of the new
    image than are to be there in the end, and it is the next that is needed.
    """
    if (late.kind, late.verb) != ("Pod", "create"):
        return NO_ROOM
    pod = late.body
    assert isinstance(pod, dict)
    workload, image = pod["metadata"]["labels"][WORKLOAD], pod["spec"]["containers"][0]["image"]
    waits = any(name == workload and other != image for name, other, _ in wanted.rooms)
    return Counter({(workload, image, "idle"): 1}) if waits else NO_ROOM


def _most(wanted: Ending, call: Call, what: str) -> Ending:
    """Return the ending with what may be made and removed more where `call` was answered so.

    A room that is there and of which the answer to its DELETE says that it is not is made again
    where people want it again meanwhile; seen once more, it is one too many, and an empty one goes.
    """
    if (call.kind, call.verb, what) != ("Pod", "delete", GONE):
        return wanted
    namespace = call.path.partition("/namespaces/")[2].partition("/")[0]
    return replace(wanted, removed=wanted.removed + Counter({namespace: 1}))


def _tried(
    act: Act, row: int, points: list[tuple[int, str, Prompter]], numbers: Numbers = acts
) -> None:
    wanted = _undisturbed(act, numbers)
    failures: list[str] = []

    def told(branch: Branch, ending: Ending | None, problem: str) -> bool:
        at, what, _ = branch
        score(row, points=1, failed=0)
        if ending is not None:
            problem = _differing(act, wanted, branch, ending, numbers)
        if problem:
            score(row, failed=1)
            failures.append(f"{what}, request {at} ({wanted.calls[at].what}): {problem}")
        return len(failures) < SHOWN  # they tell enough

    for at, what, prompter in points:
        if what == LATE:
            prompter.spare = _spare(wanted, wanted.calls[at])
    if points:
        play_branches(act, wanted, points, numbers, told)
    assert not failures, "\n".join(failures)


def _differing(act: Act, wanted: Ending, branch: Branch, ending: Ending, numbers: Numbers) -> str:
    """Say how an ending differs in what was made and removed; "" where it may."""
    at, what, _ = branch
    # Half a minute later players and people have gone on, and so they have when nobody led for a
    # while: it is another way then.
    if what in (STALLS, LATE) or numbers is not acts:
        return ""
    # Where people change their mind, whoever comes late to it never began what they took back: it
    # may make fewer.
    most = _most(wanted, wanted.calls[at], what)
    differs = [*ending.more(most), *([] if act.later else ending.fewer(wanted))]
    score(4, compared=1, differ=bool(differs))
    return ", ".join(differs)


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.name)
def test_a_process_that_dies_at_any_write_ends_no_match_and_is_gone_on_from(act: Act) -> None:
    _tried(act, 1, share(list(_deaths(_undisturbed(act).calls)), act.name))


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.name)
def test_a_request_that_fails_in_any_way_ends_no_match_and_is_made_good(act: Act) -> None:
    _tried(act, 2, share(_failures(act), act.name))


@pytest.mark.parametrize("name", MIXED)
def test_in_a_mixed_act_too_a_request_of_each_sort_fails_in_every_way(name: str) -> None:
    act = next(act for act in ACTS if act.name == name)
    calls = _undisturbed(act).calls
    every = list(_wrongs(calls, acts))
    sorts = Counter((calls[at].verb, calls[at].kind) for at in range(len(calls)))
    often = {sort for sort, times in sorts.items() if times >= 6}

    def ways(points: list[tuple[int, str, Prompter]]) -> set[tuple[str, str, str]]:
        told = {(calls[at].verb, calls[at].kind, what) for at, what, _ in points}
        return {each for each in told if each[:2] in often}

    assert len(_failures(act)) < len(every) / 2
    assert ("patch", "Pod") in often
    assert ways(_failures(act)) == ways(every)


def test_there_are_leases_and_events_to_fail() -> None:
    asked = {(call.kind, call.verb) for act in TIMED for call in _undisturbed(act, _timed).calls}
    assert asked == {("Lease", "get"), ("Lease", "update"), ("Event", "create")}


@pytest.mark.parametrize("act", TIMED, ids=lambda act: act.name)
def test_a_lease_or_event_that_fails_in_any_way_ends_no_match_and_is_made_good(act: Act) -> None:
    calls = _undisturbed(act, _timed).calls
    points = list(_wrongs(calls, _timed))
    _tried(act, 2, share(points, act.name), _timed)


def test_every_kind_is_watched_anew() -> None:
    for act in ALL_ANEW:
        kinds = {call.kind for call in _undisturbed(act, _opens).calls}
        assert kinds >= {"Pod", "ConfigMap", "Node", "Namespace", "PodDisruptionBudget"}, act.name


@pytest.mark.parametrize("act", ALL_ANEW, ids=lambda act: act.name)
def test_a_watch_that_cannot_be_opened_ends_no_match_and_is_made_good(act: Act) -> None:
    points = list(_unopened(_undisturbed(act, _opens).calls))
    _tried(act, 2, share(points, act.name), _opens)


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.name)
def test_a_read_that_is_old_ends_no_match_and_is_caught_up_with(act: Act) -> None:
    _tried(act, 3, share(list(_old_reads(_undisturbed(act).calls)), act.name))


@pytest.mark.parametrize("act", part(ACTS, 5), ids=lambda act: act.name)
def test_an_act_undisturbed_is_the_same_twice(act: Act) -> None:
    again = _once(act, Prompter())
    assert [call.what for call in again.calls] == [call.what for call in _undisturbed(act).calls]
    assert again.rooms == _undisturbed(act).rooms


def test_a_branch_comes_to_what_it_comes_to_when_it_is_played_from_the_beginning() -> None:
    act = ACTS[0]
    wanted = _undisturbed(act)
    points = [*_wrongs(wanted.calls, acts), *_deaths(wanted.calls)][7::141]
    points.sort(key=itemgetter(0))  # as they are met
    endings: list[Ending | None] = []

    def told(branch: Branch, ending: Ending | None, problem: str) -> bool:
        assert not problem
        endings.append(ending)
        return True

    play_branches(act, wanted, points, acts, told)
    again = [_once(act, prompter, wanted) for _, _, prompter in points]
    assert len(endings) > 5
    assert endings == again


def test_rooms_too_few_are_told_as_those_too_many_are() -> None:
    wanted = _undisturbed(ACTS[0])
    less = replace(wanted, made=wanted.made - Counter(arena=1), removed=Counter(lobby=2))
    assert less.fewer(wanted) == ["1 fewer made in arena"]
    assert less.more(wanted) == ["2 more removed in lobby"]
    assert wanted.fewer(less) == ["2 fewer removed in lobby"]
    assert not wanted.fewer(wanted)
