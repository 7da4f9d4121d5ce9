"""Whether a running pod may become a room of a workload, and what makes it one (ADR 33).

It is patched and never restarted. Nobody knows who plays there: it is taken as busy until it says
something else, and counts as a room of an older revision, which goes once it is empty.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reconciler.core.guards import guard_for
from reconciler.core.revision import REPORTING
from reconciler.kube.selectors import BadSelector, LabelSelector
from reconciler.model import labels
from reconciler.model.live import ENDED_PHASES
from reconciler.model.refs import Json, as_seen
from reconciler.model.rooms import Mark
from reconciler.model.specs import Workload

UNKNOWN_REVISION = f"adopted-{REPORTING}"
"""Of no template of ours; it is awaited as one that reports, so silence lets nothing go."""

_ON_THEIR_WAY = frozenset({Mark.DRAINING.value, Mark.FAILED.value})


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why something is not adopted, and what to do about it: sentences without a full stop."""

    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """What adopts: a workload of an instance, whose `replicas` are those that are wanted now.

    `as_current` is whether the pods count as made from the spec's template: nothing replaces them
    before that changes.
    """

    workload: Workload
    instance: str
    as_current: bool = False

    @property
    def marks(self) -> dict[str, str]:
        """The labels by which the loop knows a room. Those that Services may select by stay."""
        key = self.workload.key
        state = {labels.STATE: Mark.BUSY.value} if self.workload.hears else {}
        return {
            labels.INSTANCE: self.instance,
            labels.WORKLOAD: key.name,
            labels.KIND: key.kind,
            **state,
        }

    @property
    def rooms_selector(self) -> str:
        """What selects the rooms of this workload, in whatever state."""
        marks = self.marks
        return ",".join(
            f"{name}={marks[name]}" for name in (labels.INSTANCE, labels.WORKLOAD, labels.KIND)
        )

    def revision_for(self, pod: Json) -> str:
        """Return the revision that a pod counts as: one that another instance of ours made keeps
        its own, which is a hash of what it was made from."""
        if self.as_current:
            return self.workload.revision
        made_by = _labels(pod).get(labels.INSTANCE)
        return (made_by and _notes(pod).get(labels.REVISION)) or UNKNOWN_REVISION


def is_over(pod: Json) -> bool:
    """Whether a pod has ended, or is on its way out: it is left to that."""
    ended = (pod.get("status") or {}).get("phase") in ENDED_PHASES
    return ended or bool(pod["metadata"].get("deletionTimestamp"))


def is_adopted(pod: Json, adoption: Adoption) -> bool:
    """Whether a pod is a room of this workload already."""
    marks = {name: text for name, text in adoption.marks.items() if name != labels.STATE}
    return marks.items() <= _labels(pod).items()


