"""Whether allowed keys signed the commits of a span. Child process only.

Nothing of a repository has a say: the bytes of each commit are checked by programs of ours with
the operator's keys. `git verify-commit` would take program, keys and time from configuration.
"""

from base64 import b64decode
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from reconciler.adapters.git.commits import split, texts
from reconciler.adapters.git.objects import Objects
from reconciler.adapters.git.openpgp import OpenPgp
from reconciler.adapters.git.signatures import Signatures, Unverifiable, file_of_keys
from reconciler.adapters.git.verified import SIGNERS, Verified, digest_of
from reconciler.model.errors import Misconfigured
from reconciler.model.signatures import SigningRules, Span, Unsigned, Verification
from reconciler.model.trailers import Signer

COMMITS_LIMIT = 1000
UNSIGNED_LIMIT = 20
"""From so many on the others are not looked at: it is not one commit that was forgotten."""
COMMIT_LIMIT_BYTES = 1024 * 1024
_BATCH = 32
OURS = "pushed by this Gamekeeper"


class Checks:
    """The operator's keys at one moment; the files are read when it is entered."""

    def __init__(self, rules: SigningRules, now: float) -> None:
        self._rules = rules
        self._now = now
        self._stack = ExitStack()
        self._ssh: Signatures | None = None
        self._openpgp: OpenPgp | None = None

    def __enter__(self) -> "Checks":
        """Read the keys. Raises Unverifiable: where one file is wrong no other counts."""
        rules = self._rules
        with ExitStack() as stack:
            if rules.signers_file:
                check_signers(rules.signers_file)
                signatures = Signatures.with_signers(rules.signers_file, self._now, SIGNERS)
                self._ssh = stack.enter_context(signatures)
            if rules.keys_file:
                self._openpgp = stack.enter_context(OpenPgp.with_keys(rules.keys_file, self._now))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def signer(self, commit: bytes) -> tuple[Signer | None, str]:
        """Return who signed a commit, or None and what it is instead. Raises Unverifiable."""
        if not commit:
            return None, "not readable: it is larger than 1 MiB"
        signed = split(commit)
        if not signed.kind:
            return None, signed.problem
        if signed.kind == "ssh":
            return self._ssh.signer(signed) if self._ssh else (None, _no_file("an SSH", "signers"))
        return self._openpgp.signer(signed) if self._openpgp else (None, _no_file("a GPG", "keys"))


def check_signers(path: str) -> None:
    """See that an allowed_signers file has a line with a name and a key. Raises Unverifiable."""
    content = file_of_keys(path, SIGNERS).decode("utf-8", "replace").splitlines()
    lines = [(number, line.split()) for number, line in enumerate(content, 1) if line.strip()]
    written = [(number, words) for number, words in lines if not words[0].startswith("#")]
    if not written:
        raise Unverifiable(
            f"the file of {SIGNERS} {path} names nobody: write a line for each person, as "
            "ssh-keygen(1) has it under ALLOWED SIGNERS"
        )
    if not any(_has_key(words[1:]) for _, words in written):
        number, words = written[0]
        why = "has no public key"
        if _has_key(words):
            why = "does not begin with a name and a type of key"
        raise Unverifiable(
            f"the file of {SIGNERS} {path} names nobody: line {number} {why}: write a line for "
            "each person, as in: anna@example.com ssh-ed25519 AAAAC3Nz... (ssh-keygen(1) has it "
            "under ALLOWED SIGNERS)"
        )


def _has_key(words: Sequence[str]) -> bool:
    """Whether a public key stands after the first of these words: in base64, with its type in it.

    The rest of the line is OpenSSH's to read, also which names of a type go with that one
    (`rsa-sha2-512` with `ssh-rsa`); see `Signatures.signer`.
    """
    for word in words[1:]:
        with suppress(ValueError):
            blob = b64decode(word, validate=True)
            end = 4 + int.from_bytes(blob[:4])
            if 4 < end < len(blob) and blob[4:end].isascii():
                return True
    return False


def verify(
    objects: Objects, span: Span, rules: SigningRules, now: float, seen: Verified
) -> Verification:
    """Look at the commits that count, the newest first; `now` is Unix seconds.

    Those that were `seen` to be signed under the same files are not looked at again. Raises
    Misconfigured where nothing can be checked, Damaged.
    """
    head, others = _asked(objects, span, strict=rules.strict)
    if len(others) > COMMITS_LIMIT:
        return Verification(span.tip, cut=True)
    identities = list(dict.fromkeys((*head, *(each for each in others if each not in span.ours))))
    by = OURS if span.tip in span.ours else ""
    if not identities:
        return Verification(span.tip, by)
    try:
        digest = digest_of(rules)
        seen.under(digest)
        left = [each for each in identities if not seen.by(each)]
        unsigned = _unsigned(objects, left, Checks(rules, now), seen) if left else ()
        by = by or seen.by(span.tip)
        # Whoever replaced a file meanwhile: nobody knows which of both was looked at.
        seen.under(digest_of(rules))
    except Unverifiable as error:
        raise Misconfigured(f"no commit can be verified: {error}") from error
    if len(unsigned) > UNSIGNED_LIMIT:
        return Verification(span.tip, "", unsigned, cut=True)
    return Verification(span.tip, by, unsigned)


def _unsigned(
    objects: Objects, identities: Sequence[str], keys: Checks, seen: Verified
) -> tuple[Unsigned, ...]:
    """Return those that no allowed key signed, up to one more than are told; keep the others."""
    found: list[Unsigned] = []
    with keys as checks:
        for start in range(0, len(identities), _BATCH):
            for identity, text in _ordered(objects, identities[start : start + _BATCH]):
                signer, problem = checks.signer(text)
                if signer is None:
                    found.append(Unsigned(identity, problem, signed=bool(split(text).kind)))
                else:
                    seen.keep(identity, signed_by(signer))
                if len(found) > UNSIGNED_LIMIT:
                    return tuple(found)
    return tuple(found)


def signed_by(signer: Signer) -> str:
    """Return how a signature is told to people."""
    return f"signed by {signer.name} ({signer.key})"


def _asked(objects: Objects, span: Span, *, strict: bool) -> tuple[list[str], Sequence[str]]:
    """Return the newest commit that is not ours, and where it is `strict` all of the span.

    That newest one is asked about although it led to a known commit before: whoever sets a branch
    back to a commit makes it the head, and beneath the first accepted head nobody has looked.
    """
    known = [found for each in span.known if (found := objects.find(each))]
    without = ["--not", *known] if known else []
    bound = f"--max-count={len(span.ours) + 1}"
    straight = _listed(objects, bound, "--first-parent", span.tip, *without)
    if not straight:
        is_ours = span.tip in span.ours or span.tip in known
        return [] if is_ours else [span.tip], ()
    head = [each for each in straight if each not in span.ours][:1]
    if not strict or not span.known:
        return head, ()
    return head, _listed(objects, f"--max-count={COMMITS_LIMIT + 1}", span.tip, *without)


def _listed(objects: Objects, *words: str) -> Sequence[str]:
    return objects.commands.read("rev-list", "--topo-order", *words).decode().split()


def _ordered(objects: Objects, batch: Sequence[str]) -> list[tuple[str, bytes]]:
    found = texts(objects, batch, COMMIT_LIMIT_BYTES)
    return [(identity, found[identity]) for identity in batch]


def _no_file(kind: str, name: str) -> str:
    return f"signed with {kind} key, and --commit-{name} names no file"
