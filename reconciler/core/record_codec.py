"""Records to the text of a ConfigMap and back. A field that is missing takes its default; one that
is unknown is kept beside them (`core/record_versions.py`): versions read each other's records.
"""

import base64
from collections.abc import Mapping
from dataclasses import replace

from reconciler.core import demand
from reconciler.core.births import DIGEST_BYTES
from reconciler.core.intent_codec import dump_scaling, load_scaling
from reconciler.core.offers import dump_offers, load_offers
from reconciler.core.policies.signals import sound_number
from reconciler.core.record_packing import packed, restored, squeezed, unpacked
from reconciler.core.record_versions import Texts, UnreadableRecord, fields_of, texts_of
from reconciler.model.freezes import Freeze
from reconciler.model.holds import HoldKind
from reconciler.model.intents import NO_SCALING
from reconciler.model.masks import without_userinfo
from reconciler.model.records import (
    Accepted,
    Applied,
    Approved,
    Condition,
    Departed,
    Endorsement,
    Failure,
    Failures,
    HeldRemoval,
    LedgerEntry,
    Notice,
    Ordinals,
    Owned,
    RepositoryRecord,
    StateRecord,
)
from reconciler.model.refs import Json, ObjectRef, WorkloadKey

MOST_STATE_BYTES = 240 * 1024
"""What a state record may hold, with room for its labels below 256 KiB."""

MOST_OUTSTANDING = 100_000
"""The record stands in the workload's namespace, where others may write: a range costs memory."""

LATEST = 253_402_300_800
"""The year 10000 in Unix seconds."""

KNOWN: Mapping[str, frozenset[str]] = {
    "ordinals": frozenset({"failures", "next", "outstanding", "seen"}),
    "state": frozenset(
        {"accepted", "applied", "conditions", "copied", "deleting", "demand", "failures", "held"}
        | {"highest", "inventory", "ledger", "observedCommit", "scaling"}
    ),
    "repository": frozenset(
        {"approved", "asks", "branch", "commit", "config", "countsCommit", "departed"}
        | {"endorsements", "freezes", "frozenHash", "inStep", "known", "newborn", "notices"}
        | {"offers", "path", "pushed", "pushedAt", "repository", "verified"}
    ),
}
"""The fields that this version knows, of each record: it reads and writes these alone."""


def dump_ordinals(ordinals: Ordinals) -> Texts:
    """Return the text of an ordinal record; outstanding names as ranges [first, last]."""
    ranges: list[list[int]] = []
    for number in sorted(ordinals.outstanding):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    ended = ordinals.failures
    return texts_of(
        {
            "next": ordinals.next,
            "outstanding": ranges,
            "seen": [ordinals.seen, ordinals.seen_at],
            **({"failures": [ended.revision, ended.count, ended.last_at]} if ended else {}),
        }
    )


def load_ordinals(data: Texts, what: str) -> Ordinals:
    """Read an ordinal record; `what` names it in errors. Raises UnreadableRecord."""
    value = fields_of(data, what)
    if type(value["next"]) is not int:
        raise UnreadableRecord(f"{what} cannot be read: the next room has no number")
    ranges = value.get("outstanding", [])
    if any(last < first for first, last in ranges):  # its length would make up for another's
        raise UnreadableRecord(f"{what} cannot be read: outstanding rooms end before they begin")
    if sum(last - first + 1 for first, last in ranges) > MOST_OUTSTANDING:
        raise UnreadableRecord(f"{what} names more than {MOST_OUTSTANDING} outstanding rooms")
    numbers = (n for first, last in ranges for n in range(first, last + 1))
    ordinals = Ordinals(value["next"], frozenset(numbers), *value.get("seen", ()))
    return replace(ordinals, failures=_failures(value.get("failures")))


def _failures(value: object) -> Failures | None:
    """Read how often rooms ended; what is none of ours lets nobody wait."""
    match value:
        case [str(revision), int(count), int(last_at) | float(last_at)] if abs(last_at) < LATEST:
            return Failures(revision, count, float(last_at))
    return None


