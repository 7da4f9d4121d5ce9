"""Who is told outside: the targets of the operator's file, and the code host's commit statuses."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from reconciler.core.code_hosts import Hosted, Unhosted, hosted_of, is_open
from reconciler.core.egress import place_of
from reconciler.model import labels
from reconciler.model.errors import Misconfigured
from reconciler.model.notifications import Origin
from reconciler.settings import Settings
from reconciler.wiring.clock import SystemClock
from reconciler.wiring.leading import lease_ref
from reconciler.wiring.outside import trust_of
from reconciler.wiring.repositories import file_from_anywhere, repository_of

if TYPE_CHECKING:
    import ssl

    from prometheus_client import CollectorRegistry

    from reconciler.adapters.outside.exchange import Exchange
    from reconciler.adapters.outside.messaging import HttpMessenger
    from reconciler.outside_ports import Statuses
    from reconciler.ports import Cluster
    from reconciler.service.app import Voice
    from reconciler.service.notifications.targets_file import TargetsFile
    from reconciler.service.outbox import OutboxNotes

DEADLINE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Telling:
    """Who hears for those who are told, and what runs for them; nothing where nobody is told.

    `notes` are the annotations of the Lease, those of our commits among them.
    """

    notes: Callable[[], Mapping[str, str]]
    voices: tuple[Voice, ...] = ()
    faces: tuple[Callable[[], Coroutine[Any, Any, None]], ...] = ()
    forget: Callable[[], None] = lambda: None


def make_telling(
    settings: Settings,
    cluster: Cluster,
    outbox: OutboxNotes,
    may_tell: Callable[[], bool],
    registry: CollectorRegistry,
) -> Telling:
    """Return what tells others of what the service does.

    Raises Misconfigured for a mistake in the file of the targets, and for a code host that no
    status can be set at.
    """
    from reconciler.service.notifications.metrics import NotificationMetrics
    from reconciler.service.notifications.notifier import Known, Notifier, Ways
    from reconciler.service.notifications.seen import Seen

    statuses = make_statuses(settings)
    if not settings.notifications_file and statuses is None:
        return Telling(outbox.notes, forget=outbox.forget)
    ways = Ways(_targets_file(settings), _messenger(settings), statuses)
    repository = repository_of(settings)
    origin = Origin(settings.instance, settings.cluster_name, repository, settings.branch)
    seen, metrics = Seen(), NotificationMetrics(registry)
    told_before = partial(_told_before, settings, cluster)
    known = Known(origin, seen, lambda: outbox.outbox, told_before, may_tell)
    notifier = Notifier(known, ways, SystemClock(), metrics)
    metrics.follow(lambda: len(notifier.troubles()))

    def notes() -> Mapping[str, str]:
        return {**outbox.notes(), **notifier.notes()}

    def forget() -> None:
        outbox.forget()
        notifier.forget()

    return Telling(notes, (seen,), (notifier.run,), forget)


def make_statuses(settings: Settings) -> Statuses | None:
    """Return who sets commit statuses, None where none are set. Raises Misconfigured."""
    from reconciler.adapters.outside.statuses import HttpStatuses, Signboard

    hosted = hosted_by(settings)
    if hosted is None:
        return None
    token_file = settings.commit_status_token_file or file_from_anywhere(settings.git_token_file)
    if not token_file:
        raise Misconfigured(
            "--commit-status needs a token: add --commit-status-token-file or --git-token-file"
        )
    target_url = settings.commit_status_target_url
    if target_url and place_of(target_url) is None:
        raise Misconfigured("--commit-status-target-url is no address: write https://…")
    context = f"gamekeeper/{settings.instance}/{settings.cluster_name}"
    board = Signboard(hosted, context, token_file, target_url)
    # The code host's authority is known already where Git needs one.
    path = file_from_anywhere(settings.git_certificate_authority_file)
    trust = trust_of(path, "--git-certificate-authority-file") or trust_of(
        settings.egress_certificate_authority_file
    )
    return HttpStatuses(_exchange(trust), board)


def hosted_by(settings: Settings) -> Hosted | None:
    """Return the repository whose commits have statuses, None where they have none.

    Raises Misconfigured where its address names none for certain.
    """
    asked = settings.commit_status
    if asked == "off":
        return None
    kind = cast(Literal["auto", "github", "gitlab", "gitea"], asked)
    try:
        hosted = hosted_of(repository_of(settings), kind, settings.commit_status_url)
    except Unhosted as error:
        raise Misconfigured(f"--commit-status={asked} cannot be for --repo: {error}") from error
    if is_open(hosted) and not settings.git_plain_http:
        raise Misconfigured(
            "--commit-status would show its token to everyone: write "
            "--commit-status-url https://…, or allow plain http by --git-plain-http"
        )
    return hosted


def _targets_file(settings: Settings) -> TargetsFile:
    from reconciler import assets
    from reconciler.core.schemas import validator_of
    from reconciler.service.notifications.targets_file import TargetsFile

    schema = validator_of(assets.process_schema("notifications"))
    file = TargetsFile(settings.notifications_file, schema)
    file.load()
    return file


def _messenger(settings: Settings) -> HttpMessenger:
    from reconciler.adapters.outside.messaging import HttpMessenger

    return HttpMessenger(_exchange(trust_of(settings.egress_certificate_authority_file)))


def _exchange(trust: ssl.SSLContext | None) -> Exchange:
    from reconciler.adapters.outside.exchange import Exchange
    from reconciler.adapters.outside.posting import refusal_of
    from reconciler.adapters.outside.resolver import CheckedResolver

    return Exchange(CheckedResolver(refusal_of), trust, DEADLINE_SECONDS)


async def _told_before(settings: Settings, cluster: Cluster) -> str:
    lease = await cluster.get(lease_ref(settings)) or {}
    annotations = (lease.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(labels.TOLD) or "{}")
