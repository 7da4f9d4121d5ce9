"""What the count of a workload rests on, read once and decided dry: nothing is written."""

from collections.abc import Sequence
from dataclasses import replace

from reconciler import registry
from reconciler.cli.explain_count import CountStory
from reconciler.core import budget, deciding
from reconciler.core.compile import config_from_json
from reconciler.core.conditions import suspension_told
from reconciler.core.count_text import count_in
from reconciler.core.loads import load_of
from reconciler.core.policies.nested import asks_by
from reconciler.core.rooms import sort_rooms
from reconciler.core.spec_files import REPLICAS_FILE
from reconciler.loop.lane import Lane
from reconciler.model.errors import PortError
from reconciler.model.intents import Scaling
from reconciler.model.outbox import EMPTY_OUTBOX
from reconciler.model.plans import Situation
from reconciler.model.records import Accepted, Condition, RepositoryRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.scaling import Activity, Look
from reconciler.model.specs import Budgets, Config, Workload
from reconciler.ports import Repository
from reconciler.service.lookout import Sighting


async def read_story(
    lane: Lane,
    situation: Situation,
    here: Repository,
    seen: Sighting | None,
    ceiling: Budgets,
    now: float,
) -> CountStory | None:
    """Return what shapes the count of a workload, None where it has no policy.

    `seen` is what the Lease says, `now` Unix seconds. Raises Misconfigured for a package's policy.
    """
    desired, record = situation.desired, situation.record
    autoscaling = desired.workload.autoscaling if desired else None
    if desired is None or record.accepted is None or autoscaling is None:
        return None
    workload = desired.workload
    there = sort_rooms(situation.live.pods, workload, situation.ears, situation.elapsed)
    load = load_of(there, workload.replicas)
    policies = registry.policies()
    asked = sorted({ask.kind for ask in asks_by(autoscaling.policy, policies)})
    text = lane.store.repository.config_json
    config = config_from_json(text) if text else Config()
    shared_now = lane.server_now() if lane.server_now else None
    activity = Activity(since=now)
    look = Look(now, autoscaling.bounds, load, activity, record.demand, shared_now=shared_now)
    budgets = budget.stricter(ceiling, config.budgets)
    before, replicas = without_memory(record.scaling), record.accepted.replicas
    decided = deciding.decide(autoscaling, replicas, before, look, policies, budgets)
    known, branch = lane.store.repository, config.write_back.branch
    place = await place_of(here, known, branch, situation.key, record.accepted)
    return CountStory(
        key=situation.key,
        record=seen.by_the_server(record) if seen else record,
        place=place,
        outbox=seen.outbox_at(now) if seen else EMPTY_OUTBOX,
        back=config.write_back,
        load=load,
        decision=decided.decision,
        bounds=autoscaling.bounds,
        asked=tuple(asked),
        last_look=seen.last_looks_at(now).get(situation.key) if seen else None,
        off=_off(workload, record.conditions),
    )


def _off(workload: Workload, conditions: Sequence[Condition]) -> str:
    """Say why the spec lets its policy change nothing, "" where it may."""
    if workload.suspend:
        return f"{suspension_told(workload, conditions)}, and no policy decides"
    if workload.autoscaling and not workload.autoscaling.enabled:
        return "autoscaling.enabled is false: what follows is advice, and nothing acts on it"
    return ""


def without_memory(scaling: Scaling) -> Scaling:
    """Return what can be decided from where nobody knows which matches have ended lately.

    The demand on record says that rooms were busy; without the ends every fall would be doubted.
    """
    return replace(scaling, past=replace(scaling.past, demand=None))


async def place_of(
    here: Repository, known: RepositoryRecord, branch: str, key: WorkloadKey, accepted: Accepted
) -> str:
    """Return where the number stands that was taken in, "" where the checkout here cannot tell.

    It may be of another repository than the tracked one, or lag behind: then it tells nothing.
    What says another number is not the place: `branch`, that of counts, may not be fetched here.
    """
    for commit, file, shown in (
        (known.counts_commit, REPLICAS_FILE, f"{branch}:"),
        (known.commit, REPLICAS_FILE, ""),
        (known.commit, accepted.file, ""),
    ):
        try:
            data = await here.blob(commit, file) if commit else None
        except PortError:
            continue
        found = count_in(file, data, key) if data else None
        if found is not None and found.count == accepted.replicas:
            return f"{shown}{found.source}"
    return ""
