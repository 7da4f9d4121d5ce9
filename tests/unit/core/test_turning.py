from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.turning import turned_of
from reconciler.model.live import LivePod, LiveWorkload
from reconciler.model.rooms import Ears, Heard, Mark, Said
from tests.unit.core.making import a_heard, a_room

ROOMS = 5
PODS = tuple(a_room(number) for number in range(ROOMS))
SAID = {f"uid-{number}": a_heard() for number in range(ROOMS)}
BUSY = a_heard(said=Said.OCCUPIED, matches=1)


def turned(
    pods: tuple[LivePod, ...], said: dict[str, Heard]
) -> list[tuple[LivePod, LivePod]] | None:
    return turned_of(LiveWorkload(PODS, ()), Ears(SAID), LiveWorkload(pods, ()), Ears(said))


def test_where_there_are_others_or_others_are_heard_nobody_can_say() -> None:
    assert turned(PODS[1:], SAID) is None
    assert turned((*PODS[1:], a_room(9)), SAID) is None
    assert turned(PODS, {**SAID, "uid-9": BUSY}) is None
    assert turned(PODS, dict(reversed(SAID.items()))) is None


@given(st.sets(st.integers(0, ROOMS - 1)), st.sets(st.integers(0, ROOMS - 1)))
def test_who_changed_or_spoke_is_found_once_as_it_was_and_as_it_is(
    changed: set[int], spoke: set[int]
) -> None:
    pods = tuple(
        replace(pod, mark=Mark.BUSY) if number in changed else pod
        for number, pod in enumerate(PODS)
    )
    found = turned(pods, {**SAID, **{f"uid-{number}": BUSY for number in spoke}})
    assert found is not None
    assert {was.uid for was, _ in found} == {f"uid-{number}" for number in changed | spoke}
    assert len(found) == len(changed | spoke)
    assert all(was in PODS and now in pods and was.uid == now.uid for was, now in found)
