"""webhook gives the count that somebody answered, and holds on what is none."""

from collections.abc import Callable
from typing import Any

import pytest

from reconciler.core.policies.policy import Ask, Facts
from reconciler.model.findings import Severity
from reconciler.model.scaling import Advice, Signal
from tests.unit.core.policies.looks import NOW, a_load, a_look, advice, policies, signal
from tests.unit.core.reading import rules

URL = "https://scaler.example.com/arena"
OURS, AGONES = f"webhook {URL} (gamekeeper)", f"webhook {URL} (agones)"


@pytest.mark.parametrize(
    ("form", "told", "wanted", "holds"),
    [
        pytest.param("gamekeeper", {OURS: signal({"replicas": 12, "reason": "cup"})}, 12, False,
                     id="ours"),
        pytest.param("agones", {AGONES: signal({"response": {"scale": True, "replicas": 3}})}, 3,
                     False, id="Agones'"),
        pytest.param("agones", {AGONES: signal({})}, 5, True, id="an empty answer holds"),
        pytest.param("gamekeeper", {OURS: signal({"replicas": 1}, 121)}, 5, True, id="an old one"),
        pytest.param("gamekeeper", {AGONES: signal({"replicas": 1})}, 5, True,
                     id="an answer to another question"),
        pytest.param("gamekeeper", {}, 5, True, id="none"),
    ],
)  # fmt: skip
def test_the_count_is_the_answers(
    form: str, told: dict[str, Any], wanted: int, holds: bool
) -> None:
    look = a_look(a_load(ready=5), signals=told)

    found = advice({"webhook": {"url": URL, "form": form}}, look)

    assert (found.replicas, bool(found.hold)) == (wanted, holds)


def test_no_room_goes_by_an_answer_that_has_no_newer_one() -> None:
    look = a_look(a_load(ready=20), signals={OURS: signal({"replicas": 2}, 30, "503")})

    found = advice({"webhook": {"url": URL}}, look)

    assert (found.may_remove, found.hold) == (False, "")
    assert "503" in found.said


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        pytest.param("gamekeeper", lambda count: {OURS: {"replicas": count}}, id="ours"),
        pytest.param(
            "agones",
            lambda count: {AGONES: {"response": {"scale": True, "replicas": count}}},
            id="Agones'",
        ),
    ],
)
def test_a_sudden_fall_takes_no_room_until_it_lasts(
    form: str, answer: Callable[[int], dict[str, Any]]
) -> None:
    memory, found = b"", []
    for number, count in enumerate([20, 0, 0, 0, 0, 0, 30]):
        at = NOW + 30 * number
        told = {name: Signal(at, value) for name, value in answer(count).items()}
        look = a_look(a_load(ready=20), now=at, signals=told, memory=memory)
        found.append(advice({"webhook": {"url": URL, "form": form}}, look))
        memory = found[-1].memory

    assert [each.may_remove for each in found] == [True, *[False] * 4, True, True]
    assert (
        "it fell from 20: no room goes until an answer 120 s later tells it too" in found[1].reason
    )
    assert [each.replicas for each in found] == [20, 0, 0, 0, 0, 0, 30]


@pytest.mark.parametrize("form", ["gamekeeper", "agones"])
def test_a_count_of_zero_takes_no_room_while_rooms_that_are_heard_have_players(form: str) -> None:
    memory, found = b"", []
    answer = {"replicas": 0, "reason": "nobody", "response": {"scale": True, "replicas": 0}}
    for number, busy in enumerate([1] * 9 + [0] * 5):
        at = NOW + 30 * number
        told = {name: Signal(at, answer) for name in (OURS, AGONES)}
        look = a_look(a_load(ready=3, allocated=busy), now=at, signals=told, memory=memory)
        found.append(advice({"webhook": {"url": URL, "form": form}}, look))
        memory = found[-1].memory

    assert {each.hold for each in found[:9]} == {
        "the webhook comes to 0, while 1 of 4 rooms that are heard has players: no room goes by it"
    }
    assert [(each.hold, each.may_remove) for each in found[9:]] == [
        *[("", False)] * 3,
        *[("", True)] * 2,
    ]


def test_what_a_query_told_is_no_ground_to_believe_a_first_zero() -> None:
    """The memory is kept when a spec changes its policy."""
    query = {"metric": {"query": "q", "targetPerRoom": 20}}
    memory = b""
    for number in range(6):
        at = NOW - 300 + 30 * number
        looked = a_look(a_load(), now=at, signals={"metric q": Signal(at, 0.0)}, memory=memory)
        memory = advice(query, looked).memory
    first = a_look(a_load(ready=20), signals={OURS: signal({"replicas": 0})}, memory=memory)

    assert advice(query, looked).may_remove
    assert not advice({"webhook": {"url": URL}}, first).may_remove


@pytest.mark.parametrize(("count", "may_remove"), [(0, False), (1, True)])
def test_of_the_first_answers_a_zero_alone_takes_no_room_yet(count: int, may_remove: bool) -> None:
    look = a_look(a_load(ready=20), signals={OURS: signal({"replicas": count})})

    assert advice({"webhook": {"url": URL}}, look).may_remove is may_remove


