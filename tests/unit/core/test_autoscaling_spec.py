"""Spec `autoscaling` with its defaults; it is no part of what a room is."""

from typing import Any

import pytest

from reconciler.core.autoscaling_spec import autoscaling_of, share_of
from reconciler.core.compile import compile_workload, workload_from_json
from reconciler.model.scaling import Autoscaling, Bounds, Pace, PolicySpec
from reconciler.model.shares import Share
from tests.unit.core.reading import SPEC, document_of, loaded

PLAIN = "{min: 1, max: 9, policy: {fixedBuffer: {amount: 5}}}"
WHOLE = (
    "{enabled: false, min: 0, max: 9, policy: {max: [{buffer: {rooms: 1}}]}, "
    "scaleUp: {cooldownSeconds: 1, stabilizationSeconds: 2, step: 3}, "
    "scaleDown: {cooldownSeconds: 4, stabilizationSeconds: 0, step: 10%}}"
)


def test_what_is_not_written_is_the_default() -> None:
    assert autoscaling_of({}) is None
    assert autoscaling_of({"autoscaling": None}) is None
    assert autoscaling_of({"autoscaling": loaded(PLAIN)}) == Autoscaling(
        enabled=True,
        bounds=Bounds(1, 9),
        policy=PolicySpec("fixedBuffer", {"amount": 5}),
        scale_up=Pace(0, 0, None),
        scale_down=Pace(0, 300, None),
    )


def test_what_is_written_is_taken_over() -> None:
    assert autoscaling_of({"autoscaling": loaded(WHOLE)}) == Autoscaling(
        enabled=False,
        bounds=Bounds(0, 9),
        policy=PolicySpec("max", {"of": [{"buffer": {"rooms": 1}}]}),
        scale_up=Pace(1, 2, Share(3)),
        scale_down=Pace(4, 0, Share(10, percent=True)),
    )


@pytest.mark.parametrize(
    ("written", "wanted"),
    [("25%", Share(25, percent=True)), (0, Share(0)), (7, Share(7)), (None, None)],
)
def test_a_share(written: Any, wanted: Share | None) -> None:
    assert share_of(written) == wanted


def test_changed_autoscaling_is_another_spec_and_the_same_rooms() -> None:
    plain = compile_workload(document_of(SPEC))
    scaled = compile_workload(document_of(f"{SPEC}  autoscaling: {PLAIN}\n"))
    other = compile_workload(document_of(f"{SPEC}  autoscaling: {WHOLE}\n"))

    assert plain.autoscaling is None
    assert scaled.autoscaling == autoscaling_of({"autoscaling": loaded(PLAIN)})
    assert len({plain.revision, scaled.revision, other.revision}) == 1
    assert len({plain.spec_json, scaled.spec_json, other.spec_json}) == 3
    assert workload_from_json(other.spec_json, other.source).autoscaling == other.autoscaling
