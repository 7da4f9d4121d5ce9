"""What the Lease says of policies that ask others is what the loop came to when it looked last."""

from dataclasses import replace

import pytest

from reconciler.core.deciding import decide
from reconciler.core.policies.policy import policy_of
from reconciler.model import labels
from reconciler.model.decisions import NO_PAST, Decision
from reconciler.model.intents import Scaling
from reconciler.model.last_looks import LastLook
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Autoscaling, Bounds, Look, Signal
from reconciler.model.specs import Budgets
from reconciler.service.last_looks import (
    FIRST_STEP,
    LONGEST_STEPS,
    MOST_BYTES,
    MOST_LOOKS,
    LastLooks,
    last_looks_of,
)
from reconciler.service.lookout import Lookout
from reconciler.service.scalers import Scalers
from reconciler.service.scaling_voice import ScalingVoice
from reconciler.wiring.serving import lease_notes
from tests.unit.core.making import a_key
from tests.unit.core.policies.looks import NOW, a_load, a_look, policies, signal
from tests.unit.service_faces.hall import Hall
from tests.unit.service_views.scripted import VirtualClock

KEY = a_key()
LIMIT = "60 is the most that was wanted within 300 s"


def asked(value: float | None = 20.0, trouble: str = "") -> Look:
    signals = {"metric q": signal(value, 5.0, trouble)}
    return a_look(a_load(ready=60, replicas=60), signals=signals)


def decision(advised: int | None, *steps: str, replicas: int = 60) -> Decision:
    return Decision(replicas, "", NO_PAST, steps, "", advised, 90.0)


def read_back(looks: LastLooks) -> LastLook:
    return last_looks_of(looks.notes())[KEY]


def test_a_fall_that_its_window_holds_is_told_with_the_answer_and_the_window() -> None:
    policy = policy_of({"metric": {"query": "q", "targetPerRoom": 10}})
    rule, look = Autoscaling(True, Bounds(2, 60), policy), asked()
    calm = Scaling()
    for at in (0.0, 130.0):  # the first answer of a fall is doubted for two minutes
        told = {"metric q": Signal(NOW + at - 5, 20.0)}
        look = replace(look, now=NOW + at, signals=told)
        decided = decide(rule, 60, calm, look, policies(), Budgets())
        calm = decided.scaling
    looks = LastLooks()
    looks.note(KEY, look, decided.decision)
    found = read_back(looks)
    assert (found.advised, found.replicas, found.is_limited) == (2, 60, True)
    assert (found.at, found.answered_at) == (NOW + 130, NOW + 125)
    assert found.steps == ("20, wanted 10 a room: 2 rooms", LIMIT)
    assert found.again_at > found.at


def test_a_policy_that_asks_nobody_is_none_of_it() -> None:
    looks = LastLooks()
    looks.note(KEY, a_look(), decision(5, "5 rooms"))
    assert looks.notes() == {}
    looks.note(KEY, asked(), decision(5, "5 rooms"))
    assert KEY in last_looks_of(looks.notes())
    looks.note(KEY, a_look(), decision(5, "5 rooms"))
    assert looks.notes() == {}, "its policy is another one now"


def test_one_that_cannot_tell_limits_nothing_and_has_no_answer() -> None:
    looks = LastLooks()
    looks.note(KEY, asked(None, "no route to host"), decision(None, "held: no route to host"))
    found = read_back(looks)
    assert (found.advised, found.is_limited, found.answered_at) == (None, False, 0.0)


def test_who_leads_no_more_forgets() -> None:
    looks = LastLooks()
    for name in ("arena", "duel"):
        looks.note(a_key(name), asked(), decision(2, "2 rooms", LIMIT))
    looks.forget(a_key("duel"))
    assert [*last_looks_of(looks.notes())] == [KEY]
    looks.forget()
    assert looks.notes() == {}


def test_of_too_many_those_are_told_that_something_limits() -> None:
    looks = LastLooks()
    for number in range(MOST_LOOKS):
        looks.note(WorkloadKey("Scheduler", "a", f"a{number}"), asked(), decision(60, "60 rooms"))
    looks.note(KEY, asked(), decision(2, "x" * 5000, LIMIT))
    told = last_looks_of(looks.notes())
    assert (len(told), KEY in told) == (MOST_LOOKS, True)
    assert told[KEY].steps[-1] == LIMIT, "what limits it is not cut off"
    assert sum(map(len, told[KEY].steps)) == LONGEST_STEPS


def test_so_many_long_words_leave_the_lease_room_for_what_keeps_it() -> None:
    looks = LastLooks()
    for number in range(MOST_LOOKS):
        key = WorkloadKey("Scheduler", "a", f"a{number}")
        looks.note(key, asked(), decision(60, "\N{VIDEO GAME}" * 5000))
    looks.note(KEY, asked(), decision(2, "2 rooms\ud800", LIMIT))
    (note,) = looks.notes().values()
    assert len(note.encode()) <= MOST_BYTES
    told = last_looks_of(looks.notes())
    assert 8 < len(told) < MOST_LOOKS, "what is shown is not escaped six times over"
    assert KEY in told


def test_a_long_limit_leaves_the_reason_of_the_policy_first() -> None:
    looks = LastLooks()
    looks.note(KEY, asked(), decision(2, "2 rooms", "held, no room goes: " + "y" * 5000))
    assert read_back(looks).steps[0] == "2 rooms"
    looks.note(KEY, asked(), decision(2, "x" * 5000, "y" * 5000, "z" * 5000))
    first, *others = read_back(looks).steps
    assert (first, len("".join(others))) == ("x" * FIRST_STEP, LONGEST_STEPS - FIRST_STEP)


def test_before_the_first_look_at_git_the_lease_stays_as_it_is() -> None:
    lookout, now = Lookout(clock := VirtualClock()), clock.now
    scalers = Scalers(Hall().lane, policies(), Budgets, now, observer=ScalingVoice())
    scalers.last_looks.note(KEY, asked(), decision(2, "2 rooms", LIMIT))
    assert lease_notes(lookout, scalers) == {}
    lookout.stumbled(ValueError())
    assert labels.LAST_LOOKS in lease_notes(lookout, scalers)
    scalers.forget()
    assert [*lease_notes(lookout, scalers)] == [*lease_notes(lookout, None)] != []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "{}x",
        '{"a": 1}',
        "[[1]]",
        '[["a","b","c",Infinity,0,1,1,0,[]]]',
        "[7]",
        "[" * 100_000,
    ],
)
def test_what_somebody_else_wrote_there_is_nothing(text: str) -> None:
    assert last_looks_of({labels.LAST_LOOKS: text}) == {}
