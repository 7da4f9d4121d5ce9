"""Specs are edited while their rooms are played in: nobody is thrown out, whatever changes (row 8).

Rooms report, and most are full whenever a spec changes. Once nothing is written any more, all who
played are there still. Then the matches end in those rooms alone that a fleet which began with the
new specs has not, and all objects are compared with those of such a fleet.
"""

import asyncio
import difflib
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

import pytest
import yaml

from reconciler.core.budget_objects import ABOVE_ANY_COUNT
from reconciler.model import labels
from reconciler.model.refs import Json
from reconciler.sandbox.players.natures import Nature, Voice
from tests import scorecard
from tests.loop.rooms.house import Air, Playhouse, playhouse
from tests.loop.rooms.matches import LONG, full, marks
from tests.loop.rooms.truth import Laws
from tests.loop.shares import share
from tests.loop.transitions import (
    SHARED,
    Chain,
    Files,
    file_of,
    first_files,
    is_ours,
    plain,
    standing,
)
from tests.loop.virtual_time import elapsed, in_virtual_time
from tests.loop.wires import Weather
from tests.loop.world import World, spec
from tests.scorecard import score

pytestmark = pytest.mark.long

CHAINS, TRANSITIONS = 50, 10
"""All chains are 500 transitions."""
ROW = 8
FULL = 0.75
"""The share of rooms in which somebody plays."""
STILL_SECONDS = 20.0
"""So long nothing is written any more: longer than any clock of a room here."""
MOST_SECONDS = 600.0
VOICES = {
    "arena": Voice.MAESTRO,
    "duel": Voice.COLLECTIONS,
    "lobby": Voice.NATIVE,
    "quake": Voice.BOTH,
    SHARED: Voice.COLLECTIONS,
}
"""What is played, by namespace."""
LAWS = Laws(quiet_seconds=0.0)
"""What the least of all drawn specs promises."""
OF_PLAY = (
    *(labels.STATE, labels.LEAVING, labels.LEAVING_SINCE, labels.REPORT, labels.ADDRESS),
    *(labels.SAFE_TO_EVICT, labels.DO_NOT_DISRUPT),
)
"""Labels and annotations that follow from who plays in a room, and where it runs."""
Edit = Mapping[str, str | None]


def heard(name: str, rooms: int) -> str:
    """Return the text of a spec whose rooms report."""
    return spec(name, rooms, reports="required")


def forget(item: Json) -> None:
    """Take out of an object what follows from who plays, and the code that is a room's own."""
    for kind in ("labels", "annotations"):
        for name in OF_PLAY:
            (item["metadata"].get(kind) or {}).pop(name, None)
    inner = item.get("spec", {})
    for container in inner.get("containers", ()):
        for variable in container.get("env") or ():
            if variable["name"] == "API_SERVER_CODE":
                variable["value"] = "its code"
    if inner.get("minAvailable", ABOVE_ANY_COUNT) != ABOVE_ANY_COUNT:
        inner["minAvailable"] = "by who plays"


@asynccontextmanager
async def _house(files: Files) -> AsyncIterator[Playhouse]:
    """Open a house with these specs, and all of their rooms."""
    world = World(kinds=("ConfigMap",))
    world.commit({**files})
    game = partial(Nature, match_seconds=LONG, warm_up_seconds=1)
    natures = {place: partial(game, voice=voice) for place, voice in VOICES.items()}
    weather, air = Weather(random.Random(1)), Air(random.Random(1))
    async with playhouse(world, weather, natures, air, LAWS) as there:
        there.start("process-0")
        rooms = sum(_replicas(files))
        await there.until("a leader", lambda: there.leader is not None, MOST_SECONDS)
        await there.until("a fleet", lambda: _idle(there) == rooms, MOST_SECONDS)
        await _still(there)
        yield there
        there.judge()


def _replicas(files: Files) -> Iterator[int]:
    for path, text in files.items():
        if path.startswith("schedulers/"):
            yield yaml.safe_load(text)["spec"]["replicas"]


def _idle(there: Playhouse) -> int:
    return list(marks(there).values()).count("idle")


async def _still(there: Playhouse) -> None:
    """Wait until nothing is written any more."""
    began, written = elapsed(), -1
    while len(there.writes) != written:
        assert elapsed() - began < MOST_SECONDS, "it goes on writing"
        written = len(there.writes)
        await asyncio.sleep(STILL_SECONDS)


