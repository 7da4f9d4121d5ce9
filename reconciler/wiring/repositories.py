"""What is wanted: the repository, what compiles it, and the lane that follows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.model.errors import Misconfigured
from reconciler.model.masks import without_userinfo
from reconciler.model.signatures import SigningRules
from reconciler.settings import Settings
from reconciler.wiring.permits import ceiling_of, permissions_of

if TYPE_CHECKING:
    from reconciler.adapters.compiler.compiler import WorkerCompiler
    from reconciler.adapters.git.checkout import LocalCheckout
    from reconciler.adapters.git.mirror import Mirror
    from reconciler.loop.head_lane import HeadLane
    from reconciler.loop.lane import Lane
    from reconciler.ports import Repository


def repository_of(settings: Settings) -> str:
    """Return the URL of the repository without credentials; a path here as an absolute one."""
    return without_userinfo(_address_of(settings))


def _address_of(settings: Settings) -> str:
    here = os.path.abspath(settings.repo) if settings.repo else ""
    return here if os.path.isdir(here) else settings.repo


def rules_of(settings: Settings) -> SigningRules | None:
    """Return who must have signed what acts, None where nobody asks. Raises Misconfigured."""
    mode, files = settings.verify_commits, (settings.commit_signers, settings.commit_keys)
    if mode == "none":
        if any(files):
            raise Misconfigured(
                "--commit-signers and --commit-keys verify nothing by themselves: add "
                "--verify-commits head or strict"
            )
        return None
    if not any(files):
        raise Misconfigured(
            f"--verify-commits {mode} has no keys: add --commit-signers, an allowed_signers file "
            "of OpenSSH, or --commit-keys, a file of OpenPGP keys"
        )
    signers, keys = map(file_from_anywhere, files)
    return SigningRules(mode == "strict", signers, keys)


def file_from_anywhere(path: str) -> str:
    """Return a path of the user's as an absolute one, "" for none.

    The process that runs git is in another directory than whoever gave it.
    """
    return os.path.abspath(os.path.expanduser(path)) if path else ""


def folder_of(settings: Settings) -> str:
    """Return the folder of the repository that is read, "" for its top. Raises Misconfigured."""
    from reconciler.adapters.git.folders import check_folder

    return check_folder(settings.path)


def make_checkout(place: str, settings: Settings) -> LocalCheckout:
    """Return the repository, or plain directory, at or above a place of the user's.

    Raises Misconfigured.
    """
    from reconciler.adapters.git.checkout import LocalCheckout

    return LocalCheckout(place, folder_of(settings))


def make_mirror(
    settings: Settings,
    environment: Mapping[str, str] = os.environ,
    beside: Mirror | None = None,
    may_push: Callable[[], bool] = lambda: True,
) -> Mirror:
    """Return a mirror of the tracked branch; what is in the one `beside` it is not fetched again.

    It pushes only while `may_push` says so. Raises Misconfigured.
    """
    from reconciler.adapters.git.mirror import Mirror
    from reconciler.adapters.git.source import Source

    if not settings.repo:
        raise Misconfigured("no repository is named: pass --repo or set GAMEKEEPER_REPO")
    source = Source(
        url=_address_of(settings),
        branch=settings.branch,
        path=folder_of(settings),
        username=settings.git_username,
        token_file=file_from_anywhere(settings.git_token_file),
        ssh_key_file=file_from_anywhere(settings.git_ssh_key_file),
        known_hosts_file=file_from_anywhere(settings.git_known_hosts_file),
        certificate_authority_file=file_from_anywhere(settings.git_certificate_authority_file),
        plain_http=settings.git_plain_http,
        fetch_deadline_seconds=settings.git_timeout_seconds,
    )
    cache = file_from_anywhere(settings.cache_dir) or str(_cache(environment))
    return Mirror(source, cache, beside=beside, may_push=may_push)


def _cache(environment: Mapping[str, str]) -> Path:
    home = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "gamekeeper"


def make_head_lane(
    settings: Settings, home: Lane, compiler: WorkerCompiler, repository: Repository
) -> HeadLane:
    """Return the lane of the tracked branch of a repository."""
    from reconciler.loop.head_lane import HeadLane

    return HeadLane(
        url=repository_of(settings),
        branch=settings.branch,
        path=folder_of(settings),
        repository=repository,
        compiler=compiler,
        # The process that acts knows its whole list, also where nobody is on it.
        permissions=replace(
            permissions_of(settings), egress=settings.egress_hosts, tracked=settings.branch
        ),
        ceiling=ceiling_of(settings),
        home=home,
        approval_signers=file_from_anywhere(settings.approval_signers),
        rules=rules_of(settings),
        signs=settings.commit_signing != "none",
    )
