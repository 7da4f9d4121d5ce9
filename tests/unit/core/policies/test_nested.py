"""Policies inside policies: checked at their place, asked once, remembered each for itself."""

from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.core import calendar
from reconciler.core.autoscaling_checks import MOST_POLICIES
from reconciler.core.policies import nested
from reconciler.core.policies.policy import Ask, Facts, Policy
from reconciler.core.policies.table import policy_table
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look, PolicySpec
from tests.unit.core.policies.looks import a_load, a_look, policies, schemas
from tests.unit.core.reading import rules

FACTS = Facts(reports=True, minimum=0, maximum=100)


@dataclass(frozen=True, slots=True)
class Counting:
    """A policy that remembers how often it was asked."""

    name: str = "counting"
    schema: Json = field(default_factory=lambda: {"type": "object"})

    def problems(self, parameters: Json, facts: Facts) -> tuple[()]:
        return ()

    def asks(self, parameters: Json) -> tuple[()]:
        return ()

    def advise(self, parameters: Json, look: Look) -> Advice:
        if parameters.get("broken"):
            raise ZeroDivisionError("its own affair")
        times = int(look.memory or b"0") + 1
        return Advice(times, f"asked {times} times", memory=str(times).encode())


WITH: dict[str, Policy] = {**policies(), "counting": Counting()}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        pytest.param({"fixedBuffer": {"amount": 5}}, set(), id="sound"),
        pytest.param({"fixedBufer": {"amount": 5}}, {("p.fixedBufer", "policy")}, id="mistyped"),
        pytest.param({}, {("p", "policy")}, id="none"),
        pytest.param({"buffer": {"rooms": 1}, "max": []}, {("p", "policy")}, id="two"),
        pytest.param(None, {("p", "policy")}, id="null"),
        pytest.param("fixedBuffer", {("p", "policy")}, id="a word"),
        pytest.param([{"fixedBuffer": {"amount": 5}}], {("p", "policy")}, id="a list"),
        pytest.param({"fixedBuffer": None}, {("p.fixedBuffer", "missing-property")}, id="empty"),
        pytest.param({"fixedBuffer": [1]}, {("p.fixedBuffer", "type")}, id="a list in it"),
        pytest.param({"max": []}, {("p.max", "length")}, id="none inside"),
        pytest.param({"max": [{"max": [{"buffer": {"rooms": "5"}}]}]},
                     {("p.max.0.max.0.buffer.rooms", "type")}, id="deep inside"),
        pytest.param({"schedule": [{"days": ["friday"]}, {"timeZone": "Mars", "replicas": 1}]},
                     {("p.schedule.0.days.0", "enum"), ("p.schedule.1.timeZone", "time-zone")},
                     id="an item that has no form, and another one beside it"),
        pytest.param({"schedule": [{"from": "9am", "timeZone": "Mars", "replicas": 5}]},
                     {("p.schedule.0.from", "text"), ("p.schedule.0.timeZone", "time-zone")},
                     id="a time and a zone of one entry"),
        pytest.param({"schedule": [{"replicas": "5", "form": "18:00", "start": "2026-02-30"}]},
                     {("p.schedule.0.replicas", "type"),
                      ("p.schedule.0.form", "unknown-property"),
                      ("p.schedule.0.start", "date")}, id="a day beside a count that is none"),
        pytest.param({"chain": [{"from": "9am", "policy": {"bufer": {}}},
                                {"policy": {"fixedBuffer": {"amount": 1}}}]},
                     {("p.chain.0.from", "text"), ("p.chain.0.policy.bufer", "policy")},
                     id="an entry without its wrong time does not hold always"),
        pytest.param({"chain": [{"from": "9am", "policy": 5, "timeZone": "Mars"}]},
                     {("p.chain.0.from", "text"), ("p.chain.0.policy", "type")},
                     id="an entry of which too little is left"),
        pytest.param({"chain": [None, {}, {"policy": {}}]},
                     {("p.chain.0", "type"), ("p.chain.1", "missing-property"),
                      ("p.chain.2.policy", "policy")},
                     id="items of all kinds"),
        pytest.param({"counting": {"any": "thing"}}, set(), id="somebody else's"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_policy(value: Any, found: set[tuple[str, str]]) -> None:
    assert rules(nested.check_policy(value, ("p",), WITH, FACTS)) == found


def test_a_mistake_names_what_is_known() -> None:
    def fix(value: Any) -> str:
        (mistake,) = nested.check_policy(value, (), policies(), FACTS)
        return mistake.fix

    assert fix({"fixedBufer": {}}) == "did you mean fixedBuffer?"
    assert fix({"magic": {}}).startswith("known: activePlayers, ")
    assert fix({"buffer": {}, "metric": {}}) == "write them as a list under max, min or chain"


def test_the_words_of_somebody_elses_schema_are_told_too() -> None:
    odd = Counting("odd", {"type": "object", "minProperties": 1})

    (mistake,) = nested.check_policy({"odd": {}}, (), {"odd": odd}, FACTS)

    assert mistake.message.startswith("must be what its schema says (minProperties)")


def test_each_remembers_for_itself_wherever_it_stands() -> None:
    of: list[Json] = [{"counting": {}}, {"fixedBuffer": {"amount": 1}}, {"max": [{"counting": {}}]}]
    of += [{"chain": [{"policy": {"counting": {}}}]}, {"schedule": [{"policy": {"counting": {}}}]}]
    of += [{"min": [{"counting": {}}]}]
    look = a_look(a_load(ready=9))
    table = policy_table(schemas(), {"UTC": calendar.utc}, [Counting()])

    memory = b""
    for turn in (1, 2, 3):
        advices = nested.advise_each(of, replace(look, memory=memory), table)
        memory = nested.memory_of(of, advices)
        assert [advice.replicas for advice in advices] == [turn, 1, turn, turn, turn, turn]


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_a_memory_that_is_none_is_forgotten(memory: bytes) -> None:
    (found,) = nested.advise_each([{"counting": {}}], a_look(memory=memory), WITH)

    assert found.replicas == 1


@dataclass(frozen=True, slots=True)
class Saying(Counting):
    """A policy that says whatever it is told to."""

    words: Any = None

    def advise(self, parameters: Json, look: Look) -> Advice:
        said: Advice = self.words
        return said


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(None, id="nothing"),
        pytest.param(7, id="a bare count"),
        pytest.param(Advice(7, cast(Any, None)), id="no reason"),
        pytest.param(Advice(7, "x", hold=cast(Any, None)), id="no hold"),
        pytest.param(Advice(7, "x", missing=cast(Any, 5)), id="a number for who is missing"),
        pytest.param(Advice(7, "x", memory=cast(Any, "x")), id="a memory that is text"),
        pytest.param(
            Advice(7, "x", may_remove=cast(Any, "no")), id="a word for whether any may go"
        ),
    ],
)
def test_what_is_no_advice_holds_its_workload_alone(words: Any) -> None:
    found = nested.advise_by(
        PolicySpec("odd"), a_look(a_load(ready=4)), {"odd": Saying(words=words)}
    )

    assert found.replicas == 4
    assert found.hold.startswith("the policy odd failed: ")


