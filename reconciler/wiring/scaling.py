"""What decides counts, and what lands them in Git."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reconciler.core import budget
from reconciler.model.errors import Misconfigured, Unavailable
from reconciler.model.pushes import Person, SigningKey
from reconciler.model.specs import Budgets, Config, WriteBack
from reconciler.settings import Settings
from reconciler.wiring.clock import SystemClock
from reconciler.wiring.repositories import file_from_anywhere, make_mirror

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from reconciler.adapters.git.mirror import Mirror
    from reconciler.loop.head_lane import HeadLane
    from reconciler.loop.landing import Terms
    from reconciler.loop.lane import Lane
    from reconciler.ports import WritableRepository
    from reconciler.service.app import Committing, Parts
    from reconciler.service.events import Events
    from reconciler.service.outbox import OutboxNotes
    from reconciler.service.scalers import Scalers
    from reconciler.service.scaling_metrics import ScalingMetrics
    from reconciler.service.scaling_voices import ScalingVoices

_PERSON = re.compile(r"([^<>\n]+?) <([^<>\s]+@[^<>\s]+)>")


def author_of(text: str) -> Person:
    """Return whose name our commits carry. Raises Misconfigured."""
    found = _PERSON.fullmatch(text.strip())
    if found is None:
        raise Misconfigured(
            f"--commit-author {text!r} is no name with an address: "
            "write it as Gamekeeper <gamekeeper@example.com>"
        )
    return Person(found[1], found[2])


@dataclass(frozen=True, slots=True)
class Hearing:
    """Who hears of scaling: `voice` is all of them; the others are asked for what they heard."""

    voice: ScalingVoices
    metrics: ScalingMetrics
    outbox: OutboxNotes


def hear_scaling(
    lane: Lane, leading: Callable[[], bool], events: Events, registry: CollectorRegistry
) -> Hearing:
    """Return who hears of the scaling of a lane: the log, Events, metrics, the Lease."""
    from reconciler.service.outbox import OutboxNotes
    from reconciler.service.scaling_metrics import ScalingMetrics
    from reconciler.service.scaling_voice import ScalingVoice
    from reconciler.service.scaling_voices import ScalingVoices

    clock = SystemClock()
    metrics, outbox = ScalingMetrics(lane, leading, clock, registry), OutboxNotes(clock)
    voice = ScalingVoice(events, lane.store.repository_ref)
    return Hearing(ScalingVoices([voice, metrics], [outbox]), metrics, outbox)


def signing_of(settings: Settings) -> SigningKey | None:
    """Return what our commits are signed with, None for nothing. Raises Misconfigured.

    Whether the key signs is the mirror's to try.
    """
    kind, key = settings.commit_signing, settings.commit_signing_key
    if kind == "none":
        if key:
            raise Misconfigured(
                "--commit-signing-key signs nothing: add --commit-signing ssh or gpg"
            )
        return None
    if not key:
        what = "the file of a private key" if kind == "ssh" else "the fingerprint of a GPG key"
        raise Misconfigured(f"--commit-signing {kind} has no key: add --commit-signing-key, {what}")
    if kind == "gpg":
        return SigningKey("gpg", key)
    return SigningKey("ssh", file_from_anywhere(key))


async def check_signing(settings: Settings, mirror: Mirror) -> None:
    """Try the key that commits are to be signed with. Raises Misconfigured.

    What may pass by itself, such as a full disk, is left to the first commit.
    """
    key = signing_of(settings)
    if key is not None:
        with contextlib.suppress(Unavailable):
            await mirror.try_key(key)


def add_scaling(
    parts: Parts,
    settings: Settings,
    voice: ScalingVoices,
    beside: Mirror,
    may_push: Callable[[], bool],
) -> Mirror:
    """Let policies decide, and what they decide come into Git; return the committer's mirror.

    It is another one than the head's, which is `beside`: a push that stalls keeps nobody from
    reading. It pushes only while `may_push` says so. Raises Misconfigured.
    """
    mirror = make_mirror(settings, beside=beside, may_push=may_push)
    parts.scalers = make_scalers(settings, parts.head, voice)
    parts.committing = make_committing(settings, parts.head, mirror, voice)
    return mirror


def make_scalers(settings: Settings, head: HeadLane, voice: ScalingVoices) -> Scalers:
    """Return what decides the counts of a lane.

    Raises Misconfigured for a package's policy, and for settings of whom is asked.
    """
    from reconciler import registry
    from reconciler.service.scalers import Scalers
    from reconciler.service.signal_voice import SignalVoice
    from reconciler.service.signals import Signals
    from reconciler.wiring.outside import make_outside

    def budgets() -> Budgets:
        return budget.stricter(head.ceiling, _config(head).budgets)

    clock = SystemClock()
    return Scalers(
        head.home,
        registry.policies(),
        budgets,
        clock.now,
        observer=voice,
        signals=Signals(make_outside(settings), clock, SignalVoice()),
        enabled=settings.autoscaling,
    )


def make_committing(
    settings: Settings, head: HeadLane, repository: WritableRepository, voice: ScalingVoices
) -> Committing:
    """Return what the committer needs. Raises Misconfigured."""
    from reconciler.loop.landing import Terms
    from reconciler.service.app import Committing

    author, signing = author_of(settings.commit_author), signing_of(settings)

    def terms() -> Terms | None:
        back: WriteBack = _config(head).write_back
        if back.mode == "off":
            return None
        return Terms(author, float(back.quiet_seconds), back.message, signing)

    return Committing(repository, terms, voice)


def _config(head: HeadLane) -> Config:
    from reconciler.loop.config import config_in_force

    return config_in_force(head.reading, head.home.store.repository)
