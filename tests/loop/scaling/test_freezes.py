"""In a freeze policies decide and commit; a person's number waits, and then holds (ADR 26)."""

import asyncio

import pytest
import yaml

from reconciler.model.refs import Json
from tests.loop.safety import Bounds
from tests.loop.scaling.house import FILE, Scene, scaled, stage
from tests.loop.virtual_time import elapsed, in_virtual_time

pytestmark = pytest.mark.long

FROM_TEN_PAST_EIGHT = [{"from": "08:10", "to": "20:00", "replicas": 6}]
"""The world begins at 08:00."""
CONFIG = """
apiVersion: gamekeeper.dev/v1
kind: Config
spec:
  freeze:
    - {name: cup, schedule: "5 8 * * *", timeZone: UTC, durationSeconds: 1830}
"""
ENDS_AT = 5 * 60 + 1830.0
FILES = {"gamekeeper.yaml": CONFIG, FILE: scaled(2, FROM_TEN_PAST_EIGHT)}
SECOND = "registry.example/game:2"


def changed(there: Scene, **spec: object) -> None:
    """A person changes the spec as it is in Git now."""
    document = yaml.safe_load(there.text())
    document["spec"] |= spec
    there.world.commit({FILE: yaml.safe_dump(document, sort_keys=False)})


def images(there: Scene) -> set[str]:
    pods = there.world.pods("arena")
    return {pod["spec"]["containers"][0]["image"] for pod in pods}


def test_a_count_that_is_decided_in_a_freeze_acts_and_lands_beside_what_waits() -> None:
    async def main() -> None:
        async with stage(FILES, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(300.0)
            container = {"name": "game", "image": SECOND}
            changed(there, template={"spec": {"containers": [container]}})
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 90.0)
            assert SECOND in there.text()
            assert images(there) == {"registry.example/game:1"}
            await asyncio.sleep(60.0)
            assert there.rooms() == 6
            await there.until("a new image", lambda: images(there) == {SECOND}, 1800.0)
            assert there.rooms() == 6
            await there.until("six rooms", lambda: there.rooms() == 6, 60.0)
            assert there.subjects().count("Scale arena to 6") == 1

    in_virtual_time(main())


def test_a_persons_number_waits_for_the_end_and_holds_the_policy_from_then_on() -> None:
    async def main() -> None:
        async with stage(FILES, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(300.0)
            changed(there, replicas=4)
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            await asyncio.sleep(300.0)
            assert (there.rooms(), there.count_in_git()) == (6, 4), "no commit of ours undoes it"
            await asyncio.sleep(ENDS_AT - 1.0 - elapsed())
            assert there.pods() == 6
            # Sooner than Git is asked again: who waits for the end wakes at it.
            await there.until("four are wanted", lambda: there.wanted() == 4, 5.0)
            await there.until("four rooms", lambda: there.rooms() == 4, 60.0)
            await asyncio.sleep(800.0)
            assert (there.rooms(), there.count_in_git()) == (4, 4)
            await there.until("six rooms", lambda: there.rooms() == 6, 300.0)
            await there.until("six in Git", lambda: there.count_in_git() == 6, 90.0)

    in_virtual_time(main())


def test_a_persons_number_that_is_the_accepted_one_again_waits_and_holds_as_any() -> None:
    async def main() -> None:
        async with stage(FILES, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(300.0)
            changed(there, replicas=4)
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            await asyncio.sleep(120.0)
            changed(there, replicas=2)
            await asyncio.sleep(60.0)
            await there.services[0].kill()
            there.start("two")
            while elapsed() < ENDS_AT - 1.0:
                await asyncio.sleep(10.0)
                assert (there.pods(), there.count_in_git()) == (6, 2), "no commit of ours undoes it"
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(800.0)
            assert (there.rooms(), there.count_in_git()) == (2, 2)
            await there.until("six rooms", lambda: there.rooms() == 6, 300.0)

    in_virtual_time(main())


@pytest.mark.parametrize(
    "switch",
    [
        pytest.param({"suspend": True}, id="suspended"),
        pytest.param({"autoscaling": {"enabled": False}}, id="without its policy"),
    ],
)
def test_nothing_is_committed_into_a_spec_that_a_person_switched_off(switch: Json) -> None:
    async def main() -> None:
        async with stage(FILES, {"arena": Bounds(30, 0)}) as there:
            there.start("one")
            await there.until("two rooms", lambda: there.rooms() == 2, 60.0)
            await asyncio.sleep(300.0)
            document = yaml.safe_load(there.text())["spec"]
            changed(
                there, **{name: merged(document.get(name), value) for name, value in switch.items()}
            )
            await there.until("six rooms", lambda: there.rooms() == 6, 400.0)
            await asyncio.sleep(300.0)
            assert (there.rooms(), there.count_in_git()) == (6, 2), "it waits, and so do we"

    in_virtual_time(main())


def merged(before: Json, after: Json) -> Json:
    return {**before, **after} if isinstance(after, dict) and before else after