@pytest.mark.parametrize(
    "count", [cast(Any, float("nan")), -3, 10**9, pytest.param(10**5000, id="a huge number")]
)
@pytest.mark.parametrize("name", ["max", "min"])
def test_one_of_several_that_advises_no_count_takes_no_room(name: str, count: int) -> None:
    odd = Saying("counting", words=Advice(count, "x"))
    table = policy_table(schemas(), {"UTC": calendar.utc}, [odd])
    of = [{"schedule": [{"replicas": 2}]}, {"counting": {}}]

    found = nested.advise_by(PolicySpec(name, {"of": of}), a_look(a_load(ready=9)), table)

    assert nested.wanted(found, a_look(a_load(ready=9))) == 9
    assert "policy 2 of 2 cannot tell: the policy advised " in found.missing + found.hold


def test_who_is_missing_is_told_in_one_short_line() -> None:
    said = Advice(7, "x", missing="a\nb" + "x" * 5000)

    found = nested.advise_by(PolicySpec("odd"), a_look(), {"odd": Saying(words=said)})

    assert found.missing.startswith(r"a\u000abxx")
    assert len(found.missing) < 1100


@dataclass(frozen=True, slots=True)
class Nosy(Counting):
    """A policy that asks what it is told to, and fails where it is checked."""

    what: Any = None

    def problems(self, parameters: Json, facts: Facts) -> tuple[()]:
        raise KeyError("its own affair")

    def asks(self, parameters: Json) -> Any:
        return self.what


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(None, id="nothing"),
        pytest.param(["https://a.example.com"], id="an address"),
        pytest.param([Ask("x", "webhook", "https://a/", every_seconds=0.0)], id="all the time"),
        pytest.param([Ask("x", "webhook", "https://a/", every_seconds=float("nan"))], id="never"),
        pytest.param([Ask("x", cast(Any, "mail"), "a")], id="in another way"),
    ],
)
def test_what_a_strangers_policy_asks_amiss_is_asked_of_nobody(what: Any) -> None:
    table: dict[str, Policy] = {"counting": Nosy(what=what)}

    assert nested.asks_by(PolicySpec("counting"), table) == ()
    assert nested.asks_of([{"counting": {}}], table) == ()


