"""What shaped a count, in sentences and for programs."""

from dataclasses import replace

from reconciler.cli.explain_count import CountStory, count_json, count_lines
from reconciler.model.decisions import NO_PAST, Decision
from reconciler.model.intents import Intent, Scaling, Step
from reconciler.model.last_looks import LastLook
from reconciler.model.outbox import EMPTY_OUTBOX, Outbox
from reconciler.model.records import Accepted, StateRecord
from reconciler.model.scaling import Bounds
from reconciler.model.specs import WriteBack
from tests.unit.core.making import NOW, a_key
from tests.unit.core.policies.looks import a_load

INTENT = Intent(5, 8, (Step(NOW - 20, 5, 8, "buffer", "3 busy and 5 spare"),))
ACCEPTED = Accepted("{}", 5, "c" * 40, "arena.yaml", 1)
DECISION = Decision(9, "", NO_PAST, ("4 busy and 5 spare", "at most 1 at once: 9, not 10"), "", 10)
STORY = CountStory(
    key=a_key(),
    record=StateRecord(accepted=ACCEPTED, scaling=Scaling(INTENT)),
    place="arena.yaml:7",
    outbox=EMPTY_OUTBOX,
    back=WriteBack(),
    load=a_load(ready=4, occupied=4, replicas=8, players=9, trouble="1 of 8 rooms are not heard"),
    decision=DECISION,
    bounds=Bounds(2, 20),
)
HELD = replace(STORY, record=replace(STORY.record, scaling=Scaling(None, (), NOW + 300, "d" * 40)))


def lines(story: CountStory) -> list[str]:
    return [f"{head}|{text}" for head, text in count_lines(story, NOW)]


def test_everything_that_shaped_the_count_has_its_line() -> None:
    *told, last = lines(STORY)
    assert told == [
        "in Git|5 by arena.yaml:7",
        "decided|8 since 20 s, by buffer: 3 busy and 5 spare",
        "|to be committed in 40 s, with what is decided until then",
        "its load|8 wanted: 4 ready, 4 occupied; 4 matches, 9 players; 1 of 8 rooms are not heard",
        "its policy|4 busy and 5 spare",
        "then|at most 1 at once: 9, not 10",
    ]
    assert last.startswith("comes to|9 rooms, not knowing what the loop alone remembers")


def test_players_of_a_match_that_no_room_told_are_no_0() -> None:
    unknown = replace(STORY, load=a_load(ready=4, occupied=4, replicas=8, players=0))
    assert "its load|8 wanted: 4 ready, 4 occupied; 4 matches, players not known" in lines(unknown)
    assert count_json(unknown, NOW)["load"]["players"] is None
    idle = replace(STORY, load=a_load(ready=4, occupied=0, replicas=4, players=0))
    assert "its load|4 wanted: 4 ready; 0 matches, 0 players" in lines(idle)
    assert count_json(idle, NOW)["load"]["players"] == 0


def test_a_number_of_a_person_is_told_with_its_commit_and_its_end() -> None:
    told = lines(HELD)
    assert "held|the number was set by hand in dddddddddddd: no policy until " in "\n".join(told)
    assert not any(line.startswith("decided") for line in told)
    value = count_json(HELD, NOW)
    assert (value["heldBy"], value["heldUntil"], value["intent"]) == ("d" * 40, NOW + 300, None)
    over = replace(HELD, record=replace(HELD.record, scaling=Scaling(None, (), NOW, "d" * 40)))
    assert count_json(over, NOW)["heldBy"] is None


def test_a_number_that_cannot_be_committed_says_why() -> None:
    refused = replace(STORY, outbox=Outbox(refused={a_key(): "line 7: it has an anchor"}))
    assert "|it cannot be written: line 7: it has an anchor" in lines(refused)


def test_a_policy_that_asks_others_is_not_decided_for() -> None:
    asking = replace(STORY, asked=("metric",))
    assert lines(asking)[-2:] == [
        "its policy|asks others (metric), and the loop alone does that",
        "then|no fewer than 2, no more than 20",
    ]
    assert count_json(asking, NOW)["decision"] is None


def test_what_a_policy_came_to_that_asks_others_is_told_with_what_limits_it() -> None:
    limit = "8 is the most that was wanted within 300 s"
    look = LastLook(NOW - 4, NOW - 20, 2, 8, ("20, wanted 10 a room: 2 rooms", limit), NOW + 90)
    asking = replace(STORY, asked=("metric",), last_look=look)
    assert lines(asking)[-3:] == [
        "its policy|asks others (metric, answered 20 s ago): 20, wanted 10 a room: 2 rooms",
        f"then|{limit}",
        "comes to|8 rooms, as the loop reckoned 4 s ago; more may be allowed in 90 s",
    ]
    told = count_json(asking, NOW)["lastLook"]
    assert (told["advised"], told["replicas"], told["steps"][1]) == (2, 8, limit)
    assert count_json(STORY, NOW)["lastLook"] is None
    unanswered = replace(look, answered_at=0.0, again_at=0.0, steps=("held: no route",))
    assert lines(replace(asking, last_look=unanswered))[-2:] == [
        "its policy|asks others (metric): held: no route",
        "comes to|8 rooms, as the loop reckoned 4 s ago",
    ]


def test_what_was_decided_last_is_told_also_when_its_count_has_landed() -> None:
    last = Step(NOW - 7200, 8, 5, "metric", "50, wanted 10 a room: 5 rooms; at most 3 go")
    landed = replace(STORY, record=replace(STORY.record, scaling=Scaling(last=last)))
    told = "decided|last 8 -> 5, 2 h ago, by metric: 50, wanted 10 a room: 5 rooms; at most 3 go"
    assert told in lines(replace(landed, asked=("metric",)))
    value = count_json(landed, NOW)["lastDecision"]
    assert (value["from"], value["to"], value["policy"]) == (8, 5, "metric")
    assert count_json(STORY, NOW)["lastDecision"] is None
    assert not any("last " in line for line in lines(STORY)[:3]), "what is on its way says it all"


def test_a_policy_that_may_not_act_is_told_as_such() -> None:
    off = replace(STORY, off="suspend is true: no policy decides")
    assert "off|suspend is true: no policy decides" in lines(off)
    assert count_json(off, NOW)["off"] == off.off
    assert count_json(STORY, NOW)["off"] is None


def test_programs_read_the_same() -> None:
    value = count_json(STORY, NOW)
    assert (value["inGit"], value["source"]) == (5, "arena.yaml:7")
    assert (value["intent"]["from"], value["intent"]["to"]) == (5, 8)
    assert (value["standing"]["stands"], len(value["steps"])) == ("waiting", 1)
    assert value["load"]["ready"] == 4
    assert (value["decision"]["replicas"], value["decision"]["advised"]) == (9, 10)
