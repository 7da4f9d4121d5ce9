"""Files are named from the directory that somebody is in; the process of git is in another one."""

import os
from pathlib import Path

import pytest

from reconciler.settings import Settings
from reconciler.wiring.repositories import make_mirror
from tests.contract.upstreams import OnDisk, upstream


@pytest.mark.parametrize("kind", ["https", pytest.param("ssh", marks=pytest.mark.long)])
async def test_credentials_and_cache_may_be_named_from_here(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with upstream(kind, tmp_path) as far:
        assert isinstance(far, OnDisk)
        tip = far.commit({"schedulers/arena.yaml": "kind: Scheduler\n"})
        monkeypatch.chdir(tmp_path)
        source = far.source
        settings = Settings(
            repo=source.url,
            git_username=source.username,
            git_token_file=_named_here(source.token_file),
            git_ssh_key_file=_named_here(source.ssh_key_file),
            git_known_hosts_file=_named_here(source.known_hosts_file),
            git_certificate_authority_file=_named_here(source.certificate_authority_file),
            cache_dir="here/cache",
        )
        mirror = make_mirror(settings)
        try:
            head = await mirror.fetch()
        finally:
            await mirror.close()
    assert head.commit == tip
    assert list((tmp_path / "here" / "cache").iterdir())


def _named_here(path: str) -> str:
    """Return how a file is named from this directory, "" for none."""
    return os.path.relpath(path) if path else ""
