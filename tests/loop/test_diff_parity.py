"""What `diff BASE HEAD` says is held is what the loop holds of that very head (ADR 4)."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reconciler import assets
from reconciler.core import change
from reconciler.loop.judging import Scene, asked_for, judged
from reconciler.model.changes import Change
from reconciler.model.holds import Hold, HoldKind
from reconciler.model.intents import Passage
from reconciler.model.moves import Moves
from reconciler.model.readings import Reading
from reconciler.model.specs import LOOSEST
from reconciler.model.trees import Relation
from tests.unit.core.arriving import ON_RECORD, an_arrival
from tests.unit.core.making import NOW, accepted
from tests.unit.core.reading import CONFIG, SPEC, read

ZONES = assets.TimeZones()
SUSPENDED = ("true", '{until: "2020-01-01T00:00:00Z"}', '{until: "2040-01-01T00:00:00Z"}')
FREEZE = """\
spec:
  freeze:
    - {name: cup, from: 2027-01-15, until: 2027-01-15, timeZone: UTC}
"""
"""NOW is in it."""


def a_spec(
    name: str, replicas: int, bounds: tuple[int, int] | None = None, *more: str, on: bool = True
) -> str:
    """The text of a spec; `more` are further lines of its `spec`."""
    lines = [*more]
    if bounds is not None:
        low, high = bounds
        policy = "{fixedBuffer: {amount: 5}}"
        enabled = str(on).lower()
        lines.append(
            f"autoscaling: {{enabled: {enabled}, min: {low}, max: {high}, policy: {policy}}}"
        )
    text = SPEC.replace("name: arena", f"name: {name}").replace(
        "replicas: 10", f"replicas: {replicas}"
    )
    text = text.replace("reports: none", "reports: required")
    return text.replace("  template:", "".join(f"  {line}\n" for line in lines) + "  template:", 1)


@st.composite
def specs(draw: st.DrawFn, name: str) -> str:
    """A spec with a count, and with or without a policy, bounds and a suspension."""
    low = draw(st.sampled_from([0, 2, 10, 30]))
    bounds = draw(st.none() | st.just((low, draw(st.integers(max(low, 1), 70)))))
    sleep = [f"suspend: {draw(st.sampled_from(SUSPENDED))}"] if draw(st.integers(0, 3)) == 0 else []
    on = draw(st.integers(0, 4)) > 0
    return a_spec(name, draw(st.integers(0, 70)), bounds, *sleep, on=on)


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """The files of one commit: three workloads, of which some may be missing or broken."""
    files = {"schedulers/guard.yaml": a_spec("guard", 1)}
    for name in ("arena", "lobby", "cup"):
        fate = draw(st.integers(0, 9))
        text = draw(specs(name))
        if fate == 1:
            text = text.replace("game: arena", "game: 7")
        if fate:
            files[f"schedulers/{name}.yaml"] = text
    return files


def what_the_loop_holds(base: Reading, head: Reading) -> set[Hold]:
    """What the loop holds of a head where the base is what was accepted, and nothing removed."""
    records = {key: accepted(each, base.commit) for key, each in base.workloads.items()}
    tracked = {
        key: (Passage(head.commit, each.replicas, (base.workloads[key].replicas,)),)
        for key, each in head.workloads.items()
        if key in base.workloads and base.workloads[key].replicas != each.replicas
    }
    arrival = an_arrival(
        head,
        relation=Relation.FORWARD,
        ceiling=LOOSEST,
        accepted_config=base.config,
        dated=NOW,
        moves=Moves(tracked=tracked, wrote={}),
    )
    repository = replace(ON_RECORD, commit=base.commit)
    scene = Scene(arrival, repository, records, ZONES)
    asking = asked_for(scene)
    result = judged(scene, asking, asking.repository).result
    return {hold for hold in result.holds if hold.kind is not HoldKind.SUSPENDED}


def what_diff_says(base: Reading, head: Reading) -> Change:
    return change.compare(base, head, "local", change.Terms(LOOSEST, NOW, ZONES))


def readings(base: dict[str, str], head: dict[str, str]) -> tuple[Reading, Reading]:
    return replace(read(base), commit="c1"), replace(read(head), commit="c2")


def of_arena(*text: str) -> dict[str, str]:
    return {"schedulers/arena.yaml": "".join(text)}


@settings(deadline=None, max_examples=60)
@given(trees(), trees())
@example(of_arena(a_spec("arena", 60, (2, 60))), of_arena(a_spec("arena", 20, (2, 60))))
def test_what_ci_says_is_held_is_what_the_loop_holds(
    before: dict[str, str], after: dict[str, str]
) -> None:
    base, head = readings(before, after)
    assert set(what_diff_says(base, head).holds) == what_the_loop_holds(base, head)


@pytest.mark.parametrize(
    ("before", "after", "held"),
    [
        pytest.param(
            a_spec("arena", 60, (2, 60)), a_spec("arena", 20, (2, 60)), False, id="inside"
        ),
        pytest.param(
            a_spec("arena", 45, (2, 60)), a_spec("arena", 40, (2, 40)), False, id="with a new max"
        ),
        pytest.param(
            a_spec("arena", 60, (2, 60), f"suspend: {SUSPENDED[1]}"),
            a_spec("arena", 20, (2, 60), f"suspend: {SUSPENDED[1]}"),
            False,
            id="a suspension that is over",
        ),
        pytest.param(
            a_spec("arena", 60, (30, 60)), a_spec("arena", 20, (2, 60)), True, id="below min"
        ),
        pytest.param(
            a_spec("arena", 60), a_spec("arena", 20, (2, 60)), True, id="no policy before"
        ),
        pytest.param(a_spec("arena", 60, (2, 60)), a_spec("arena", 20), True, id="no policy now"),
        pytest.param(
            a_spec("arena", 60, (2, 60)), a_spec("arena", 20, (2, 60), on=False), True, id="off now"
        ),
        pytest.param(
            a_spec("arena", 60, (2, 60), "suspend: true"),
            a_spec("arena", 20, (2, 60)),
            True,
            id="suspended before",
        ),
    ],
)
def test_a_count_inside_reviewed_bounds_waits_for_nobody(
    before: str, after: str, held: bool
) -> None:
    base, head = readings(of_arena(before), of_arena(after))
    said = what_diff_says(base, head)
    assert set(said.holds) == what_the_loop_holds(base, head)
    assert bool(said.refused) is bool(said.change_hash) is bool(said.removals) is held
    assert ("rooms removed" in said.workloads[0].effect) is True


def test_in_a_freeze_a_count_inside_reviewed_bounds_waits_for_its_end_alone() -> None:
    frozen = {"gamekeeper.yaml": CONFIG + FREEZE}
    base, head = readings(
        frozen | of_arena(a_spec("arena", 45, (2, 60))),
        frozen | of_arena(a_spec("arena", 40, (2, 40))),
    )
    holds = what_diff_says(base, head).holds
    assert [hold.kind for hold in holds] == [HoldKind.FROZEN]
    assert set(holds) == what_the_loop_holds(base, head)
