"""What is remembered of scaling in a record: small, and whole after a version that knew less."""

import json

from reconciler.core.intent_codec import dump_scaling, load_scaling
from reconciler.model.decisions import Advised, Past
from reconciler.model.intents import NO_SCALING, Intent, Landing, Scaling, Step

SCALING = Scaling(
    Intent(5, 9, (Step(10.0, 5, 9, "buffer", "4 busy"),), told_at=10.0),
    (Landing("c1", 9, 10.0, told_before=7.0), Landing("c2", 9, 12.0)),
    held_until=900.0,
    held_at=100.0,
    held_seconds=800.0,
    waits_by="c3",
    held_by="c0",
    lowered=((8.0, 12),),
    own=4,
    went_back=True,
    waits_back=True,
    last=Step(10.0, 5, 9, "buffer", "4 busy; at most 9"),
    past=Past(raised_at=10.0, highs=(Advised(1.0, 9),), memory=b"\x00\xff"),
)


def test_it_comes_back_through_json() -> None:
    assert load_scaling(json.loads(json.dumps(dump_scaling(SCALING)))) == SCALING


def test_what_an_earlier_version_did_not_write_takes_its_default() -> None:
    assert load_scaling({}) == NO_SCALING
    assert load_scaling({"landings": [["c1", 9, 10.0]]}).landings == (Landing("c1", 9, 10.0),)
