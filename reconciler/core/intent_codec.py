"""What is remembered of scaling, to JSON and back: a part of the state record."""

from reconciler.core.scaling_record import past_from_json, past_to_json
from reconciler.model.decisions import NO_PAST
from reconciler.model.intents import NO_SCALING, Intent, Landing, Scaling, Step
from reconciler.model.refs import Json


def dump_scaling(scaling: Scaling) -> Json:
    """Return what `load_scaling` reads, as a JSON object."""
    intent = scaling.intent
    return {
        "intent": intent
        and {
            "base": intent.base,
            "value": intent.value,
            "toldAt": intent.told_at,
            "steps": [_parts(step) for step in intent.steps],
        },
        "landings": [
            [each.commit, each.value, each.decided_at, each.told_before]
            for each in scaling.landings
        ],
        "heldUntil": scaling.held_until,
        "heldBy": scaling.held_by,
        "heldAt": scaling.held_at,
        "heldSeconds": scaling.held_seconds,
        "waitsBy": scaling.waits_by,
        "lowered": scaling.lowered,
        "own": scaling.own,
        **({"undone": [_parts(step) for step in scaling.undone]} if scaling.undone else {}),
        **({"unlisted": scaling.unlisted} if scaling.unlisted else {}),
        **({"wentBack": True} if scaling.went_back else {}),
        **({"waitsBack": True} if scaling.waits_back else {}),
        "last": scaling.last and _parts(scaling.last),
        "past": None if scaling.past == NO_PAST else past_to_json(scaling.past),
    }


def _parts(step: Step) -> list[float | str]:
    return [step.at, step.before, step.after, step.policy, step.reason]


def load_scaling(value: Json) -> Scaling:
    """Read what is remembered; what is missing takes its default. Raises ValueError.

    Of nothing it is NO_SCALING itself: who looks through a thousand records tells it by that.
    """
    if value == {}:
        return NO_SCALING
    intent = value.get("intent")
    if intent and not intent["steps"]:
        raise ValueError("the intent has no step")
    return Scaling(
        intent=Intent(
            intent["base"],
            intent["value"],
            tuple(Step(*parts) for parts in intent["steps"]),
            intent.get("toldAt", 0.0),
        )
        if intent
        else None,
        landings=tuple(Landing(*parts) for parts in value.get("landings", [])),
        held_until=value.get("heldUntil", 0.0),
        held_by=value.get("heldBy", ""),
        held_at=value.get("heldAt", 0.0),
        held_seconds=value.get("heldSeconds", 0.0),
        waits_by=value.get("waitsBy", ""),
        lowered=tuple((at, count) for at, count in value.get("lowered", [])),
        own=value.get("own"),
        undone=tuple(Step(*parts) for parts in value.get("undone", [])),
        unlisted=tuple(value["unlisted"]) if value.get("unlisted") else None,
        went_back=value.get("wentBack", False),
        waits_back=value.get("waitsBack", False),
        last=Step(*value["last"]) if value.get("last") else None,
        past=past_from_json(value["past"]) if value.get("past") else NO_PAST,
    )