def obstacles_of(pod: Json, adoption: Adoption) -> list[Obstacle]:
    """Return what keeps one pod from being adopted."""
    name, marks, found = pod["metadata"]["name"], _labels(pod), list[Obstacle]()
    for owner in pod["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            found.append(_owned(pod, owner))
    if marks.get(labels.INSTANCE) == adoption.instance and marks.get(labels.WORKLOAD):
        whose = f"{marks.get(labels.KIND)} {marks[labels.WORKLOAD]}"
        found.append(Obstacle(f"{name} is a room of {whose}", "Select only pods that are not ours"))
    if not adoption.workload.hears and adoption.revision_for(pod) != adoption.workload.revision:
        found.append(
            Obstacle(
                f"{name} would be replaced at once, whoever plays there: with reports: none nobody "
                "knows",
                "Write --as-current to keep it until the template changes, or reports: required",
            )
        )
    return found


def _owned(pod: Json, owner: Json) -> Obstacle:
    kind, name, metadata = owner["kind"], owner["name"], pod["metadata"]
    above = " (first the Deployment above it, in the same way)" if kind == "ReplicaSet" else ""
    return Obstacle(
        f"{metadata['name']} is controlled by {kind} {name}, which makes another where one goes",
        f"Take that away and leave its pods: kubectl delete {kind.lower()} {name} "
        f"--namespace {metadata['namespace']} --cascade=orphan{above}",
    )


def above_wanted(rooms: Iterable[Json], pods: Iterable[Json], adoption: Adoption) -> int:
    """Return how many rooms of the spec's template there will be above those that are wanted.

    `rooms` are those that are there, of which who leaves is not counted; `pods` are to be adopted.
    Old ones are none of them: they make place by themselves.
    """
    workload = adoption.workload
    there = sum(_notes(each).get(labels.REVISION) == workload.revision for each in _staying(rooms))
    # Where rooms do not report no pod is adopted as an old one.
    is_new = [adoption.revision_for(pod) == workload.revision for pod in pods]
    taken = sum(is_new) if workload.hears else len(is_new)
    return max(0, there + taken - workload.replicas) if taken else 0


def _staying(rooms: Iterable[Json]) -> Iterable[Json]:
    for each in rooms:
        is_leaving = _notes(each).get(labels.LEAVING)
        if not (is_over(each) or is_leaving or _labels(each).get(labels.STATE) in _ON_THEIR_WAY):
            yield each


def crowd_obstacles(above: int, adoption: Adoption) -> list[Obstacle]:
    """Return what is in the way where `above` rooms are more than are wanted.

    Where rooms report, those that may be full stay. Where they do not, a scale-in takes some.
    """
    workload = adoption.workload
    if not above or workload.hears:
        return []
    wanted = workload.replicas
    also = " and the min of autoscaling" if workload.autoscaling else ""
    return [
        Obstacle(
            f"{workload.key} would have {above} more than the {wanted} rooms that are wanted, and "
            "as many would go at once, whoever plays there: with reports: none nobody knows",
            f"Adopt fewer, or first raise replicas{also} to {wanted + above} in Git (where the "
            "namespace is given, with suspend: true until they are adopted, else the loop makes "
            "those rooms itself)",
        )
    ]


def budget_obstacles(
    budgets: Iterable[Json], pods: Iterable[Json], adoption: Adoption
) -> list[Obstacle]:
    """Return the disruption budgets of others that would select a room beside ours.

    Two that select a pod let no eviction of it pass. What people gave us is taken over.
    """
    rooms = {pod["metadata"]["name"]: {**_labels(pod), **adoption.marks} for pod in pods}
    found = []
    for budget in budgets:
        selected = [name for name, marks in rooms.items() if _selects(budget, marks)]
        if selected and not _is_given(budget, adoption):
            metadata = budget["metadata"]
            found.append(
                Obstacle(
                    f"PodDisruptionBudget {metadata['name']} selects {_some(selected)}, and beside "
                    "ours no eviction would pass",
                    f"kubectl delete poddisruptionbudget {metadata['name']} --namespace "
                    f"{metadata['namespace']}",
                )
            )
    return found


def _is_given(budget: Json, adoption: Adoption) -> bool:
    """Whether a budget is that of this workload, or people let us have it."""
    own_name = budget["metadata"]["name"] == adoption.workload.key.name
    owners = (_labels(budget).get(labels.INSTANCE), _notes(budget).get(labels.ADOPT))
    return own_name and adoption.instance in owners


def _selects(budget: Json, marks: Mapping[str, str]) -> bool:
    try:
        selector = LabelSelector.from_object((budget.get("spec") or {}).get("selector"))
    except BadSelector:
        return False
    # A room's state comes and goes: what selects it in any of them selects it.
    without = {name: text for name, text in marks.items() if name != labels.STATE}
    states = [{**without, labels.STATE: mark.value} for mark in Mark if mark]
    return any(selector.matches(each) for each in (without, *states))


def patch_of(pod: Json, adoption: Adoption, ordinal: int | None) -> Json:
    """Return the merge patch that makes a pod a room, exactly as it was seen.

    `ordinal` is the n that it is given, None where its name tells one.
    """
    workload = adoption.workload
    guard = guard_for(workload, Mark.BUSY if workload.hears else Mark.NONE)
    notes = {
        labels.REVISION: adoption.revision_for(pod),
        labels.ORDINAL: None if ordinal is None else str(ordinal),
        labels.SAFE_TO_EVICT: guard[0],
        labels.DO_NOT_DISRUPT: guard[1],
        # Whoever kept it before may have told it to leave.
        labels.LEAVING: None,
        labels.LEAVING_SINCE: None,
        labels.WAS_HEARD: None,
    }
    marks: dict[str, str | None] = dict(adoption.marks)
    if _labels(pod).get(labels.STATE) in _ON_THEIR_WAY:
        # So may such a mark; any other says that somebody may play there.
        marks.setdefault(labels.STATE, None)
    return {"metadata": {"labels": marks, "annotations": notes, **as_seen(pod)}}


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(sorted(names)[:3]) + more


def _labels(item: Json) -> Mapping[str, str]:
    return item["metadata"].get("labels") or {}


def _notes(item: Json) -> Mapping[str, str]:
    return item["metadata"].get("annotations") or {}