def test_a_strangers_policy_that_cannot_be_checked_is_one_mistake() -> None:
    (found,) = nested.check_policy({"counting": {}}, ("p",), {"counting": Nosy()}, FACTS)

    assert found.message == "the policy counting cannot be checked: KeyError"


def test_an_advice_is_kept_in_one_short_line_that_can_be_written() -> None:
    said = Advice(7, "a\nb\ud800" + "x" * 5000, hold="y" * 5000)

    found = nested.advise_by(PolicySpec("odd"), a_look(), {"odd": Saying(words=said)})

    assert found.reason.startswith(r"a\u000ab\ud800xx")
    assert len(found.reason) < 1100
    assert len(found.hold) == 1000


def test_as_many_policies_as_a_spec_may_hold_remember() -> None:
    entries = [{"days": ["mon"], "policy": {"adaptive": {}}} for _ in range(MOST_POLICIES // 2 - 1)]
    halves = [{"chain": entries}, {"schedule": entries}]
    look = a_look(a_load(ready=4, occupied=3))

    found = nested.advise_by(PolicySpec("max", {"of": halves}), look, policies())

    assert "to remember" not in found.reason
    assert len(found.memory) > 28 * 4000


def test_a_memory_that_no_record_could_hold_is_forgotten() -> None:
    value: Json = {"counting": {}}
    for _ in range(20):
        value = {"max": [value]}
    odd = Saying("counting", words=Advice(7, "x", memory=b"m" * nested.MOST_MEMORY_BYTES))
    table = policy_table(schemas(), {"UTC": calendar.utc}, [odd])
    ((name, inside),) = value.items()

    found = nested.advise_by(PolicySpec(name, {"of": inside}), a_look(), table)

    assert found.replicas == 7
    assert len(found.memory) <= nested.MOST_MEMORY_BYTES
    assert "to remember" in found.reason


def test_what_fails_or_is_not_installed_holds_its_workload_alone() -> None:
    look = a_look(a_load(ready=4))

    failed = nested.advise_by(PolicySpec("counting", {"broken": True}), look, WITH)
    missing = nested.advise_by(PolicySpec("gone"), look, WITH)

    assert (failed.replicas, failed.hold) == (4, "the policy counting failed: ZeroDivisionError")
    assert (missing.replicas, missing.hold) == (4, 'no policy "gone" is installed')
    assert nested.asks_of([{"gone": {}}], WITH) == ()
    assert nested.asks_by(PolicySpec("gone"), WITH) == ()
    assert nested.asks_by(PolicySpec("metric"), WITH) == (), "its parameters are missing"
    (ask,) = nested.asks_by(PolicySpec("metric", {"query": "up", "target": 1}), WITH)
    assert ask.what == "up"
