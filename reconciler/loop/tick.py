"""The reconcile loop: what is wanted, beside what is there, makes a plan; the plan is settled.

    wanted, live, records -> situation -> plan -> outcomes -> Report

A tick is one pass over some keys of one lane. It is level-triggered: it may be interrupted at
any call and started again from whatever state that left. docs/tick.md follows one commit
through it.
"""

import asyncio
from collections.abc import Iterable

from reconciler.core import plan as planning
from reconciler.loop.lane import Lane
from reconciler.loop.settle import settle
from reconciler.model.plans import Plan
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Report, Settled


def plan_key(lane: Lane, key: WorkloadKey, now: float) -> Plan:
    """Plan one workload from the lane's newest snapshot and view; no I/O.

    Its host ports are reserved until the plan is settled, so that the next one takes others.
    """
    situation = lane.situation(key)
    plan = lane.found.recall(situation)
    if plan is None:
        plan = planning.plan(situation, lane.schemas, _dated(lane, now))
        lane.found.remember(plan, situation)
    lane.reserve(plan)
    return plan


async def tick(lane: Lane, keys: Iterable[WorkloadKey], now: float) -> Report:
    """Plan every key and settle every plan; one failed step stops no other workload.

    `now` is Unix seconds. Raises nothing that a cluster does: failures are outcomes.
    """
    commit = lane.wanted.commit
    plans = [plan_key(lane, key, now) for key in keys]
    settled = await asyncio.gather(*(_settled(lane, plan, now) for plan in plans))
    return Report(lane.name, commit, tuple(settled))


async def _settled(lane: Lane, plan: Plan, now: float) -> Settled:
    try:
        return await settle(lane, plan, _dated(lane, now))
    finally:
        lane.release(plan)


def _dated(lane: Lane, now: float) -> float:
    """Return the time by which the cluster's objects are dated: machines' own are apart."""
    return lane.server_now() if lane.server_now else now
