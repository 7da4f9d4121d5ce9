"""Who signed commits in memory: the rules of `verify.py`, where a signature is a key's name."""

from collections.abc import Callable, Mapping

from reconciler.adapters.git.memory_host import MemoryHost
from reconciler.adapters.git.signatures import NOT_ALLOWED, Unverifiable
from reconciler.adapters.git.verify import (
    COMMITS_LIMIT,
    OURS,
    UNSIGNED_LIMIT,
    check_signers,
    signed_by,
)
from reconciler.model.errors import Misconfigured
from reconciler.model.signatures import SigningRules, Span, Unsigned, Verification
from reconciler.model.trailers import Signer


def allowed_by(signers: str) -> Mapping[str, Signer]:
    """Read `principals type key` lines of an allowed_signers file, by the key."""
    with open(signers, encoding="utf-8") as stream:
        rows = [line.split() for line in stream if line.strip() and not line.startswith("#")]
    return {
        f"{kind} {key}": Signer(tuple(principals.split(",")), key)
        for principals, kind, key, *_ in rows
    }


Newest = Callable[[str, frozenset[str]], list[str]]
"""What leads to a commit without what is known, the newest first."""


def verified(host: MemoryHost, span: Span, rules: SigningRules, newest: Newest) -> Verification:
    """Look at the commits that count, the newest first. Raises Misconfigured."""
    head, behind = _head(host, span)
    others = newest(span.tip, behind) if rules.strict and span.known else []
    if len(others) > COMMITS_LIMIT:
        return Verification(span.tip, cut=True)
    by = OURS if span.tip in span.ours else ""
    asked = list(dict.fromkeys((*head, *(each for each in others if each not in span.ours))))
    if not asked:
        return Verification(span.tip, by)
    try:
        if rules.signers_file:
            check_signers(rules.signers_file)
    except Unverifiable as error:
        raise Misconfigured(f"no commit can be verified: {error}") from error
    allowed = allowed_by(rules.signers_file) if rules.signers_file else {}
    unsigned: list[Unsigned] = []
    for identity in asked:
        key = host.commits[identity].signed_by
        signer = allowed.get(key)
        if signer is None:
            problem = NOT_ALLOWED if key else "not signed"
            unsigned.append(Unsigned(identity, problem, signed=bool(key)))
        elif identity == span.tip:
            by = signed_by(signer)
        if len(unsigned) > UNSIGNED_LIMIT:
            return Verification(span.tip, "", tuple(unsigned), cut=True)
    return Verification(span.tip, by, tuple(unsigned))


def _head(host: MemoryHost, span: Span) -> tuple[list[str], frozenset[str]]:
    """Return the newest commit that is not ours, and what leads to what is known."""
    known = [each for each in span.known if each in host.commits]
    behind = frozenset(each for base in known for each in host.ancestors(base))
    straight, at = list[str](), span.tip
    while at and at not in behind:
        straight.append(at)
        at = next(iter(host.commits[at].parents), "")
    if not straight:
        return [] if span.tip in {*span.ours, *known} else [span.tip], behind
    return [each for each in straight if each not in span.ours][:1], behind
