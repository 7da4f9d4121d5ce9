"""What must hold in every state of a cluster, whatever happens to the processes that keep it."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from reconciler.adapters.kubernetes.calls import Call
from reconciler.model import labels
from reconciler.model.refs import Json
from reconciler.sandbox.kinds import POD
from reconciler.sandbox.store import Stored
from tests.loop.world import World

PHASE = POD.fields.index("status.phase")


class Unsafe(AssertionError):
    """A state that may never be; the message says which law is broken."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one workload: the most rooms alive at once, and the fewest ready by our own doing."""

    most: int
    least: int = 0


@dataclass
class Watchman:
    """Looks at a world after every call and every step of time.

    `names` are the uids that ever carried a name, `removed` is how many rooms of a namespace were
    asked to go, `prepared_removed` how many of them stood there before the scenario began.
    """

    world: World
    bounds: Mapping[str, Bounds]
    names: dict[str, str] = field(default_factory=dict)
    removed: Counter[str] = field(default_factory=Counter)
    prepared: frozenset[str] = frozenset()
    prepared_removed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.prepared = frozenset(pod.uid for pod in self._pods().values())

    @property
    def made(self) -> Counter[str]:
        """How many rooms there ever were, by namespace."""
        return Counter(name.partition("/")[0] for name in self.names)

    def on_its_way(self, call: Call) -> None:
        """Take note of a request that nothing holds back any more."""

    def before(self, call: Call) -> None:
        """Judge what is about to be carried out."""
        if call.verb == "patch" and call.kind == "Pod":
            self._judge_mark(call)
        if call.verb != "delete":
            return
        options = call.body if isinstance(call.body, dict) else {}
        fence = options.get("preconditions") or {}
        if not fence.get("uid") or not fence.get("resourceVersion"):
            raise Unsafe(f"{call.what}: no uid and version as preconditions")
        if call.kind == "Pod":
            self._judge_removal(call, fence)

    def look(self) -> None:
        """Judge the state of the cluster."""
        alive: Counter[str] = Counter()
        for pod in self._pods().values():
            uid = self.names.setdefault(pod.key, pod.uid)
            if uid != pod.uid:
                raise Unsafe(f"the name {pod.key} came back")
            if not pod.ending and pod.fields[PHASE] not in ("Succeeded", "Failed"):
                alive[pod.namespace] += 1
        for namespace, bounds in self.bounds.items():
            if alive[namespace] > bounds.most:
                raise Unsafe(f"{alive[namespace]} rooms of {namespace}: more than {bounds.most}")

    def _judge_mark(self, call: Call) -> None:
        """Judge a room that begins to leave: from now on no player is sent there."""
        if not isinstance(call.body, list) or not any(_drains(each) for each in call.body):
            return
        namespace, name = call.path.split("/")[4], call.path.partition("?")[0].split("/")[6]
        there = self._pods().get(f"{namespace}/{name}")
        open_rooms = self._open_rooms(namespace)
        least = self._least(namespace)
        if there is not None and there.uid in open_rooms and len(open_rooms) - 1 < least:
            raise Unsafe(f"{call.what}: fewer than {least} rooms of {namespace} would take players")

    def _least(self, namespace: str) -> int:
        """Return how many rooms stay; to one that came by another name nothing was promised yet."""
        return self.bounds[namespace].least if namespace in self.bounds else 0

    def _open_rooms(self, namespace: str) -> set[str]:
        """Return the uids of the rooms that are ready and do not leave."""
        pods = [pod for pod in self._pods().values() if pod.namespace == namespace]
        ready = [pod for pod in pods if pod.ready and not pod.ending]
        return {pod.uid for pod in ready if not _is_draining(pod)}

    def _judge_removal(self, call: Call, fence: Json) -> None:
        """Judge a deletion that will take effect; what the fence stops does no harm."""
        namespace, name = call.path.split("/")[4], call.path.partition("?")[0].split("/")[6]
        there = self._pods().get(f"{namespace}/{name}")
        uid = str(fence["uid"])
        if there is None or (there.uid, str(there.revision)) != (uid, fence["resourceVersion"]):
            return
        ready = self._open_rooms(namespace)
        self.removed[namespace] += 1
        self.prepared_removed[namespace] += uid in self.prepared
        least = self._least(namespace)
        if uid in ready and len(ready) - 1 < least:
            raise Unsafe(f"{call.what}: fewer than {least} rooms of {namespace} would be ready")

    def _pods(self) -> dict[str, Stored]:
        return self.world.sandbox.world.store.shelves[POD].objects


def _drains(operation: Json) -> bool:
    return operation.get("value") == "draining" and operation.get("op") == "add"


def _is_draining(pod: Stored) -> bool:
    return pod.labels.get(labels.STATE) == "draining"


def end_state(world: World) -> Json:
    """What two ends must have in common: all but identities, times and commits."""
    return {
        "namespaces": sorted(world.namespaces()),
        "rooms": sorted(_room(pod) for pod in world.objects("/api/v1/pods")),
        "accounts": sorted(_object(item) for item in world.objects("/api/v1/serviceaccounts")),
        "budgets": sorted(
            (_name(item), json.dumps(item["spec"], sort_keys=True))
            for item in world.objects("/apis/policy/v1/poddisruptionbudgets")
        ),
        "objects": sorted(
            _object(item)
            for kind in ("configmaps", "secrets")
            for item in world.objects(f"/api/v1/{kind}")
            if labels.RECORD not in (item["metadata"].get("labels") or {})
            and item["metadata"]["name"] != "kube-root-ca.crt"
        ),
        "records": sorted(
            _record(item)
            for item in world.objects("/api/v1/configmaps")
            if "record" in item.get("data", {})
        ),
    }


def _room(pod: Json) -> tuple[str, str, str, bool]:
    metadata, container = pod["metadata"], pod["spec"]["containers"][0]
    phase = str(pod["status"].get("phase", ""))
    return metadata["namespace"], container["image"], phase, "deletionTimestamp" in metadata


def _object(item: Json) -> tuple[str, str]:
    """Return the name of an object and all that it says; of a Secret (it has a type) a digest."""
    metadata = {name: item["metadata"].get(name) or {} for name in ("labels", "annotations")}
    said = {name: value for name, value in item.items() if name != "metadata"}
    text = json.dumps([metadata, said], sort_keys=True)
    return _name(item), sha256(text.encode()).hexdigest() if "type" in item else text


def _name(item: Json) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


VOLATILE = (
    "next",
    "seen",
    "highest",
    "ledger",
    "observedCommit",
    "commit",
    "offers",
    "asks",
    "departed",
    "newborn",
    "inStep",
)
"""Fields of records that tell of times, commits and names."""


def _record(item: Json) -> tuple[str, str]:
    content = json.loads(item["data"]["record"])
    kept = {name: value for name, value in content.items() if name not in VOLATILE}
    kept["conditions"] = [condition[:4] for condition in kept.get("conditions", ())]
    (kept.get("accepted") or {}).pop("commit", None)
    if "outstanding" in kept:
        # When a room of a revision ended last, and how often: who died before that was on record
        # counted one less, and the next one is made the sooner.
        kept.pop("failures", None)
    return _name(item), json.dumps(kept, sort_keys=True)
