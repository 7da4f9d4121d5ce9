"""The truth about simulated rooms, and what may never be done to them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.labels import STATE
from reconciler.sandbox.kinds import POD
from reconciler.sandbox.players.natures import Voice
from reconciler.sandbox.store import Stored
from tests.loop.rooms.cast import Actor, Cast
from tests.loop.safety import Unsafe, Watchman
from tests.loop.virtual_time import elapsed

BUSY = ("busy", "allocated")
UNMARKED_SECONDS = 30.0
"""How long a room that told us of players may stand without its mark: a write that was on its way
from a process that died may still take one away, and it is set again."""


@dataclass
class Warden(Watchman):
    """Knows who is in which room, whatever was reported, and judges every removal by that.

    `quiet_seconds` is by namespace. `drained` is since when each pod is marked draining, by uid,
    `removed_rooms` whom we deleted. Who was last heard empty and is silent for `ping_seconds` is
    given up as failed (DESIGN §4): only who was recorded busy, or never, waits for ever.
    """

    cast: Cast | None = None
    quiet_seconds: Mapping[str, float] = field(default_factory=dict)
    ping_seconds: float = 240.0
    drained: dict[str, float] = field(default_factory=dict)
    unmarked: dict[str, float] = field(default_factory=dict)
    removed_rooms: list[str] = field(default_factory=list)
    removed_alive: list[str] = field(default_factory=list)

    def before(self, call: Call) -> None:
        """Judge what is about to be sent: nothing of ours evicts, and no pods go by the dozen."""
        if call.verb == "deletecollection" or call.path.partition("?")[0].endswith("/eviction"):
            raise Unsafe(f"{call.what}: rooms go one by one, by a delete with its fence")
        super().before(call)

    def look(self) -> None:
        """Judge the state of the cluster."""
        super().look()
        ports: dict[tuple[str, str], str] = {}
        for pod in self._pods().values():
            self._follow_mark(pod)
            for port in self._ports_of(pod):
                other = ports.setdefault((pod.fields[0], port), pod.key)
                if other != pod.key:
                    raise Unsafe(f"{pod.key} and {other} have {port} on {pod.fields[0]}")

    def answered(self, actor: Actor) -> None:
        """Judge the moment in which we answered 200 to a room that told of its players."""
        pod = self._pod_of(actor)
        if actor.trusted and actor.told_busy and pod is not None and not pod.ending:
            mark = pod.labels.get(STATE, "")
            if mark not in BUSY:
                raise Unsafe(f"{pod.key} told of players, was answered, and is marked {mark!r}")

    def _follow_mark(self, pod: Stored) -> None:
        mark = pod.labels.get(STATE, "")
        if mark == "draining":
            self.drained.setdefault(pod.uid, elapsed())
        else:
            self.drained.pop(pod.uid, None)
        actor = self._actor(pod.uid)
        if actor is None or not actor.trusted or pod.ending:
            return
        if actor.told_busy and mark not in BUSY:
            since = self.unmarked.setdefault(pod.uid, elapsed())
            if elapsed() - since > UNMARKED_SECONDS:
                raise Unsafe(f"{pod.key} told of players long ago and is marked {mark!r}")
        else:
            self.unmarked.pop(pod.uid, None)

    def _judge_removal(self, call: Call, fence: dict[str, str]) -> None:
        super()._judge_removal(call, fence)
        namespace, name = call.path.split("/")[4], call.path.partition("?")[0].split("/")[6]
        pod = self._pods().get(f"{namespace}/{name}")
        if pod is None or (pod.uid, str(pod.revision)) != (fence["uid"], fence["resourceVersion"]):
            return
        self.removed_rooms.append(pod.key)
        actor = self._actor(pod.uid)
        if actor is None or pod.ending:
            return
        self.removed_alive.append(pod.key)
        for wrong in self._wrongs(pod, actor):
            raise Unsafe(f"{call.what}: {wrong}; {_story(pod, actor, self.drained.get(pod.uid))}")

    def _wrongs(self, pod: Stored, actor: Actor) -> Iterator[str]:
        """Why a room whose container runs may not be deleted now."""
        mark, since = pod.labels.get(STATE, ""), self.drained.get(pod.uid)
        if mark in BUSY:
            yield f"it is marked {mark}"
        if not actor.trusted or not pod.ready or self._never_up(actor):
            return
        if actor.told_busy:
            yield "it told us of its players"
        quiet = self.quiet_seconds.get(pod.namespace, 5.0)
        if since is None:
            yield "it was never marked draining"
        elif elapsed() - since < quiet - 0.001:
            yield f"it was marked draining {elapsed() - since:.3f} s ago, quiet is {quiet} s"
        if not actor.heard_at:
            yield "nothing is known of it"
        elif since is not None and not self._is_silent(actor):
            if actor.heard_at < since:
                yield "nothing was heard of it since it was marked draining"
            occupied = actor.game.occupied_since
            if occupied is not None and occupied < self.world.time.at - elapsed() + since:
                yield "players are there who came before it was marked draining"

    def _is_silent(self, actor: Actor) -> bool:
        """Whether nothing of it was to be waited for: it repeats nothing, or is silent."""
        on_change = actor.game.nature.voice is Voice.COLLECTIONS
        return on_change or elapsed() - actor.heard_at >= self.ping_seconds - 2.0

    def _never_up(self, actor: Actor) -> bool:
        return self.world.time.at < actor.game.up_at

    def _actor(self, uid: str) -> Actor | None:
        actor = self.cast.actors.get(uid) if self.cast is not None else None
        return None if actor is None or actor.game.over else actor

    def _pod_of(self, actor: Actor) -> Stored | None:
        where = actor.game.where
        pod = self._pods().get(f"{where.namespace}/{where.room}")
        return pod if pod is not None and pod.uid == actor.uid else None

    def _ports_of(self, pod: Stored) -> Iterator[str]:
        """Host ports of a pod that has a node and has not ended."""
        if not pod.fields[0] or pod.fields[5] in ("Succeeded", "Failed"):
            return
        known = self._host_ports.get(pod.uid)
        if known is None:
            containers = pod.decode(POD)["spec"]["containers"]
            ports = (port for each in containers for port in each.get("ports") or ())
            known = tuple(
                f"{port['hostPort']}/{port.get('protocol', 'TCP')}"
                for port in ports
                if port.get("hostPort")
            )
            self._host_ports[pod.uid] = known
        yield from known

    _host_ports: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _story(pod: Stored, actor: Actor, drained_at: float | None) -> str:
    game = actor.game
    return (
        f"in truth {game.players} players since {game.occupied_since}, hung: {game.hung}, "
        f"told {actor.told}, draining since {drained_at}, now {elapsed():.3f}, "
        f"last answers {actor.statuses[-5:]}, ready: {pod.ready}"
    )
