"""The chapters of the demo. Each acts as a person would, and waits for what it promises."""

from collections.abc import Callable, Coroutine
from typing import Any

from reconciler.cli.demo_stage import Stage

Chapter = Callable[[Stage], Coroutine[Any, Any, None]]

CONFIG = """\
apiVersion: gamekeeper.dev/v1
kind: Config
spec:
  writeBack: {quietSeconds: 2}
"""

SCHEDULER = """\
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata:
  name: NAME
spec:
  game: tidebreakers

  replicas: REPLICAS

  reports: none
  rollout: {maxSurge: 2, maxUnavailable: 0}
  portRange: {start: 20000, end: 20199}
  template:
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: server
          image: registry.example/tidebreakers-NAME:TAG
          ports:
            - {name: game, containerPort: 7777, protocol: UDP}
          resources: {requests: {cpu: 250m, memory: 256Mi}}
"""


def scheduler(name: str, replicas: object, tag: str = "1.0") -> str:
    """Return a spec of the demo's studio."""
    text = SCHEDULER.replace("NAME", name).replace("REPLICAS", str(replicas))
    return text.replace("TAG", tag)


async def a_fleet_appears(stage: Stage) -> None:
    """Commit three schedulers."""
    (stage.repository / "gamekeeper.yaml").write_text(CONFIG, encoding="utf-8")
    await stage.commit(
        "Three fleets",
        arena=scheduler("arena", 3),
        lobby=scheduler("lobby", 8),
        tutorial=scheduler("tutorial", 2),
    )

    async def all_there() -> bool:
        counts = [len(await stage.ready_rooms(name)) for name in ("arena", "lobby", "tutorial")]
        return counts == [3, 8, 2]

    await stage.until(
        "13 rooms are ready, each namespace with its own disruption budget", all_there
    )
    await stage.show_rooms("arena")


async def a_commit_scales_it(stage: Stage) -> None:
    """Raise a count."""
    await stage.commit("arena: 5 rooms for the weekend", arena=scheduler("arena", 5))

    async def grown() -> bool:
        return len(await stage.ready_rooms("arena")) == 5

    await stage.until("arena has 5 rooms", grown)


async def a_new_image_rolls_out(stage: Stage) -> None:
    """Change the image."""
    await stage.commit("arena 1.1", arena=scheduler("arena", 5, "1.1"))

    async def replaced() -> bool:
        return len(await stage.ready_rooms("arena", ":1.1")) == len(await stage.rooms("arena")) == 5

    await stage.until("every room runs 1.1; never were fewer than 5 ready", replaced)
    await stage.show_rooms("arena")


async def a_deleted_room_returns(stage: Stage) -> None:
    """Delete a pod by hand."""
    victim = (await stage.rooms("arena"))[0]["metadata"]["name"]
    await stage.delete_room(victim, "arena")

    async def healed() -> bool:
        rooms = await stage.ready_rooms("arena")
        return len(rooms) == 5 and all(pod["metadata"]["name"] != victim for pod in rooms)

    await stage.until(f"a new room stands in its place; the name {victim} never comes back", healed)


async def a_broken_commit_is_held(stage: Stage) -> None:
    """Commit nonsense beside sense."""
    await stage.commit(
        "arena: a lot of rooms",
        arena=scheduler("arena", "plenty", "1.1"),
        lobby=scheduler("lobby", 9),
    )

    async def held() -> bool:
        return bool(await stage.stalled("arena")) and len(await stage.ready_rooms("lobby")) == 9

    await stage.until("arena is held at its last good spec, lobby grew to 9 all the same", held)
    stage.say(f"why: {await stage.stalled('arena')}")


async def a_revert_heals(stage: Stage) -> None:
    """Take it back."""
    await stage.revert()

    async def healed() -> bool:
        rooms = await stage.ready_rooms("lobby")
        return not await stage.stalled("arena") and len(rooms) == 8

    await stage.until("nothing is held any more, lobby is back at 8", healed)


async def a_mass_deletion_is_refused(stage: Stage) -> None:
    """Delete a big fleet's spec, see it refused, approve it."""
    await stage.commit("Remove lobby", lobby=None)

    async def refused() -> bool:
        return bool(await stage.stalled("lobby"))

    await stage.until("refused as a whole; 8 rooms stay", refused)
    stage.say(f"why: {await stage.stalled('lobby')}")
    offers = (await stage.records()).repository.offers
    await stage.approve(offers[-1].change_hash)

    async def gone() -> bool:
        return not await stage.namespace_exists("lobby")

    await stage.until("approved: rooms, objects and namespace are gone, in that order", gone)


async def a_removed_spec_is_pruned(stage: Stage) -> None:
    """Delete a small fleet's spec: that is within the budget."""
    await stage.commit("Remove tutorial", tutorial=None)

    async def gone() -> bool:
        return not await stage.namespace_exists("tutorial")

    await stage.until("2 rooms are within the budget: pruned without a question", gone)
    await stage.show_rooms("arena")


STORY: tuple[tuple[str, Chapter], ...] = (
    ("A commit becomes a fleet", a_fleet_appears),
    ("A commit scales it", a_commit_scales_it),
    ("A new image rolls out", a_new_image_rolls_out),
    ("A room deleted by hand returns", a_deleted_room_returns),
    ("A broken commit is held, and explained", a_broken_commit_is_held),
    ("A revert heals", a_revert_heals),
    ("A mass deletion is refused, then approved", a_mass_deletion_is_refused),
    ("A removed spec is pruned", a_removed_spec_is_pruned),
)