def dump_state(record: StateRecord) -> Texts:
    """Return the text of a state record; the accepted spec and the demand are compressed.

    Where it gets too large, what the policy learned gives way, then the older half of the demand,
    and so on.
    """
    texts = texts_of(_state(record))
    if record.scaling.past.memory and len(texts["record"]) > MOST_STATE_BYTES:
        past = replace(record.scaling.past, memory=b"")
        record = replace(record, scaling=replace(record.scaling, past=past))
        texts = texts_of(_state(record))
    while record.demand and len(texts["record"]) > MOST_STATE_BYTES:
        record = replace(record, demand=demand.newer_half(record.demand))
        texts = texts_of(_state(record))
    return texts


def _state(record: StateRecord) -> Json:
    accepted = record.accepted
    return {
        "accepted": accepted
        and {
            "spec": packed(accepted.spec_json),
            "replicas": accepted.replicas,
            "commit": accepted.commit,
            "file": accepted.file,
            "line": accepted.line,
            **({"unreviewed": True} if accepted.unreviewed else {}),
        },
        "deleting": record.deleting,
        "held": record.held
        and {
            "kind": record.held.kind,
            "line": record.held.line,
            "reason": record.held.reason,
            **({"backTo": record.held.back_to} if record.held.back_to else {}),
            **({"count": record.held.count} if record.held.count else {}),
            **({"acts": record.held.acts} if record.held.acts else {}),
            **({"released": record.held.released} if record.held.released else {}),
        },
        "inventory": [[*_ref(owned.ref), owned.made] for owned in record.inventory],
        "ledger": [[entry.at, entry.count] for entry in record.ledger],
        "conditions": [[c.type, c.status, c.reason, c.message, c.since] for c in record.conditions],
        "observedCommit": record.observed_commit,
        **(
            {"failures": [[item.at, item.uid, item.spec] for item in record.failures]}
            if record.failures
            else {}
        ),
        **({} if record.scaling == NO_SCALING else {"scaling": dump_scaling(record.scaling)}),
        **({} if record.highest is None else {"highest": record.highest}),
        **({"demand": squeezed(record.demand)} if record.demand else {}),
        **({"copied": [_ref(ref) for ref in record.copied]} if record.copied else {}),
        **(
            {"applied": [[*_ref(item.ref), item.digest] for item in record.applied]}
            if record.applied
            else {}
        ),
    }


def load_state(data: Texts, what: str) -> StateRecord:
    """Read a state record; `what` names it in errors. Raises UnreadableRecord."""
    value = fields_of(data, what)
    accepted, held = value.get("accepted"), value.get("held")
    return StateRecord(
        accepted=_accepted(accepted, what) if accepted else None,
        deleting=value.get("deleting", False),
        held=_held(held) if held else None,
        inventory=tuple(
            Owned(ObjectRef(*parts[:4]), parts[4]) for parts in value.get("inventory", [])
        ),
        ledger=tuple(LedgerEntry(*parts) for parts in value.get("ledger", [])),
        highest=value.get("highest"),
        conditions=tuple(Condition(*parts) for parts in value.get("conditions", [])),
        observed_commit=value.get("observedCommit", ""),
        failures=tuple(Failure(*parts) for parts in value.get("failures", [])),
        scaling=load_scaling(value.get("scaling", {})),
        demand=restored(value.get("demand", "")),
        copied=tuple(ObjectRef(*parts) for parts in value.get("copied", [])),
        applied=tuple(
            Applied(ObjectRef(*parts[:4]), parts[4]) for parts in value.get("applied", [])
        ),
    )


def _held(value: Json) -> HeldRemoval:
    return HeldRemoval(
        HoldKind(value["kind"]),
        value["line"],
        value["reason"],
        back_to=value.get("backTo", ""),
        count=value.get("count", 0),
        acts=value.get("acts", ""),
        released=value.get("released", ""),
    )