def test_as_many_as_there_are_is_no_fall() -> None:
    first = signal({"response": {"scale": True, "replicas": 20}}, 30)
    look = a_look(a_load(ready=20), signals={AGONES: first})
    policy = {"webhook": {"url": URL, "form": "agones"}}
    after = advice(policy, look).memory
    stays = a_look(
        a_load(ready=18), signals={AGONES: signal({"response": {"scale": False}})}, memory=after
    )

    assert (advice(policy, stays).replicas, advice(policy, stays).may_remove) == (18, True)


def test_what_is_no_count_of_its_own_is_nothing_to_fall_from() -> None:
    policy = {"webhook": {"url": URL, "form": "agones"}}
    stays, three = {"scale": False}, {"scale": True, "replicas": 3}
    memory, found = b"", []
    for number, response in enumerate([three, stays, three]):
        at = NOW + 30 * number
        told = {AGONES: Signal(at, {"response": response})}
        look = a_look(a_load(ready=20), now=at, signals=told, memory=memory)
        found.append(advice(policy, look))
        memory = found[-1].memory

    assert [(each.replicas, each.may_remove) for each in found] == [
        (3, True),
        (20, True),
        (3, True),
    ]


def after_answers(*answers: tuple[float, int | None], memory: bytes = b"") -> Advice:
    """Return what Agones' answers come to: counts or `scale: false`, by their seconds."""
    policy, found = {"webhook": {"url": URL, "form": "agones"}}, Advice(0, "", memory=memory)
    for seconds, count in answers:
        response = {"scale": count is not None, "replicas": count}
        told = {AGONES: Signal(NOW + seconds, {"response": response})}
        look = a_look(a_load(ready=20), now=NOW + seconds, signals=told, memory=found.memory)
        found = advice(policy, look)
    return found


@pytest.mark.parametrize("first", [((0.0, 20),), ()], ids=["of 20", "of what nobody knows"])
def test_a_fall_that_is_taken_back_does_not_last(first: tuple[tuple[float, int], ...]) -> None:
    back = [(60.0 + 30.0 * step, None) for step in range(8)]
    fallen = (*first, (30.0, 0), *back, (300.0, 0))

    assert not after_answers(*fallen).may_remove
    assert not after_answers(*fallen, (390.0, 0)).may_remove
    assert after_answers(*fallen, (420.0, 0)).may_remove


@pytest.mark.parametrize("memory", [b"", b"what adaptive learned"])
def test_where_no_count_was_told_nothing_is_remembered(memory: bytes) -> None:
    assert after_answers((0.0, None), memory=memory).memory == b""


@pytest.mark.parametrize(
    "url", ["https://127.1/", "https://a\\b.example.com/", "https://шлюз.example.com/"]
)
def test_an_address_that_could_mean_two_is_refused(url: str) -> None:
    found = policies()["webhook"].problems({"url": url}, Facts(reports=False))

    assert rules(found) == {("url", "webhook")}


@pytest.mark.parametrize(
    ("url", "message", "fix"),
    [
        pytest.param("http://127.0.0.1:8000/a b", 'the address holds " "', "write %20 for it",
                     id="a space in the path"),
        pytest.param("https://h.example.com?a=#1", 'the address holds "#"', "write %23 for it",
                     id="a fragment"),
        pytest.param("https://a b.example.com/", 'holds " " in the name of its host',
                     "write https://", id="a space in the host"),
        pytest.param("https://127.1/a", "the address is none, or could be read in two ways",
                     "write https://", id="no character is to blame"),
    ],
)  # fmt: skip
def test_what_is_no_address_is_told_by_its_character(url: str, message: str, fix: str) -> None:
    (found,) = policies()["webhook"].problems({"url": url}, Facts(reports=False))

    assert message in found.message
    assert found.fix.startswith(fix)


def test_it_asks_its_address_in_its_form() -> None:
    policy = policies()["webhook"]

    assert policy.asks({"url": URL}) == (Ask(OURS, "webhook", URL, "gamekeeper"),)
    assert policy.asks({"url": URL, "form": "agones"}) == (Ask(AGONES, "webhook", URL, "agones"),)


def test_an_address_with_a_password_is_refused() -> None:
    policy, facts = policies()["webhook"], Facts(reports=False)

    found = policy.problems({"url": "https://me:secret@scaler.example.com/"}, facts)

    assert rules(found) == {("url", "webhook")}
    assert not list(policy.problems({"url": "https://a.example.com/@me"}, facts))


@pytest.mark.parametrize("query", ["token=t0p", "x=1&sig=t0p", "api_key=t0p", "code=t0p"])
def test_an_address_with_what_looks_like_a_secret_is_warned_of(query: str) -> None:
    policy, facts = policies()["webhook"], Facts(reports=False)

    (found,) = policy.problems({"url": f"https://scaler.example.com/a?{query}"}, facts)

    assert (found.rule, found.severity) == ("webhook", Severity.WARNING)
    assert "t0p" not in found.message + found.fix
    assert not list(policy.problems({"url": "https://token.example.com:8443/?x=1"}, facts))
