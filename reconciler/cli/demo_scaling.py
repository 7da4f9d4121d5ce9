"""The demo's chapters about scaling: players come, the number stands in Git, and people rule it."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import yaml

from reconciler.cli.demo_players import Players, is_free
from reconciler.cli.demo_stage import Stage, Unfulfilled
from reconciler.core import pauses
from reconciler.model.records import NO_RECORD, StateRecord

ScalingChapter = Callable[[Stage, Players], Coroutine[Any, Any, None]]

NAME = "harbor"
SPEC = f"""\
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata:
  name: {NAME}
spec:
  game: tidebreakers

  replicas: 4

  reports: required
  autoscaling:
    min: 4
    max: 30
    policy:
      fixedBuffer: {{amount: 4}}
  removal: {{quietSeconds: 1}}
  template:
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: server
          image: registry.example/tidebreakers-{NAME}:1.0
          resources: {{requests: {{cpu: 100m, memory: 64Mi}}}}
"""


async def players_arrive(stage: Stage, players: Players) -> None:
    """Fill rooms of a fleet that keeps four free ones."""
    await stage.commit(f"{NAME}: always four rooms more than are in use", harbor=SPEC)

    async def opened() -> bool:
        return sum(is_free(room) for room in await stage.rooms(NAME)) == 4

    await stage.until("4 rooms are ready, and say so themselves", opened)
    arriving = stage.begin("5 matches come, one a second", players.arrive(5))

    async def grown() -> bool:
        return arriving.done() and len(await stage.ready_rooms(NAME)) == 9

    await stage.until("the fleet grew from 4 to 9 rooms", grown)
    stage.say("a match had to wait" if players.waited else "no match waited for a room")


async def the_commit_appears(stage: Stage, players: Players) -> None:
    """Show what a policy decided, in the history of the branch."""

    async def landed() -> bool:
        return await _count_in_git(stage) == 9

    await stage.until("Git says 9, too: one number changed, and no other byte", landed)
    stage.show_command("git log -1 origin/main")
    for line in (await stage.ask_git("log", "-1", "--format=%an: %B", "origin/main")).splitlines():
        stage.say(line)


async def the_host_goes_away(stage: Stage, players: Players) -> None:
    """Take Git away in the rush, and bring it back."""
    host = await _take_away(stage)
    arriving = stage.begin("3 more matches come", players.arrive(3))

    async def grown() -> bool:
        return arriving.done() and len(await stage.ready_rooms(NAME)) == 12

    await stage.until("12 rooms are ready: rooms follow players, not the Git host", grown)
    intent = (await _record(stage)).scaling.intent
    if intent is None:
        raise Unfulfilled("what was decided stands nowhere while the host is away")
    stage.say(f"on record in the cluster: {intent.base} -> {intent.value}, {intent.reason}")
    before = await _commits(stage)
    await _bring_back(stage, host)

    async def caught_up() -> bool:
        return await _count_in_git(stage) == 12

    await stage.until("the host is back, and Git says 12", caught_up)
    commits = await _commits(stage) - before
    stage.say(f"{commits} commit caught up" if commits == 1 else f"{commits} commits caught up")


async def a_revert_holds(stage: Stage, players: Players) -> None:
    """Undo what the policy did, as one undoes anything in Git."""
    await stage.pull()
    wanted = await _count_before(stage)
    await stage.revert()

    async def gone() -> bool:
        record = await _record(stage)
        rooms = len(await stage.rooms(NAME))
        pause = pauses.on_record(record.conditions)
        return pause is not None and record.in_effect == wanted == rooms

    await stage.until(f"{wanted} rooms: idle ones went, those with players stay", gone)
    pause = pauses.on_record((await _record(stage)).conditions)
    if pause is None or await _count_in_git(stage) != wanted:
        raise Unfulfilled("the policy did not wait for the person who reverted it")
    stage.say(f"{pause.message}: its policy waits for 15 minutes")


SCALING_STORY: tuple[tuple[str, ScalingChapter], ...] = (
    ("Players arrive, and the fleet grows before they wait", players_arrive),
    ("The commit appears in the history", the_commit_appears),
    ("The Git host goes away in the rush, and comes back", the_host_goes_away),
    ("A person's revert holds", a_revert_holds),
)


async def _record(stage: Stage) -> StateRecord:
    states = (await stage.records()).states()
    return next((each for key, each in states.items() if key.name == NAME), NO_RECORD)


async def _count_in_git(stage: Stage) -> int:
    await stage.ask_git("fetch", "--quiet", "origin")
    return _replicas(await stage.ask_git("show", f"origin/main:schedulers/{NAME}.yaml"))


async def _count_before(stage: Stage) -> int:
    """Return the number before the newest commit."""
    return _replicas(await stage.ask_git("show", f"HEAD~1:schedulers/{NAME}.yaml"))


def _replicas(text: str) -> int:
    return int(yaml.safe_load(text)["spec"]["replicas"])


async def _commits(stage: Stage) -> int:
    return int(await stage.ask_git("rev-list", "--count", "origin/main"))


async def _take_away(stage: Stage) -> Path:
    """Take the host away, and return where it is kept."""
    host = Path(await stage.ask_git("remote", "get-url", "origin"))
    stage.show_command(f"mv {host.name} away")
    return await asyncio.to_thread(host.rename, host.with_name("away"))


async def _bring_back(stage: Stage, kept: Path) -> None:
    host = Path(await stage.ask_git("remote", "get-url", "origin"))
    await asyncio.to_thread(kept.rename, host)
    stage.show_command(f"mv away {host.name}")