def _accepted(value: Json, what: str) -> Accepted:
    try:
        spec_json = unpacked(value["spec"])
    except ValueError as error:
        raise UnreadableRecord(f"{what}: {error}") from error
    replicas, commit, file, line = (value[name] for name in ("replicas", "commit", "file", "line"))
    return Accepted(spec_json, replicas, commit, file, line, value.get("unreviewed", False))


def dump_repository(record: RepositoryRecord) -> Texts:
    """Return the text of the repository record."""
    return texts_of(
        {
            "repository": record.repository,
            "branch": record.branch,
            "commit": record.commit,
            "config": record.config_json,
            "approved": [[a.line, a.until, a.by, a.mark] for a in record.approved],
            **dump_offers(record.offers),
            "known": None if record.known is None else _digests(record.known),
            "newborn": _digests(record.newborn),
            "notices": [_notice(each) for each in record.notices],
            "inStep": record.in_step,
            **({"pushed": record.pushed} if record.pushed else {}),
            **({"pushedAt": record.pushed_at} if record.pushed_at else {}),
            **(
                {"freezes": [[f.until, f.since, f.name, f.reason, f.place] for f in record.freezes]}
                if record.freezes
                else {}
            ),
            **({"frozenHash": record.frozen_hash} if record.frozen_hash else {}),
            **({"path": record.path} if record.path else {}),
            **({"countsCommit": record.counts_commit} if record.counts_commit else {}),
            **({"verified": record.verified} if record.verified else {}),
            "endorsements": [
                [e.commit, e.change_hash, e.by, e.at, e.spent] for e in record.endorsements
            ],
            "departed": [[*_key(d.key), d.entry.at, d.entry.count] for d in record.departed],
        }
    )


def load_repository(data: Texts, what: str) -> RepositoryRecord:
    """Read the repository record; `what` names it in errors. Raises UnreadableRecord."""
    value = fields_of(data, what)
    return RepositoryRecord(
        # A record of an earlier version may hold a password here.
        repository=without_userinfo(value.get("repository", "")),
        branch=value.get("branch", ""),
        path=value.get("path", ""),
        frozen_hash=value.get("frozenHash", ""),
        commit=value.get("commit", ""),
        config_json=value.get("config", ""),
        approved=tuple(Approved(*parts) for parts in value.get("approved", [])),
        offers=load_offers(value),
        known=None if value.get("known") is None else _from_digests(value["known"]),
        newborn=_from_digests(value.get("newborn", "")),
        in_step=value.get("inStep", ""),
        pushed=tuple(value.get("pushed", ())),
        pushed_at=sound_number(value.get("pushedAt")) or 0.0,
        counts_commit=value.get("countsCommit", ""),
        verified=value.get("verified", ""),
        freezes=tuple(Freeze(*parts) for parts in value.get("freezes", [])),
        endorsements=tuple(Endorsement(*parts) for parts in value.get("endorsements", [])),
        notices=tuple(
            Notice(HoldKind(kind), where, reason, *more)
            for kind, where, reason, *more in value.get("notices", [])
        ),
        departed=tuple(
            Departed(WorkloadKey(*parts[:3]), LedgerEntry(*parts[3:]))
            for parts in value.get("departed", [])
        ),
    )


def _notice(notice: Notice) -> list[str]:
    told = [notice.kind, notice.where, notice.reason]
    return [*told, notice.change_hash] if notice.change_hash else told


def _digests(digests: frozenset[int]) -> str:
    packed = b"".join(each.to_bytes(DIGEST_BYTES, "big") for each in sorted(digests))
    return base64.b64encode(packed).decode()


def _from_digests(text: str) -> frozenset[int]:
    packed = base64.b64decode(text, validate=True)
    places = range(0, len(packed), DIGEST_BYTES)
    return frozenset(int.from_bytes(packed[at : at + DIGEST_BYTES], "big") for at in places)


def _ref(ref: ObjectRef) -> tuple[str, str, str, str]:
    return ref.api_version, ref.kind, ref.namespace, ref.name


def _key(key: WorkloadKey) -> tuple[str, str, str]:
    return key.kind, key.namespace, key.name
