"""What webhooks are asked and answer: ours, and Agones' FleetAutoscaleReview."""

from typing import Any

import pytest

from reconciler.core.policies import reviews
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Bounds
from tests.unit.core.policies.looks import a_load

KEY = WorkloadKey("Scheduler", "arena", "arena")


def test_our_question_holds_the_load_in_the_words_of_specs() -> None:
    load = a_load(ready=2, active=1, occupied=3, matches=9, matches_max=4)

    question = reviews.request_of(KEY, load, Bounds(1, 50))

    assert question["workload"] == {"kind": "Scheduler", "namespace": "arena", "name": "arena"}
    assert (question["replicas"], question["bounds"]) == (6, {"min": 1, "max": 50})
    assert question["load"]["matchesMax"] == 4
    assert question["load"]["matches"] == 9


def test_agones_question_is_a_review_of_its_own_form() -> None:
    load = a_load(ready=2, active=1, occupied=3, allocated=1, starting=1)

    assert reviews.agones_request_of(KEY, load, "u-1") == {
        "request": {
            "uid": "u-1",
            "name": "arena",
            "namespace": "arena",
            "status": {
                "replicas": 8,
                "readyReplicas": 2,
                "reservedReplicas": 0,
                "allocatedReplicas": 5,
            },
        },
        "response": None,
    }


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        pytest.param({"replicas": 7, "reason": "a\x1bcup"}, 7, id="a count with its reason"),
        pytest.param({"replicas": 7.0}, 7, id="a whole number written as a fraction"),
        pytest.param({"replicas": 7.5}, None, id="half a room"),
        pytest.param({"replicas": -1}, None, id="fewer than none"),
        pytest.param({"replicas": 10**9}, None, id="more than there are machines"),
        pytest.param({"replicas": "7"}, None, id="text"),
        pytest.param({"replicas": True}, None, id="true"),
        pytest.param({}, None, id="nothing"),
        pytest.param([7], None, id="a list"),
        pytest.param(7.0, None, id="a bare number"),
        pytest.param(None, None, id="null"),
    ],
)
def test_our_answer_is_a_count_or_none(answer: Any, count: int | None) -> None:
    found, told = reviews.answer_of(answer)

    assert found == count
    assert told.isprintable()


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        pytest.param({"replicas": 7, "reason": "cup", "trace": ["…"]},
                     {"replicas": 7, "reason": "cup"}, id="a count and a reason alone"),
        pytest.param({"replicas": [7] * 1000, "reason": 7}, {"replicas": None, "reason": ""},
                     id="what has no right form is not kept"),
        pytest.param({"replicas": 7, "reason": "token=hunter2hunter2"},
                     {"replicas": 7, "reason": "token=***"}, id="no secret"),
        pytest.param(None, None, id="no answer"),
    ],
)  # fmt: skip
def test_what_is_kept_of_our_answer(answer: Any, kept: Any) -> None:
    assert reviews.pertinent(answer) == kept


def test_a_long_reason_is_cut() -> None:
    kept = reviews.pertinent({"reason": "x" * 5000})

    assert kept is not None
    assert len(kept["reason"]) == 200


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        pytest.param({"request": {}, "response": {"uid": "u", "scale": True, "replicas": 3}},
                     {"response": {"scale": True, "replicas": 3}}, id="its count alone"),
        pytest.param({"response": {"scale": "no", "replicas": 3}},
                     {"response": {"scale": None, "replicas": 3}}, id="a word that is none"),
        pytest.param({"response": {"replicas": 3}},
                     {"response": {"scale": False, "replicas": 3}}, id="no word on it"),
        pytest.param({"response": None}, {"response": None}, id="no response"),
        pytest.param([], None, id="no answer"),
    ],
)  # fmt: skip
def test_what_is_kept_of_agones_answer(answer: Any, kept: Any) -> None:
    assert reviews.agones_pertinent(answer) == kept


@pytest.mark.parametrize(
    ("answer", "doubted"),
    [
        pytest.param({"response": {"uid": "u-1"}}, False, id="its uid came back"),
        pytest.param({"response": {"uid": "u-2"}}, True, id="another question's"),
        pytest.param({"response": {"uid": 7}}, True, id="a number is another's"),
        pytest.param({"response": {"scale": True, "replicas": 3}}, False, id="it names none"),
        pytest.param({"response": {"uid": ""}}, False, id="nor one without a word"),
        pytest.param({"response": None}, False, id="no response is told elsewhere"),
        pytest.param({}, False, id="nor nothing at all"),
    ],
)
def test_an_answer_is_to_the_question_that_was_asked(answer: Any, doubted: bool) -> None:
    assert bool(reviews.agones_doubt(answer, "u-1")) is doubted


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        pytest.param({"response": {"uid": "u", "scale": True, "replicas": 9}}, 9, id="scale"),
        pytest.param({"response": {"uid": "u", "scale": False, "replicas": 9}}, 4, id="do not"),
        pytest.param({"response": {"uid": "u"}}, 4, id="no word on it"),
        pytest.param({"response": {"scale": True}}, None, id="scale, to no count"),
        pytest.param({"response": {"scale": "true", "replicas": 9}}, None, id="scale as a text"),
        pytest.param({"response": {"scale": 0, "replicas": 9}}, None, id="scale as a number"),
        pytest.param({"response": {"scale": None, "replicas": 9}}, None, id="scale as nothing"),
        pytest.param({"response": None}, None, id="no response, over which Agones crashed"),
        pytest.param({}, None, id="nothing"),
        pytest.param("ok", None, id="text"),
    ],
)
def test_agones_answer_is_a_count_or_none(answer: Any, count: int | None) -> None:
    assert reviews.agones_answer_of(answer, 4)[0] == count
    assert reviews.agones_answer_of(reviews.agones_pertinent(answer), 4)[0] == count


@pytest.mark.parametrize(
    ("response", "scales"),
    [({"scale": True, "replicas": 0}, True), ({"scale": False, "replicas": 4}, False), ({}, False)],
)
def test_as_many_as_there_are_is_no_count_of_its_own(
    response: dict[str, Any], scales: bool
) -> None:
    assert reviews.agones_scales({"response": response}) is scales
