"""`gamekeeper approve`: a person lets a change through, as themselves, for an hour."""

import asyncio
import re
from argparse import ArgumentParser, Namespace
from typing import NoReturn

from reconciler.cli.console import Console
from reconciler.cli.failures import Failure
from reconciler.cli.options import add_own, add_settings, own_of, settings_of
from reconciler.core.approval import APPROVAL_SECONDS
from reconciler.loop.approvals import approval_body
from reconciler.loop.store import RecordStore
from reconciler.model.errors import Denied, Misconfigured, PortError
from reconciler.model.holds import HoldKind
from reconciler.model.records import Offer, OfferEnd
from reconciler.model.refs import ObjectRef
from reconciler.ports import Cluster
from reconciler.setting_rows import Row
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster

EXAMPLE = """\
gamekeeper approve d1007e0425df --instance main"""

BY = Row(
    "by", str, "", "", "who approves (default: as whom the API server knows you)", command="approve"
)

HASH = re.compile(r"[0-9a-f]{12}")


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "hash", type=str.lower, metavar="HASH", help="the change hash that diff or status shows"
    )
    add_own(parser, BY)
    add_settings(parser, "instance", "namespace", "cluster")


def run(arguments: Namespace, console: Console) -> int:
    """Create the approval; the API server's RBAC says who may."""
    if not HASH.fullmatch(arguments.hash):
        raise Failure(
            f'"{arguments.hash}" is no change hash',
            "It is 12 digits, each 0-9 or a-f",
            "Copy it from gamekeeper diff or gamekeeper status",
        )
    settings = settings_of(arguments, console.environment)
    by = own_of(arguments, console.environment, BY)
    return asyncio.run(_approve(settings, arguments.hash, by, console))


async def _approve(settings: Settings, change_hash: str, by: str, console: Console) -> int:
    cluster = make_cluster(settings)
    try:
        namespace = ObjectRef("v1", "Namespace", "", settings.namespace)
        await _check_namespace(cluster, namespace)
        offer = await _offer(cluster, settings, change_hash, console)
        name = by or await _whoami(cluster) or settings.user or "unknown"
        body = approval_body(settings.namespace, settings.instance, change_hash, name)
        await cluster.create(body)
    finally:
        await cluster.close()
    minutes = round(APPROVAL_SECONDS / 60)
    console.print(f"{change_hash} is approved by {name}, for {minutes} minutes from now.")
    if offer:
        console.print(f"It lets through, as commit {offer.commit[:12]} asks:")
        for line in offer.lines:
            console.print(f"  {line}")
        more = len(offer.asks) - len(offer.lines)
        if more:
            console.print(f"  and {more} more: gamekeeper diff shows all of them")
    return 0


async def _check_namespace(cluster: Cluster, namespace: ObjectRef) -> None:
    """Raise Failure where Gamekeeper does not live here; who may not look creates anyway."""
    try:
        found = await cluster.get(namespace)
    except Denied:
        return
    if found is None:
        raise Failure(
            f"{namespace} is not there, so no Gamekeeper has run against this cluster",
            fix="Check --kubeconfig, --context and --namespace",
        )


async def _offer(
    cluster: Cluster, settings: Settings, change_hash: str, console: Console
) -> Offer | None:
    """Return what the hash stands for, where the loop has it on record; say so where not."""
    store = RecordStore(cluster, settings.namespace, settings.instance)
    try:
        record = await store.load_repository()
    except (Denied, Misconfigured) as error:
        console.note(f"What it lets through cannot be read: {error}")
        return None
    unreadable = [item for item in record.notices if item.kind is HoldKind.UNREADABLE]
    if unreadable:
        console.note(f"Still held, whatever is approved: {unreadable[0].reason}.")
    for item in record.notices:
        if item.change_hash == change_hash and item.kind is HoldKind.UNSIGNED:
            console.note(f"It lets through what is held now: {item.reason}")
            return None
    known = [offer for offer in record.offers if offer.change_hash == change_hash]
    if known and known[-1].end is not OfferEnd.WAITING:
        _refuse(known[-1])
    if not known:
        console.note(
            "The loop knows no change with this hash yet: the approval waits for a commit that "
            "has it. Is the instance right?"
        )
    return known[-1] if known else None


def _refuse(offer: Offer) -> NoReturn:
    """Raise Failure for a hash that takes no approval any more."""
    why = {
        OfferEnd.DONE: "was let through already, be it by an approval or within the budgets",
        OfferEnd.OVERTAKEN: "was overtaken: no head asks for it any more",
    }[offer.end]
    raise Failure(
        f"nothing waits for {offer.change_hash}",
        f"What commit {offer.commit[:12]} asked for with this hash {why}",
        "See gamekeeper status for what waits; a later commit with the same hash can be approved "
        "once the loop has seen it",
    )


async def _whoami(cluster: Cluster) -> str:
    """Return as whom the API server knows us, "" where it does not say."""
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        answer = await cluster.create({**review, "metadata": {}})
    except PortError:
        return ""
    return str(answer.get("status", {}).get("userInfo", {}).get("username", ""))
