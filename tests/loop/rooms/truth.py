"""The truth about simulated rooms, and what may never be done to them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model.labels import LEAVING, LEAVING_SINCE, STATE, WORKLOAD
from reconciler.sandbox.kinds import POD
from reconciler.sandbox.players.natures import Voice
from reconciler.sandbox.store import Stored
from tests.loop.rooms.cast import Actor, Cast
from tests.loop.rooms.wishes import PINGS_SECONDS, QUIET_SECONDS, Piece
from tests.loop.safety import PHASE, Unsafe, Watchman
from tests.loop.service import Service
from tests.loop.virtual_time import elapsed

BUSY = ("busy", "allocated")
LONGEST_REQUEST_SECONDS = 30.0
REQUEST_SECONDS = 0.001
"""How long what a room says is on its way to us."""
SUSPICIOUS_ROOMS = 3
"""Of fewer rooms that fall silent nobody can tell that it is rather we who do not hear."""
UNMARKED_SECONDS = 30.0
"""How long a room that told us of players may stand without its mark: a write that was on its way
from a process that died may still take one away, and it is set again."""
SET_BACK_SECONDS = 165.0
"""Of a mark that a process sets back which does not lead, for its clock stood: until a watch that
says nothing is given up (75 s), a leader that is frozen goes on (60 s), or another leads and was
told (30 s)."""


@dataclass(frozen=True)
class Laws:
    """What the specs promise, by workload where they differ; seconds.

    `deadlines` are after how long a room that was told to leave may be ended with its players.
    `by_count` are the workloads whose evictions pass by their number, whoever plays.
    """

    quiet_seconds: float = 5.0
    ping_seconds: float = 240.0
    deadlines: Mapping[str, float] = field(default_factory=dict)
    by_count: frozenset[str] = frozenset()

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> Self:
        """Read them from what is played."""
        pieces = list(pieces)
        limit = "drainDeadlineSeconds"
        removals = {piece.name: piece.more.get("removal", {}) for piece in pieces}
        modes = {piece.name: piece.more.get("disruption", {}).get("mode") for piece in pieces}
        return cls(
            QUIET_SECONDS,
            PINGS_SECONDS,
            {name: removal[limit] for name, removal in removals.items() if limit in removal},
            frozenset(name for name, mode in modes.items() if mode == "count"),
        )


@dataclass
class Warden(Watchman):
    """Knows who is in which room, whatever was reported, and judges every removal by that.

    `told` is since when each pod is asked to leave, `drained` since when it is marked draining,
    both by uid; `removed_rooms` whom we deleted, `overdue` those of them whose deadline was over,
    `kept` who was ever marked failed, `unmarked` since when a mark is wrong, `set_back` whose was
    made so by a process that does not lead, or leads no more.
    `is_bare` says whether the budget of a room is as a stranger left it: it keeps nobody until we
    see that and write it again. Who was last heard empty and is silent for pingSeconds is given up
    as failed (DESIGN §4): only who was recorded busy, or never, waits for ever.
    """

    cast: Cast | None = None
    leads: Callable[[], Service | None] = lambda: None
    laws: Laws = field(default_factory=Laws)
    is_bare: Callable[[str], bool] = lambda room: False
    told: dict[str, float] = field(default_factory=dict)
    drained: dict[str, float] = field(default_factory=dict)
    unmarked: dict[str, float] = field(default_factory=dict)
    set_back: set[str] = field(default_factory=set)
    removed_rooms: list[str] = field(default_factory=list)
    removed_alive: list[str] = field(default_factory=list)
    overdue: list[str] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    _sent: dict[tuple[str, str], float] = field(default_factory=dict)

    def on_its_way(self, call: Call) -> None:
        """Take note of when a removal was sent: what a room says later finds it on its way."""
        if (call.verb, call.kind) == ("delete", "Pod"):
            self._sent[_fence_of(call)] = elapsed()

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

    def why_kept(self, room: str) -> str:
        """Why an eviction of a room (`namespace/name`) may not pass now, "" where it may."""
        pod = self._pods().get(room)
        actor = self._actor(pod.uid) if pod is not None else None
        if pod is None or actor is None or not actor.trusted or pod.uid in self.unmarked:
            return ""
        if self.is_bare(room):
            return ""
        if pod.labels.get(WORKLOAD, "") in self.laws.by_count:
            return ""
        return "it told us of its players" if actor.told_busy else ""

    def _follow_mark(self, pod: Stored) -> None:
        mark = pod.labels.get(STATE, "")
        since = self._told_at(pod)
        if since is not None:
            # What was written is when it was decided; the request may have been long on its way.
            age = min(LONGEST_REQUEST_SECONDS, self.world.time.at - since)
            self.told.setdefault(pod.uid, elapsed() - max(0.0, age))
        else:
            self.told.pop(pod.uid, None)
        if mark == "failed":
            self.kept.add(pod.key)
        if mark == "draining":
            self.drained.setdefault(pod.uid, elapsed())
        else:
            self.drained.pop(pod.uid, None)
        actor = self._actor(pod.uid)
        if actor is None or not actor.trusted or pod.ending:
            return
        if actor.told_busy and mark not in BUSY:
            if self.leads() is None:
                self.set_back.add(pod.uid)  # a patch came late: who leads next has to hear it first
            since = self.unmarked.setdefault(pod.uid, elapsed())
            longest = SET_BACK_SECONDS if pod.uid in self.set_back else UNMARKED_SECONDS
            if elapsed() - since > longest:
                raise Unsafe(f"{pod.key} told of players long ago and is marked {mark!r}")
        else:
            self.unmarked.pop(pod.uid, None)
            self.set_back.discard(pod.uid)

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
        if self._is_overdue(pod):
            self.overdue.append(pod.key)
            return
        for wrong in self._wrongs(pod, actor, self._sent.get(_fence_of(call), elapsed())):
            raise Unsafe(f"{call.what}: {wrong}; {_story(pod, actor, self.drained.get(pod.uid))}")

    def _wrongs(self, pod: Stored, actor: Actor, sent: float) -> Iterator[str]:
        """Why a room whose container runs may not be deleted by a request that was `sent` then."""
        mark, since = pod.labels.get(STATE, ""), self.drained.get(pod.uid)
        if mark in BUSY:
            yield f"it is marked {mark}"
        if not actor.trusted or not pod.ready or self._never_up(actor):
            return
        if actor.told_busy:
            yield "it told us of its players"
        if actor.gave_up:
            return
        if self._loads(actor, sent):
            yield "it said that a match begins, and its players load"
        quiet = self.laws.quiet_seconds
        if since is None:
            yield "it was never marked draining"
        elif elapsed() - since < quiet - REQUEST_SECONDS:
            yield f"it was marked draining {elapsed() - since:.3f} s ago, quiet is {quiet} s"
        yield from self._unasked(actor, since)
        yield from self._invited(actor, since)

    def _loads(self, actor: Actor, sent: float) -> bool:
        """Whether players are there of whom it said no more than that their match begins.

        Said before its removal was `sent`: of a word alone nothing is written on its pod, which
        would stop a request that is on its way.
        """
        limit = self.laws.ping_seconds - REQUEST_SECONDS
        said = actor.coming_at
        return bool(said and actor.game.players) and said < sent and elapsed() - said < limit

    def _invited(self, actor: Actor, since: float | None) -> Iterator[str]:
        """Who came by a list that was younger than quietSeconds, where the game repeats itself.

        Of one that hangs nobody hears, and what stands between may hold its last "empty" back. The
        word of one that tells on change may be lost on its way: it is held to what was answered.
        """
        quiet = self.laws.quiet_seconds
        held_back = since is not None and actor.said_at < since + quiet <= actor.handed_at
        if self._is_silent(actor) or held_back:
            return
        for guest in actor.guests:
            if guest.list_seconds < quiet and guest.plays(actor.game):
                yield f"players are there who came by a list {guest.list_seconds:.3f} s old"

    def _unasked(self, actor: Actor, since: float | None) -> Iterator[str]:
        """Why nobody may know that a room is empty, which is drained `since` then."""
        silent = self._is_silent(actor)
        quiet = self.laws.quiet_seconds - REQUEST_SECONDS
        if not actor.heard_at:
            yield "nothing is known of it"
        elif since is not None and not silent and actor.handed_at < since + quiet:
            yield "nothing was heard of it since it was left alone for its quiet time"
        elif since is not None and not silent:
            occupied = actor.game.occupied_since
            if occupied is not None and occupied < self.world.time.at - elapsed() + since:
                yield "players are there who came before it was marked draining"
        elif since is not None and self._is_unheard(actor, since):
            yield "players are there whom its game could tell nobody of for so long that we know it"

    def _told_at(self, pod: Stored) -> float | None:
        """When it was asked to leave (Unix seconds), full or not; None when it was not."""
        revision, since = self._asked.get(pod.uid, (0, None))
        if revision != pod.revision:
            notes = pod.decode(POD)["metadata"].get("annotations") or {}
            since = float(notes.get(LEAVING_SINCE, 0.0)) if LEAVING in notes else None
            self._asked[pod.uid] = pod.revision, since
        return since

    def _is_overdue(self, pod: Stored) -> bool:
        """Whether its workload's deadline ends it, players or not."""
        limit = self.laws.deadlines.get(pod.labels.get(WORKLOAD, ""))
        since = self.told.get(pod.uid)
        return limit is not None and since is not None and elapsed() - since >= limit - 0.001

    def _is_silent(self, actor: Actor) -> bool:
        """Whether nothing of it was to be waited for: it repeats nothing, or is silent."""
        on_change = actor.game.nature.voice is Voice.COLLECTIONS
        return on_change or elapsed() - actor.heard_at >= self.laws.ping_seconds - 2.0

    def _is_unheard(self, actor: Actor, since: float) -> bool:
        """Whether a game that tells on change had players long before it was drained.

        So long that whatever kept its word from us is known: nobody led, we are deaf, its node is
        lost. That we are deaf only rooms that ping can tell, three of them (DESIGN §4). Of one that
        gave up it is known to who turned it away, and to nobody else.
        """
        game = actor.game
        if game.gave_up:
            noted = actor.noted_by is not None and actor.noted_by is self.leads()
            return noted and game.occupied_since is not None
        if self._pinging() < SUSPICIOUS_ROOMS:
            return False
        if game.nature.voice is not Voice.COLLECTIONS or game.hung or game.occupied_since is None:
            return False
        virtual = game.occupied_since - self.world.time.at + elapsed()
        return virtual < since - self.laws.ping_seconds

    def _pinging(self) -> int:
        """How many rooms have been up for so long, and were heard, that their silence tells it."""
        since = self.world.time.at - self.laws.ping_seconds
        return sum(
            actor.game.nature.voice is not Voice.COLLECTIONS
            and bool(actor.heard_at)
            and not actor.game.over
            and actor.game.up_at < since
            for actor in (self.cast.actors.values() if self.cast else ())
        )

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
        if not pod.fields[0] or pod.fields[PHASE] in ("Succeeded", "Failed"):
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
    _asked: dict[str, tuple[int, float | None]] = field(default_factory=dict)


def _fence_of(call: Call) -> tuple[str, str]:
    fence = call.body["preconditions"] if isinstance(call.body, dict) else {}
    return str(fence.get("uid")), str(fence.get("resourceVersion"))


def _story(pod: Stored, actor: Actor, drained_at: float | None) -> str:
    game = actor.game
    return (
        f"in truth {game.players} players since {game.occupied_since}, hung: {game.hung}, "
        f"told {actor.told}, handed at {actor.handed_at}, "
        f"draining since {drained_at}, now {elapsed():.3f}, "
        f"last answers {actor.statuses[-5:]}, ready: {pod.ready}"
    )