def _from_scratch(files: Files) -> list[str]:
    """Return what stands where a cluster began with these files."""
    found: list[str] = []

    async def main() -> None:
        async with _house(files) as there:
            found.extend(standing(there.world, forget))

    in_virtual_time(main())
    return found


async def _fill(there: Playhouse, chance: random.Random) -> set[str]:
    """Let people into most of the free rooms; return all rooms in which somebody plays."""
    for actor in sorted(there.cast.playing(), key=lambda each: each.game.where.room):
        if not actor.game.players and chance.random() < FULL:
            assert there.cast.join(actor, 1)

    def are_known() -> bool:
        return {uid for uid, mark in marks(there).items() if mark == "busy"} == full(there)

    await there.until("the matches", are_known, 60.0)
    return full(there)


async def _changed(there: Playhouse, edit: Edit, wanted: list[str], playing: set[str]) -> None:
    """Commit an edit, and judge what becomes of the rooms in which somebody is playing."""
    there.world.commit({**edit})
    for service in there.services:
        service.app.head_service.wake()
    await _still(there)
    lost = playing - full(there)
    score(ROW, rooms_that_were_full=len(playing), matches_ended=len(lost))
    assert not lost, f"{len(lost)} matches were ended"
    over = _end_what_is_over(there, wanted)
    began, found = elapsed(), standing(there.world, forget)
    while found != wanted and elapsed() - began < MOST_SECONDS:
        await asyncio.sleep(STILL_SECONDS / 4)
        found = standing(there.world, forget)
    assert found == wanted, _difference(wanted, found)
    assert playing - over == full(there), "others were ended with those that were over"


def _end_what_is_over(there: Playhouse, wanted: list[str]) -> set[str]:
    """End the matches in rooms that are not wanted any more; return those rooms."""
    lacking, over = Counter(wanted), set()
    playing = {actor.uid: actor for actor in there.cast.playing() if actor.game.players}
    pods = [each for each in there.world.objects("/api/v1/pods") if is_ours(each)]
    for pod in pods:
        uid, leaves = pod["metadata"]["uid"], labels.LEAVING in pod["metadata"]["annotations"]
        forget(pod)
        if uid in playing and not leaves and lacking[plain(pod)] > 0:
            lacking[plain(pod)] -= 1
        elif uid in playing:
            over.add(uid)
            playing[uid].game.empty(there.world.time.at)
            playing[uid].moved.set()
    return over


def _difference(wanted: list[str], found: list[str]) -> str:
    texts = ("\n".join(wanted).splitlines(), "\n".join(found).splitlines())
    told = difflib.unified_diff(*texts, "from scratch", "chained", lineterm="", n=4)
    return "\n".join(list(told)[:60])


async def _play(edits: list[Edit], wanted: list[list[str]], chance: random.Random) -> None:
    async with _house(first_files(heard)) as there:
        for step, (edit, end) in enumerate(zip(edits, wanted, strict=True)):
            score(ROW, transitions_in_match=1, differ_in_match=1)
            playing = await _fill(there, chance)
            try:
                await _changed(there, edit, end, playing)
            except AssertionError as error:
                told = "\n".join(f"{path}: {text}" for path, text in edit.items())
                raise AssertionError(f"step {step}: {error}\n{told}") from None
            score(ROW, differ_in_match=-1)


@pytest.mark.parametrize("number", share(range(CHAINS), "edits in match"))
def test_no_edit_ends_a_match_and_all_stands_as_if_it_had_begun_with_it(number: int) -> None:
    chance = random.Random(f"in match {number}")
    chain = Chain(chance, heard)
    edits: list[Edit] = []
    wanted: list[list[str]] = []
    for _ in range(TRANSITIONS):
        edits.append(chain.edit())
        wanted.append(_from_scratch(chain.files))
    in_virtual_time(_play(edits, wanted, chance))


def test_a_match_that_an_edit_ends_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorecard, "FIGURES", {})  # it is ended on purpose

    async def main() -> None:
        async with _house(first_files(heard)) as there:
            playing = await _fill(there, random.Random(1))
            pods = there.world.pods("arena") + there.world.pods("duel")
            ended = next(each["metadata"] for each in pods if each["metadata"]["uid"] in playing)
            path = f"/api/v1/namespaces/{ended['namespace']}/pods/{ended['name']}"
            there.world.delete(path)
            there.changed()
            await _changed(there, {file_of("arena"): heard("arena", 3)}, [], playing)

    with pytest.raises(AssertionError, match="1 matches were ended"):
        in_virtual_time(main())
